# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.shapes import compatible, format_shape

# ln(1 + f) and sin(f * pi / 2) for f in [0, 1], as sums of powers and of odd powers;
# random_cpu.cc has the same coefficients.
_LOG = (
    *(2147482205, -1073679411, 714890035, -529841166, 398781541),
    *(-272530832, 146206850, -51227095, 8440121),
)
_SINE = (1686629674, -693597876, 85564855, -5016767, 161943)
_LN2 = 1488522236
_MOST_DIMENSIONS = 8


class Random(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        shape, seed = (
            op.inputs[i] if len(op.inputs) > i else None for i in range(1, 3)
        )
        if seed is not None and not compatible(seed.shape, (2,)):
            raise ValueError(f"seed has the shape {format_shape(seed.shape)}, not [2]")
        if shape is None:
            return [OutputType(DataType.FLOAT32, op.input(0).shape)]
        if shape.shape is None:
            return [OutputType(DataType.FLOAT32, None)]
        if len(shape.shape) != 1:
            raise ValueError(f"shape has the shape {format_shape(shape.shape)}")
        if shape.is_constant:
            dims = tuple(int(dim) for dim in shape.numpy())
            if len(dims) > _MOST_DIMENSIONS or min(dims, default=0) < 0:
                raise ValueError(
                    f"the shape {list(dims)} has negative or too many dims"
                )
            return [OutputType(DataType.FLOAT32, dims)]
        rank = shape.shape[0]
        if not isinstance(rank, int):
            return [OutputType(DataType.FLOAT32, None)]
        return [OutputType(DataType.FLOAT32, (None,) * rank)]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        """The numbers of the first run."""
        _, shape, seed = (*inputs, None, None)[:3]
        dims = np.shape(inputs[0]) if shape is None else tuple(int(d) for d in shape)
        key = np.asarray(op.attr("seed") if seed is None else seed, np.int64)
        count = int(np.prod(dims, dtype=np.int64))
        bits = philox(key, -(-count // 4))
        draw = uniform if op.attr("distribution") == "UNIFORM" else normal
        return [draw(bits).reshape(-1)[:count].reshape(dims)]


def philox(key: Array, blocks: int, run: int = 0) -> Array:
    """Philox 4x32-10 (Salmon et al., 2011) of the counters of a run, [blocks, 4]."""
    index = np.arange(blocks, dtype=np.uint64)
    mask, half = np.uint64(2**32 - 1), np.uint64(32)
    ones = np.ones_like(index)
    words = [index & mask, index >> half, np.uint64(run) & mask * ones]
    words.append(np.uint64(run) >> half * ones)
    first, second = (np.uint64(int(k) % 2**32) for k in key)
    for _ in range(10):
        left = words[0] * np.uint64(0xD2511F53)
        right = words[2] * np.uint64(0xCD9E8D57)
        words = [
            (right >> half) ^ words[1] ^ first,
            right & mask,
            (left >> half) ^ words[3] ^ second,
            left & mask,
        ]
        first = np.uint64((int(first) + 0x9E3779B9) % 2**32)
        second = np.uint64((int(second) + 0xBB67AE85) % 2**32)
    return np.stack(words, 1).astype(np.int64)


def uniform(bits: Array) -> Array:
    """Multiples of 2^-24 in [0, 1)."""
    result: Array = (bits >> 8).astype(np.float32) * np.float32(2.0**-24)
    return result


def normal(bits: Array) -> Array:
    """Box and Muller's method, two numbers of two: integers up to the square root, so
    that no processor rounds differently.
    """
    # -2 ln(u) in units of 2^-30, u = (bits + 1) / 2^32
    x = bits[:, 0::2] + 1
    exponent = np.frexp(x.astype(np.float64))[1].astype(np.int64) - 1
    fraction = ((x << (32 - exponent)) - 2**32) >> 1
    log = np.zeros_like(x)
    for coefficient in reversed(_LOG):
        log = ((log + coefficient) * fraction) >> 31
    log = np.maximum((32 - exponent) * _LN2 - log, 0)
    radius = np.sqrt(log.astype(np.float32) * np.float32(2.0**-30))
    # The angle in quarters of a turn.
    angle = bits[:, 1::2]
    quarter, part = angle >> 30, angle & (2**30 - 1)
    sine, cosine = _sine(part), _sine(2**30 - part)
    odd = quarter % 2 == 1
    sine, cosine = np.where(odd, cosine, sine), np.where(odd, sine, cosine)
    sine = np.where(quarter >= 2, -sine, sine)
    cosine = np.where((quarter == 1) | (quarter == 2), -cosine, cosine)
    both = np.stack([cosine, sine], 2).astype(np.float32) * np.float32(2.0**-30)
    result: Array = radius[:, :, None] * both
    return result


def _sine(part: Array) -> Array:
    """sin(part * pi / 2), both in units of 2^-30."""
    square, total = (part * part) >> 30, np.zeros_like(part)
    for coefficient in reversed(_SINE):
        total = coefficient + ((total * square) >> 30)
    result: Array = (total * part) >> 30
    return result
