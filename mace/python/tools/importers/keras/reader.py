# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Opens `.keras` and `.h5` files: the configuration of the model and its variables."""

from __future__ import annotations

import importlib.util
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mace.python.installation import install
from mace.python.tools.errors import MissingToolError
from mace.python.tools.importers.base import ImportModelError, UnsupportedNodeError
from mace.python.tools.importers.keras.layer import NETWORKS
from mace.python.tools.importers.keras.network import Network, read_network
from mace.python.tools.importers.keras.variables import (
    attach_by_class,
    attach_by_order,
)
from mace.python.tools.importers.model_file import other_format
from mace.python.tools.ir.dtypes import Array, DataType

_ZIP = b"PK\x03\x04"
_HDF5 = b"\x89HDF\r\n\x1a\n"
_WEIGHTS = "model.weights.h5"
_LARGEST_TEXT_BYTES = 1 << 28
_HEADS = re.compile("/((query|key|value|output)_dense/)")
SAVE_HINT = "save the whole model: model.save('model.keras')"
# What h5py raises for files that are damaged.
_ERRORS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)


def read_model(path: Path) -> Network:
    """The model of a file.

    Raises:
        ImportModelError: it is no model of Keras, or it is damaged.
        MissingToolError: h5py is not installed.
    """
    if path.is_dir():
        raise ImportModelError(
            f"model_file_path: {path} is a folder; is it a SavedModel? Then say "
            "platform: tensorflow"
        )
    try:
        with path.open("rb") as stream:
            head = stream.read(len(_HDF5))
        other = other_format(path)
    except OSError as error:
        raise ImportModelError(
            f"model_file_path: {path} cannot be read: {error.strerror}"
        ) from error
    is_zip = head.startswith(_ZIP)
    if not is_zip and head != _HDF5:
        raise _unfit(path, other or "neither a .keras file nor a whole model in .h5")
    if importlib.util.find_spec("h5py") is None:
        raise MissingToolError(
            "Python package h5py",
            "reading models of Keras",
            install("keras"),
        )
    try:
        return _read_archive(path) if is_zip else _read_hdf5(path)
    except (*_ERRORS, RecursionError, zipfile.BadZipFile, zlib.error) as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise _unfit(path, f"not a model of Keras, or it is damaged: {said}") from error


def _unfit(path: Path, what: str) -> ImportModelError:
    return ImportModelError(f"model_file_path: {path} is {what}; {SAVE_HINT}")


def _read_archive(path: Path) -> Network:
    import h5py

    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        missing = [name for name in ("config.json", _WEIGHTS) if name not in names]
        if missing:
            raise ValueError(f"the archive has no {' and no '.join(missing)}")
        entry = _json(archive, "config.json")
        keras = 3
        if "metadata.json" in names:
            keras = _major(_json(archive, "metadata.json").get("keras_version"))
        weights = h5py.File(io.BytesIO(archive.read(_WEIGHTS)), "r")
    network = _network(entry, keras)

    def read(place: str) -> Array:
        # Keras 2 had other names.
        private = _HEADS.sub(r"/_\1", place)
        tracked = private.replace("layers/", "_layer_checkpoint_dependencies/")
        places = [at for at in (place, private, tracked) if _has(weights, at)]
        return _array(weights, places[0] if places else place)

    attach_by_class(network, read)
    return network


def _read_hdf5(path: Path) -> Network:
    import h5py

    file = h5py.File(path, "r")
    text = file.attrs.get("model_config")
    if text is None:
        raise ValueError("it has only weights, no configuration of a model")
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    entry = json.loads(text)
    group = file.get("model_weights", file)
    version = file.attrs.get("keras_version", group.attrs.get("keras_version"))
    network = _network(entry, _major(version))
    places = {
        name: [f"{name}/{weight}" for weight in _strings(group[name], "weight_names")]
        for name in _strings(group, "layer_names")
    }
    attach_by_order(network, places, lambda place: _array(group, place))
    return network


def _json(archive: zipfile.ZipFile, name: str) -> dict[str, Any]:
    if archive.getinfo(name).file_size > _LARGEST_TEXT_BYTES:
        raise ValueError(f"{name} is too large")
    found = json.loads(archive.read(name))
    if not isinstance(found, dict):
        raise ValueError(f"{name} is no mapping")
    return found


def _network(entry: Any, keras: int) -> Network:
    kind = entry.get("class_name") if isinstance(entry, dict) else None
    if kind not in NETWORKS:
        raise ValueError(
            f"its class is {kind!r}; only functional and sequential models say how "
            "their layers are connected. Save the model with model.export(FOLDER), "
            "and say platform: tensorflow"
        )
    return read_network(entry, keras)


def _major(version: Any) -> int:
    if isinstance(version, bytes):
        version = version.decode("utf-8", "replace")
    return int(version[0]) if isinstance(version, str) and version[:1].isdigit() else 2


def _strings(group: Any, name: str) -> list[str]:
    """A list of names, which Keras divides if it is large."""
    return [
        item.decode("utf-8") if isinstance(item, bytes) else str(item)
        for values in _parts(group, name)
        for item in values
    ]


def _parts(group: Any, name: str) -> Iterator[Any]:
    if name in group.attrs:
        yield group.attrs[name]
        return
    number = 0
    while f"{name}{number}" in group.attrs:
        yield group.attrs[f"{name}{number}"]
        number += 1


def _has(file: Any, place: str) -> bool:
    try:
        return place in file
    except _ERRORS:
        return False


def _array(file: Any, place: str) -> Array:
    if not _has(file, place):
        raise UnsupportedNodeError(f"the file has no variable {place}", SAVE_HINT)
    try:
        dataset = file[place]
        array: Array = np.asarray(dataset[()])
        if array.dtype.kind == "V" and array.dtype.itemsize == 2:
            array = (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
        DataType.of(array.dtype)
    except _ERRORS as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UnsupportedNodeError(
            f"variable {place} cannot be read: {said}: the file is damaged"
        ) from error
    return array
