# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Patterns of arithmetic, written as arithmetic.

    x = Any("x")
    gelu = 0.5 * x * (1 + call("ERF", x / math.sqrt(2)))

`find(gelu, value)` is the value called x if `value` is computed in this way: with
factors and summands in any order and grouping, divisions by a number in the place of
products, and numbers that are equal up to their rounding. Quotients and square roots
are factors with exponents of -1 and 1/2, so that `c / sqrt(v)`, `c * rsqrt(v)` and
`c * (1 / sqrt(v))` are one pattern. A name stands for one value wherever it is.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Optional, Union

from mace.python.tools.ir import Op, Value
from mace.python.tools.passes.match import eltwise, has_activation, scalar

# How far constants of float32 may be from those of a formula.
_CLOSE = 1e-5

Found = Mapping[str, Value]
_Number = Union[int, float]


class Pattern(ABC):
    """What a value may be computed from."""

    @abstractmethod
    def match(self, value: Value, found: Found) -> Iterator[Found]:
        """Every way in which the value is computed so, with what names stand for.

        Args:
            found: what they stand for already.
        """

    def __mul__(self, other: Union[Pattern, _Number]) -> Pattern:
        return _product(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Union[Pattern, _Number]) -> Pattern:
        if isinstance(other, Pattern):
            return _product(self, other**-1)
        return _product(self, 1 / other)

    def __rtruediv__(self, other: _Number) -> Pattern:
        return _product(self**-1, other)

    def __pow__(self, exponent: float) -> Pattern:
        return _Product(1.0, ((self, exponent),))

    def __add__(self, other: Union[Pattern, _Number]) -> Pattern:
        return _sum(self, other)

    __radd__ = __add__

    def __sub__(self, other: Union[Pattern, _Number]) -> Pattern:
        return _sum(self, -1 * other)

    def __rsub__(self, other: _Number) -> Pattern:
        return _sum(-1 * self, other)


def find(pattern: Pattern, value: Optional[Value]) -> Found | None:
    """What the names of a pattern stand for; None: the value is not computed so."""
    if value is None:
        return None
    return next(pattern.match(value, {}), None)


@dataclass(frozen=True)
class Any(Pattern):
    """Any value, the same one wherever the name is.

    Attributes:
        fits: whether it may be this one, given what is found already.
    """

    name: str
    fits: Callable[[Value, Found], bool] = lambda value, found: True

    def match(self, value: Value, found: Found) -> Iterator[Found]:
        known = found.get(self.name)
        if known is not None:
            if known is value:
                yield found
        elif self.fits(value, found):
            yield {**found, self.name: value}


@dataclass(frozen=True)
class _Named(Pattern):
    name: str
    pattern: Pattern

    def match(self, value: Value, found: Found) -> Iterator[Found]:
        known = found.get(self.name)
        if known is not None:
            if known is value:
                yield found
            return
        for each in self.pattern.match(value, found):
            yield {**each, self.name: value}


def named(name: str, pattern: Pattern) -> Pattern:
    """One value that is computed so, wherever the name is."""
    return _Named(name, pattern)


def number(name: str) -> Pattern:
    """A constant of one finite number."""
    return Any(name, lambda value, found: scalar(value) is not None)


@dataclass(frozen=True)
class _Call(Pattern):
    find: Callable[[Value], Optional[Op]]
    operands: tuple[Pattern, ...]

    def match(self, value: Value, found: Found) -> Iterator[Found]:
        op = self.find(value)
        if op is not None:
            yield from _all(op.inputs, self.operands, found)


def _all(
    values: Sequence[Value | None], patterns: Sequence[Pattern], found: Found
) -> Iterator[Found]:
    if not patterns:
        yield found
    elif values and values[0] is not None:
        for each in patterns[0].match(values[0], found):
            yield from _all(values[1:], patterns[1:], each)


def call(mode: str, *operands: Pattern) -> Pattern:
    """An Eltwise of a mode."""
    return _Call(lambda value: eltwise(value, mode), operands)


def operator(test: Callable[[Op], bool], *operands: Pattern) -> Pattern:
    """An operator with these first operands."""

    def find(value: Value) -> Op | None:
        op = value.producer
        return op if op is not None and test(op) else None

    return _Call(find, operands)


def activation(kind: str, x: Pattern, **attrs: float) -> Pattern:
    """An activation; `attrs`: as `activation_limit`, up to their rounding."""

    def test(op: Op) -> bool:
        return (
            op.type == "Activation"
            and op.attr("activation") == kind
            and all(_close(op.attr(name), wanted) for name, wanted in attrs.items())
        )

    return operator(test, x)


@dataclass(frozen=True)
class _Either(Pattern):
    patterns: tuple[Pattern, ...]

    def match(self, value: Value, found: Found) -> Iterator[Found]:
        for pattern in self.patterns:
            yield from pattern.match(value, found)


def either(*patterns: Pattern) -> Pattern:
    """One of several."""
    return _Either(patterns)


