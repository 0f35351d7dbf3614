# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A layer of a Keras model, with typed access to its configuration."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.ir.dtypes import Array

NETWORKS = frozenset({"Functional", "Model", "Sequential"})
# Functions of TensorFlow between layers of Keras 2, as those of Keras 3.
_FUNCTIONS = {
    "__operators__.add": "Add",
    "math.abs": "Absolute",
    "math.add": "Add",
    "math.divide": "TrueDivide",
    "math.exp": "Exp",
    "math.log": "Log",
    "math.maximum": "Maximum",
    "math.minimum": "Minimum",
    "math.multiply": "Multiply",
    "math.negative": "Negative",
    "math.pow": "Power",
    "math.reduce_max": "Max",
    "math.reduce_mean": "Mean",
    "math.reduce_min": "Min",
    "math.reduce_sum": "Sum",
    "math.rsqrt": "Rsqrt",
    "math.sigmoid": "Sigmoid",
    "math.softplus": "Softplus",
    "math.sqrt": "Sqrt",
    "math.square": "Square",
    "math.subtract": "Subtract",
    "math.tanh": "Tanh",
    "math.truediv": "TrueDivide",
    "nn.relu": "Relu",
    "nn.relu6": "Relu6",
    "nn.selu": "Selu",
    "nn.silu": "Silu",
    "nn.softmax": "Softmax",
    "reshape": "Reshape",
    "expand_dims": "ExpandDims",
    "linalg.matmul": "Matmul",
}
# Where the layers come from that round like FakeQuant.
_QUANTIZATION = "tensorflow_model_optimization.python.core.quantization.keras"
# Keys of the configuration under which a layer has others.
_CHILDREN = ("layer", "backward_layer", "cell")
# Keys under which it has a list of others.
_LISTS = ("cells", "layers")
# Classes that files call by another name, under which Keras exports them.
_CLASSES = {"GroupQueryAttention": "GroupedQueryAttention"}


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
        if isinstance(inner, dict) and "class_name" in inner:
            layer.children[key] = read_layer(inner, keras, name, depth + 1)
    if kind not in NETWORKS:
        for key in _LISTS:
            used: dict[str, int] = {}
            for inner in config.get(key) or ():
                if not isinstance(inner, dict) or "class_name" not in inner:
                    break
                child = read_layer(inner, keras, name, depth + 1)
                # The folder that a `.keras` file has for it.
                folder = snake_case(child.kind)
                number = used.get(folder, -1) + 1
                used[folder] = number
                folder = f"{folder}_{number}" if number else folder
                layer.children[f"{key}/{folder}"] = child
    if kind == "Bidirectional" and [*layer.children] == ["layer"]:
        # Keras 2 does not write one that it made itself.
        turned = dict(config["layer"])
        backward = not turned["config"].get("go_backwards", False)
        turned["config"] = {**turned["config"], "go_backwards": backward}
        made = read_layer(turned, keras, name, depth + 1)
        layer.children["backward_layer"] = made
    return layer


def _is_of_keras(module: str) -> bool:
    return module.split(".")[0] in ("keras", "tf_keras", "builtins") or (
        module.startswith(("tensorflow.python.keras", _QUANTIZATION))
    )
