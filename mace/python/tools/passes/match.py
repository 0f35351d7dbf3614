# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions with which rewrites match patterns in the graph."""

from __future__ import annotations

import math

import numpy as np

from mace.python.tools.ir import Graph, Op, Value
from mace.python.tools.ir.dtypes import Array

FUSED_ACTIVATION = (
    "activation",
    "activation_limit",
    "activation_alpha",
    "activation_beta",
)

# The input of Conv2D and FullyConnected that is added to the result.
RESIDUAL = 3


def only_reader(graph: Graph, value: Value) -> Op | None:
    """The operator that is the only reader of `value` and reads it once; otherwise
    None.
    """
    if len(value.uses) != 1 or value in graph.outputs:
        return None
    return value.uses[0][0]


def producer(value: Value | None, op_type: str) -> Op | None:
    """The operator that makes `value` if it is of that type."""
    if value is None or value.producer is None:
        return None
    return value.producer if value.producer.type == op_type else None


def has_activation(op: Op) -> bool:
    """Whether the operator ends in an activation."""
    return bool(op.attrs.get("activation", "NONE") != "NONE")


def is_pointwise(op: Op) -> bool:
    """Whether a Conv2D multiplies each pixel by a constant matrix."""
    shape = op.input(1).shape
    return (
        op.input(1).is_constant
        and shape is not None
        and shape[1:3] == (1, 1)
        and op.attr("groups") == 1
        and tuple(op.attr("strides")) == (1, 1)
        and not (op.attr("padding") == "EXPLICIT" and any(op.attr("pads")))
    )


def activation_attrs(op: Op) -> dict[str, object]:
    """The attributes that describe the activation of `op`."""
    return {name: op.attrs[name] for name in FUSED_ACTIVATION if name in op.attrs}


def scalar(value: Value | None) -> float | None:
    """The finite number in a constant; None if there is no such number."""
    if value is None or value.constant is None or value.constant.size != 1:
        return None
    number = float(value.numpy().reshape(-1)[0])
    return number if math.isfinite(number) else None


def is_scalar(value: Value | None, number: float) -> bool:
    """Whether a constant holds `number` up to float32 rounding."""
    found = scalar(value)
    return found is not None and math.isclose(found, number, rel_tol=1e-6)


def eltwise(value: Value | None, mode: str) -> Op | None:
    """The plain Eltwise of that mode that makes `value`."""
    op = producer(value, "Eltwise")
    if op is None or op.attr("mode") != mode or has_activation(op):
        return None
    return op


def other_operand(op: Op, value: Value) -> Value | None:
    """The operand of a binary operator that is not `value`."""
    a, b = op.get_input(0), op.get_input(1)
    if a is value:
        return b
    return a if b is value else None


def per_channel(value: Value | None, channels: int) -> Array | None:
    """A constant as one float64 number per innermost element; None if it is not."""
    if value is None or value.constant is None or not value.dtype.is_float:
        return None
    shape = value.constant.shape
    if any(dim != 1 for dim in shape[:-1]) or (
        shape and shape[-1] not in (1, channels)
    ):
        return None
    flat = value.numpy().astype(np.float64).reshape(-1)
    return np.broadcast_to(flat, (channels,))
