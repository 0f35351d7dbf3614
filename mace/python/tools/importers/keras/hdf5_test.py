# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Files that the library of HDF5 cannot read, or takes too much for."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.importers.keras import hdf5
from mace.python.tools.importers.keras.hdf5 import (
    DamagedFileError,
    ForeignPartError,
    Hdf5File,
)
from mace.python.tools.importers.keras.reader import read_model

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


@pytest.mark.parametrize("length", [17 << 20, 1 << 40])
@pytest.mark.parametrize("small", [True, False])
def test_more_than_a_file_may_become(
    length: int, small: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not small:
        monkeypatch.setattr(hdf5, "_SMALL_BYTES", 0)
    path = _file(tmp_path, (length,))
    with pytest.raises(ImportModelError, match="unpacks its datasets to "):
        Hdf5File(path)


def test_more_memory_than_a_file_may_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library of HDF5 asks for it by itself where the file is damaged."""
    path = tmp_path / "m.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("a", (8 << 20,), np.float32, chunks=(1 << 10,))
    monkeypatch.setattr(hdf5, "_SPARE_BYTES", 1 << 20)
    with pytest.raises(DamagedFileError, match="takes far more memory than its size"):
        Hdf5File(path).array("a")


def test_a_dataset_of_many_names_counts_and_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "m.h5"
    with h5py.File(path, "w") as file:
        file["a/kernel"] = np.arange(9 << 20, dtype=np.float32)  # 38 MB, stored
        for number in range(40):
            file[f"b{number}"] = file["a/kernel"]
    opened = Hdf5File(path)
    np.testing.assert_array_equal(opened.array("b39"), opened.array("a/kernel"))
    assert len(opened._data) == 4 * 9 << 20


def _external_storage(file: Any, secret: Path) -> None:
    file.create_dataset("a/kernel", (4,), "f4", external=[(str(secret), 0, 16)])


def _external_link(file: Any, secret: Path) -> None:
    file["a/kernel"] = h5py.ExternalLink(str(secret), "d")


def _link_to_a_link(file: Any, secret: Path) -> None:
    file["z/outside"] = h5py.ExternalLink(str(secret), "/")
    file["a/kernel"] = h5py.SoftLink("/z/outside/d")


def _virtual(file: Any, secret: Path) -> None:
    layout = h5py.VirtualLayout((4,), "f4")
    layout[:] = h5py.VirtualSource(str(secret), "d", (4,))
    file.create_virtual_dataset("a/kernel", layout)


def _group_in_itself(file: Any, _: Path) -> None:
    file.create_group("a/b")
    file["a/b/c"] = file["a"]


@pytest.mark.parametrize(
    ("fill", "reason"),
    [
        (_external_storage, "the elements of a/kernel are in other files, '"),
        (_external_link, "a/kernel is a link to another file, '"),
        (_link_to_a_link, "z/outside is a link to another file, '"),
        (_virtual, "a/kernel is put together from other datasets"),
        (_group_in_itself, "its groups /a and /a/b/c are one"),
    ],
)
def test_nothing_outside_of_the_file_is_read(
    fill: Callable[[Any, Path], None], reason: str, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.h5"
    with h5py.File(secret, "w") as file:
        file["d"] = np.full(4, 7, np.float32)
    # It cannot be opened if somebody tries to.
    secret.chmod(0)
    with h5py.File(tmp_path / "m.h5", "w") as file:
        fill(file, secret)
    with pytest.raises(ForeignPartError, match=re.escape(reason)):
        Hdf5File(tmp_path / "m.h5")
    with pytest.raises(ImportModelError, match="m.h5 is refused, since "):
        with h5py.File(tmp_path / "m.h5", "a") as file:
            file.attrs["model_config"] = "{}"
        read_model(tmp_path / "m.h5")


def test_soft_links_are_not_followed(tmp_path: Path) -> None:
    path = _file(tmp_path)
    with h5py.File(path, "a") as file:
        file["soft"] = h5py.SoftLink("/a/kernel")
        file["nowhere"] = h5py.SoftLink("/nowhere")
    opened = Hdf5File(path)
    for name in ("soft", "nowhere"):
        with pytest.raises(DamagedFileError, match="soft link"):
            opened.array(name)


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
