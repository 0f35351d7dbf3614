# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Recognises arithmetic that subtracts a mean and divides by a standard deviation.

Frameworks express the mean of squares in several ways, and TensorFlow and Keras
normalise by two products.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

from mace.python.tools.ir import Op, Value
from mace.python.tools.ir.shapes import normalize_axis
from mace.python.tools.passes.match import eltwise, producer, scalar
from mace.python.tools.passes.patterns import (
    Any,
    Found,
    Pattern,
    call,
    either,
    named,
    number,
    operator,
)


class Statistics(ABC):
    """The dimensions over which means are taken."""

    @abstractmethod
    def reduced(self, rank: int) -> tuple[int, ...]:
        """The dimensions of a value of that rank, in order; empty for no such value."""

    @abstractmethod
    def fits(self, value: Value | None, x: Value) -> bool:
        """Whether a constant has one number for each mean's scale or offset."""


@dataclass(frozen=True)
class Normalisation:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset.

    Attributes:
        subtract_mean: whether the mean is subtracted, and not taken as 0.
        scale, offset: constants; None if there is none.
    """

    x: Value
    epsilon: float
    subtract_mean: bool
    scale: Value | None
    offset: Value | None


def find_normalisation(op: Op, statistics: Statistics) -> Normalisation | None:
    """What ends in `op`, an Eltwise."""
    for pattern, subtract_mean in _forms(statistics):
        for found in pattern.match(op.output, {}):
            x, scale, offset = (found.get(name) for name in ("x", "scale", "offset"))
            assert x is not None
            rows = [row for row in (scale, offset) if row is not None]
            epsilon = scalar(found["epsilon"])
            if epsilon is not None and all(statistics.fits(row, x) for row in rows):
                return Normalisation(x, epsilon, subtract_mean, scale, offset)
    return None


@functools.cache
def _forms(statistics: Statistics) -> tuple[tuple[Pattern, bool], ...]:
    """The forms, and whether they subtract the mean."""
    x, epsilon = Any("x"), number("epsilon")
    scale, offset = Any("scale", _is_constant), Any("offset", _is_constant)

    def mean(of: Pattern) -> Pattern:
        return operator(lambda op: _reduces(op, "MEAN", statistics), of)

    def mean_of_squares(of: Pattern) -> Pattern:
        return either(mean(call("SQUARE", of)), _SumOfSquares(of, statistics))

    centred = x - mean(x)
    distances = call("SQR_DIFF", x, mean(x)), call("SQR_DIFF", mean(x), x)
    variance = either(mean_of_squares(centred), mean(either(*distances)))
    inverse = (variance + epsilon) ** -0.5
    factor = named("factor", either(inverse, inverse * scale))
    # TensorFlow, and Keras.
    two_products = x * factor - mean(x) * factor
    without_mean = x * (mean_of_squares(x) + epsilon) ** -0.5
    return (
        (centred * inverse, True),
        (centred * inverse * scale, True),
        (two_products, True),
        (two_products + offset, True),
        (without_mean, False),
        (without_mean * scale, False),
    )


def _is_constant(value: Value, found: Found) -> bool:
    return value.is_constant


def _reduces(op: Op, mode: str, statistics: Statistics) -> bool:
    """Whether an operator reduces the dimensions, and keeps them as 1."""
    if op.type != "Reduce" or op.attr("mode") != mode or not op.attr("keep_dims"):
        return False
    rank = op.input(0).rank
    if rank is None:
        return False
    axes = sorted(normalize_axis(axis, rank) for axis in op.attr("axes"))
    return bool(axes) and tuple(axes) == statistics.reduced(rank)


@dataclass(frozen=True)
class _SumOfSquares(Pattern):
    """A sum of squares divided by their number."""

    of: Pattern
    statistics: Statistics

    def match(self, value: Value, found: Found) -> Iterator[Found]:
        for total, count in _scaled(value):
            op = producer(total, "Reduce")
            if op is None or not _reduces(op, "SUM_SQUARE", self.statistics):
                continue
            shape = op.input(0).shape or ()
            sizes = [shape[axis] for axis in self.statistics.reduced(len(shape))]
            known = [size for size in sizes if isinstance(size, int)]
            if known == sizes and math.isclose(count, math.prod(known), rel_tol=1e-6):
                yield from self.of.match(op.input(0), found)


def _scaled(value: Value) -> Iterator[tuple[Value, float]]:
    """What a value is a multiple of, and the number that it is divided by."""
    for mode in ("MUL", "DIV"):
        op = eltwise(value, mode)
        pairs = [] if op is None else [(op.input(0), op.get_input(1))]
        if op is not None and mode == "MUL":
            pairs.append((op.input(1), op.input(0)))
        for total, by in pairs:
            count = scalar(by)
            if count:
                yield total, count if mode == "DIV" else 1 / count
