# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Shapes with unknown dimensions, and inference against the reference."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mace.python.tools.catalogue import default_catalogue
from mace.python.tools.ir import DataType, GraphBuilder, ShapeError, dims
from mace.python.tools.ir.dims import Dim
from mace.python.tools.ir.evaluate import evaluate_op
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.shapes import broadcast, compatible, same_shape

_DIMS = st.lists(st.sampled_from([1, 2, 3, "n", "m", None]), max_size=4)


def test_every_operator_has_its_rules_in_its_room() -> None:
    for op_type, room in default_catalogue().rooms.items():
        assert type(rules_of(op_type)).__module__ == f"mace.ops.{room}.{room}"


@given(_DIMS, _DIMS)
def test_broadcast_is_numpys_where_all_is_known(a: list[Any], b: list[Any]) -> None:
    known = all(isinstance(dim, int) for dim in a + b)
    try:
        result = broadcast(tuple(a), tuple(b))
    except ValueError:
        if known:
            with pytest.raises(ValueError, match="shape"):
                np.broadcast_shapes(tuple(a), tuple(b))
        return
    if known:
        assert result == np.broadcast_shapes(tuple(a), tuple(b))
    assert compatible(result, broadcast(tuple(b), tuple(a)))


def test_unknown_is_not_equal_to_unknown() -> None:
    assert not same_shape((None,), (None,))
    assert same_shape(("n", 2), ("n", 2))
    assert compatible(("n", 2), (None, 2))
    assert not compatible((3, 2), (4, 2))


def _window(padding: str, **more: Any) -> dict[str, Any]:
    return {"padding": padding, "strides": [2, 3], "dilations": [2, 1], **more}


# Operator, input shapes, attributes, constant inputs.
_CASES: list[tuple[str, list[Any], dict[str, Any], int]] = [
    *[
        ("Conv2D", [(2, 9, 8, 4), (6, 3, 2, 2), (6,)], _window(p, groups=2), 1)
        for p in ("VALID", "SAME", "SAME_LOWER")
    ],
    ("Conv2D", [(1, 9, 8, 4), (3, 3, 3, 4)], _window("EXPLICIT", pads=[1, 0, 2, 3]), 1),
    ("DepthwiseConv2d", [(2, 9, 8, 4), (3, 2, 4, 3)], _window("SAME"), 1),
    *[
        (
            kind,
            [(2, 5, 6, 4), filters],
            {"strides": [2, 3], "pads": [1, 0, 2, 1], "output_padding": [0, 2]},
            1,
        )
        for kind, filters in (
            ("Deconv2D", (6, 3, 4, 4)),
            ("DepthwiseDeconv2d", (3, 2, 4, 3)),
        )
    ],
    *[
        (
            "Pooling",
            [(2, 9, 8, 4)],
            _window("EXPLICIT", pads=[1, 1, 1, 1], kernels=[3, 2], ceil_mode=c, mode=m),
            1,
        )
        for c in (False, True)
        for m in ("MAX", "AVG")
    ],
    ("FullyConnected", [(2, 3, 5), (7, 5), (7,)], {}, 1),
    (
        "MatMul",
        [(2, 1, 3, 4), (5, 6, 3)],
        {"transpose_a": True, "transpose_b": True},
        9,
    ),
    ("Reshape", [(2, 3, 4)], {"shape": [0, -1, 2]}, 9),
    ("Reduce", [(2, 3, 4)], {"mode": "L2", "axes": [-1, 0], "keep_dims": False}, 9),
    ("Split", [(2, 7)], {"axis": 1, "sizes": [3, 4]}, 9),
    (
        "StridedSlice",
        [(5, 6, 1)],
        {
            "axes": [0, 1, 2],
            "begins": [-1, 1, 0],
            "ends": [-9, 99, 1],
            "strides": [-2, 2, 1],
            "shrink_axes": [2],
        },
        9,
    ),
    ("Gather", [(4, 3, 2)], {"axis": 1}, 9),
    ("Stack", [(2, 3), (2, 3)], {"axis": -1}, 9),
    ("ExpandDims", [(2, 3)], {"axes": [0, -1]}, 9),
    ("Squeeze", [(1, 2, 1)], {}, 9),
    ("Pad", [(2, 3)], {"pads": [1, 2, 0, 3], "mode": "EDGE"}, 9),
    *[
        (op_type, [(1, 4, 6, 8)], {"block": 2, "order": order}, 9)
        for op_type in ("DepthToSpace", "SpaceToDepth")
        for order in ("DCR", "CRD")
    ],
    ("ArgMax", [(2, 3, 4)], {"axis": -2, "last": True}, 9),
    *[
        ("Resize", [(1, 6, 10, 2)], {"mode": mode, **attrs}, 9)
        for mode in ("NEAREST", "LINEAR", "CUBIC")
        for attrs in (
            {"size": [9, 4]},
            {"scales": [0.7, 0.7]},
            {"size": [4, 7], "scales": [0.7, 0.7], "antialias": True},
        )
    ],
    (
        "LocalResponseNorm",
        [(1, 2, 3, 8)],
        {"before": 2, "after": 1, "alpha": 0.1, "beta": 0.75},
        9,
    ),
]


