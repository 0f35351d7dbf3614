# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The layers of a model, their settings, and how they are connected.

Keras 2 and 3 write connections differently; after this, nothing knows which it was.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import DataFormat

# The key of layers on images, and its values.
DATA_FORMAT = "data_format"
CHANNELS_FIRST, CHANNELS_LAST = "channels_first", "channels_last"
INPUT = "InputLayer"
_DEEPEST = 32
NETWORKS = frozenset({"Functional", "Model", "Sequential"})
# Functions of TensorFlow between layers of Keras 2, as those of Keras 3.
_FUNCTIONS = {
    "__operators__.add": "Add",
    "math.abs": "Absolute",
    "math.divide": "TrueDivide",
    "math.pow": "Power",
    "math.truediv": "TrueDivide",
    "expand_dims": "ExpandDims",
    "linalg.matmul": "Matmul",
    "reshape": "Reshape",
    **{
        f"math.{name}": name.capitalize()
        for name in (
            *("add", "exp", "log", "maximum", "minimum", "multiply", "negative"),
            *("rsqrt", "sigmoid", "softplus", "sqrt", "square", "subtract", "tanh"),
        )
    },
    **{f"math.reduce_{name}": name.capitalize() for name in ("max", "mean", "min")},
    "math.reduce_sum": "Sum",
    **{
        f"nn.{name}": name.capitalize()
        for name in ("relu", "relu6", "selu", "silu", "softmax")
    },
}
# Where the layers come from that round like FakeQuant.
_QUANTIZATION = "tensorflow_model_optimization.python.core.quantization.keras"
# Keys of the configuration under which a layer has others.
_CHILDREN = ("layer", "backward_layer", "cell")
# Keys under which it has a list of others.
_LISTS = ("cells", "layers")
# Classes that files call by another name, under which Keras exports them.
_CLASSES = {"GroupQueryAttention": "GroupedQueryAttention"}


_Item = TypeVar("_Item")


@dataclass(eq=False)
class Layer:
    """One layer.

    Attributes:
        name: unique in its model.
        kind: its class; functions of Keras are `ops.NAME`.
        config: its configuration.
        keras: the major version of Keras that wrote the file.
        custom: where its class comes from, if not from Keras; '' otherwise.
        children: layers that it wraps, by the key of the configuration.
        readers: of its variables, in order.
        network: what it computes, if it is a model.
    """

    name: str
    kind: str
    config: Mapping[str, Any]
    keras: int = 3
    custom: str = ""
    children: dict[str, Layer] = field(default_factory=dict)
    readers: list[Callable[[], Array]] = field(default_factory=list)
    network: Any = None

    @property
    def trainable(self) -> bool:
        """Whether its weights are: HDF5 files have those first."""
        return bool(self.config.get("trainable", True))

    def has(self, key: str) -> bool:
        """Whether the key has a value."""
        return self.config.get(key) is not None

    def integer(self, key: str, default: int | None = None) -> int:
        """A whole number."""
        value = self.number(key, default)
        if not float(value).is_integer():
            raise self._unfit(key, "a whole number")
        return int(value)

    def number(self, key: str, default: float | None = None) -> float:
        """A number."""
        value: Any = self.config.get(key)
        if value is None and default is not None:
            return default
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value):
            raise self._unfit(key, "a number")
        return float(value)

    def flag(self, key: str, default: bool = False) -> bool:
        """True or false."""
        value = self.config.get(key, default)
        if value not in (True, False):
            raise self._unfit(key, "true or false")
        return bool(value)

    def text(self, key: str, default: str = "") -> str:
        """A string."""
        value = self.config.get(key)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self._unfit(key, "a string")
        return value

    def integers(self, key: str, count: int, default: int | None = None) -> list[int]:
        """`count` whole numbers; one number stands for all."""
        value: Any = self.config.get(key)
        if value is None and default is not None:
            value = default
        if isinstance(value, int):
            value = [value] * count
        if not _are_integers(value) or len(value) != count:
            raise self._unfit(key, f"{count} whole numbers")
        return list(value)

    def axes(self, key: str, default: int = -1) -> list[int]:
        """One whole number, or any number of them."""
        value: Any = self.config.get(key, default)
        value = [value] if isinstance(value, int) else value
        if not _are_integers(value):
            raise self._unfit(key, "whole numbers")
        return list(value)

    def _unfit(self, key: str, wanted: str) -> UnsupportedNodeError:
        shown = repr(self.config.get(key))
        shown = shown if len(shown) < 60 else f"{shown[:60]}..."
        return UnsupportedNodeError(f"{key} is {shown}, not {wanted}")


