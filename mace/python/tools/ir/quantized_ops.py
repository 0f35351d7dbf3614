# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that compute in quantized numbers.

Where the declaration says float32, such an operator has integers of 8 or 16 bits with a
scale and a zero point (`quantized` of its ports). docs/reference/quantization.md
specifies the arithmetic; this is the reference for it.
"""

from __future__ import annotations

import numpy as np

from mace.python.tools.catalogue import default_catalogue
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.node import Op, Value
from mace.python.tools.ir.quantization import Quantization


def is_quantized(op: Op) -> bool:
    """Whether the operator computes in quantized numbers."""
    catalogue = default_catalogue()
    if op.type not in catalogue or not op.outputs:
        return False
    return (
        bool(catalogue[op.type].output_port(0).quantized)
        and op.outputs[0].quantization is not None
    )


def computes_integers(op: Op) -> bool:
    """Whether the operator is one that the pass quantized_operators makes."""
    return op.type == "LookupTable" or is_quantized(op)


def saturated(dtype: DataType, integers: Array) -> Array:
    """Clamped to the range of a type."""
    range_ = np.iinfo(dtype.numpy)
    return np.clip(integers, range_.min, range_.max).astype(dtype.numpy)


def zero_of(value: Value) -> int:
    """The zero point of a value of one scale."""
    known = value.quantization
    assert known is not None
    return known.zero_point


def scale_of(value: Value) -> Array:
    """The scale of a value of one scale, without axes, in the type in which results of
    its width are computed: float32, or float64 for 16 bits.
    """
    assert value.quantization is not None
    scale = np.asarray(value.quantization.scales[0], np.float32)
    return scale.astype(np.float64) if value.dtype is DataType.INT16 else scale


def requantized(op: Op, sums: Array, factor: Array) -> Array:
    """The integers of the output, of one scale.

    Args:
        op: with the activation NONE, RELU or RELUX, or without that attribute.
        sums: in integers.
        factor: from sums to steps of the output; broadcasts. Its type is that of
            `scale_of`.
    """
    return limited(op, rounded(sums.astype(factor.dtype) * factor))


def rounded(steps: Array) -> Array:
    """To the nearest integers, ties to even; beyond 2^40, any beyond."""
    whole = np.rint(np.clip(steps, -(2.0**40), 2.0**40))
    return np.asarray(whole, np.int64)


def limited(op: Op, steps: Array) -> Array:
    """The integers of the output, of one scale: after the activation, and clamped.

    Args:
        op: as of `requantized`.
        steps: of the output, as int64; 0 stands for the number 0.
    """
    value = op.outputs[0]
    has_activation = "activation" in default_catalogue()[op.type].attributes
    activation = op.attr("activation") if has_activation else "NONE"
    if activation != "NONE":
        steps = np.maximum(steps, 0)
    if activation == "RELUX":
        limit = np.float32(op.attr("activation_limit"))
        scale = scale_of(value).astype(np.float32)
        steps = np.minimum(steps, int(np.rint(limit / scale)))
    return saturated(value.dtype, steps + zero_of(value))


def has_limits(op: Op) -> bool:
    """Whether the activation of the operator only limits its results."""
    return op.attr("activation") in ("NONE", "RELU", "RELUX")


def integers_of(value: Value) -> tuple[Constant, Quantization] | None:
    """What a constant of floats was made of, with one scale; None if nothing is known
    of it, or if it has several.
    """
    known = value.constant.integers if value.constant is not None else None
    if known is None or known.numbers.size == 0:
        return None
    scale, zero = known.scale.numpy(), known.zero.numpy()
    first, offset = float(scale.reshape(-1)[0]), int(zero.reshape(-1)[0])
    if not ((scale == first).all() and (zero == offset).all()):
        return None
    found = Quantization.of_tensor(first, offset)
    wrong = found.problems(known.numbers.dtype, known.numbers.shape)
    return None if wrong else (known.numbers, found)
