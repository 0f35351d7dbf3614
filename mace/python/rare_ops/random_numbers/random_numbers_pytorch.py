# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Random numbers, which each run draws. They are not those of PyTorch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mace.python.tools.importers.emit import random_numbers
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.pytorch.context import HANDLERS, Context
from mace.python.tools.importers.standard.operators import Size
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_FLOAT = DataType.FLOAT32


def _drawn(c: Context, sizes: Sequence[Size], normal: bool) -> Value:
    """Numbers in [0, 1), or of the standard normal distribution."""
    shape = c.lengths.listed(sizes)
    seed = random_numbers.seed_of(c.label, None)
    # A tensor without dimensions is one of one element.
    if not sizes:
        shape = c.constant(np.array([1]))
    drawn = random_numbers.draw(c.builder, c.label, normal, shape, seed)
    return drawn if sizes else c.reshape(drawn, [])


def _shifted(
    c: Context, x: Value, factor: float | Value, offset: float | Value
) -> Value:
    for op_type, number, neutral in (("Mul", factor, 1.0), ("Add", offset, 0.0)):
        if isinstance(number, Value) or number != neutral:
            operand = number
            if not isinstance(operand, Value):
                operand = c.constant(operand, _FLOAT)
            x = c.op(op_type, x, operand)
    return x


@HANDLERS.register("aten.rand", "aten.randn", "aten.rand_like", "aten.randn_like")
def _random(c: Context) -> None:
    c.dtype()
    like = c.operator.endswith("_like")
    sizes = c.sizes_of(c.value("self")) if like else c.sizes("size")
    c.give(_drawn(c, sizes, c.operator.startswith("randn")))


@HANDLERS.register("aten.uniform", "aten.normal", "aten.normal_functional")
def _distributed(c: Context) -> None:
    names = ("from", "to") if c.operator == "uniform" else ("mean", "std")
    a, b = (
        c.floats(name) if c.is_tensor(name) else c.number(name, default)
        for name, default in zip(names, (0.0, 1.0))
    )
    c.dtype()
    if c.has("self"):
        sizes = c.sizes_of(c.value("self"))
    elif c.has("size"):
        sizes = c.sizes("size")
    else:
        values = [value for value in (a, b) if isinstance(value, Value)]
        if len(values) == 2:
            total = c.op("Add", *values)
            sizes = c.sizes_of(total)
        else:
            sizes = c.sizes_of(values[0])
    drawn = _drawn(c, sizes, c.operator != "uniform")
    if c.operator == "uniform":
        assert isinstance(a, float) and isinstance(b, float)
        c.give(_shifted(c, drawn, b - a, a))
    else:
        c.give(_shifted(c, drawn, b, a))


@HANDLERS.register("aten.randint", "aten.randint_like")
def _integers(c: Context) -> None:
    low, high = c.integer("low", 0), c.integer("high")
    if not 0 < high - low <= 1 << 24:
        raise UnsupportedNodeError(f"numbers from {low} to {high}")
    like = c.operator.endswith("_like")
    sizes = c.sizes_of(c.value("self")) if like else c.sizes("size")
    drawn = _drawn(c, sizes, False)
    whole = c.op("Floor", c.op("Mul", drawn, c.constant(float(high - low), _FLOAT)))
    result = c.op("Add", whole, c.constant(float(low), _FLOAT))
    c.give(c.cast(result, c.type_of_result()))


@HANDLERS.register("aten.bernoulli")
def _bernoulli(c: Context) -> None:
    x = c.value("self")
    chance = c.constant(c.number("p"), _FLOAT) if c.has("p") else c.cast(x, _FLOAT)
    drawn = _drawn(c, c.sizes_of(x), False)
    c.give(c.cast(c.op("Less", drawn, chance), c.type_of_result()))


@HANDLERS.register("aten.randperm")
def _permutation(c: Context) -> None:
    count = c.integer("n")
    drawn = _drawn(c, [count], False)
    _, order = c.op_all("TopK", [drawn, np.array([count])], 2, axis=0)
    c.give(c.cast(order, c.type_of_result()))


@HANDLERS.register("aten.multinomial")
def _multinomial(c: Context) -> None:
    x = c.floats()
    count, classes = c.integer("num_samples"), c.length(x, -1)
    rank = c.rank(x)
    lead = c.sizes_of(x)[:-1]
    if not c.flag("replacement") and count > 1:
        # The classes with the largest log(chance) plus a number of Gumbel's
        # distribution are a sample without replacement.
        uniform = _drawn(c, [*lead, classes], False)
        least = c.constant(float(np.finfo(np.float32).tiny), _FLOAT)
        inner = c.op("Neg", c.op("Log", c.op("Max", uniform, least)))
        keys = c.op("Div", inner, x)
        _, found = c.op_all(
            "TopK", [keys, np.array([count])], 2, axis=rank - 1, largest=0
        )
        c.give(found)
        return
    sums = c.op("CumSum", x, c.constant(rank - 1))
    total = c.slice(sums, rank - 1, classes - 1, classes)
    drawn = _drawn(c, [*lead, count], False)
    drawn = c.unsqueeze(c.op("Mul", drawn, total), rank)
    # Without the last sum, which no number reaches.
    below = c.unsqueeze(c.slice(sums, rank - 1, 0, classes - 1), rank - 1)
    reached = c.cast(c.op("LessOrEqual", below, drawn), _FLOAT)
    places = c.op("ReduceSum", reached, [rank], keepdims=0)
    c.give(c.cast(places, DataType.INT32))
