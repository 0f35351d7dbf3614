# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Opens `.keras` and `.h5` files: the configuration of the model and its variables."""

from __future__ import annotations

import importlib.util
import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mace.python.installation import install
from mace.python.tools.errors import MissingToolError
from mace.python.tools.importers.frame.budget import budget
from mace.python.tools.importers.frame.errors import (
    ImportModelError,
    UnsupportedNodeError,
)
from mace.python.tools.importers.frame.model_file import map_file, other_format
from mace.python.tools.importers.frame.zip_file import DamagedZipError, ZipFile
from mace.python.tools.importers.keras.hdf5 import ForeignPartError, Hdf5File
from mace.python.tools.importers.keras.layer import NETWORKS
from mace.python.tools.importers.keras.network import Network, read_network
from mace.python.tools.importers.keras.variables import (
    attach_by_class,
    attach_by_order,
)
from mace.python.tools.ir.dtypes import Array, DataType

_ZIP = b"PK\x03\x04"
_HDF5 = b"\x89HDF\r\n\x1a\n"
_WEIGHTS = "model.weights.h5"
_HEADS = re.compile("/((query|key|value|output)_dense/)")
SAVE_HINT = "save the whole model: model.save('model.keras')"
# What comes from files that are damaged.
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
    except ForeignPartError as error:
        raise _unfit(path, f"refused, since {error}") from error
    except (*_ERRORS, RecursionError, DamagedZipError) as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise _unfit(path, f"not a model of Keras, or it is damaged: {said}") from error


def _unfit(path: Path, what: str) -> ImportModelError:
    return ImportModelError(f"model_file_path: {path} is {what}; {SAVE_HINT}")


def _read_archive(path: Path) -> Network:
    archive = ZipFile(memoryview(map_file(path)))
    missing = [name for name in ("config.json", _WEIGHTS) if name not in archive.names]
    if missing:
        raise ValueError(f"the archive has no {' and no '.join(missing)}")
    entry = _json(archive, "config.json")
    keras = 3
    if "metadata.json" in archive.names:
        keras = _major(_json(archive, "metadata.json").get("keras_version"))
    with tempfile.TemporaryDirectory(prefix="mace_keras_") as folder:
        # The library reads it from a file without a copy in memory.
        unpacked = Path(folder) / _WEIGHTS
        archive.extract(_WEIGHTS, unpacked)
        weights = Hdf5File(unpacked, True)
    network = _network(entry, keras)

    def read(place: str) -> Array:
        # Keras 2 had other names.
        private = _HEADS.sub(r"/_\1", place)
        tracked = private.replace("layers/", "_layer_checkpoint_dependencies/")
        places = [at for at in (place, private, tracked) if at in weights]
        return _array(weights, places[0] if places else place)

    attach_by_class(network, read)
    return network


def _read_hdf5(path: Path) -> Network:
    budget().hold(path, path.stat().st_size)
    file = Hdf5File(path)
    own = file.attributes()
    if "model_config" not in own:
        raise ValueError("it has only weights, no configuration of a model")
    text = str(own["model_config"])
    budget().unpack_text(len(text), "model_config")
    entry = json.loads(text)
    top = "model_weights" if file.has_group("model_weights") else ""
    attributes = file.attributes(top)
    version = own.get("keras_version", attributes.get("keras_version"))
    network = _network(entry, _major(version))
    start = f"{top}/" if top else ""
    places = {
        name: [
            f"{start}{name}/{weight}"
            for weight in _strings(file.attributes(f"{start}{name}"), "weight_names")
        ]
        for name in _strings(attributes, "layer_names")
    }
    attach_by_order(network, places, lambda place: _array(file, place))
    return network


def _json(archive: ZipFile, name: str) -> dict[str, Any]:
    found = json.loads(archive.read_text(name))
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
    return int(version[0]) if isinstance(version, str) and version[:1].isdigit() else 2


def _strings(attributes: Mapping[str, Any], name: str) -> list[str]:
    """A list of names, which Keras divides if it is large."""
    return [str(item) for values in _parts(attributes, name) for item in values]


def _parts(attributes: Mapping[str, Any], name: str) -> Iterator[Any]:
    if name in attributes:
        yield attributes[name]
        return
    number = 0
    while f"{name}{number}" in attributes:
        yield attributes[f"{name}{number}"]
        number += 1


def _array(file: Hdf5File, place: str) -> Array:
    if place not in file:
        raise UnsupportedNodeError(f"the file has no variable {place}", SAVE_HINT)
    try:
        array = file.array(place)
        if array.dtype.kind == "V" and array.dtype.itemsize == 2:
            array = (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
        DataType.of(array.dtype)
    except _ERRORS as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UnsupportedNodeError(
            f"variable {place} cannot be read: {said}: the file is damaged"
        ) from error
    return array
