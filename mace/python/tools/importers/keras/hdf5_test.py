# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Files that the library of HDF5 cannot read, or takes too much for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.keras import hdf5
from mace.python.tools.importers.keras.hdf5 import DamagedFileError, Hdf5File

h5py = pytest.importorskip("h5py")


def _file(folder: Path, shape: tuple[int, ...] = (3, 4)) -> Path:
    path = folder / "m.h5"
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = "{}"
        file.attrs["layer_names"] = [b"a", b"b"]
        file["a/kernel"] = np.arange(12, dtype=np.float32).reshape(3, 4)
        file["a/empty"] = np.zeros((0, 2), np.float32)
        file["optimizer_weights/a"] = np.zeros(5)
        # It takes no place in the file.
        file.create_dataset("large", shape, np.float32, chunks=(1,) * len(shape))
    return path


def test_a_file(tmp_path: Path) -> None:
    file = Hdf5File(_file(tmp_path))
    assert file.attributes() == {"model_config": "{}", "layer_names": ["a", "b"]}
    assert file.has_group("a") and not file.has_group("b")
    assert "a/kernel" in file and "optimizer_weights/a" not in file
    np.testing.assert_array_equal(file.array("a/kernel").reshape(-1), np.arange(12))
    assert file.array("a/empty").shape == (0, 2)


def test_elements_are_read_when_they_are_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hdf5, "_SMALL_BYTES", 0)
    path = _file(tmp_path)
    file = Hdf5File(path)
    assert "a/kernel" in file
    np.testing.assert_array_equal(file.array("a/kernel").reshape(-1), np.arange(12))


def test_more_memory_than_a_file_can_need(tmp_path: Path) -> None:
    file = Hdf5File(_file(tmp_path, (1 << 40,)))
    assert file.array("a/kernel").shape == (3, 4)
    with pytest.raises(DamagedFileError, match="allocate|memory"):
        file.array("large")


def test_a_process_that_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = tmp_path / "worker.py"
    worker.write_text("import os\nos.abort()\n")
    monkeypatch.setattr(hdf5, "_WORKER", worker)
    monkeypatch.setattr(hdf5._Kept, "worker", None)
    with pytest.raises(DamagedFileError, match="ends the library of HDF5"):
        Hdf5File(_file(tmp_path))


def test_a_process_that_never_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = tmp_path / "worker.py"
    worker.write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setattr(hdf5, "_WORKER", worker)
    monkeypatch.setattr(hdf5, "_PATIENCE_S", 0.2)
    monkeypatch.setattr(hdf5._Kept, "worker", None)
    with pytest.raises(DamagedFileError, match="never ends"):
        Hdf5File(_file(tmp_path))