@pytest.mark.parametrize(("op_type", "shapes", "attrs", "first_constant"), _CASES)
def test_inferred_shape_is_that_of_the_result(
    op_type: str,
    shapes: list[tuple[int, ...]],
    attrs: dict[str, Any],
    first_constant: int,
) -> None:
    rng = np.random.default_rng(0)
    builder = GraphBuilder("test", "test")
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    if op_type == "Gather":
        arrays.append(np.array([[0, 2], [1, -1]], np.int32))
    values = [
        builder.constant(f"c{i}", array)
        if i >= first_constant
        else builder.input(f"x{i}", DataType.of(array.dtype), array.shape)
        for i, array in enumerate(arrays)
    ]
    names = ["a", "b"] if op_type == "Split" else ["a"]
    outputs = builder.op(op_type, values, names, attrs)
    op = outputs[0].producer
    assert op is not None
    for value, array in zip(outputs, evaluate_op(op, arrays)):
        assert value.shape == array.shape
        assert np.isfinite(array).all()


@pytest.mark.parametrize(
    ("op_type", "shapes", "attrs", "reason"),
    [
        ("Conv2D", [(1, 9, 8, 5), (6, 3, 2, 2)], {"groups": 2}, "needs 4"),
        ("Pooling", [(1, 2, 8, 5)], {"kernels": [3, 3]}, "larger than the padded"),
        ("MatMul", [(2, 3), (4, 5)], {}, "do not chain"),
        ("Reshape", [(2, 3)], {"shape": [4, 2]}, "6 elements do not fill"),
        ("Reshape", [(2, 3)], {"shape": [-1, 4]}, "no multiple of 4"),
        ("Concat", [(2, 3), (3, 4)], {"axis": 1}, "does not fit the first"),
        ("Softmax", [(2, 3)], {"axis": 2}, "axis 2 is outside a rank of 2"),
        ("Split", [(2, 7)], {"axis": 1, "sizes": [3, 3]}, "do not cut"),
        ("Eltwise", [(2, 3), (2, 4)], {"mode": "ADD"}, "differ"),
    ],
)
def test_shapes_that_do_not_fit_are_explained(
    op_type: str, shapes: list[tuple[int, ...]], attrs: dict[str, Any], reason: str
) -> None:
    builder = GraphBuilder("test", "test")
    values = [
        builder.constant("c", np.ones(shape, np.float32))
        if i and op_type == "Conv2D"
        else builder.input(f"x{i}", DataType.FLOAT32, shape)
        for i, shape in enumerate(shapes)
    ]
    with pytest.raises(ShapeError, match=reason):
        builder.op(op_type, values, ["y"], attrs, "named")


def test_symbol_survives_a_flattening() -> None:
    builder = GraphBuilder("test", "test")
    x = builder.input("x", DataType.FLOAT32, (None, 2, 3))
    assert builder.one("Reshape", [x], None, {"shape": [-1, 6]}).shape == ("x:0", 6)
    assert builder.one("Reshape", [x], None, {"shape": [0, -1]}).shape == ("x:0", 6)
    assert builder.one("Reshape", [x], None, {"shape": [-1]}).shape == ("6*x:0",)


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
    assert dims.formula(symbols, "9 - past") == dims.subtract(9, "past")
    assert dims.formula(symbols, "-past + new") == dims.subtract("new", "past")
    assert dims.formula(symbols, "past-length") == "past-length"
    assert dims.formula(symbols, "new//2") == "new//2"
    assert dims.formula(symbols, "past_length") == "past_length"


def test_formulas_do_not_grow_without_end() -> None:
    dim: Dim = "n"
    for name in "abcdefghijklmnopqrs":
        dim = dims.multiply(dim, dims.add(name, 1))
    assert dim is None
