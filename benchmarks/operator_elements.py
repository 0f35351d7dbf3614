# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Cases of `operators.py` that move or choose elements, or change their type."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper

from benchmarks.operator_case import (
    Case,
    Shape,
    floats,
    ints,
    one,
    tensors,
    then_cast,
)

_TABLE = (300, 900)

_CASTS = (
    ("float32", "int32"),
    ("float32", "int64"),
    ("float32", "uint8"),
    ("float32", "int8"),
    ("float32", "bool"),
    ("int32", "float32"),
    ("int64", "float32"),
    ("uint8", "float32"),
    ("int8", "float32"),
    ("bool", "float32"),
    ("int32", "int64"),
    ("int64", "int32"),
    ("int32", "bool"),
    ("bool", "int32"),
    ("uint8", "int32"),
    ("int32", "uint8"),
)


def _casts() -> list[Case]:
    cases = []
    for source, target in _CASTS:
        unsigned = "uint8" in (source, target) or "bool" in (source, target)
        case = one(
            f"cast of {source} to {target}",
            "Cast",
            (200000,),
            range=(0, 100) if unsigned else (-100, 100),
            types={"a": source, "y": target},
            to=helper.np_dtype_to_tensor_dtype(np.dtype(target)),
        )
        cases.append(case)
    halves = one("cast to float16 and back", "Cast", (200000,), to=TensorProto.FLOAT16)
    return [*cases, then_cast(halves, TensorProto.FLOAT)]


def _top_k(name: str, shape: Shape, count: int, axis: int = -1) -> Case:
    node = helper.make_node("TopK", ["a", "k"], ["y", "i"], axis=axis)
    constants = tensors({"k": ints(count)})
    return Case(
        name,
        [node],
        {"a": shape},
        constants,
        ("y", "i"),
        images=False,
        types={"i": "int64"},
    )


def _places(count: int, *shape: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Positions of a tensor, each one at most once."""
    flat = np.random.default_rng(1).permutation(int(np.prod(shape)))[:count]
    return np.stack(np.unravel_index(flat, shape), -1)


def _scattered() -> list[Case]:
    single, rows = _places(90000, *_TABLE), _places(300, 900)
    every = np.tile(np.arange(900), (300, 1))
    columns = np.random.default_rng(1).permuted(every, axis=1)
    columns = columns[:, :300]
    return [
        _top_k("top 5 of 1000", (1, 1000), 5),
        _top_k("top 50 of 32000", (1, 32000), 50),
        _top_k("top 1000 of 80000", (1, 80000), 1000),
        _top_k("top 5 of 128 rows of 1000", (128, 1000), 5),
        _top_k("top 3 of 21 channels", (1, 21, 129, 129), 3, 1),
        *(
            one(name, "GatherND", shape, constants={"i": places}, images=False)
            for name, shape, places in (
                ("gathernd of 90000 elements", _TABLE, single),
                ("gathernd of 300 rows of 256", (900, 256), rows),
            )
        ),
        *(
            one(
                f"scatternd, {name}",
                "ScatterND",
                shape,
                constants={"i": places, "u": floats(*updates)},
                images=False,
                **more,
            )
            for name, shape, places, updates, more in (
                ("90000 elements", _TABLE, single, (90000,), {}),
                ("90000 sums", _TABLE, single, (90000,), {"reduction": "add"}),
                ("300 rows of 256", (900, 256), rows, (300, 256), {}),
            )
        ),
        *(
            one(
                name,
                "ScatterElements",
                _TABLE,
                constants={"i": columns, "u": floats(300, 300)},
                images=False,
                axis=1,
                **more,
            )
            for name, more in (
                ("scatterelements, 300 of each row", {}),
                ("scatterelements, 300 sums of each row", {"reduction": "add"}),
            )
        ),
    ]


def _chosen() -> list[Case]:
    every = np.tile(np.arange(900), (300, 1))
    columns = np.random.default_rng(1).permuted(every, axis=1)[:, :300]
    rows = np.random.default_rng(1).integers(0, 300, (300, 900))
    return [
        _top_k("top 1 of 32000", (1, 32000), 1),
        _top_k("top 1000 of 8400", (1, 8400), 1000),
        _top_k("top 8000 of 8400", (1, 8400), 8000),
        _top_k("all of 1000, 16 rows", (16, 1000), 1000),
        _top_k("top 20000 of 80000", (1, 80000), 20000),
        _top_k("top 2 of 128 rows of 8", (128, 8), 2),
        one(
            "gatherelements, 300 of each row",
            "GatherElements",
            _TABLE,
            constants={"i": columns},
            images=False,
            axis=1,
        ),
        one(
            "gatherelements, every column",
            "GatherElements",
            _TABLE,
            constants={"i": rows},
            images=False,
            axis=0,
        ),
        one(
            "gather of columns",
            "Gather",
            (768, 1000),
            constants={"i": np.random.default_rng(1).integers(0, 1000, 128)},
            images=False,
            axis=1,
        ),
        one(
            "nonzero",
            "NonZero",
            _TABLE,
            images=False,
            types={"y": "int64"},
        ),
        one(
            "onehot",
            "OneHot",
            (512,),
            constants={"d": ints(1000), "v": np.array([0, 1], np.float32)},
            types={"a": "int64"},
            range=(0, 999),
            images=False,
        ),
        one("trilu", "Trilu", (768, 768), images=False),
        *(
            one(
                name,
                "Slice",
                (1, 128, 768),
                constants={
                    "b": ints(begin),
                    "e": ints(end),
                    "x": ints(axis),
                    "s": ints(step),
                },
            )
            for name, axis, begin, end, step in (
                ("slice of tokens", 1, 0, 64, 1),
                ("rows reversed", 2, -1, -1000, -1),
            )
        ),
        one("concat of tokens", "Concat", (1, 64, 768), (1, 64, 768), axis=1),
        one("tile of a row", "Tile", (1, 768), constants={"n": ints(128, 1)}),
    ]


ELEMENTS = (
    *_casts(),
    *_scattered(),
    *_chosen(),
)
