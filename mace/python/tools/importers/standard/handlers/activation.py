# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Elementwise non-linearities."""

from __future__ import annotations

from typing import Any

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_PLAIN = {
    "HardSwish": "HARD_SWISH",
    "Relu": "RELU",
    "Sigmoid": "SIGMOID",
    "Softplus": "SOFTPLUS",
    "Softsign": "SOFTSIGN",
    "Tanh": "TANH",
}

# Klambauer et al. 2017, as the ONNX specification rounds them.
_SELU_ALPHA = 1.67326319217681884765625
_SELU_GAMMA = 1.05070102214813232421875


def activate(node: Node, x: Value, kind: str, alpha: float = 0.0) -> Value:
    """A helper activation."""
    attrs = {"activation": kind, "activation_alpha": float(alpha)}
    return node.make("Activation", [x], attrs)


def swish(node: Node, x: Value, alpha: float = 1.0) -> Value:
    """x * sigmoid(alpha * x)."""
    if alpha == 1.0:
        return activate(node, x, "SWISH")
    gate = node.eltwise("MUL", x, node.scalar(alpha, x))
    return node.eltwise("MUL", x, activate(node, gate, "SIGMOID"))


@HANDLERS.register(*_PLAIN)
def _plain(node: Node) -> None:
    node.emit("Activation", [node.input(0)], {"activation": _PLAIN[node.type]})


@HANDLERS.register("LeakyRelu", "Elu")
def _alpha(node: Node) -> None:
    kind, default = {"LeakyRelu": ("LEAKY_RELU", 0.01), "Elu": ("ELU", 1.0)}[node.type]
    x, alpha = node.input(0), node.real("alpha", default)
    if kind == "LEAKY_RELU" and not np.isfinite(alpha):
        _prelu_composed(node, x, node.scalar(alpha, x))
        return
    attrs = {"activation": kind, "activation_alpha": alpha}
    node.emit("Activation", [x], attrs)


@HANDLERS.register("HardSigmoid")
def _hard_sigmoid(node: Node) -> None:
    attrs = {
        "activation": "HARD_SIGMOID",
        "activation_alpha": node.real("alpha", 0.2),
        "activation_beta": node.real("beta", 0.5),
    }
    node.emit("Activation", [node.input(0)], attrs)


@HANDLERS.register("Gelu")
def _gelu(node: Node) -> None:
    kinds = {"none": "GELU", "tanh": "GELU_TANH"}
    kind = node.choice("approximate", "none", kinds)
    node.emit("Activation", [node.input(0)], {"activation": kind})


@HANDLERS.register("Swish")
def _swish(node: Node) -> None:
    node.set_output(0, swish(node, node.input(0), node.real("alpha", 1.0)))


@HANDLERS.register("Mish")
def _mish(node: Node) -> None:
    x = node.input(0)
    gate = activate(node, activate(node, x, "SOFTPLUS"), "TANH")
    node.emit("Eltwise", [x, gate], {"mode": "MUL"})


@HANDLERS.register("Selu")
def _selu(node: Node) -> None:
    x = node.input(0)
    inner = activate(node, x, "ELU", node.real("alpha", _SELU_ALPHA))
    gamma = node.scalar(node.real("gamma", _SELU_GAMMA), x)
    node.emit("Eltwise", [inner, gamma], {"mode": "MUL"})


@HANDLERS.register("Celu")
def _celu(node: Node) -> None:
    # alpha * ELU(x / alpha): above 0 the two factors cancel.
    x, alpha = node.input(0), node.real("alpha", 1.0)
    if alpha <= 0:
        raise UnsupportedNodeError(f"alpha is {alpha}, needs to be above 0")
    inner = node.eltwise("DIV", x, node.scalar(alpha, x))
    inner = activate(node, inner, "ELU", 1.0)
    node.emit("Eltwise", [inner, node.scalar(alpha, x)], {"mode": "MUL"})


