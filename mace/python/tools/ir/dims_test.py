# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Formulas of dimensions, compared with the numbers that they stand for."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from mace.python.tools.ir import dims
from mace.python.tools.ir.dims import Dim

_SYMBOLS = ("batch", "past", "new")
_NAMES = {
    "floor": math.floor,
    "min": min,
    "max": max,
    "broadcast": lambda a, b: b if a == 1 else a,
}


def _value(dim: Dim, lengths: dict[str, int]) -> int:
    """The number that a dimension's text says."""
    assert dim is not None
    return int(eval(str(dim), {**_NAMES, **lengths}))


_Number = Callable[[dict[str, int]], int]


def _random(rng: random.Random, depth: int) -> tuple[Dim, _Number]:
    """A dimension made by the functions, and the same computed in numbers."""
    if depth == 0 or rng.random() < 0.2:
        if rng.random() < 0.5:
            number = rng.randint(0, 4)
            return number, lambda _: number
        name = rng.choice(_SYMBOLS)
        return name, lambda lengths: lengths[name]
    (a, left), (b, right) = _random(rng, depth - 1), _random(rng, depth - 1)
    number = rng.randint(1, 4)
    made: list[tuple[Dim, _Number]] = [
        (dims.add(a, b), lambda x: left(x) + right(x)),
        (dims.subtract(a, b), lambda x: left(x) - right(x)),
        (dims.multiply(a, b), lambda x: left(x) * right(x)),
        (dims.floor_divide(a, number), lambda x: left(x) // number),
        (dims.ceil_divide(a, number), lambda x: -(-left(x) // number)),
        (dims.modulo(a, number), lambda x: left(x) % number),
        (dims.maximum(a, b), lambda x: max(left(x), right(x))),
        (dims.minimum(a, b), lambda x: min(left(x), right(x))),
    ]
    return rng.choice(made)


def test_formulas_are_the_numbers_that_they_say() -> None:
    rng = random.Random(3)
    checked = 0
    for _ in range(500):
        dim, number = _random(rng, 4)
        if dim is None:
            continue  # too long to follow
        for _ in range(3):
            lengths = {name: rng.randint(0, 9) for name in _SYMBOLS}
            assert _value(dim, lengths) == number(lengths), dim
            least = dims.least(dim)
            assert least is None or least <= number(lengths), dim
            checked += 1
    assert checked > 1000


def test_comparisons_hold_in_every_run() -> None:
    rng = random.Random(4)
    known = 0
    for _ in range(500):
        (a, left), (b, right) = _random(rng, 3), _random(rng, 3)
        lengths = {name: rng.randint(0, 9) for name in _SYMBOLS}
        if dims.at_least(a, b):
            known += 1
            assert left(lengths) >= right(lengths), (a, b)
        if dims.never_equal(a, b):
            assert left(lengths) != right(lengths), (a, b)
        if a is not None and a == b:
            assert left(lengths) == right(lengths), (a, b)
    assert known > 50


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (dims.add("past", "new"), "new+past"),
        (dims.subtract(dims.add("past", "new"), "new"), "past"),
        (dims.multiply(dims.add("a", "b"), dims.add("a", "b")), "a*a+2*a*b+b*b"),
        (dims.divide_exactly(dims.multiply(6, "n"), 3), "2*n"),
        (dims.floor_divide(dims.add(dims.multiply(4, "n"), 5), 2), "2*n+2"),
        (dims.floor_divide(dims.add("n", 1), 2), "floor((n+1)/2)"),
        (dims.minimum(dims.add("n", 2), "n"), "n"),
        (dims.maximum("n", 512), "max(512,n)"),
        (dims.either("n", dims.minimum(512, "n")), "n"),
        (dims.either(dims.add("n", 2), "m"), "n+2"),
        (dims.either("n", 1), "n"),
        (dims.either("n", "m"), "broadcast(m,n)"),
    ],
)
def test_the_text_of_formulas(made: Dim, text: str) -> None:
    assert str(made) == text


def test_exact_division_by_a_formula() -> None:
    total = dims.add("past", "new")
    many = dims.product_of([total, "batch", 12])
    quotient = dims.divide_exactly(many, dims.multiply(4, total))
    assert quotient == dims.multiply(3, "batch")
    assert dims.divide_exactly(many, dims.add(total, 1)) is None
    assert dims.divide_exactly("n", 2) is None


def test_what_frameworks_write_as_sums() -> None:
    symbols = ("past", "new")
    assert dims.formula(symbols, "past + new") == dims.add("new", "past")
    assert dims.formula(symbols, "2*past+1") == dims.add(dims.multiply(2, "past"), 1)
    assert dims.formula(symbols, "new//2") == "new//2"
    assert dims.formula(symbols, "past_length") == "past_length"


def test_formulas_do_not_grow_without_end() -> None:
    dim: Dim = "n"
    for name in "abcdefghijklmnopqrs":
        dim = dims.multiply(dim, dims.add(name, 1))
    assert dim is None
