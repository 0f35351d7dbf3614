# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""HDF5 files, as a process of its own reads them: the library of HDF5 takes all memory
that there is for some damaged files, or ends its process.

A file costs one start of Python. Tests keep the process (`kept_worker`).
"""

from __future__ import annotations

import contextlib
import json
import mmap
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mace.python.tools.importers.frame.budget import budget
from mace.python.tools.ir.dtypes import Array

_WORKER = Path(__file__).with_name("hdf5_worker.py")
# Memory beside what the elements need.
_SPARE_BYTES = 1 << 29
# Larger files are read in two steps, since `inspect` wants no elements.
_SMALL_BYTES = 1 << 24
_PATIENCE_S = 60.0
_MOST_FAILURES = 50
_BYTES_PER_S = 5e6


class DamagedFileError(ValueError):
    """The file cannot be read."""


class ForeignPartError(DamagedFileError):
    """A part of the file is in another file, or in several places of this one."""


class Hdf5File:
    """The groups and datasets of a file, without those of optimisers.

    Args:
        path: of the file.
        whole: whether to read its elements now, since the file will not be there later.
    """

    def __init__(self, path: Path, whole: bool = False) -> None:
        self._path = path
        self._data: Any = b""
        self._read(whole or path.stat().st_size <= _SMALL_BYTES)

    def _read(self, data: bool) -> None:
        with tempfile.TemporaryDirectory(prefix="mace_hdf5_") as name:
            folder = Path(name)
            _ask(self._path, folder, data)
            index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
            if index["problem"]:
                raise ForeignPartError(index["problem"])
            if index["bytes"] > budget().unpackable or data:
                budget().unpack(index["bytes"], "its datasets")
            if data and (folder / "data.bin").stat().st_size:
                with (folder / "data.bin").open("rb") as stream:
                    # It remains readable when the file is removed.
                    self._data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        self._has_data = data
        self._groups: dict[str, dict[str, Any]] = index["groups"]
        self._datasets: dict[str, dict[str, Any]] = index["datasets"]

    def attributes(self, group: str = "") -> dict[str, Any]:
        """Those of a group that Keras writes: texts and lists of texts.

        Raises:
            KeyError: there is no such group.
        """
        return self._groups[group]

    def has_group(self, place: str) -> bool:
        return place in self._groups

    def __contains__(self, place: str) -> bool:
        return place.strip("/") in self._datasets

    def array(self, place: str) -> Array:
        """The elements of a dataset.

        Raises:
            ValueError: they cannot be read.
        """
        if not self._has_data:
            self._read(True)
        entry = self._datasets[place.strip("/")]
        if "problem" in entry:
            raise DamagedFileError(entry["problem"])
        dtype = np.dtype(entry["dtype"])
        count = int(np.prod(entry["shape"], dtype=np.int64))
        if not count:
            return np.zeros(entry["shape"], dtype)
        found = np.frombuffer(self._data, dtype, count, entry["offset"])
        return np.asarray(found.reshape(entry["shape"]))


class _Worker:
    """The process."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(_WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        self._answers: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put("")

    def ask(self, request: dict[str, Any], seconds: float) -> str | None:
        """What is wrong with a file; '' if nothing is, None if the process ended."""
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._answers.get(timeout=seconds)
        except (OSError, ValueError, queue.Empty):
            line = ""
        if not line:
            self.end()
            return None
        return str(json.loads(line))

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


class _Kept:
    """The process that is used for several files, if any is."""

    wanted = False
    worker: _Worker | None = None
    failures = 0


@contextlib.contextmanager
def kept_worker() -> Iterator[None]:
    """While this lasts, one process reads all files."""
    _Kept.wanted = True
    try:
        yield
    finally:
        _Kept.wanted = False
        if _Kept.worker is not None:
            _Kept.worker.end()
            _Kept.worker = None


def _ask(path: Path, folder: Path, data: bool) -> None:
    size = path.stat().st_size
    request = {
        "file": str(path.resolve()),
        "folder": str(folder),
        "data": data,
        "limit": _SPARE_BYTES + 4 * size,
        "bytes": budget().unpackable,
    }
    worker = _Kept.worker or _Worker()
    _Kept.worker = None
    said = worker.ask(request, _PATIENCE_S + size / _BYTES_PER_S)
    if said is None:
        raise DamagedFileError("reading it ends the library of HDF5, or never ends")
    # The library keeps memory of what it could not read.
    _Kept.failures += bool(said)
    if not _Kept.wanted or _Kept.failures > _MOST_FAILURES:
        worker.end()
        _Kept.failures = 0
    else:
        _Kept.worker = worker
    if said:
        raise DamagedFileError(said)