def _are_integers(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(
        isinstance(v, int) and not isinstance(v, bool) for v in value
    )


def snake_case(name: str) -> str:
    """The name that Keras gives layers of a class."""
    name = re.sub(r"\W+", "", name)
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()


def read_layer(entry: Any, keras: int, parent: str = "", depth: int = 0) -> Layer:
    """The layer of an entry with class_name and config.

    Raises:
        ValueError: it is no such entry.
    """
    if not isinstance(entry, dict) or not isinstance(entry.get("config"), dict):
        raise ValueError(f"a layer of {parent or 'the model'} has no configuration")
    config = entry["config"]
    kind, name = entry.get("class_name"), config.get("name", entry.get("name"))
    if not isinstance(kind, str):
        raise ValueError(f"a layer of {parent or 'the model'} has no class")
    if not isinstance(name, str):
        name = kind.lower()
    if depth > 8:
        raise ValueError(f"{name}: too many layers in each other")
    module = entry.get("module") or ""
    if not isinstance(module, str):
        raise ValueError(f"{name}: its module is no name")
    registered = entry.get("registered_name")
    custom = module if module and not _is_of_keras(module) else ""
    if isinstance(registered, str) and ">" in registered:
        custom = custom or registered
    # HDF5 files do not name the module.
    bare = not module and not {"trainable", "dtype"} & config.keys()
    if ("ops" in module.split(".") or (bare and kind not in NETWORKS)) and not custom:
        kind = f"ops.{kind}"
    if kind == "TFOpLambda":
        function = config.get("function")
        known = _FUNCTIONS.get(function) if isinstance(function, str) else None
        kind = f"ops.{known}" if known else f"tf.{function}"
    kind = _CLASSES.get(kind, kind)
    layer = Layer(name, kind, config, keras, custom)
    for key in _CHILDREN:
        inner = config.get(key)
        if _is_layer(inner):
            layer.children[key] = read_layer(inner, keras, name, depth + 1)
    for key in _LISTS if kind not in NETWORKS else ():
        entries = itertools.takewhile(_is_layer, config.get(key) or ())
        inner_layers = [read_layer(item, keras, name, depth + 1) for item in entries]
        # The folders that a `.keras` file has for them.
        folders = folder_names(inner_layers)
        layer.children.update(
            (f"{key}/{folder}", child) for folder, child in zip(folders, inner_layers)
        )
    if kind == "Bidirectional" and [*layer.children] == ["layer"]:
        # Keras 2 does not write one that it made itself.
        turned = dict(config["layer"])
        backward = not turned["config"].get("go_backwards", False)
        turned["config"] = {**turned["config"], "go_backwards": backward}
        made = read_layer(turned, keras, name, depth + 1)
        layer.children["backward_layer"] = made
    return layer


def _is_layer(entry: Any) -> bool:
    return isinstance(entry, dict) and "class_name" in entry


def folder_names(layers: Iterable[Layer]) -> Iterator[str]:
    """The folders of layers in a `.keras` file: their classes, numbered from 1 on."""
    used: Counter[str] = Counter()
    for layer in layers:
        name = snake_case(layer.kind)
        yield f"{name}_{used[name]}" if used[name] else name
        used[name] += 1


def _is_of_keras(module: str) -> bool:
    return module.split(".")[0] in ("keras", "tf_keras", "builtins") or (
        module.startswith(("tensorflow.python.keras", _QUANTIZATION))
    )


class Reference(NamedTuple):
    """A tensor: one result of one call of a layer."""

    layer: str
    call: int = 0
    result: int = 0

    @property
    def name(self) -> str:
        """As the deployment file has it."""
        call = f"{self.layer}#{self.call}" if self.call else self.layer
        return f"{call}:{self.result}" if self.result else call


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
        return Reference(self.layer.name, self.number).name

    def references(self) -> Iterator[Reference]:
        """All tensors that it reads."""
        yield from nested_items(Reference, (self.arguments, self.keywords))


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
    moved_calls = {
        key: replace(
            call,
            arguments=_moved(call.arguments, moved),
            keywords=_moved(call.keywords, moved),
        )
        for key, call in network.calls.items()
    }
    outputs = tuple(_moved(network.outputs, moved))
    return replace(network, calls=moved_calls, outputs=outputs)


def _moved(nested: Any, names: Collection[str]) -> Any:
    return nested_map(
        Reference,
        lambda item: item._replace(call=item.call - (item.layer in names)),
        nested,
    )


def nested_map(kind: type[Any], change: Callable[[Any], Any], nested: Any) -> Any:
    """Nested lists and mappings with all items of a class changed."""
    if isinstance(nested, kind):
        return change(nested)
    if isinstance(nested, (list, tuple)):
        return [nested_map(kind, change, item) for item in nested]
    if isinstance(nested, Mapping):
        return {key: nested_map(kind, change, item) for key, item in nested.items()}
    return nested


def nested_items(kind: type[_Item], nested: Any) -> Iterator[_Item]:
    """The items of a class in nested lists and mappings, those in mappings by keys."""
    if isinstance(nested, kind):
        yield nested
    elif isinstance(nested, (list, tuple)):
        for item in nested:
            yield from nested_items(kind, item)
    elif isinstance(nested, Mapping):
        for key in sorted(nested, key=str):
            yield from nested_items(kind, nested[key])


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
    return tuple(nested_items(Reference, _found(value, layers)))


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


def image_order(network: Network) -> DataFormat:
    """The order of dimensions of the images that a model gets."""
    return DataFormat.NCHW if _has_first(network) else DataFormat.NHWC


def _has_first(network: Network) -> bool:
    return any(
        part.config.get(DATA_FORMAT) == CHANNELS_FIRST
        or (part.network is not None and _has_first(part.network))
        for layer in network.layers.values()
        for part in (layer, *layer.children.values())
    )


# Names of tensors ---------------------------------------------------------------------
#
# A tensor is called like the layer that makes it. Keras 2, and deployment files of its
# time, call it like the node of TensorFlow's graph that makes it inside of the layer:
#
#     dense_1/Softmax:0       the result of dense_1, whose activation is softmax
#     dense_1/BiasAdd:0       what dense_1 has before its activation
#     flatten/Reshape:0       the result of flatten
#
# `:0`, the first result, may be left out of any name, or added to it.

# Behind the name of a layer: what it has before its activation.
BEFORE_ACTIVATION = "BiasAdd"
# The nodes that add or multiply last in layers with and without biases.
_SUM = "biasadd"
_PRODUCTS = (
    *("matmul", "tensordot", "conv1d", "conv2d", "conv3d", "convolution"),
    *("conv2dtranspose", "depthwise", "separableconv2d"),
)
# The nodes of activations that are called otherwise.
_NODES = {
    "swish": ("mul", "identityn"),
    "silu": ("mul", "identityn"),
    "gelu": ("mul",),
    "hardsigmoid": ("clipbyvalue",),
    "exponential": ("exp",),
}


class Meaning(NamedTuple):
    """The tensor that a name means.

    Attributes:
        name: as the importer calls it.
        layer: which has this value before its activation; None: it is a result.
        is_old: whether the name is that of a node.
    """

    name: str
    layer: str | None = None
    is_old: bool = False


def meaning(
    name: str,
    results: Collection[str],
    config: Callable[[str], Mapping[str, Any] | None],
) -> Meaning | None:
    """The tensor that a name means; None if there is none.

    Args:
        results: the names of the layers' results.
        config: the configuration of the layer that has a result of this name; None for
            an inner model, whose tensors have names with `/`.
    """
    bare = name[:-2] if name.endswith(":0") else name
    for known in (name, bare):
        if known in results:
            return Meaning(known)
    layer, slash, node = bare.rpartition("/")
    found = config(layer) if slash and layer in results else None
    if found is None:
        return None
    node = _plain(node)
    activation = _plain(_text(found.get("activation")))
    if activation in ("", "linear") or "recurrent_activation" in found:
        return Meaning(layer, is_old=True)
    if node in (activation, *_NODES.get(activation, ())):
        return Meaning(layer, is_old=True)
    last = (_SUM,) if found.get("use_bias") else _PRODUCTS
    if "use_bias" in found and node in last:
        return Meaning(f"{layer}/{BEFORE_ACTIVATION}", layer, is_old=True)
    return None


def _text(activation: Any) -> str:
    if isinstance(activation, Mapping):
        activation = activation.get("config")
    return activation if isinstance(activation, str) else ""


def _plain(name: str) -> str:
    return name.lower().replace("_", "")
