# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of options, against the code that is generated from the schema."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

from mace.python.tools.importers.tflite.context import HANDLERS
from mace.python.tools.importers.tflite.options import BUILTINS, fields, tables
from mace.python.tools.importers.tflite.reader import ELEMENT_TYPES, read_network
from mace.python.tools.importers.tflite.testing import one_operator, rand

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
_LONGER_OF = {"STABLEHLO_COMPOSITE": {"subgraph": "decomposition_subgraph_index"}}


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
    for place, (name, field) in enumerate(fields(tables()[operator]).items(), 2):
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
