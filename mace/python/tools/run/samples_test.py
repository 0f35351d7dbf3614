# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Finding the samples of a folder."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.data_type import DataType
from mace.python.tools.errors import UsageError
from mace.python.tools.export.model_file import TensorInfo
from mace.python.tools.run.inputs import InputDataError
from mace.python.tools.run.samples import find_samples, read_sample, write_outputs
from mace.python.tools.run.testing.project import write_dense_model


@pytest.mark.parametrize("names", [("x", "x2"), ("x2", "x"), ("in:0", "in:0:x")])
def test_names_may_start_alike(tmp_path: Path, names: tuple[str, str]) -> None:
    model = write_dense_model(tmp_path, [np.ones((4, 3))])
    inputs = tuple(TensorInfo(name, (1, 3), DataType.FLOAT32) for name in names)
    model = dataclasses.replace(model, inputs=inputs)
    folder = tmp_path / "samples"
    folder.mkdir()
    with pytest.raises(UsageError, match="holds no file"):
        find_samples(folder, model)
    for name in names:
        for suffix in ("_a", "_b"):
            file = folder / (name.replace(":", "_") + suffix)
            np.zeros(3, np.float32).tofile(file)
    assert find_samples(folder, model) == ("_a", "_b")
    (folder / (names[1].replace(":", "_") + "_b")).unlink()
    with pytest.raises(InputDataError, match="1 of 2 samples' files"):
        find_samples(folder, model)


def test_numpy_files_are_samples(tmp_path: Path) -> None:
    model = write_dense_model(tmp_path, [np.ones((4, 3))])
    model = dataclasses.replace(
        model, inputs=(TensorInfo("x", (1, 3), DataType.FLOAT32),)
    )
    folder = tmp_path / "samples"
    folder.mkdir()
    given = np.asfortranarray(np.arange(3.0).reshape(3, 1).T)
    np.save(folder / "x_0.npy", given)  # float64
    np.save(folder / "x_1.npy", given[0].astype(np.int64))
    assert find_samples(folder, model) == ("_0.npy", "_1.npy")
    for suffix in ("_0.npy", "_1.npy"):
        read = read_sample(folder, suffix, model)["x"]
        assert read.dtype == np.float32
        np.testing.assert_array_equal(read, given)
    write_outputs(tmp_path, {"y": given}, "_0.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "y_0.npy"), given)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (np.zeros((2, 2)), r"shape \[2, 2\], and the tensor has shape \[1, 3\]"),
        (b"1, 2, 3", "no NumPy file: write it with numpy.save"),
        (b"\x93NUMPY\x01", "cannot be read"),
    ],
    ids=["shape", "text", "cut off"],
)
def test_unfit_numpy_files_are_refused(
    content: bytes | Any, message: str, tmp_path: Path
) -> None:
    model = write_dense_model(tmp_path, [np.ones((4, 3))])
    model = dataclasses.replace(
        model, inputs=(TensorInfo("x", (1, 3), DataType.FLOAT32),)
    )
    folder = tmp_path / "samples"
    folder.mkdir()
    if isinstance(content, bytes):
        (folder / "x_0.npy").write_bytes(content)
    else:
        np.save(folder / "x_0.npy", content)
    with pytest.raises(InputDataError, match=message):
        find_samples(folder, model)


def test_numbers_that_the_type_cannot_hold_are_refused(tmp_path: Path) -> None:
    model = write_dense_model(tmp_path, [np.ones((4, 3))])
    model = dataclasses.replace(
        model, inputs=(TensorInfo("x", (1, 3), DataType.UINT8),)
    )
    np.save(tmp_path / "x_0.npy", np.array([[1, 2, 300]]))
    with pytest.raises(InputDataError, match="1 of 3 values .* such as 300"):
        read_sample(tmp_path, "_0.npy", model)


def test_names_of_other_alphabets(tmp_path: Path) -> None:
    names = ("\u56fe\u50cf", "\u6587\u5b57", "StatefulPartitionedCall/" * 13)
    model = write_dense_model(tmp_path, [np.ones((4, 3))])
    inputs = tuple(TensorInfo(name, (3,), DataType.FLOAT32) for name in names)
    model = dataclasses.replace(model, inputs=inputs)
    folder = tmp_path / "samples"
    folder.mkdir()
    np.zeros(3, np.float32).tofile(folder / f"{names[0]}_0")
    np.ones(3, np.float32).tofile(folder / f"{names[1]}_0")
    with pytest.raises(InputDataError, match=r"StatefulPartitionedCall_.*_0: no such"):
        find_samples(folder, model)
