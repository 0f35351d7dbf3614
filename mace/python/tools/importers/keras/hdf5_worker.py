# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads HDF5 files in a process of its own, whose memory is limited; see `hdf5.py`.

Each line of the standard input is a request as JSON, and gets a line as an answer. Of a
file it writes index.json, with attributes and datasets, and the elements of all
datasets to data.bin if they are not too many bytes. Nothing of other files is read:
a file that needs them is refused. It needs nothing of MACE, so that it starts fast.
"""

from __future__ import annotations

import json
import math
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
    *(ArithmeticError, AttributeError, LookupError, MemoryError, OSError),
    *(RuntimeError, TypeError, ValueError),
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
    if isinstance(error, MemoryError):
        return "reading it takes far more memory than its size explains"
    text = str(error)
    return text.splitlines()[0] if text else type(error).__name__


class _ForeignError(Exception):
    """The file is not whole, or not a tree; the message says where."""


class _Walk:
    """What is in a file: its groups and datasets, none of whose elements are read."""

    def __init__(self) -> None:
        self.groups: dict[str, dict[str, Any]] = {}
        self.datasets: dict[str, dict[str, Any]] = {}
        self.found: dict[str, h5py.Dataset] = {}
        # Places of what has several names, by where the file has it.
        self._places: dict[Any, str] = {}
        self.bytes = 0

    def group(self, group: h5py.Group, path: str) -> None:
        """Notes a group and all that is in it.

        Raises:
            _ForeignError: a part of it is in another file, or another group too.
        """
        other = self._places.setdefault(_identity(group), path)
        if other != path:
            raise _ForeignError(f"its groups /{other} and /{path} are one")
        if path.count("/") > 64:
            raise ValueError("its groups are nested too deep")
        self.groups[path] = _attributes(group)
        for name in group:
            if not path and name in _OTHERS:
                continue
            place = f"{path}/{name}" if path else name
            try:
                link = group.get(name, getlink=True)
                if isinstance(link, h5py.ExternalLink):
                    raise _ForeignError(
                        f"{place} is a link to another file, {link.filename!r}"
                    )
                if not isinstance(link, h5py.HardLink):
                    # It may lead anywhere, through links to other files as well.
                    raise ValueError("it is a soft link, which is not followed")
                item = group[name]
                if isinstance(item, h5py.Group):
                    self.group(item, place)
                elif isinstance(item, h5py.Dataset):
                    self._dataset(item, place)
            except _ERRORS as error:
                self.datasets[place] = {"problem": _said(error)}

    def _dataset(self, item: h5py.Dataset, place: str) -> None:
        if item.external:
            files = ", ".join(repr(name) for name, *_ in item.external[:3])
            raise _ForeignError(f"the elements of {place} are in other files, {files}")
        if item.is_virtual:
            raise _ForeignError(f"{place} is put together from other datasets")
        if item.dtype.hasobject:
            raise TypeError(f"elements of type {item.dtype}")
        self.datasets[place] = {"dtype": item.dtype.str, "shape": list(item.shape)}
        self.found[place] = item
        if self._places.setdefault(_identity(item), place) == place:
            self.bytes += math.prod(item.shape) * item.dtype.itemsize

    def read(self, target: BinaryIO) -> None:
        """Writes the elements of all datasets, of each once."""
        at = 0
        for place, item in self.found.items():
            first = self._places[_identity(item)]
            if first != place:
                self.datasets[place] = self.datasets[first]
                continue
            try:
                array = np.ascontiguousarray(item[()])
            except _ERRORS as error:
                self.datasets[place] = {"problem": _said(error)}
                continue
            target.write(bytes(-at % _ALIGNMENT))
            at += -at % _ALIGNMENT
            target.write(array.reshape(-1).view(np.uint8).data)
            self.datasets[place]["offset"] = at
            at += array.nbytes


def _identity(item: Any) -> Any:
    info = h5py.h5o.get_info(item.id)
    return info.fileno, info.addr


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
    walk = _Walk()
    problem = ""
    with h5py.File(request["file"], "r") as file:
        try:
            walk.group(file, "")
            if request["data"] and walk.bytes <= request["bytes"]:
                with (folder / "data.bin").open("wb") as target:
                    walk.read(target)
        except _ForeignError as error:
            problem = str(error)
    index = {
        "groups": walk.groups,
        "datasets": walk.datasets,
        "bytes": walk.bytes,
        "problem": problem,
    }
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
