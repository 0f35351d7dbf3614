# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads HDF5 files in a process of its own, whose memory is limited; see `hdf5.py`.

Each line of the standard input is a request as JSON, and gets a line as an answer. Of a
file it writes index.json, with attributes and datasets, and the elements of all
datasets to data.bin. It needs nothing of MACE, so that it starts fast.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, BinaryIO

# This folder comes first for a script, and hides modules of other packages.
sys.path.pop(0)

import h5py
import numpy as np

# Of optimisers, which a converter does not need.
_OTHERS = ("optimizer", "optimizer_weights")
_ATTRIBUTES = ("model_config", "keras_version", "layer_names", "weight_names")
_ALIGNMENT = 64
# What h5py raises for files that are damaged.
_ERRORS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    OSError,
    RecursionError,
    RuntimeError,
    TypeError,
    ValueError,
)


def _limit(more: int) -> None:
    """Lets this process have so many bytes more than it has."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        wanted = pages * resource.getpagesize() + more
        if hard != resource.RLIM_INFINITY:
            wanted = min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
    except (ImportError, OSError, ValueError):
        return  # systems without such limits


def _said(error: BaseException) -> str:
    text = str(error)
    return text.splitlines()[0] if text else type(error).__name__


class _Walk:
    """Everything in a file that a model needs."""

    def __init__(self, target: BinaryIO | None) -> None:
        self._target = target
        self._at = 0
        self.groups: dict[str, dict[str, Any]] = {}
        self.datasets: dict[str, dict[str, Any]] = {}

    def group(self, group: h5py.Group, path: str, depth: int) -> None:
        self.groups[path] = _attributes(group)
        if depth > 64:
            raise ValueError("its groups are nested too deep")
        for name in group:
            if not path and name in _OTHERS:
                continue
            place = f"{path}/{name}" if path else name
            try:
                item = group[name]
            except _ERRORS as error:
                self.datasets[place] = {"problem": _said(error)}
                continue
            if isinstance(item, h5py.Group):
                self.group(item, place, depth + 1)
            elif isinstance(item, h5py.Dataset):
                self.datasets[place] = self._dataset(item)

    def _dataset(self, item: h5py.Dataset) -> dict[str, Any]:
        if self._target is None:
            return {}
        try:
            array = np.ascontiguousarray(item[()])
            if array.dtype.hasobject:
                raise TypeError(f"elements of type {item.dtype}")
            shape = list(item.shape)
        except _ERRORS as error:
            return {"problem": _said(error)}
        self._target.write(bytes(-self._at % _ALIGNMENT))
        self._at += -self._at % _ALIGNMENT
        self._target.write(array.reshape(-1).view(np.uint8).data)
        entry = {"dtype": array.dtype.str, "shape": shape, "offset": self._at}
        self._at += array.nbytes
        return entry


def _attributes(group: h5py.Group) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in group.attrs:
        # Keras divides a list that is large, and numbers its parts.
        if name.rstrip("0123456789") in _ATTRIBUTES:
            value = group.attrs[name]
            if isinstance(value, np.ndarray):
                found[name] = [_text(item) for item in value.reshape(-1).tolist()]
            else:
                found[name] = _text(value)
    return found


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _answer(request: dict[str, Any]) -> None:
    _limit(request["limit"])
    folder = Path(request["folder"])
    with h5py.File(request["file"], "r") as file:
        if not request["data"]:
            walk = _Walk(None)
            walk.group(file, "", 0)
        else:
            with (folder / "data.bin").open("wb") as target:
                walk = _Walk(target)
                walk.group(file, "", 0)
    index = {"groups": walk.groups, "datasets": walk.datasets}
    (folder / "index.json").write_text(json.dumps(index), encoding="utf-8")


def main() -> None:
    for line in sys.stdin:
        try:
            _answer(json.loads(line))
            said = ""
        except _ERRORS as error:
            said = _said(error)
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
