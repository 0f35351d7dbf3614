# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Input arrays: from files and by chance."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.config.subgraph import BorderTensor, SubgraphConfig
from mace.python.tools.config.values import FileRef, InputShape
from mace.python.tools.data_type import DataType
from mace.python.tools.run.inputs import (
    InputDataError,
    load_tensor,
    make_inputs,
    tensor_file_name,
)


def _subgraph(*inputs: BorderTensor) -> SubgraphConfig:
    return SubgraphConfig(
        input_tensors=tuple(info.name for info in inputs),
        input_shapes=tuple(InputShape(info.shape) for info in inputs),
        input_data_types=tuple(info.data_type for info in inputs),
        input_ranges=tuple(info.range or (-1.0, 1.0) for info in inputs)
        if any(info.range for info in inputs)
        else None,
        output_tensors=("y",),
        output_shapes=((1,),),
    )


def _ref(path: Path) -> FileRef:
    return FileRef(str(path), "models.m.validation_inputs_data")


def test_random_values_fill_their_range() -> None:
    info = BorderTensor("a", (1, 50, 20), range=(2.0, 4.0))
    (array,) = make_inputs(_subgraph(info)).values()
    assert array.dtype == np.float32
    assert array.shape == (1, 50, 20)
    assert 2.0 <= array.min() < 2.1 and 3.9 < array.max() <= 4.0
    default = make_inputs(_subgraph(BorderTensor("a", (1000,))))["a"]
    assert -1.0 <= default.min() < -0.98 and 0.98 < default.max() <= 1.0


def test_random_values_repeat_and_differ_by_name_and_seed() -> None:
    pair = _subgraph(BorderTensor("a", (8,)), BorderTensor("b", (8,)))
    first = make_inputs(pair)
    np.testing.assert_array_equal(first["a"], make_inputs(pair)["a"])
    # Adding an input changes no other one.
    np.testing.assert_array_equal(
        first["b"], make_inputs(_subgraph(BorderTensor("b", (8,))))["b"]
    )
    assert not np.array_equal(first["a"], first["b"])
    assert not np.array_equal(first["a"], make_inputs(pair, seed=1)["a"])


def test_random_integers() -> None:
    info = BorderTensor("i", (500,), DataType.INT32, range=(3.0, 6.5))
    array = make_inputs(_subgraph(info))["i"]
    assert array.dtype == np.int32
    assert set(array.tolist()) == {3, 4, 5, 6}
    default = make_inputs(_subgraph(BorderTensor("i", (500,), DataType.INT32)))["i"]
    assert set(default.tolist()) == {0, 1}


def test_unknown_dimensions() -> None:
    assert make_inputs(_subgraph(BorderTensor("a", (-1, 3))))["a"].shape == (1, 3)
    with pytest.raises(InputDataError, match=r"a has shape \[1, -1\]"):
        make_inputs(_subgraph(BorderTensor("a", (1, -1))))


def test_npy_and_raw_files(tmp_path: Path) -> None:
    values = np.arange(6, dtype=np.float64).reshape(1, 2, 3)
    np.save(tmp_path / "v.npy", values)
    values.astype(np.float32).tofile(tmp_path / "v.raw")
    for name in ("v.npy", "v.raw"):
        array = load_tensor(_ref(tmp_path / name), (1, 2, 3), DataType.FLOAT32)
        assert array.dtype == np.float32
        np.testing.assert_array_equal(array, values)


def test_a_file_may_lack_ones_and_decides_unknown_dimensions(tmp_path: Path) -> None:
    np.save(tmp_path / "image.npy", np.zeros((4, 5, 3)))
    ref = _ref(tmp_path / "image.npy")
    assert load_tensor(ref, (1, 4, 5, 3), DataType.FLOAT32).shape == (1, 4, 5, 3)
    assert load_tensor(ref, (-1, 5, 3), DataType.FLOAT32).shape == (4, 5, 3)


