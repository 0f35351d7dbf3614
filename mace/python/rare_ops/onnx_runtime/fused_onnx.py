# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What ONNX Runtime's optimizer makes of several nodes: the nodes again.

All are of the domain com.microsoft. First layers with an activation or with channels
last, of networks on images, and two small operators; then what the optimizer makes of
diffusion models above all, and computes on GPUs alone.
"""

from __future__ import annotations

from collections.abc import Callable

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.handlers.activation import activate, swish
from mace.python.tools.importers.standard.handlers.normalise import (
    in_groups,
    scaled,
    softmax_from,
)
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


@HANDLERS.register("com.microsoft.GroupNorm")
def _group_norm(node: Node) -> None:
    node.set_output(0, _normalised(node, node.input(0)))


@HANDLERS.register("com.microsoft.SkipGroupNorm")
def _skip_group_norm(node: Node) -> None:
    x, skip = node.input(0), node.input(3)
    rank = len(node.shape(x))
    if len(node.shape(skip)) == 2:
        inner = range(1, rank - 1) if _channels_last(node) else range(2, rank)
        skip = node.expand_dims(skip, [*inner])
    total = node.eltwise("ADD", x, skip)
    if node.has_input(4):
        bias = node.input(4)
        if not _channels_last(node):
            bias = node.reshape(bias, [-1, *(1,) * (rank - 2)])
        total = node.eltwise("ADD", total, bias)
    node.set_output(0, _normalised(node, total))
    node.set_output(1, total)


def _channels_last(node: Node) -> bool:
    return node.flag("channels_last", True)


def _normalised(node: Node, x: Value) -> Value:
    """Normalised in groups of channels, with a factor and an offset for each."""
    rank = len(node.shape(x))
    if rank < 3:
        raise UnsupportedNodeError(f"{x.name} has {rank} dimensions")
    if _channels_last(node):
        x = node.transpose(x, [0, rank - 1, *range(1, rank - 1)])
    result = in_groups(node, x, node.integer("groups", 1), node.real("epsilon", 1e-5))
    shape = [-1, *(1,) * (rank - 2)]
    result = scaled(node, result, node.input(1), node.input(2), shape)
    activation = node.integer("activation", 0)
    if activation == 1:
        result = swish(node, result)
    elif activation:
        raise UnsupportedNodeError(f"activation is {activation}; 0 and 1 work")
    if _channels_last(node):
        result = node.transpose(result, [0, *range(2, rank), 1])
    return result


@HANDLERS.register("com.microsoft.BiasAdd")
def _bias_add(node: Node) -> None:
    total = node.eltwise("ADD", node.input(0), node.input(1))
    node.set_output(0, node.eltwise("ADD", total, node.input(2)))


@HANDLERS.register("com.microsoft.BiasSplitGelu")
def _bias_split_gelu(node: Node) -> None:
    total = node.eltwise("ADD", node.input(0), node.input(1))
    axis = len(node.shape(total)) - 1
    left, right = node.make_all("Split", [total], {"axis": axis}, 2)
    bent = activate(node, right, "GELU")
    node.set_output(0, node.eltwise("MUL", left, bent))


@HANDLERS.register("com.microsoft.GemmFastGelu")
def _gemm_fast_gelu(node: Node) -> None:
    result = node.apply("MatMul", node.inputs[:2])
    if node.has_input(2):
        result = node.eltwise("ADD", result, node.input(2))
    node.emit("Activation", [result], {"activation": "GELU_TANH"})


@HANDLERS.register("com.microsoft.BiasSoftmax")
def _bias_softmax(node: Node) -> None:
    """The bias has the rank of the data, with dimensions of 1 where it is the same."""
    total = node.eltwise("ADD", node.input(0), node.input(1))
    axis = node.axis(node.integer("axis", 1), len(node.shape(total)))
    node.set_output(0, softmax_from(node, total, axis))
