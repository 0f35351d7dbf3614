# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Recognises operators that compute `x * scale + offset` per channel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mace.python.tools.ir import Op, Value
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.shapes import same_shape
from mace.python.tools.passes.match import has_activation, per_channel


@dataclass(frozen=True)
class Affine:
    """The scale and offset of an operator for each innermost element, in float64."""

    source: Value
    scale: Array
    offset: Array


def affine_of(op: Op) -> Affine | None:
    """The affine map that `op` computes; None if it computes something else."""
    if op.type not in ("BatchNorm", "Eltwise") or has_activation(op):
        return None
    shape = op.output.shape
    if not shape or not isinstance(shape[-1], int) or not op.output.dtype.is_float:
        return None
    channels = shape[-1]
    if not channels:
        return None  # nothing to multiply, or to find a common factor of
    if op.type == "BatchNorm":
        scale, offset = (per_channel(op.input(i), channels) for i in (1, 2))
        if scale is None or offset is None:
            return None
        return Affine(op.input(0), scale, offset)
    return _eltwise(op, channels)


def _eltwise(op: Op, channels: int) -> Affine | None:
    mode, a, b = op.attr("mode"), op.input(0), op.get_input(1)
    if b is None or a.is_constant == b.is_constant:
        return None
    source, other = (b, a) if a.is_constant else (a, b)
    constant = per_channel(other, channels)
    # If the constant widens the other operand, the operator is not such a map.
    if constant is None or not same_shape(source.shape, op.output.shape):
        return None
    one, zero = np.ones(channels), np.zeros(channels)
    if mode == "ADD":
        return Affine(source, one, constant)
    if mode == "MUL":
        return Affine(source, constant, zero)
    if mode == "SUB":
        if source is a:
            return Affine(source, one, -constant)
        return Affine(source, -one, constant)
    if mode == "DIV" and source is a and np.all(constant != 0):
        return Affine(source, 1 / constant, zero)
    return None
