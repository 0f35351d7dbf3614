# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on dimensions, some of which only the run knows.

A dimension is a number, a symbol or a formula of symbols, such as `past+new` or
`2*height`. A formula is a polynomial with whole coefficients, written in one way only:
two dimensions that are equal as text are equal in every run. What no polynomial can
express (a quotient that leaves a rest, the larger of two) is a symbol of its own whose
text says how it is computed. None is a dimension of which nothing is known.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping
from typing import Optional, Union

Dim = Optional[Union[int, str]]

_Monomial = tuple[str, ...]
_Terms = dict[_Monomial, int]

# A formula with more is not followed.
_MOST_TERMS = 16
# Nor one that takes more to write.
_LONGEST = 200


class Formula(str):
    """A polynomial that is more than a symbol.

    Attributes:
        terms: coefficients by factors; those without factors are a number.
    """

    terms: Mapping[_Monomial, int]


class Part(str):
    """A symbol that stands for a computation.

    Attributes:
        least: the smallest number that it can be; None: not known.
        limited: the dimension of which it is the smaller one or the limit.
    """

    least: int | None
    limited: Dim


def formula(symbols: Container[str], text: str) -> Dim:
    """The dimension that a framework wrote as a sum or a difference of products; one
    symbol if it is something else.

    Args:
        symbols: that the model uses alone.
        text: as the framework wrote it.
    """
    total: Dim = 0
    for term in text.replace(" ", "").replace("-", "+-").removeprefix("+").split("+"):
        product: Dim = -1 if term.startswith("-") else 1
        for factor in term.removeprefix("-").split("*"):
            if factor not in symbols and not factor.isdecimal():
                return text
            product = multiply(product, int(factor) if factor.isdecimal() else factor)
        total = add(total, product)
    return total


def symbols_of(dim: Dim) -> frozenset[str]:
    """The symbols of a dimension: a run that knows them knows it."""
    if dim is None or isinstance(dim, int):
        return frozenset()
    return frozenset(factor for factors in _terms(dim) for factor in factors)


def value_of(dim: Dim, numbers: Mapping[str, int]) -> int:
    """The number that a dimension is where its symbols are these numbers."""
    assert dim is not None
    terms = _terms(dim)
    return sum(n * math.prod(numbers[f] for f in fs) for fs, n in terms.items())


def add(a: Dim, b: Dim) -> Dim:
    """a + b."""
    return _sum(a, b, 1)


def subtract(a: Dim, b: Dim) -> Dim:
    """a - b, which may be negative."""
    return _sum(a, b, -1)


def multiply(a: Dim, b: Dim) -> Dim:
    """a * b."""
    if a is None or b is None:
        return 0 if a == 0 or b == 0 else None
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    terms: _Terms = {}
    for left, x in _terms(a).items():
        for right, y in _terms(b).items():
            factors = tuple(sorted((*left, *right)))
            terms[factors] = terms.get(factors, 0) + x * y
    return _dim(terms)


def product_of(dims: Iterable[Dim]) -> Dim:
    """All of them multiplied."""
    result: Dim = 1
    for dim in dims:
        result = multiply(result, dim)
    return result


def divide_exactly(a: Dim, b: Dim) -> Dim:
    """The dimension that makes `a` when it is multiplied by `b`; None if it is not
    known. `b` is not 0 in any run.
    """
    if a is None or b is None or b == 0:
        return None
    rest, divisor = _terms(a), _terms(b)
    lead = max(divisor, key=_order)
    quotient: _Terms = {}
    while rest:
        first = max(rest, key=_order)
        factors = _without(first, lead)
        if factors is None or rest[first] % divisor[lead] or len(rest) > _MOST_TERMS:
            return None
        times = rest[first] // divisor[lead]
        quotient[factors] = times
        for other, coefficient in divisor.items():
            place = tuple(sorted((*factors, *other)))
            rest[place] = rest.get(place, 0) - times * coefficient
            if rest[place] == 0:
                del rest[place]
    return _dim(quotient)