@dataclass(frozen=True)
class _Product(Pattern):
    """A number times values with exponents."""

    factor: float
    items: tuple[tuple[Pattern, float], ...]

    def match(self, value: Value, found: Found) -> Iterator[Found]:
        if not _is_arithmetic(value):
            return
        for factor, each in _factors(value, 1.0, self.items, found):
            if _close(factor, self.factor):
                yield each


@dataclass(frozen=True)
class _Sum(Pattern):
    """A number plus values, each times 1 or -1."""

    addend: float
    items: tuple[tuple[Pattern, float], ...]

    def match(self, value: Value, found: Found) -> Iterator[Found]:
        if not _is_arithmetic(value):
            return
        for addend, each in _summands(value, 1.0, self.items, found):
            if _close(addend, self.addend):
                yield each


def _product(a: Union[Pattern, _Number], b: Union[Pattern, _Number]) -> Pattern:
    factor, items = 1.0, list[tuple[Pattern, float]]()
    for operand in (a, b):
        if isinstance(operand, _Product):
            factor *= operand.factor
            items += operand.items
        elif isinstance(operand, Pattern):
            items.append((operand, 1.0))
        else:
            factor *= operand
    return _Product(factor, tuple(items))


def _sum(a: Union[Pattern, _Number], b: Union[Pattern, _Number]) -> Pattern:
    addend, items = 0.0, list[tuple[Pattern, float]]()
    for operand in (a, b):
        if isinstance(operand, _Sum):
            addend += operand.addend
            items += operand.items
        elif isinstance(operand, _Product) and operand.factor == -1:
            items.append((_Product(1.0, operand.items), -1.0))
        elif isinstance(operand, Pattern):
            items.append((operand, 1.0))
        else:
            addend += operand
    single = [
        (p.items[0][0] if isinstance(p, _Product) and _is_plain(p) else p, sign)
        for p, sign in items
    ]
    return _Sum(addend, tuple(single))


def _is_plain(product: _Product) -> bool:
    """Whether it is its only item."""
    return product.factor == 1 and [e for _, e in product.items] == [1.0]


_Items = Sequence["tuple[Pattern, float]"]


def _factors(
    value: Value, power: float, items: _Items, found: Found
) -> Iterator[tuple[float, Found]]:
    """Ways in which value ** power is a number times the items, with the number."""
    if not items:
        known = scalar(value)
        if known is not None and (known > 0 or (power in (1, -1) and known)):
            yield known**power, found
        return
    op = _arithmetic(value)
    if op is not None:
        mode, a, b = op.attr("mode"), op.input(0), op.get_input(1)
        if mode in ("MUL", "DIV") and b is not None:
            sign = 1 if mode == "MUL" else -1
            for first, second in _splits(items):
                for x, each in _factors(a, power, first, found):
                    for y, both in _factors(b, sign * power, second, each):
                        yield x * y, both
        elif mode in _ROOTS:
            yield from _factors(a, power * _ROOTS[mode], items, found)
        elif mode == "NEG" and power in (1, -1):
            for x, each in _factors(a, power, items, found):
                yield -x, each
    if len(items) == 1 and items[0][1] == power:
        for each in items[0][0].match(value, found):
            yield 1.0, each


_ROOTS = {"SQRT": 0.5, "RSQRT": -0.5, "RECIPROCAL": -1.0}


def _summands(
    value: Value, sign: float, items: _Items, found: Found
) -> Iterator[tuple[float, Found]]:
    """Ways in which the value, times its sign, is a number plus the items."""
    if not items:
        known = scalar(value)
        if known is not None:
            yield sign * known, found
        return
    op = _arithmetic(value)
    if op is not None:
        mode, a, b = op.attr("mode"), op.input(0), op.get_input(1)
        if mode in ("ADD", "SUB") and b is not None:
            second_sign = sign if mode == "ADD" else -sign
            for first, second in _splits(items):
                for x, each in _summands(a, sign, first, found):
                    for y, both in _summands(b, second_sign, second, each):
                        yield x + y, both
        elif mode == "NEG":
            yield from _summands(a, -sign, items, found)
    if len(items) == 1:
        pattern, wanted = items[0]
        pattern = pattern if wanted == sign else _product(-1, pattern)
        for each in pattern.match(value, found):
            yield 0.0, each


def _splits(items: _Items) -> Iterator[tuple[_Items, _Items]]:
    """All ways to give each item to one of two operands."""
    for bits in range(1 << len(items)):
        yield (
            [item for i, item in enumerate(items) if bits >> i & 1],
            [item for i, item in enumerate(items) if not bits >> i & 1],
        )


def _arithmetic(value: Value) -> Op | None:
    """The Eltwise that makes a value, and ends in no activation."""
    op = value.producer
    if op is None or op.type != "Eltwise" or has_activation(op):
        return None
    return op


def _is_arithmetic(value: Value) -> bool:
    return _arithmetic(value) is not None


def _close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=_CLOSE, abs_tol=0.0)
