# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Elements of 8 bits and booleans in operators that compute in wider types, and
integers that do not fit into 32 bits.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onnx
from mace.python.tools.errors import MaceError
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    import_proto,
    make_model,
    normal,
    run_mace,
    run_onnxruntime,
)
from mace.python.tools.ir.dtypes import Array

_X = (normal(2, 4, 6, 8) * 60).clip(-128, 127)


def _ints(*values: int) -> Array:
    return np.array(values, np.int64)


def _model(
    op: str,
    dtype: Any,
    constants: dict[str, Array],
    outputs: int = 1,
    **attributes: Any,
) -> tuple[onnx.ModelProto, dict[str, Array]]:
    inputs: dict[str, Array] = {"x": _X.astype(np.int8).astype(dtype)}
    if op in ("Concat", "Max"):
        inputs["x2"] = inputs["x"][::-1].copy()
    # An empty name is an input that is absent.
    names = [f"y{index}" for index in range(outputs)]
    node = onnx.helper.make_node(op, [*inputs, *constants], names, **attributes)
    constants.pop("", None)
    return make_model([node], inputs, names, constants), inputs


_BYTES = (np.uint8, np.int8)
_MOVES: list[tuple[str, dict[str, Array], dict[str, Any]]] = [
    ("Concat", {}, {"axis": 2}),
    ("Gather", {"i": _ints(3, 0)}, {"axis": 1}),
    ("Reshape", {"s": _ints(4, -1)}, {}),
    ("Slice", {"b": _ints(1), "e": _ints(3), "a": _ints(2)}, {}),
    ("Split", {"s": _ints(1, 3)}, {"axis": 1, "outputs": 2}),
    ("Transpose", {}, {"perm": [2, 0, 3, 1]}),
]
_CHOOSE: list[tuple[str, dict[str, Array], dict[str, Any]]] = [
    ("DepthToSpace", {}, {"blocksize": 2}),
    ("Max", {}, {}),
    ("MaxPool", {}, {"kernel_shape": [3, 2], "strides": [2, 1]}),
    ("Pad", {"p": _ints(0, 0, 1, 2, 0, 0, 0, 1)}, {}),
    ("ReduceMax", {"a": _ints(2)}, {}),
    (
        "Resize",
        {"": np.zeros(0, np.float32), "s": np.array([1, 1, 2, 2], np.float32)},
        {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
    ),
]


@pytest.mark.parametrize(
    ("dtype", "case"),
    [
        *((dtype, case) for case in _MOVES for dtype in (*_BYTES, np.bool_)),
        *((dtype, case) for case in _CHOOSE for dtype in _BYTES),
    ],
)
def test_elements_stay_what_they_are(
    dtype: Any, case: tuple[str, dict[str, Array], dict[str, Any]], tmp_path: Path
) -> None:
    op, constants, attributes = case
    model, inputs = _model(op, dtype, dict(constants), **attributes)
    assert_same(run_mace(model, inputs, tmp_path), run_onnxruntime(model, inputs))


@pytest.mark.parametrize("dtype", [*_BYTES, np.bool_])
def test_a_condition_of_booleans_stays_one(dtype: Any, tmp_path: Path) -> None:
    x = _X.astype(np.int8).astype(dtype)
    inputs = {"c": normal(2, 4, 6, 8) > 0, "x": x, "y": x[::-1].copy()}
    model = make_model(
        [onnx.helper.make_node("Where", [*inputs], ["z"])], inputs, ["z"]
    )
    # ONNX Runtime has none of booleans.
    assert_same(run_mace(model, inputs, tmp_path), [np.where(*inputs.values())])


def test_the_result_keeps_the_name_and_type(tmp_path: Path) -> None:
    model, inputs = _model("Max", np.uint8, {})
    graph = import_proto(model, inputs, ["y0"], tmp_path)
    (output,) = graph.outputs
    assert output.name == "y0"
    assert output.dtype.value == "uint8"
    assert [op.type for op in graph.ops] == ["Cast", "Cast", "Eltwise", "Cast"]


_ARITHMETIC = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Equal": np.equal,
    "Less": np.less,
    "GreaterOrEqual": np.greater_equal,
}


@pytest.mark.parametrize("op", _ARITHMETIC)
@pytest.mark.parametrize("dtype", _BYTES)
def test_sums_of_bytes_wrap_around(op: str, dtype: Any, tmp_path: Path) -> None:
    """As in NumPy; ONNX Runtime has few of them."""
    info = np.iinfo(dtype)
    every = np.arange(info.min, info.max + 1).astype(dtype)
    inputs = {"x": every[:, None], "y": every[None, ::5]}
    model = make_model([onnx.helper.make_node(op, ["x", "y"], ["z"])], inputs, ["z"])
    wanted = _ARITHMETIC[op](inputs["x"], inputs["y"])
    assert_same(run_mace(model, inputs, tmp_path), [wanted])


@pytest.mark.parametrize("op", ["Add", "Mul", "Mod", "BitwiseXor", "BitwiseAnd"])
def test_constants_of_more_than_32_bits_are_refused(op: str, tmp_path: Path) -> None:
    """Hashes of places, whose factors would become other numbers."""
    inputs = {"x": np.array([3, 5], np.int32).astype(np.int64)}
    node = onnx.helper.make_node(op, ["x", "c"], ["y"])
    model = make_model([node], inputs, ["y"], {"c": np.array(2654435761)})
    with pytest.raises(MaceError, match="c has integers beyond the 32 bits"):
        run_mace(model, inputs, tmp_path)
    small = make_model([node], inputs, ["y"], {"c": np.array(2147483647)})
    import_proto(small, inputs, ["y"], tmp_path)


def test_limits_may_be_beyond_32_bits(tmp_path: Path) -> None:
    inputs = {"x": np.array([3, 5], np.int64)}
    node = onnx.helper.make_node("Min", ["x", "c"], ["y"])
    model = make_model([node], inputs, ["y"], {"c": np.array(1 << 40)})
    assert_same(run_mace(model, inputs, tmp_path), run_onnxruntime(model, inputs))
