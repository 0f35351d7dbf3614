# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of options, against the code generated from the schema, and those of sparse
constants, of which whole files are in handlers/arrangement_test.py.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tflite.context import HANDLERS
from mace.python.tools.importers.tflite.options import BUILTINS, fields, tables
from mace.python.tools.importers.tflite.reader import ELEMENT_TYPES, read_network
from mace.python.tools.importers.tflite.sparse import Sparsity, _Level
from mace.python.tools.importers.tflite.testing import one_operator, rand
from mace.python.tools.ir.dtypes import Array

pytest.importorskip("tensorflow", reason="the schema's code is part of it")

# Where our names are shorter than the schema's.
_LONGER = {
    "activation": "fused_activation_function",
    "dilation_d": "dilation_d_factor",
    "dilation_h": "dilation_h_factor",
    "dilation_w": "dilation_w_factor",
    "function": "fused_activation_function",
    "height": "filter_height",
    "width": "filter_width",
}
_LONGER_OF = {
    "LOCAL_RESPONSE_NORMALIZATION": {"depth_radius": "radius"},
    "SPLIT": {"num_split": "num_splits"},
    "STABLEHLO_COMPOSITE": {"subgraph": "decomposition_subgraph_index"},
}


def _schema() -> Any:
    return importlib.import_module("tensorflow.lite.python.schema_py_generated")


def test_numbers_of_builtins_and_types() -> None:
    schema = _schema()
    for number, name in enumerate(BUILTINS):
        assert getattr(schema.BuiltinOperator, name) == number
    names = {n: k for k, n in vars(schema.TensorType).items() if isinstance(n, int)}
    for number, dtype in ELEMENT_TYPES.items():
        assert names[number] in (dtype.name, "INT4", "INT2")


def test_every_handler_is_for_a_builtin() -> None:
    assert set(HANDLERS.types()) <= set(BUILTINS)


@pytest.mark.parametrize("operator", sorted(tables()))
def test_options_are_read(operator: str, tmp_path: Path) -> None:
    table = tables()[operator]
    if table == "AddOptions":
        table = f"{operator.title()}Options"
    longer = {**_LONGER, **_LONGER_OF.get(operator, {})}
    values: dict[str, Any] = {}
    for place, (name, field) in enumerate(fields(operator).items(), 2):
        kinds = {"bool": True, "float": place / 4, "ints": [place, 0, -place]}
        kinds["longs"] = [place, -place]
        kinds["floats"] = [place / 2, -1.0]
        values[name] = kinds.get(field.kind, place)
    written = {longer.get(name, name): value for name, value in values.items()}
    x = rand(2)
    data = one_operator(operator, [x], [((2,), "float32")], {}, written, table)
    path = tmp_path / "model.tflite"
    path.write_bytes(data)
    (found,) = read_network(path).operators
    assert found.type == operator
    expected = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
    assert dict(found.options) == expected


@pytest.mark.parametrize("operator", sorted(tables()))
def test_defaults_are_those_of_the_schema(operator: str, tmp_path: Path) -> None:
    table = tables()[operator]
    if table == "AddOptions":
        table = f"{operator.title()}Options"
    own = getattr(_schema(), f"{table}T")()
    path = tmp_path / "model.tflite"
    path.write_bytes(one_operator(operator, [rand(2)], [((2,), "float32")]))
    (found,) = read_network(path).operators
    longer = {**_LONGER, **_LONGER_OF.get(operator, {})}
    for name, value in found.options.items():
        camel = re.sub(r"_(\w)", lambda m: m.group(1).upper(), longer.get(name, name))
        assert value == (getattr(own, camel) or 0) or value == ()


def _compressed(rows: Array) -> tuple[list[int], list[int]]:
    """Segments and indices of the columns of each row that are not 0."""
    kept = [np.flatnonzero(row).tolist() for row in rows]
    segments = np.cumsum([0, *map(len, kept)])
    return segments.tolist(), [index for row in kept for index in row]


def test_other_orders() -> None:
    """Columns first, each of them sparse."""
    dense = np.zeros((3, 4), np.float32)
    dense[[0, 2, 1], [0, 0, 3]] = [1, 2, 3]
    segments, indices = _compressed(dense.T)
    levels = (_Level(4), _Level(0, np.array(segments), np.array(indices)))
    found = Sparsity((1, 0), (), levels).dense(np.array([1, 2, 3], np.float32), (3, 4))
    np.testing.assert_array_equal(found, dense)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"order": (0, 0)}, "the order of its dimensions"),
        ({"order": (0, 5)}, "the order of its dimensions"),
        ({"blocks": (7,), "order": (0, 1, 2)}, "the order of its dimensions"),
        ({"levels": (_Level(9), _Level(4))}, "a dimension of 9, not 3"),
        ({"levels": (_Level(3), _Level(4))}, "2 elements for 12 places"),
        (
            {"levels": (_Level(3), _Level(0, np.array([0, 2]), np.array([0, 1])))},
            "the places of its elements",
        ),
        (
            {
                "levels": (
                    _Level(3),
                    _Level(0, np.array([0, 3, 1, 2]), np.array([0, 1])),
                )
            },
            "the places of its elements",
        ),
        (
            {
                "levels": (
                    _Level(3),
                    _Level(0, np.array([0, 1, 1, 2]), np.array([0, 4])),
                )
            },
            "an index beyond 4",
        ),
    ],
)
def test_damaged_tables(changes: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"order": (0, 1), "blocks": (), "levels": ()}
    with pytest.raises(UnsupportedNodeError, match=message):
        Sparsity(**{**good, **changes}).dense(np.array([1, 2], np.float32), (3, 4))


def test_few_elements_of_a_huge_tensor() -> None:
    levels = (_Level(1 << 15), _Level(1 << 15))
    with pytest.raises(UnsupportedNodeError, match="2 of 1073741824 elements"):
        Sparsity((0, 1), (), levels).dense(
            np.array([1, 2], np.float32), (1 << 15, 1 << 15)
        )