@HANDLERS.register("ThresholdedRelu")
def _thresholded_relu(node: Node) -> None:
    x = node.input(0)
    alpha = node.scalar(node.real("alpha", 1.0), x)
    # max(x, alpha) equals x if the mask is 1, and is finite if it is 0.
    mask = node.eltwise("GREATER", x, alpha)
    mask = node.cast(mask, DataType.FLOAT32)
    node.emit("Eltwise", [node.eltwise("MAX", x, alpha), mask], {"mode": "MUL"})


@HANDLERS.register("Shrink")
def _shrink(node: Node) -> None:
    x = node.input(0)
    if x.dtype is not DataType.FLOAT32:
        raise UnsupportedNodeError(f"elements of type {x.dtype.value}")
    lambd, bias = node.real("lambd", 0.5), node.real("bias", 0.0)
    if lambd < 0:
        raise UnsupportedNodeError(f"lambd is {lambd}, needs to be 0 or above")
    sides = []
    for sign, compare, limit in ((1.0, "GREATER", "MAX"), (-1.0, "LESS", "MIN")):
        edge = node.scalar(sign * lambd, x)
        mask = node.eltwise(compare, x, edge)
        mask = node.cast(mask, DataType.FLOAT32)
        part = node.eltwise(limit, x, edge)
        part = node.eltwise("SUB", part, node.scalar(sign * bias, x))
        sides.append(node.eltwise("MUL", part, mask))
    node.emit("Eltwise", sides, {"mode": "ADD"})


@HANDLERS.register("PRelu")
def _prelu(node: Node) -> None:
    x, slope = node.input(0), node.input(1)
    rank = len(node.shape(x))
    axis, values = _slope_axis(node, slope, rank)
    lone = values is not None and len(values) == 1
    if axis is None or values is None or (lone and not np.isfinite(values[0])):
        _prelu_composed(node, x, slope)
    elif lone:
        alpha = float(values[0])
        attrs = {"activation": "LEAKY_RELU", "activation_alpha": alpha}
        node.emit("Activation", [x], attrs)
    else:
        _prelu_by_channel(node, x, values, axis, rank)


def _slope_axis(node: Node, slope: Value, rank: int) -> tuple[int | None, Any]:
    """The only axis along which the slope differs, and its values."""
    if not slope.is_constant:
        return None, None
    array = slope.numpy()
    shape = array.shape
    if node.opset < 7 and len(shape) == 1 and rank > 1:
        # Then the slopes are per channel, wherever the channel axis is.
        return 1, array
    if array.size == 1:
        return 0, array.reshape(-1)
    long = [axis for axis, dim in enumerate(shape) if dim != 1]
    if len(long) != 1 or len(shape) > rank:
        return None, None
    axis = long[0] + rank - len(shape)
    # One slope that is broadcast over many channels is not a slope per channel.
    return axis, np.ascontiguousarray(array.reshape(-1))


def _prelu_by_channel(node: Node, x: Value, values: Any, axis: int, rank: int) -> None:
    attrs = {"activation": "PRELU"}
    dims = node.shape(x)
    if isinstance(dims[axis], int) and dims[axis] != len(values):
        raise UnsupportedNodeError(f"{len(values)} slopes for {dims[axis]} channels")
    slope = node.literal(values)
    if axis == rank - 1:
        node.emit("Activation", [x, slope], attrs)
        return
    # The operator needs slopes for the innermost dimension. The pass that puts channels
    # last cancels these transposes.
    there = [a for a in range(rank) if a != axis] + [axis]
    back = [there.index(a) for a in range(rank)]
    turned = node.transpose(x, there)
    result = node.make("Activation", [turned, slope], attrs)
    node.emit("Transpose", [result], {"perm": back})


def _prelu_composed(node: Node, x: Value, slope: Value) -> None:
    # Not by sums: slopes may be infinite or NaN.
    below = node.eltwise("LESS", x, node.scalar(0, x))
    node.emit("Where", [below, node.eltwise("MUL", x, slope), x])
