# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The variables of layers: which there are, in which order, and where files have them.

A `.keras` file has a folder for each layer, named after its class and its place among
those of this class. An HDF5 file has a list for each layer of the outermost model, in
which all that can be trained come first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import HANDLERS, VARIABLES
from mace.python.tools.importers.keras.layer import Layer, snake_case
from mace.python.tools.importers.keras.network import INPUT, Network
from mace.python.tools.ir.dtypes import Array

Read = Callable[[str], Array]
# The places of the variables of each layer of the outermost model.
Places = Mapping[str, "list[str]"]
Reader = Callable[[], Array]


@dataclass(frozen=True)
class Slot:
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


def slots_of(layer: Layer, path: str = "", trainable: bool = True) -> Iterator[Slot]:
    """The variables of a layer and of those in it, in Keras' order.

    Raises:
        UnsupportedNodeError: that is not known.
    """
    trainable = trainable and layer.trainable
    if layer.network is not None:
        for inner, name in named(layer.network):
            yield from slots_of(inner, f"{path}/layers/{name}", trainable)
        return
    if layer.kind == INPUT and not layer.custom:
        return
    if layer.custom or HANDLERS.find(layer.kind) is None:
        raise UnsupportedNodeError(f"the variables of {layer.name} are not known")
    find = VARIABLES.get(layer.kind)
    slots = [
        Slot(layer, index, f"{path}/{place}", trainable and own)
        for index, (place, own) in enumerate(find(layer) if find else ())
    ]
    if layer.kind.startswith("QuantizeWrapper"):
        yield from _slots_of_wrapper(layer, slots, path, trainable)
        return
    yield from slots
    for key, inner in layer.children.items():
        folder = "forward_layer" if layer.kind == "Bidirectional" else key
        folder = "backward_layer" if key == "backward_layer" else folder
        yield from slots_of(inner, f"{path}/{folder}", trainable)


def _slots_of_wrapper(
    layer: Layer, own: Sequence[Slot], path: str, trainable: bool
) -> Iterator[Slot]:
    """Of a layer that rounds the variables of the one that it wraps. In a `.keras` file
    it has what can be trained of that first, and then its own.
    """
    count = 0
    for inner in layer.children.values():
        for slot in slots_of(inner, f"{path}/layer", trainable):
            if slot.trainable:
                slot = replace(slot, path=f"{path}/vars/{count}")
                count += 1
            yield slot
    for slot in own:
        number = int(slot.path.rpartition("/")[2])
        yield replace(slot, path=f"{path}/vars/{count + number}")


def named(network: Network) -> Iterator[tuple[Layer, str]]:
    """The layers, each with the name of its folder in a `.keras` file."""
    used: dict[str, int] = {}
    for layer in network.layers.values():
        if layer.kind.startswith("ops."):
            continue  # a function, which has no folder
        name = snake_case(layer.kind)
        number = used.get(name, -1) + 1
        used[name] = number
        yield layer, f"{name}_{number}" if number else name


def attach_by_class(network: Network, read: Read, folder: str = "") -> None:
    """Connects the layers of a `.keras` file with their variables."""
    for layer, name in named(network):
        place = f"{folder}layers/{name}"
        if layer.network is not None:
            # What is not known of one layer does not keep others from theirs.
            attach_by_class(layer.network, read, f"{place}/")
            continue
        try:
            slots = list(slots_of(layer))
        except UnsupportedNodeError:
            continue  # the layer itself will be refused
        for slot in slots:
            slot.layer.readers.append(_reading(read, f"{place}{slot.path}"))


def attach_by_order(network: Network, places: Places, read: Read) -> None:
    """Connects the layers of an HDF5 file with their variables."""
    for layer in network.layers.values():
        found = places.get(layer.name, [])
        try:
            slots = list(slots_of(layer))
        except UnsupportedNodeError:
            continue  # the layer itself will be refused
        slots.sort(key=lambda slot: not slot.trainable)
        if len(found) != len(slots):
            said = (
                f"the file has {len(found)} variables for layer {layer.name}, which "
                f"has {len(slots)}: it is damaged, or of another version of Keras"
            )
            found = []
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