@pytest.mark.parametrize("shape", [(1, 3, 4, 5), (1, 5, 4, 3), (2, 30), (61,)])
def test_other_shapes_are_refused(tmp_path: Path, shape: tuple[int, ...]) -> None:
    np.save(tmp_path / "image.npy", np.zeros((1, 4, 5, 3)))
    with pytest.raises(InputDataError, match=r"holds an array of shape \[1, 4, 5, 3\]"):
        load_tensor(_ref(tmp_path / "image.npy"), shape, DataType.FLOAT32)


def test_unreadable_files(tmp_path: Path) -> None:
    (tmp_path / "bad.npy").write_bytes(b"\x93NUMPY but no more")
    with pytest.raises(InputDataError, match=r"bad\.npy is not a readable"):
        load_tensor(_ref(tmp_path / "bad.npy"), (1,), DataType.FLOAT32)
    # An array of objects would run code when loaded.
    np.save(tmp_path / "object.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(InputDataError, match=r"object\.npy"):
        load_tensor(_ref(tmp_path / "object.npy"), (1,), DataType.FLOAT32)


@pytest.mark.parametrize(
    ("array", "data_type"),
    [
        (np.array([0, 7, 255], np.uint8), DataType.FLOAT32),
        (np.array([0.0, 1.5, -np.inf]), DataType.FLOAT32),
        (np.array([1.0, 2.0, -3.0]), DataType.INT32),
        (np.array([1, 2, 2**31 - 1]), DataType.INT32),
        (np.array([True, False, True]), DataType.FLOAT32),
    ],
)
def test_a_file_of_another_type_is_converted(
    tmp_path: Path, array: np.ndarray, data_type: DataType
) -> None:
    np.save(tmp_path / "v.npy", array)
    found = load_tensor(_ref(tmp_path / "v.npy"), (3,), data_type)
    assert found.dtype == np.dtype(data_type.value)
    np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize(
    ("array", "data_type", "message"),
    [
        (np.array([1e60, 1, 2]), DataType.FLOAT32, "holds float64.*1 of 3.*1e.60"),
        (np.array([2**24 + 1, 1, 2]), DataType.FLOAT32, "1 of 3 values.*16777217"),
        (np.array([1.5, np.nan, 2]), DataType.INT32, "is int32: 2 of 3 values.*1.5"),
        (np.array([2**31, 1, 2]), DataType.INT32, "1 of 3 values.*2147483648"),
        (np.array([-1, 1, 2]), DataType.UINT8, "1 of 3 values.*-1"),
        (np.array([1j, 1, 2]), DataType.FLOAT32, r"complex128.*astype\('float32'\)"),
    ],
)
def test_values_that_a_type_cannot_hold_are_refused(
    tmp_path: Path, array: np.ndarray, data_type: DataType, message: str
) -> None:
    np.save(tmp_path / "v.npy", array)
    with pytest.raises(InputDataError, match=message):
        load_tensor(_ref(tmp_path / "v.npy"), (3,), data_type)


# tensor_io_test.cc has the same names.
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "MobilenetV1/Predictions/Reshape_1:0",
            "MobilenetV1_Predictions_Reshape_1_0",
        ),
        ("\u8f93\u5165:0", "\u8f93\u5165_0"),
        ("/" * 128, "_" * 128),
        ("/" * 129, "_" * 100 + "_632e22de"),
        ("xx" + "\u8f93" * 60, "xx" + "\u8f93" * 32 + "_8abb9799"),
    ],
    ids=["ascii", "other alphabet", "longest", "too long", "cut between characters"],
)
def test_names(name: str, expected: str) -> None:
    assert tensor_file_name(name) == expected


# tensor_io_test.cc has the same names.
@pytest.mark.parametrize(
    ("name", "expected"),
    [("x_1", "x_1"), ("x/1", "x_1_0accdaeb"), ("x:1", "x_1_87017982"), ("y/1", "y_1")],
)
def test_names_that_differ_only_in_what_files_cannot_have(
    name: str, expected: str
) -> None:
    assert tensor_file_name(name, ["x/1", "x:1", "x_1", "y/1"]) == expected
