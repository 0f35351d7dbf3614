# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Elementwise functions, and arithmetic on several tensors."""

from __future__ import annotations

import math
from typing import Any

from mace.python.tools.importers.caffe.layer import HANDLERS, Layer
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.ir.graph import Value

_PLAIN = {"BNLL": "SOFTPLUS", "Sigmoid": "SIGMOID", "TanH": "TANH"}
_POWERS = {2.0: "SQUARE", 0.5: "SQRT", -0.5: "RSQRT", -1.0: "RECIPROCAL"}
_PROD, _SUM, _MAX = 0, 1, 2


@HANDLERS.register(*_PLAIN)
def _plain(layer: Layer) -> None:
    layer.emit("Activation", [layer.bottom()], activation=_PLAIN[layer.type])


@HANDLERS.register("ReLU")
def _relu(layer: Layer) -> None:
    slope = layer.proto.relu_param.negative_slope
    attrs: dict[str, Any] = {"activation": "RELU"}
    if slope:
        attrs = {"activation": "LEAKY_RELU", "activation_alpha": slope}
    layer.emit("Activation", [layer.bottom()], **attrs)


@HANDLERS.register("ReLU6")
def _relu6(layer: Layer) -> None:
    attrs = {"activation": "RELUX", "activation_limit": 6.0}
    layer.emit("Activation", [layer.bottom()], **attrs)


@HANDLERS.register("ELU")
def _elu(layer: Layer) -> None:
    attrs = {"activation": "ELU", "activation_alpha": layer.proto.elu_param.alpha}
    layer.emit("Activation", [layer.bottom()], **attrs)


@HANDLERS.register("PReLU")
def _prelu(layer: Layer) -> None:
    x = layer.bottom()
    dims = layer.shape(x)
    rank = len(dims)
    if rank < 2 or not isinstance(dims[1], int):
        raise UnsupportedNodeError("the number of channels is not known")
    count = 1 if layer.proto.prelu_param.channel_shared else dims[1]
    slopes = layer.blob(0, (count,), "slopes").numpy()
    if count == 1:
        attrs = {"activation": "LEAKY_RELU", "activation_alpha": float(slopes[0])}
        layer.emit("Activation", [x], **attrs)
        return
    slope = layer.literal(slopes)
    if rank == 2:
        layer.emit("Activation", [x, slope], activation="PRELU")
        return
    # The operator has slopes for the innermost dimension. The pass that puts channels
    # last cancels these transposes.
    there = [0, *range(2, rank), 1]
    back = [there.index(axis) for axis in range(rank)]
    moved = layer.make("Transpose", [x], perm=there)
    result = layer.make("Activation", [moved, slope], activation="PRELU")
    layer.emit("Transpose", [result], perm=back)


@HANDLERS.register("Swish")
def _swish(layer: Layer) -> None:
    x, beta = layer.bottom(), layer.proto.swish_param.beta
    if beta == 1:
        layer.emit("Activation", [x], activation="SWISH")
        return
    inner = layer.eltwise("MUL", x, layer.literal(beta))
    gate = layer.make("Activation", [inner], activation="SIGMOID")
    layer.emit("Eltwise", [x, gate], mode="MUL")


@HANDLERS.register("AbsVal")
def _absolute(layer: Layer) -> None:
    layer.emit("Eltwise", [layer.bottom()], mode="ABS")


@HANDLERS.register("Clip")
def _clip(layer: Layer) -> None:
    x, param = layer.bottom(), layer.proto.clip_param
    if not layer.proto.HasField("clip_param"):
        raise UnsupportedNodeError("clip_param is missing")
    if param.min == 0 and 0 < param.max < math.inf:
        attrs = {"activation": "RELUX", "activation_limit": param.max}
        layer.emit("Activation", [x], **attrs)
        return
    above = layer.eltwise("MAX", x, layer.literal(param.min))
    layer.emit("Eltwise", [above, layer.literal(param.max)], mode="MIN")


