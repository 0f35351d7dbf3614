# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Layers with an activation or with channels last, as ONNX Runtime's optimizer makes
them of networks on images (domain com.microsoft): the nodes again. Besides, two small
operators of that domain.
"""

from __future__ import annotations

from collections.abc import Callable

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.graph import Value


@HANDLERS.register("com.microsoft.FusedConv")
def _fused_conv(node: Node) -> None:
    result = node.apply("Conv", node.inputs[:3])
    if node.has_input(3):
        result = node.eltwise("ADD", result, node.input(3))
    node.set_output(0, _activated(node, result))


@HANDLERS.register("com.microsoft.NhwcConv", "com.microsoft.NhwcFusedConv")
def _conv_of_channels_last(node: Node) -> None:
    """A convolution of images with channels last; NhwcConv has filters so, too."""
    x, filters = node.input(0), node.input(1)
    rank = len(node.shape(x))
    first = [0, rank - 1, *range(1, rank - 1)]
    last = [0, *range(2, rank), 1]
    if node.type.endswith("NhwcConv"):
        filters = node.transpose(filters, first)
    x = node.transpose(x, first)
    bias = node.optional(2)
    result = node.apply("Conv", [x, filters, bias])
    result = node.transpose(result, last)
    if node.has_input(3):
        result = node.eltwise("ADD", result, node.input(3))
    if node.has("activation"):
        result = _activated(node, result)
    node.set_output(0, result)


@HANDLERS.register("com.microsoft.CDist")
def _distances(node: Node) -> None:
    """Of each row of A from each row of B."""
    metric = node.text("metric", "sqeuclidean")
    if metric not in ("euclidean", "sqeuclidean"):
        raise UnsupportedNodeError(f"metric is {metric!r}")
    rows = node.expand_dims(node.input(0), [1])
    columns = node.expand_dims(node.input(1), [0])
    gaps = node.eltwise("SUB", rows, columns)
    attrs = {
        "mode": "SUM_SQUARE" if metric == "sqeuclidean" else "L2",
        "axes": [2],
        "keep_dims": False,
    }
    node.emit("Reduce", [gaps], attrs)


@HANDLERS.register("com.microsoft.ExpandDims")
def _expand_dims(node: Node) -> None:
    (axis,) = node.constant_ints(1, "the axis")
    rank = len(node.shape(node.input(0)))
    node.emit("ExpandDims", [node.input(0)], {"axes": [node.axis(axis, rank + 1)]})


@HANDLERS.register("com.microsoft.FusedGemm")
def _fused_gemm(node: Node) -> None:
    node.set_output(0, _activated(node, node.apply("Gemm", node.inputs)))


def _leaky_relu(node: Node, x: Value, numbers: list[float]) -> Value:
    alpha = numbers[0] if numbers else 0.01
    attrs = {"activation": "LEAKY_RELU", "activation_alpha": alpha}
    return node.make("Activation", [x], attrs)


def _hard_sigmoid(node: Node, x: Value, numbers: list[float]) -> Value:
    alpha, beta = numbers if len(numbers) == 2 else (0.2, 0.5)
    attrs = {"activation": "HARD_SIGMOID", "activation_alpha": alpha}
    return node.make("Activation", [x], {**attrs, "activation_beta": beta})


def _clip(node: Node, x: Value, numbers: list[float]) -> Value:
    if len(numbers) != 2:
        raise UnsupportedNodeError(f"Clip has {len(numbers)} limits, not 2")
    x = node.eltwise("MAX", x, node.scalar(numbers[0], x))
    return node.eltwise("MIN", x, node.scalar(numbers[1], x))


def _plain(name: str) -> Callable[[Node, Value, list[float]], Value]:
    def made(node: Node, x: Value, numbers: list[float]) -> Value:
        return node.make("Activation", [x], {"activation": name})

    return made


_ACTIVATIONS: dict[str, Callable[[Node, Value, list[float]], Value]] = {
    "": lambda node, x, numbers: x,
    "Clip": _clip,
    "HardSigmoid": _hard_sigmoid,
    "LeakyRelu": _leaky_relu,
    "Relu": _plain("RELU"),
    "Sigmoid": _plain("SIGMOID"),
    "Tanh": _plain("TANH"),
}


def _activated(node: Node, x: Value) -> Value:
    """The activation that is part of the node."""
    name = node.text("activation", "")
    if name not in _ACTIVATIONS:
        raise UnsupportedNodeError(
            f"activation is {name!r}; {', '.join(filter(None, _ACTIVATIONS))} work"
        )
    numbers: list[float] = []
    if node.has("activation_params"):
        numbers = node.reals("activation_params")
    elif node.has("activation_alpha"):
        names = ("activation_alpha", "activation_beta")
        numbers = [node.real(key, 0.0) for key in names if node.has(key)]
    return _ACTIVATIONS[name](node, x, numbers)
