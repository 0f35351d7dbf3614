# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Recognises arithmetic that subtracts a mean and divides by a standard deviation.

c = x - mean(x), v = mean(c^2)
c / sqrt(v + epsilon)
x / sqrt(mean(x^2) + epsilon), without the mean
x * f + (offset - mean(x) * f), f = scale / sqrt(v + epsilon)
x * f + (offset + -mean(x) * f)

Frameworks express the reciprocal square root and the mean of squares in several ways;
TensorFlow uses the third form, Keras the fourth. Scale and offset may be absent.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

from mace.python.tools.ir import Op, Value
from mace.python.tools.ir.shapes import normalize_axis
from mace.python.tools.passes.match import (
    eltwise,
    is_scalar,
    other_operand,
    producer,
    scalar,
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
    return _Search(statistics).find(op)


@dataclass(frozen=True)
class _Inverse:
    """1 / sqrt(mean(squared^2) + epsilon).

    Attributes:
        squared: the value whose squares are averaged.
        mean: the mean that is subtracted before squaring; None if there is none.
        scale: a factor that follows; None if there is none.
    """

    squared: Value
    mean: Value | None
    epsilon: float
    scale: Value | None = None


def _pairs(op: Op | None) -> Iterator[tuple[Value, Value]]:
    if op is not None and op.get_input(1) is not None:
        yield op.input(0), op.input(1)
        yield op.input(1), op.input(0)


class _Search:
    def __init__(self, statistics: Statistics) -> None:
        self._statistics = statistics

    def find(self, op: Op) -> Normalisation | None:
        for value, inverse in self._normalised(op):
            x = self._centred(value, inverse)
            if x is not None:
                subtracted = inverse.mean is not None or inverse.squared is not x
                return Normalisation(
                    x, inverse.epsilon, subtracted, inverse.scale, None
                )
        return self._of_two_products(op)

    def _normalised(self, op: Op) -> Iterator[tuple[Value, _Inverse]]:
        """Values that `op` multiplies by an inverse, or divides by its reciprocal."""
        if eltwise(op.output, "MUL") is op:
            for value, factor in _pairs(op):
                inverse = self._inverse(factor, value)
                if inverse is not None:
                    yield value, inverse
        if eltwise(op.output, "DIV") is op:
            root = eltwise(op.input(1), "SQRT")
            inverse = None if root is None else self._over(root.input(0))
            if inverse is not None:
                yield op.input(0), inverse

    def _inverse(self, value: Value, x: Value) -> _Inverse | None:
        """The reciprocal square root, with or without a scale for x."""
        plain = eltwise(value, "RSQRT")
        if plain is not None:
            return self._over(plain.input(0))
        root = eltwise(value, "RECIPROCAL")
        if root is not None:
            below: Value | None = root.input(0)
        else:
            quotient = eltwise(value, "DIV")
            one = quotient is not None and is_scalar(quotient.input(0), 1.0)
            below = quotient.get_input(1) if quotient is not None and one else None
        square_root = eltwise(below, "SQRT")
        if square_root is not None:
            return self._over(square_root.input(0))
        for factor, scale in _pairs(eltwise(value, "MUL")):
            if self._statistics.fits(scale, x):
                found = self._inverse(factor, x)
                if found is not None and found.scale is None:
                    return _Inverse(found.squared, found.mean, found.epsilon, scale)
        return None

    def _over(self, value: Value) -> _Inverse | None:
        """The variance, or mean of squares, and the epsilon that is added to it."""
        for variance, added in _pairs(eltwise(value, "ADD")):
            epsilon = scalar(added)
            if epsilon is None:
                continue
            squares = self._mean(variance)
            square = eltwise(squares, "SQUARE")
            if square is not None:
                return _Inverse(square.input(0), None, epsilon)
            distance = eltwise(squares, "SQR_DIFF")
            for x, mean in _pairs(distance):
                if self._mean(mean) is x:
                    return _Inverse(x, mean, epsilon)
            squared = self._mean_of_squares(variance)
            if squared is not None:
                return _Inverse(squared, None, epsilon)
        return None

    def _reduced(self, value: Value | None, mode: str) -> Value | None:
        """The value that is reduced over the dimensions, keeping them as 1."""
        op = producer(value, "Reduce")
        if op is None or op.attr("mode") != mode or not op.attr("keep_dims"):
            return None
        rank = op.input(0).rank
        if rank is None:
            return None
        axes = sorted(normalize_axis(axis, rank) for axis in op.attr("axes"))
        wanted = self._statistics.reduced(rank)
        return op.input(0) if axes and tuple(axes) == wanted else None

    def _mean(self, value: Value | None) -> Value | None:
        return self._reduced(value, "MEAN")

    def _mean_of_squares(self, value: Value) -> Value | None:
        """x if `value` is the sum of squares of x divided by their number."""
        quotient, product = eltwise(value, "DIV"), eltwise(value, "MUL")
        if quotient is not None:
            pairs = [(quotient.input(0), quotient.get_input(1))]
        else:
            pairs = list(_pairs(product))
        for total, number in pairs:
            x, count = self._reduced(total, "SUM_SQUARE"), scalar(number)
            if x is None or not count or x.shape is None:
                continue
            sizes = [x.shape[axis] for axis in self._statistics.reduced(len(x.shape))]
            known = [size for size in sizes if isinstance(size, int)]
            found = count if quotient is not None else 1 / count
            wanted = math.prod(known)
            if known == sizes and math.isclose(found, wanted, rel_tol=1e-6):
                return x
        return None

    def _centred(self, value: Value, inverse: _Inverse) -> Value | None:
        """x if `value` times the inverse is the normalised x."""
        difference = eltwise(value, "SUB")
        own_mean = difference is not None and self._mean(difference.get_input(1))
        if difference is not None and own_mean is difference.input(0):
            x = difference.input(0)
            of_itself = inverse.squared is value and inverse.mean is None
            return x if of_itself or (inverse.squared is x and inverse.mean) else None
        return value if inverse.squared is value and inverse.mean is None else None

    def _of_two_products(self, op: Op) -> Normalisation | None:
        """x * f + (offset - mean * f), where f is an inverse with or without a scale,
        and the offset may be absent.
        """
        for product, rest, sign in _terms(op):
            for x, factor in _pairs(eltwise(product, "MUL")):
                for offset, mean in _offset_and_mean(rest, sign, factor):
                    inverse = self._inverse(factor, x)
                    if inverse is None or self._mean(mean) is not x:
                        continue
                    if offset is not None and not self._statistics.fits(offset, x):
                        continue
                    of_x = inverse.squared is x and inverse.mean is not None
                    if of_x or self._is_centred(inverse, x):
                        return Normalisation(
                            x, inverse.epsilon, True, inverse.scale, offset
                        )
        return None

    def _is_centred(self, inverse: _Inverse, x: Value) -> bool:
        difference = eltwise(inverse.squared, "SUB")
        return (
            difference is not None
            and difference.input(0) is x
            and self._mean(difference.get_input(1)) is x
        )


def _terms(op: Op) -> Iterator[tuple[Value, Value, int]]:
    """a, b and the sign of b, where `op` is a + b or a - b."""
    for a, b in _pairs(eltwise(op.output, "ADD")):
        yield a, b, 1
    difference = eltwise(op.output, "SUB")
    if difference is not None and difference.get_input(1) is not None:
        yield difference.input(0), difference.input(1), -1


def _offset_and_mean(
    value: Value, sign: int, factor: Value
) -> Iterator[tuple[Value | None, Value]]:
    """What `value`, with its sign, may be made of: offset - mean * factor."""
    if sign < 0:
        mean = _other_factor(value, factor)
        if mean is not None:
            yield None, mean
        return
    difference = eltwise(value, "SUB")
    if difference is not None:
        mean = _other_factor(difference.get_input(1), factor)
        if mean is not None:
            yield difference.input(0), mean
    shifts: list[tuple[Value | None, Value]] = [(None, value)]
    shifts += _pairs(eltwise(value, "ADD"))
    for offset, product in shifts:
        negative = eltwise(_other_factor(product, factor), "NEG")
        if negative is not None:
            yield offset, negative.input(0)


def _other_factor(value: Value | None, factor: Value) -> Value | None:
    product = eltwise(value, "MUL")
    return None if product is None else other_operand(product, factor)