@HANDLERS.register("Threshold")
def _threshold(layer: Layer) -> None:
    limit = layer.literal(layer.proto.threshold_param.threshold)
    above = layer.eltwise("GREATER", layer.bottom(), limit)
    layer.emit("Cast", [above], to="FLOAT32")


class _Chain:
    """Operators one after the other, of which the last one makes the top."""

    def __init__(self) -> None:
        self._steps: list[tuple[str, float | None]] = []

    def unary(self, mode: str) -> None:
        self._steps.append((mode, None))

    def binary(self, mode: str, number: float, neutral: float) -> None:
        """Arithmetic with a number; nothing if it is the neutral one."""
        if number != neutral:
            self._steps.append((mode, number))

    def emit(self, layer: Layer, x: Value) -> None:
        for index, (mode, number) in enumerate(self._steps):
            inputs = [x] if number is None else [x, layer.literal(number)]
            if index == len(self._steps) - 1:
                layer.emit("Eltwise", inputs, mode=mode)
            else:
                x = layer.eltwise(mode, *inputs)
        if not self._steps:
            layer.set_top(0, x)


@HANDLERS.register("Power")
def _power(layer: Layer) -> None:
    param, chain = layer.proto.power_param, _Chain()
    chain.binary("MUL", param.scale, 1)
    chain.binary("ADD", param.shift, 0)
    if param.power in _POWERS:
        chain.unary(_POWERS[param.power])
    else:
        chain.binary("POW", param.power, 1)
    chain.emit(layer, layer.bottom())


def _log_base(base: float) -> float:
    """The natural logarithm of a base; Caffe writes e as -1."""
    if base == -1:
        return 1.0
    if base <= 0 or base == 1:
        raise UnsupportedNodeError(f"base is {base}; it must be positive, and not 1")
    return math.log(base)


@HANDLERS.register("Exp")
def _exp(layer: Layer) -> None:
    param, chain = layer.proto.exp_param, _Chain()
    base = 0.0 if param.base == 1 else _log_base(param.base)
    chain.binary("MUL", param.scale * base, 1)
    chain.binary("ADD", param.shift * base, 0)
    chain.unary("EXP")
    chain.emit(layer, layer.bottom())


@HANDLERS.register("Log")
def _log(layer: Layer) -> None:
    param, chain = layer.proto.log_param, _Chain()
    chain.binary("MUL", param.scale, 1)
    chain.binary("ADD", param.shift, 0)
    chain.unary("LOG")
    chain.binary("MUL", 1 / _log_base(param.base), 1)
    chain.emit(layer, layer.bottom())


@HANDLERS.register("Eltwise")
def _eltwise(layer: Layer) -> None:
    param, values = layer.proto.eltwise_param, list(layer.bottoms)
    if len(values) < 2:
        raise UnsupportedNodeError(f"has {len(values)} bottoms; at least 2 are needed")
    shapes = {layer.shape(value) for value in values}
    if len(shapes) > 1:
        raise UnsupportedNodeError(
            "its bottoms have different shapes: "
            + ", ".join(str(list(layer.shape(value))) for value in values)
        )
    factors = list(param.coeff)
    if factors and (param.operation != _SUM or len(factors) != len(values)):
        raise UnsupportedNodeError(
            f"{len(factors)} coeff for {len(values)} bottoms; only sums have them"
        )
    mode = {_PROD: "MUL", _SUM: "ADD", _MAX: "MAX"}[param.operation]
    if factors == [1, -1]:
        mode, factors = "SUB", []
    for index, factor in enumerate(factors):
        if factor != 1:
            scaled = layer.eltwise("MUL", values[index], layer.literal(factor))
            values[index] = scaled
    total = values[0]
    for value in values[1:-1]:
        total = layer.eltwise(mode, total, value)
    layer.emit("Eltwise", [total, values[-1]], mode=mode)
