# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The layers of a model and how they are connected, from its configuration.

Keras 2 and 3 write connections differently; after this, nothing knows which it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from mace.python.tools.importers.keras.layer import NETWORKS, Layer, read_layer

INPUT = "InputLayer"
_DEEPEST = 32


class Reference(NamedTuple):
    """A tensor: one result of one call of a layer."""

    layer: str
    call: int = 0
    result: int = 0


@dataclass(frozen=True)
class Call:
    """One use of a layer.

    Attributes:
        layer: what is called.
        number: how many calls of it are before this one.
        arguments, keywords: Python values, with `Reference` for tensors.
    """

    layer: Layer
    number: int
    arguments: Any
    keywords: Mapping[str, Any]

    @property
    def name(self) -> str:
        """As the deployment file has it."""
        return call_name(self.layer.name, self.number)

    def references(self) -> Iterator[Reference]:
        """All tensors that it reads."""
        yield from references((self.arguments, self.keywords))


@dataclass(frozen=True)
class Network:
    """A model.

    Attributes:
        layers: by name, in the order of the file.
        calls: by the name of the layer and the number.
        inputs, outputs: of the model.
    """

    layers: Mapping[str, Layer]
    calls: Mapping[tuple[str, int], Call]
    inputs: tuple[Reference, ...]
    outputs: tuple[Reference, ...]


def call_name(layer: str, number: int) -> str:
    """The name of the first result of a call."""
    return f"{layer}#{number}" if number else layer


def references(value: Any) -> Iterator[Reference]:
    """The tensors in nested lists and mappings, those in mappings by their keys."""
    if isinstance(value, Reference):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from references(item)
    elif isinstance(value, Mapping):
        for key in sorted(value, key=str):
            yield from references(value[key])


def read_network(entry: Any, keras: int, depth: int = 0) -> Network:
    """The model of an entry with class_name and config.

    Raises:
        ValueError: it is damaged.
    """
    if depth > _DEEPEST:
        raise ValueError(f"more than {_DEEPEST} models in each other")
    config = entry.get("config") if isinstance(entry, dict) else None
    # The first versions of Keras wrote a list.
    entries = config.get("layers") if isinstance(config, dict) else config
    if not isinstance(entries, list) or not entries:
        raise ValueError("the configuration has no layers")
    layers: dict[str, Layer] = {}
    for item in entries:
        layer = read_layer(item, keras)
        if layer.name in layers:
            raise ValueError(f"two layers are called {layer.name!r}")
        if layer.kind in NETWORKS and not layer.custom:
            layer.network = read_network(item, keras, depth + 1)
        for child in layer.children.values():
            if child.kind in NETWORKS and not child.custom:
                wrapped = {"class_name": child.kind, "config": child.config}
                child.network = read_network(wrapped, keras, depth + 1)
        layers[layer.name] = layer
    if entry["class_name"] == "Sequential":
        return _chain(layers)
    assert isinstance(config, dict)
    calls: dict[tuple[str, int], Call] = {}
    sides = [
        _places(config.get(key), layers) for key in ("input_layers", "output_layers")
    ]
    for item, layer in zip(entries, layers.values()):
        nodes = item.get("inbound_nodes", [])
        if not isinstance(nodes, list):
            raise ValueError(f"{layer.name}: inbound_nodes is no list")
        for number, node in enumerate(nodes):
            arguments, keywords = _arguments(node, layers)
            key = (layer.name, number)
            calls[key] = Call(layer, number, arguments, keywords)
    if not all(sides):
        raise ValueError("the configuration has no input_layers or no output_layers")
    return _renumbered(Network(layers, calls, sides[0], sides[1]))


def _renumbered(network: Network) -> Network:
    """With calls counted from 0: Keras 2 also counts the call that defined a model."""
    calls = [*network.calls.values()]
    read = {reference for call in calls for reference in call.references()}
    read |= {*network.outputs}
    counts = Counter(name for name, _ in network.calls)
    moved = {
        name
        for name, number, _ in read
        if network.layers[name].network is not None and number == counts[name]
    }
    if not moved:
        return network
    return Network(
        network.layers,
        {
            key: Call(
                call.layer,
                call.number,
                _moved(call.arguments, moved),
                _moved(call.keywords, moved),
            )
            for key, call in network.calls.items()
        },
        network.inputs,
        tuple(_moved(network.outputs, moved)),
    )


def _moved(nested: Any, names: Collection[str]) -> Any:
    if isinstance(nested, Reference):
        number = nested.call - 1 if nested.layer in names else nested.call
        return nested._replace(call=number)
    if isinstance(nested, (list, tuple)):
        return [_moved(item, names) for item in nested]
    if isinstance(nested, Mapping):
        return {key: _moved(item, names) for key, item in nested.items()}
    return nested


def _chain(layers: dict[str, Layer]) -> Network:
    first = next(iter(layers.values()))
    if first.kind != INPUT:
        # Only the layer says what comes in.
        config = {
            "batch_shape": first.config.get("batch_input_shape"),
            "dtype": first.config.get("dtype"),
        }
        start = Layer(f"{first.name}_input", INPUT, config, first.keras)
        layers = {start.name: start, **layers}
    calls: dict[tuple[str, int], Call] = {}
    names = list(layers)
    for before, name in zip(names, names[1:]):
        calls[name, 0] = Call(layers[name], 0, [Reference(before)], {})
    return Network(layers, calls, (Reference(names[0]),), (Reference(names[-1]),))


def _places(value: Any, layers: Mapping[str, Layer]) -> tuple[Reference, ...]:
    return tuple(references(_found(value, layers)))


def _arguments(node: Any, layers: Mapping[str, Layer]) -> tuple[Any, dict[str, Any]]:
    if isinstance(node, dict):  # Keras 3
        keywords = _found(node.get("kwargs", {}), layers)
        if not isinstance(keywords, dict):
            raise ValueError("kwargs is no mapping")
        return _found(node.get("args", []), layers), keywords
    if not isinstance(node, list):
        raise ValueError("an inbound node is neither a mapping nor a list")
    if node and isinstance(node[0], str):
        node = [node]
    tensors, words = [], {}
    for item in node:
        if not isinstance(item, list) or len(item) < 3:
            raise ValueError("an inbound node names no tensor")
        if item[0] == "_CONSTANT_VALUE":
            tensors.append(item[2])
        else:
            tensors.append(_reference(item[:3], layers))
        if len(item) > 3 and isinstance(item[3], dict):
            words.update(item[3])
    return tensors, _found(words, layers)


def _found(value: Any, layers: Mapping[str, Layer]) -> Any:
    """The value, with references where tensors are."""
    if isinstance(value, dict):
        kind, config = value.get("class_name"), value.get("config")
        if kind == "__keras_tensor__" and isinstance(config, dict):
            return _reference(config.get("keras_history"), layers)
        if kind in ("__tuple__", "__list__") and isinstance(config, dict):
            return _found(config.get("value"), layers)
        return {key: _found(item, layers) for key, item in value.items()}
    if isinstance(value, list):
        if _is_reference(value) and value[0] in layers:
            return _reference(value, layers)
        return [_found(item, layers) for item in value]
    return value


def _is_reference(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 3
        and isinstance(value[0], str)
        and all(isinstance(v, int) and 0 <= v < 10_000 for v in value[1:])
    )


def _reference(value: Any, layers: Mapping[str, Layer]) -> Reference:
    if not _is_reference(value):
        raise ValueError(f"{value!r} names no tensor")
    if value[0] not in layers:
        raise ValueError(f"{value[0]!r} is read, but there is no such layer")
    return Reference(*value)
