# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic that changes nothing, and arithmetic that only seems to."""

from __future__ import annotations

import numpy as np
import pytest

from mace.python.tools.ir import DataType, Graph, GraphBuilder
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.passes.manager import choose
from mace.python.tools.passes.testing import rewrite, types

_SHAPE = (2, 3, 4)


def _rewrite(
    mode: str,
    constant: Array,
    first: bool = False,
    activation: str = "NONE",
    shape: tuple[int, ...] = _SHAPE,
) -> Graph:
    def build(b: GraphBuilder, rng: np.random.Generator) -> None:
        dtype = DataType.of(constant.dtype)
        x = b.one("Eltwise", [b.input("x", dtype, shape)], None, {"mode": "ABS"}, "x")
        other = b.constant("k", constant)
        operands = [other, x] if first else [x, other]
        attrs = {"mode": mode, "activation": activation}
        b.output(b.one("Eltwise", operands, None, attrs, "y"), "y")

    return rewrite(build, choose(["remove_neutral"]))


def _of(number: float, *shape: int) -> Array:
    return np.full(shape, number, np.float32)


@pytest.mark.parametrize(
    ("mode", "number"), [("MUL", 1), ("DIV", 1), ("POW", 1), ("ADD", 0), ("SUB", 0)]
)
@pytest.mark.parametrize("shape", [(), (1,), (4,), (1, 3, 4), _SHAPE])
def test_is_removed(mode: str, number: float, shape: tuple[int, ...]) -> None:
    assert types(_rewrite(mode, _of(number, *shape))) == {"Eltwise": 1}


@pytest.mark.parametrize(("mode", "number"), [("MUL", 1), ("ADD", 0)])
def test_the_constant_may_come_first(mode: str, number: float) -> None:
    assert types(_rewrite(mode, _of(number), first=True)) == {"Eltwise": 1}
    integer = np.asarray(number, np.int32)
    assert types(_rewrite(mode, integer, first=True)) == {"Eltwise": 1}


@pytest.mark.parametrize("mode", ["SUB", "DIV", "POW"])
def test_the_first_operand_of_others_stays(mode: str) -> None:
    number = 0 if mode == "SUB" else 1
    assert types(_rewrite(mode, _of(number), first=True)) == {"Eltwise": 2}


def test_what_changes_something_stays() -> None:
    ones = _of(1, 4)
    ones[2] = 1.001
    for graph in (
        _rewrite("MUL", ones),
        _rewrite("MUL", _of(0)),
        _rewrite("ADD", _of(1)),
        _rewrite("MAX", _of(0)),
        # It widens its result.
        _rewrite("MUL", _of(1, 4), shape=(2, 3, 1)),
        _rewrite("ADD", _of(0, 1, 1, 1, 1)),
        _rewrite("MUL", _of(1), activation="RELU"),
    ):
        assert types(graph) == {"Eltwise": 2}
