# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Opens `.keras` and `.h5` files: the configuration of the model and its variables.

A `.keras` file has a folder for each layer, named after its class and its place among
those of this class. An HDF5 file has a list for each layer of the outermost model, in
which all that can be trained come first.
"""

from __future__ import annotations

import importlib.util
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from mace.python.tools.importers.keras.context import HANDLERS, VARIABLES
from mace.python.tools.importers.keras.hdf5 import ForeignPartError, Hdf5File
from mace.python.tools.importers.keras.network import (
    INPUT,
    NETWORKS,
    Layer,
    Network,
    folder_names,
    read_network,
)
from mace.python.tools.ir.dtypes import Array, DataType

_ZIP = b"PK\x03\x04"
_HDF5 = b"\x89HDF\r\n\x1a\n"
_WEIGHTS = "model.weights.h5"
_HEADS = re.compile("/((query|key|value|output)_dense/)")
SAVE_HINT = "save the whole model: model.save('model.keras')"
# What comes from files that are damaged.
_ERRORS = (
    *(ArithmeticError, AttributeError, LookupError, MemoryError, OSError),
    *(RuntimeError, TypeError, ValueError),
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
    except (*_ERRORS, DamagedZipError) as error:
        what = f"not a model of Keras, or it is damaged: {_said(error)}"
        raise _unfit(path, what) from error


def _said(error: BaseException) -> str:
    """The first line of a message."""
    return str(error).splitlines()[0] if str(error) else type(error).__name__


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

    _attach_by_class(network, read)
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
    _attach_by_order(network, places, lambda place: _array(file, place))
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
        raise UnsupportedNodeError(
            f"variable {place} cannot be read: {_said(error)}: the file is damaged"
        ) from error
    return array


# Which variables belong to which layer ------------------------------------------------

Read = Callable[[str], Array]
# The places of the variables of each layer of the outermost model.
Places = Mapping[str, "list[str]"]
Reader = Callable[[], Array]


@dataclass(frozen=True)
class _Slot:
    """A variable.

    Attributes:
        layer: whose it is.
        index: among its variables.
        path: of it in a `.keras` file, behind that of the outermost layer given.
        trainable: whether it can be trained.
    """

    layer: Layer
    index: int
    path: str
    trainable: bool


def _slots_of(layer: Layer, path: str = "", trainable: bool = True) -> Iterator[_Slot]:
    """The variables of a layer and of those in it, in Keras' order.

    Raises:
        UnsupportedNodeError: that is not known.
    """
    trainable = trainable and layer.trainable
    if layer.network is not None:
        for inner, name in _named(layer.network):
            yield from _slots_of(inner, f"{path}/layers/{name}", trainable)
        return
    if layer.kind == INPUT and not layer.custom:
        return
    if layer.custom or HANDLERS.find(layer.kind) is None:
        raise UnsupportedNodeError(f"the variables of {layer.name} are not known")
    find = VARIABLES.get(layer.kind)
    slots = [
        _Slot(layer, index, f"{path}/{place}", trainable and own)
        for index, (place, own) in enumerate(find(layer) if find else ())
    ]
    if layer.kind.startswith("QuantizeWrapper"):
        yield from _slots_of_wrapper(layer, slots, path, trainable)
        return
    yield from slots
    for key, inner in layer.children.items():
        folder = "forward_layer" if layer.kind == "Bidirectional" else key
        folder = "backward_layer" if key == "backward_layer" else folder
        yield from _slots_of(inner, f"{path}/{folder}", trainable)


def _slots_of_wrapper(
    layer: Layer, own: Sequence[_Slot], path: str, trainable: bool
) -> Iterator[_Slot]:
    """Of a layer that rounds the variables of the one that it wraps. In a `.keras` file
    it has what can be trained of that first, and then its own.
    """
    count = 0
    for inner in layer.children.values():
        for slot in _slots_of(inner, f"{path}/layer", trainable):
            if slot.trainable:
                slot = replace(slot, path=f"{path}/vars/{count}")
                count += 1
            yield slot
    for slot in own:
        number = int(slot.path.rpartition("/")[2])
        yield replace(slot, path=f"{path}/vars/{count + number}")


def _named(network: Network) -> Iterator[tuple[Layer, str]]:
    """The layers, each with the name of its folder in a `.keras` file."""
    # Functions have none.
    layers = [x for x in network.layers.values() if not x.kind.startswith("ops.")]
    return zip(layers, folder_names(layers))


def _attach_by_class(network: Network, read: Read, folder: str = "") -> None:
    """Connects the layers of a `.keras` file with their variables."""
    for layer, name in _named(network):
        place = f"{folder}layers/{name}"
        if layer.network is not None:
            # What is not known of one layer does not keep others from theirs.
            _attach_by_class(layer.network, read, f"{place}/")
            continue
        try:
            slots = list(_slots_of(layer))
        except UnsupportedNodeError:
            continue  # the layer itself will be refused
        for slot in slots:
            slot.layer.readers.append(_reading(read, f"{place}{slot.path}"))


def _attach_by_order(network: Network, places: Places, read: Read) -> None:
    """Connects the layers of an HDF5 file with their variables."""
    for layer in network.layers.values():
        found = places.get(layer.name, [])
        try:
            slots = list(_slots_of(layer))
        except UnsupportedNodeError:
            continue  # the layer itself will be refused
        slots.sort(key=lambda slot: not slot.trainable)
        if len(found) != len(slots):
            said = (
                f"the file has {len(found)} variables for layer {layer.name}, which "
                f"has {len(slots)}: it is damaged, or of another version of Keras"
            )
            for slot in slots:
                slot.layer.readers.append(_refusing(said))
            continue
        order = {id(slot): place for slot, place in zip(slots, found)}
        for slot in sorted(slots, key=lambda slot: slot.index):
            slot.layer.readers.append(_reading(read, order[id(slot)]))


def _reading(read: Read, place: str) -> Reader:
    return lambda: read(place)


def _refusing(said: str) -> Reader:
    def refuse() -> Array:
        raise UnsupportedNodeError(said)

    return refuse