def floor_divide(a: Dim, b: Dim) -> Dim:
    """a / b, rounded down."""
    if a is None or b is None or b == 0:
        return None
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    exact = divide_exactly(a, b) if isinstance(b, int) or (least(b) or 0) > 0 else None
    if exact is not None:
        return exact
    if not isinstance(b, int):
        return _part(f"floor({_inner(a)}/({b}))", _if_not_negative(a, b))
    whole = {f: n // b for f, n in _terms(a).items()}
    rest = _dim({f: n % b for f, n in _terms(a).items()})
    if b < 0 or rest is None:
        return None
    if isinstance(rest, int):
        return add(_dim(whole), rest // b)
    part = _part(f"floor({_inner(rest)}/{b})", _if_not_negative(rest, b))
    return add(_dim(whole), part)


def ceil_divide(a: Dim, b: int) -> Dim:
    """a / b, rounded up."""
    return floor_divide(add(a, b - 1), b)


def modulo(a: Dim, b: Dim) -> Dim:
    """What a floor division leaves."""
    return subtract(a, multiply(floor_divide(a, b), b))


def maximum(a: Dim, b: Dim) -> Dim:
    """The larger one."""
    if a is None or b is None:
        return None
    if at_least(a, b):
        return a
    if at_least(b, a):
        return b
    bounds = [bound for bound in (least(a), least(b)) if bound is not None]
    return _part(_call("max", a, b), max(bounds, default=None))


def minimum(a: Dim, b: Dim) -> Dim:
    """The smaller one."""
    if a is None or b is None:
        return None
    if at_least(a, b):
        return b
    if at_least(b, a):
        return a
    low, high = least(a), least(b)
    bound = None if low is None or high is None else min(low, high)
    result = _part(_call("min", a, b), bound)
    if isinstance(result, Part):
        for one, other in ((a, b), (b, a)):
            if (least(other) or 0) > 1:
                result.limited = one
    return result


def either(a: Dim, b: Dim) -> Dim:
    """What two dimensions broadcast to: the other one if one of them is 1."""
    if a is None or b is None:
        return None
    if a == 1 or a == b:
        return b
    if b == 1:
        return a
    # If one is above 1, the other must be equal to it or 1.
    for one in (a, b):
        if (least(one) or 0) > 1:
            return one
    # The other one and a limit above 1: they are equal, or do not fit.
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Part) and one.limited == other:
            return other
    return _part(_call("broadcast", a, b), 0)


def least(dim: Dim) -> int | None:
    """The smallest number that it can be, as far as is known: dimensions are not
    negative.
    """
    if dim is None or isinstance(dim, int):
        return dim
    total = 0
    for factors, coefficient in _terms(dim).items():
        if coefficient < 0 and factors:
            return None
        bound = coefficient
        for factor in factors:
            low = factor.least if isinstance(factor, Part) else 0
            if low is None or low < 0:
                return None
            bound *= low
        total += bound
    return total


def at_least(a: Dim, b: Dim) -> bool:
    """Whether a >= b in every run, as far as is known."""
    if a is None or b is None:
        return False
    difference = least(subtract(a, b))
    return difference is not None and difference >= 0


def never_equal(a: Dim, b: Dim) -> bool:
    """Whether two dimensions differ in every run."""
    if a is None or b is None:
        return False
    return at_least(a, add(b, 1)) or at_least(b, add(a, 1))


def _sum(a: Dim, b: Dim, sign: int) -> Dim:
    if a is None or b is None:
        return None
    if isinstance(a, int) and isinstance(b, int):
        return a + sign * b
    terms = _terms(a)
    for factors, coefficient in _terms(b).items():
        terms[factors] = terms.get(factors, 0) + sign * coefficient
    return _dim(terms)


def _terms(dim: int | str) -> _Terms:
    if isinstance(dim, int):
        return {(): int(dim)} if dim else {}
    return dict(dim.terms) if isinstance(dim, Formula) else {(dim,): 1}


def _dim(terms: _Terms) -> Dim:
    terms = {factors: n for factors, n in terms.items() if n}
    if set(terms) <= {()}:
        return terms.get((), 0)
    if len(terms) > _MOST_TERMS:
        return None
    (factors, number), *others = terms.items()
    if not others and number == 1 and len(factors) == 1:
        return factors[0]
    text = ""
    # The number comes last, and products of more factors first.
    for factors in sorted(terms, key=lambda f: (-len(f), f)):
        number = terms[factors]
        size = [] if abs(number) == 1 and factors else [str(abs(number))]
        text += ("-" if number < 0 else "+") + "*".join([*size, *factors])
    if len(text) > _LONGEST:
        return None
    result = Formula(text.removeprefix("+"))
    result.terms = terms
    return result


def _order(factors: _Monomial) -> tuple[int, _Monomial]:
    # An order that products keep, so that leading terms divide.
    return (len(factors), factors)


def _without(factors: _Monomial, removed: _Monomial) -> _Monomial | None:
    rest = list(factors)
    for factor in removed:
        if factor not in rest:
            return None
        rest.remove(factor)
    return tuple(rest)


def computed(name: str, of: Iterable[Dim]) -> Dim:
    """A number that a function of others gives, of which nothing else is known."""
    texts = []
    for dim in of:
        if dim is None:
            return None
        texts.append(str(dim))
    return _part(f"{name}({','.join(texts)})", None)


def _part(text: str, bound: int | None) -> Dim:
    if len(text) > _LONGEST:
        return None
    result = Part(text)
    result.least, result.limited = bound, None
    return result


def _if_not_negative(a: Dim, b: Dim) -> int | None:
    return 0 if at_least(a, 0) and at_least(b, 0) else None


def _inner(dim: Dim) -> str:
    return f"({dim})" if isinstance(dim, Formula) else str(dim)


def _call(name: str, a: int | str, b: int | str) -> str:
    return f"{name}({','.join(sorted((str(a), str(b))))})"
