# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Activations, and the softmax."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.pytorch.context import HANDLERS, Context, Function
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_FLOAT = DataType.FLOAT32


def _hardtanh(c: Context, x: Value) -> Value:
    low, high = c.number("min_val", -1), c.number("max_val", 1)
    return c.op("Clip", x, c.constant(low, x.dtype), c.constant(high, x.dtype))


def _rrelu(c: Context, x: Value) -> Value:
    if c.flag("training"):
        raise UnsupportedNodeError("training is True", "export after model.eval()")
    slope = (c.number("lower", 0.125) + c.number("upper", 1 / 3)) / 2
    return c.op("LeakyRelu", x, alpha=slope)


def _prelu(c: Context, x: Value) -> Value:
    slope, rank = c.value("weight"), c.rank(x)
    if c.rank(slope) == 1 and rank > 1 and c.shape(slope) != (1,):
        slope = c.reshape(slope, [-1, *(1,) * (rank - 2)])
    return c.op("PRelu", x, slope)


def _elu(c: Context, x: Value) -> Value:
    if c.number("input_scale", 1) != 1:
        raise UnsupportedNodeError("input_scale is not 1")
    result = c.op("Elu", x, alpha=c.number("alpha", 1))
    scale = c.number("scale", 1)
    return result if scale == 1 else c.op("Mul", result, scale)


def _softplus(c: Context, x: Value) -> Value:
    beta, threshold = c.number("beta", 1), c.number("threshold", 20)
    scaled = x if beta == 1 else c.op("Mul", x, beta)
    soft = c.op("Softplus", scaled)
    if beta != 1:
        soft = c.op("Mul", soft, 1 / beta)
    if threshold >= 20:  # there, log(1 + exp(x)) is x in floats
        return soft
    return c.op("Where", c.op("Greater", scaled, threshold), x, soft)


def _threshold(c: Context, x: Value) -> Value:
    bound, other = (
        c.constant(c.number(name), x.dtype) for name in ("threshold", "value")
    )
    return c.op("Where", c.op("Greater", x, bound), x, other)


def _shrink(c: Context, x: Value) -> Value:
    bound = c.number("lambd", 0.5)
    bias = bound if c.operator == "softshrink" else 0.0
    return c.op("Shrink", x, lambd=bound, bias=bias)


def _glu(c: Context, x: Value) -> Value:
    axis = c.axis(c.integer("dim", -1), c.rank(x))
    a, b = c.op_all("Split", [x], 2, axis=axis, num_outputs=2)
    return c.op("Mul", a, c.op("Sigmoid", b))


def _softmax(c: Context, x: Value) -> Value:
    c.dtype()
    axis = c.axis(c.integer("dim"), c.rank(x))
    op_type = "LogSoftmax" if "log" in c.operator else "Softmax"
    return c.op(op_type, c.cast(x, _FLOAT), axis=axis)


def _safe_softmax(c: Context, x: Value) -> Value:
    """A softmax that is 0, not NaN, where all numbers are minus infinity."""
    weights = _softmax(c, x)
    axis = c.axis(c.integer("dim"), c.rank(x))
    largest = c.op("ReduceMax", c.cast(x, _FLOAT), [axis], keepdims=1)
    return c.op("Where", c.op("Equal", largest, -np.inf), 0.0, weights)


_ACTIVATIONS: Mapping[str, Function] = {
    "aten._log_softmax": _softmax,
    "aten._safe_softmax": _safe_softmax,
    "aten._softmax": _softmax,
    "aten.celu": lambda c, x: c.op("Celu", x, alpha=c.number("alpha", 1)),
    "aten.elu": _elu,
    "aten.gelu": lambda c, x: c.op(
        "Gelu", x, approximate=c.text("approximate", "none")
    ),
    "aten.glu": _glu,
    "aten.hardshrink": _shrink,
    "aten.hardsigmoid": lambda c, x: c.op("HardSigmoid", x, alpha=1 / 6, beta=0.5),
    "aten.hardswish": lambda c, x: c.op("HardSwish", x),
    "aten.hardtanh": _hardtanh,
    "aten.leaky_relu": lambda c, x: c.op(
        "LeakyRelu", x, alpha=c.number("negative_slope", 0.01)
    ),
    "aten.log_sigmoid": lambda c, x: c.op("Neg", c.op("Softplus", c.op("Neg", x))),
    "aten.log_softmax": _softmax,
    "aten.mish": lambda c, x: c.op("Mish", x),
    "aten.prelu": _prelu,
    "aten.relu": lambda c, x: c.op("Relu", x),
    "aten.relu6": lambda c, x: c.op("Clip", x, 0.0, 6.0),
    "aten.rrelu": _rrelu,
    "aten.rrelu_with_noise_functional": _rrelu,
    "aten.selu": lambda c, x: c.op("Selu", x),
    "aten.silu": lambda c, x: c.op("Mul", x, c.op("Sigmoid", x)),
    "aten.softmax": _softmax,
    "aten.softplus": _softplus,
    "aten.softshrink": _shrink,
    "aten.threshold": _threshold,
}


@HANDLERS.register(*_ACTIVATIONS)
def _activation(c: Context) -> None:
    # The second result is for gradients.
    c.give(_ACTIVATIONS[f"aten.{c.operator}"](c, c.value("self")), None)
