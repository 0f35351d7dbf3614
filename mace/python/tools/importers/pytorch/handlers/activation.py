# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Activations, and the softmax."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.pytorch.context import HANDLERS, Context
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_FLOAT = DataType.FLOAT32


@HANDLERS.register("aten.relu")
def _relu(c: Context) -> None:
    c.give(c.op("Relu", c.value("self")))


@HANDLERS.register("aten.relu6")
def _relu6(c: Context) -> None:
    c.give(c.op("Clip", c.value("self"), 0.0, 6.0))


@HANDLERS.register("aten.hardtanh")
def _hardtanh(c: Context) -> None:
    x = c.value("self")
    low, high = c.number("min_val", -1), c.number("max_val", 1)
    c.give(c.op("Clip", x, c.constant(low, x.dtype), c.constant(high, x.dtype)))


@HANDLERS.register("aten.leaky_relu")
def _leaky_relu(c: Context) -> None:
    slope = c.number("negative_slope", 0.01)
    c.give(c.op("LeakyRelu", c.value("self"), alpha=slope))


@HANDLERS.register("aten.rrelu", "aten.rrelu_with_noise_functional")
def _rrelu(c: Context) -> None:
    if c.flag("training"):
        raise UnsupportedNodeError("training is True", "export after model.eval()")
    slope = (c.number("lower", 0.125) + c.number("upper", 1 / 3)) / 2
    c.raw("noise")
    c.give(c.op("LeakyRelu", c.value("self"), alpha=slope), None)


@HANDLERS.register("aten.prelu")
def _prelu(c: Context) -> None:
    x, slope = c.value("self"), c.value("weight")
    rank = c.rank(x)
    if c.rank(slope) == 1 and rank > 1 and c.shape(slope) != (1,):
        slope = c.reshape(slope, [-1, *(1,) * (rank - 2)])
    c.give(c.op("PRelu", x, slope))


@HANDLERS.register("aten.elu", "aten.celu")
def _elu(c: Context) -> None:
    x = c.value("self")
    if c.operator == "celu":
        c.give(c.op("Celu", x, alpha=c.number("alpha", 1)))
        return
    if c.number("input_scale", 1) != 1:
        raise UnsupportedNodeError("input_scale is not 1")
    result = c.op("Elu", x, alpha=c.number("alpha", 1))
    scale = c.number("scale", 1)
    c.give(result if scale == 1 else c.op("Mul", result, scale_of(c, scale)))


def scale_of(c: Context, number: float) -> Value:
    """A factor as a constant."""
    return c.constant(number, _FLOAT)


@HANDLERS.register("aten.selu")
def _selu(c: Context) -> None:
    c.give(c.op("Selu", c.value("self")))


@HANDLERS.register("aten.gelu")
def _gelu(c: Context) -> None:
    approximate = c.text("approximate", "none")
    c.give(c.op("Gelu", c.value("self"), approximate=approximate))


@HANDLERS.register("aten.silu")
def _silu(c: Context) -> None:
    x = c.value("self")
    c.give(c.op("Mul", x, c.op("Sigmoid", x)))


@HANDLERS.register("aten.mish")
def _mish(c: Context) -> None:
    c.give(c.op("Mish", c.value("self")))


@HANDLERS.register("aten.hardsigmoid", "aten.hardswish")
def _hard(c: Context) -> None:
    x = c.value("self")
    if c.operator == "hardswish":
        c.give(c.op("HardSwish", x))
    else:
        c.give(c.op("HardSigmoid", x, alpha=1 / 6, beta=0.5))


@HANDLERS.register("aten.softplus")
def _softplus(c: Context) -> None:
    x, beta = c.value("self"), c.number("beta", 1)
    threshold = c.number("threshold", 20)
    scaled = x if beta == 1 else c.op("Mul", x, scale_of(c, beta))
    soft = c.op("Softplus", scaled)
    if beta != 1:
        soft = c.op("Mul", soft, scale_of(c, 1 / beta))
    if threshold >= 20:  # there, log(1 + exp(x)) is x in floats
        c.give(soft)
    else:
        above = c.op("Greater", scaled, scale_of(c, threshold))
        c.give(c.op("Where", above, x, soft))


@HANDLERS.register("aten.log_sigmoid")
def _log_sigmoid(c: Context) -> None:
    soft = c.op("Softplus", c.op("Neg", c.value("self")))
    c.give(c.op("Neg", soft), None)


@HANDLERS.register("aten.threshold")
def _threshold(c: Context) -> None:
    x = c.value("self")
    bound, other = (c.number(name) for name in ("threshold", "value"))
    above = c.op("Greater", x, c.constant(bound, x.dtype))
    c.give(c.op("Where", above, x, c.constant(other, x.dtype)))


@HANDLERS.register("aten.hardshrink", "aten.softshrink")
def _shrink(c: Context) -> None:
    bound = c.number("lambd", 0.5)
    soft = c.operator == "softshrink"
    c.give(c.op("Shrink", c.value("self"), lambd=bound, bias=bound if soft else 0.0))


@HANDLERS.register("aten.glu")
def _glu(c: Context) -> None:
    x = c.value("self")
    axis = c.axis(c.integer("dim", -1), c.rank(x))
    a, b = c.op_all("Split", [x], 2, axis=axis, num_outputs=2)
    c.give(c.op("Mul", a, c.op("Sigmoid", b)))


@HANDLERS.register(
    "aten.softmax",
    "aten._softmax",
    "aten.log_softmax",
    "aten._log_softmax",
)
def _softmax(c: Context) -> None:
    x = c.value("self")
    c.dtype()
    c.flag("half_to_float")
    x = c.cast(x, _FLOAT)
    axis = c.axis(c.integer("dim"), c.rank(x))
    log = "log" in c.operator
    c.give(c.op("LogSoftmax" if log else "Softmax", x, axis=axis))


@HANDLERS.register("aten._safe_softmax")
def _safe_softmax(c: Context) -> None:
    """A softmax that is 0, not NaN, where all numbers are minus infinity."""
    c.dtype()
    x = c.cast(c.value("self"), _FLOAT)
    axis = c.axis(c.integer("dim"), c.rank(x))
    largest = c.op("ReduceMax", x, [axis], keepdims=1)
    nothing = c.op("Equal", largest, c.constant(-np.inf, _FLOAT))
    weights = c.op("Softmax", x, axis=axis)
    c.give(c.op("Where", nothing, c.constant(0.0, _FLOAT), weights))
