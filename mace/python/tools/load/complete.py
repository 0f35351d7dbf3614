# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes into a deployment's tree what it leaves out and its models say."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any

from pydantic import ValidationError

from mace.python.tools.config.deployment import ModelConfig
from mace.python.tools.config.problems import Place, cited
from mace.python.tools.config.values import Constant, shape_text
from mace.python.tools.config.vocabulary import Platform, border_type
from mace.python.tools.config.yaml_source import Items, Table, Text
from mace.python.tools.convert.constants import input_constants
from mace.python.tools.convert.requests import holds_nothing
from mace.python.tools.convert.source import fetch_sources
from mace.python.tools.errors import UsageError
from mace.python.tools.importers.frame.constants import fit_constants
from mace.python.tools.importers.frame.description import (
    ModelDescription,
    TensorDescription,
)
from mace.python.tools.importers.frame.opened import OpenedModels
from mace.python.tools.importers.frame.request import user_to_framework
from mace.python.tools.ir.dims import formula, symbols_of, value_of
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.ir.shapes import format_shape, to_ints
from mace.python.tools.wording import listed, shown

# By the end of the file's name.
_SUFFIXES = {
    ".onnx": Platform.ONNX,
    ".pb": Platform.TENSORFLOW,
    ".pbtxt": Platform.TENSORFLOW,
    ".tflite": Platform.TFLITE,
    ".prototxt": Platform.CAFFE,
    ".keras": Platform.KERAS,
    ".h5": Platform.KERAS,
    ".hdf5": Platform.KERAS,
    ".pt2": Platform.PYTORCH,
    ".pt": Platform.PYTORCH,
    ".pth": Platform.PYTORCH,
    ".mge": Platform.MEGENGINE,
}
WEIGHTS_SUFFIX = ".caffemodel"


def platform_of(name: str) -> Platform | None:
    """The framework that names its files like this; None: no known one."""
    suffix = PurePath(name).suffix.lower()
    # TensorFlow's SavedModel is a folder.
    if Path(name, "saved_model.pb").is_file():
        return Platform.TENSORFLOW
    return _SUFFIXES.get(suffix, None if suffix else Platform.TENSORFLOW)


def suffix_of(platform: Platform) -> str:
    """The end of the name that a file of a framework may have."""
    return next(suffix for suffix, named in _SUFFIXES.items() if named is platform)


def known_suffixes() -> list[str]:
    """The endings of model files' names, for messages."""
    return [suffix for suffix, platform in _SUFFIXES.items() if platform.in_release]


def add(table: Table, key: str, *texts: str) -> None:
    """Adds one text, or a list of several, where the key has no value."""
    place = table.place.key(key)
    items = [Text(text, place) for text in texts]
    put(table, key, items[0] if len(items) == 1 else Items(items, place))


def put(table: Table, key: str, value: Any) -> None:
    """Adds what a tree is made of where the key has no value."""
    if table.get(key) is None:
        table.places.pop(key, None)
        table.add(key, value, replace(table.place.key(key), of_model=True))


# What can be written as a name before a number, and is no formula.
_WORD = re.compile(r"[^\W\d][^\s,=+*()]*")


class Dimensions:
    """Numbers for open dimensions.

    Dimensions of one name have one number. One without a name, or whose name is no
    single word, is called by its input and its index, as ``x[0]``. One whose name is a
    sum of others, as ``past + new``, follows from their numbers.

    Args:
        given: by name; -1 is for those that each run decides.
        keep_open: take all others for such.
        in_python: messages are for those who call `mace.load`.

    Attributes:
        left: those that are open because nobody gave them a number, by the name that
            is shown, with the model's name for it.
    """

    def __init__(
        self, given: Mapping[str, int], keep_open: bool = False, in_python: bool = False
    ) -> None:
        self._given = dict(given)
        self._keep_open = keep_open
        self._in_python = in_python
        self.left: dict[str, str] = {}
        # What each may be called, with the name that is shown.
        self._known: dict[str, str] = {}

    def close(self, tensor: TensorDescription) -> tuple[int, ...]:
        """The shape of an input with numbers; -1 for those that are still open."""
        return tuple(
            dim if isinstance(dim, int) else self._number(tensor.name, index, dim)
            for index, dim in enumerate(tensor.shape or ())
        )

    def _number(self, tensor: str, index: int, name: str | None) -> int:
        own = f"{tensor}[{index}]"
        names = [own, name] if name else [own]
        shown = name if name and _WORD.fullmatch(name) else own
        self._known.update(dict.fromkeys(names, shown))
        for each in names:
            if each in self._given:
                return self._given[each]
        found = formula(self._given, name or own)
        if symbols_of(found) <= self._given.keys():
            numbers = {symbol: self._given[symbol] for symbol in symbols_of(found)}
            if -1 in numbers.values():
                return -1
            number = value_of(found, numbers)
            if number < 1:
                raise UsageError(f"dims: {own} is {name}, {number} with {numbers}")
            return number
        self.left[shown] = name or own
        return -1

    def check(self, model: str, inputs: Iterable[TensorDescription]) -> None:
        """Whether all have numbers, after `close` for all inputs.

        Raises:
            UsageError: naming those that do not, and numbers for none.
        """
        problems = []
        unknown = [name for name in self._given if name not in self._known]
        if unknown:
            there = listed(dict.fromkeys(self._known.values())) or "none"
            problems.append(
                f"{'' if self._in_python else '--'}dims: {model} has no open dimension "
                f"{listed(map(shown, unknown))}; it has: {there}"
            )
        for asked, name in list(self.left.items()):
            # What follows from others is not asked for.
            others = self._known.keys() - {name}
            if symbols_of(formula(others, name)) <= others:
                del self.left[asked]
        if self.left and not self._keep_open:
            shapes = ", ".join(
                f"{t.name} {format_shape(t.shape)}"
                for t in inputs
                if t.shape is not None and not all(isinstance(d, int) for d in t.shape)
            )
            problems.append(
                f"{model} leaves dimensions of its inputs open: {shapes}; give "
                f"them numbers, for example {self._example()} (-1: each run decides), "
                "or write input_shapes in a deployment file"
            )
        if problems:
            raise UsageError("\n".join(problems))

    def _example(self) -> str:
        """All that is to be written, with what is there already."""
        known = {n: number for n, number in self._given.items() if n in self._known}
        numbers = {**known, **dict.fromkeys(self.left, 1)}
        if self._in_python:
            return f"dims={numbers}"
        return f"--dims={','.join(f'{name}={n}' for name, n in numbers.items())}"


_LOG = logging.getLogger(__name__)

_OF_MODEL = ("input_tensors", "input_shapes", "output_tensors", "output_shapes")
_SIDES = ("input", "output")
_FILES = (
    *("model_file_path", "model_sha256_checksum"),
    *("weight_file_path", "weight_sha256_checksum"),
)


@dataclass(frozen=True)
class Completion:
    """What `config.load` calls for every model of a deployment.

    Attributes:
        dims: numbers for open dimensions of the models, by name.
        keep_open: take those without a number as decided by each run.
        in_python: messages are for those who call `mace.load`.
        opened: models that are opened for it.
        constants: what inputs hold in every run, by name, beside or in the place of
            what the deployment says.
        left_open: is filled with the names of dimensions that nobody gave numbers.
    """

    dims: Mapping[str, int]
    keep_open: bool = False
    in_python: bool = False
    opened: OpenedModels = field(default_factory=OpenedModels)
    constants: Mapping[str, Constant] = field(default_factory=dict)
    left_open: dict[str, None] = field(default_factory=dict)

    def __call__(self, model: Table, context: Mapping[str, Any]) -> bool:
        """Adds to a model in present spelling the keys that it lacks.

        A model that has several subgraphs is left as it is: the reader tells what is
        missing.

        Returns:
            False: it has keys that the reader refuses, so that it is left as it is.

        Raises:
            MaceError: a file cannot be had or read, or leaves dimensions open.
        """
        part = _only_part(model)
        for entry in model.get("subgraphs") or ():
            if isinstance(entry, Table):
                self._add_constants(entry)
        if part is None:
            return True
        if model.get("platform") is None:
            platform = platform_of(str(model.get("model_file_path") or "."))
            if platform is not None:
                add(model, "platform", platform.value)
        if all(part.get(key) is not None for key in _OF_MODEL):
            return True
        config = _as_config(model, part, context)
        if config is None:
            return False
        dimensions = Dimensions(self.dims, self.keep_open, self.in_python)
        _Part(part, config, dimensions, self.opened).complete()
        self.left_open.update(dict.fromkeys(dimensions.left))
        return True

    def _add_constants(self, part: Table) -> None:
        given = part.get("constants")
        if not self.constants or not isinstance(given, (Table, type(None))):
            return
        place = Place(next(iter(self.constants.values())).key)
        table = Table(place)
        for name, value in {**(given or {}), **self.constants}.items():
            own = (
                place if name in self.constants or given is None else given.places[name]
            )
            table.add(name, value, own)
        part.add("constants", table, part.places.get("constants", place))


def _only_part(model: Table) -> Table | None:
    """The one subgraph of a model; None: it has several, or none that can be read."""
    entries = model.get("subgraphs")
    place = model.place.key("subgraphs")
    if entries is None:
        entries = Items([None], place)
        put(model, "subgraphs", entries)
    if not isinstance(entries, Items) or len(entries) != 1:
        return None
    if entries[0] is None:
        entries[0] = Table(Place(place.origin, place.line, f"{place.path}[0]"))
    return entries[0] if isinstance(entries[0], Table) else None


def _as_config(
    model: Table, part: Table, context: Mapping[str, Any]
) -> ModelConfig | None:
    """Files and subgraph of a model as the reader would have them, with anything for
    what is not there yet; None: there is something that cannot be read.
    """
    whole = Table(model.place)
    for key in ("platform", *_FILES):
        if key in model:
            whole.add(key, model[key], model.places[key])
    # What else a model needs to be read.
    add(whole, "runtime", "cpu")
    known = Table(part.place)
    for side in _SIDES:
        for key in (f"{side}_tensors", f"{side}_shapes", f"{side}_data_formats"):
            if key in part:
                known.add(key, part[key], part.places[key])
        add(known, f"{side}_tensors", side)
        count = len(_items(known[f"{side}_tensors"]))
        add(known, f"{side}_shapes", *["1"] * count)
    if "constants" in part:
        known.add("constants", part["constants"], part.places["constants"])
    put(whole, "subgraphs", Items([known], part.place))
    try:
        return ModelConfig.model_validate(whole, context=dict(context)).named("model")
    except ValidationError:
        return None


@dataclass
class _Part:
    """A subgraph that is being completed."""

    part: Table
    config: ModelConfig
    dimensions: Dimensions
    opened: OpenedModels

    def __post_init__(self) -> None:
        self.name = self.config.model_file_path.location

    def complete(self) -> None:
        (source,) = fetch_sources([self.config], self.opened)
        with cited(self.config):
            about = source.opened.describe()
        about = self._without_constants(about)
        if not about.inputs and self.part.get("input_tensors") is None:
            raise UsageError(
                f"{self.name} has no inputs: it computes the same in every run; "
                "compute that once, without MACE"
            )
        self._add_side("input", about, about.inputs)
        self.dimensions.check(self.name, about.inputs)
        about = self._without_inputs(about)
        self._add_side("output", about, about.outputs)
        self._add_states(about)

    def _without_constants(self, about: ModelDescription) -> ModelDescription:
        """The description without inputs that are constants."""
        constants = input_constants(self.config)
        if not constants:
            return about
        named = self.part.get("input_tensors")
        with cited(self.config):
            others = () if named is None else self.config.whole.input_tensors
            fit_constants(constants, about, self.name, others)
        kept = tuple(t for t in about.inputs if t.name not in constants)
        return replace(about, inputs=kept)

    def _without_inputs(self, about: ModelDescription) -> ModelDescription:
        """The description without outputs that the application has already."""
        if self.part.get("output_tensors") is not None:
            return about
        given = {str(name) for name in _items(self.part.get("input_tensors"))}
        passed = [t.name for t in about.outputs if t.name in given]
        kept = {t.name: t for t in about.outputs if t.name not in given}
        if passed and not kept:
            raise UsageError(
                f"{self.name} computes nothing: it returns its inputs "
                f"{', '.join(passed)}"
            )
        if passed:
            _LOG.warning(
                "%s returns its inputs %s, which the application has already: they "
                "are left out of the outputs",
                self.name,
                ", ".join(passed),
            )
        return replace(about, outputs=tuple(kept.values()))

    def _add_states(self, about: ModelDescription) -> None:
        """Adds the states whose inputs and outputs are named."""
        names = {
            str(name)
            for side in ("input", "output")
            for name in _items(self.part.get(f"{side}_tensors"))
        }
        states = {k: to for k, to in about.states.items() if {k, to} <= names}
        if not states or self.part.get("states") is not None:
            return
        place = self.part.place.key("states")
        table = Table(place)
        for name, becomes in states.items():
            add(table, name, becomes)
        put(self.part, "states", table)

    def _add_side(
        self, side: str, about: ModelDescription, own: Sequence[TensorDescription]
    ) -> None:
        """Adds the names, shapes and formats of the inputs or of the outputs."""
        tensors = self._wanted(side, own)
        shapes, formats = f"{side}_shapes", f"{side}_data_formats"
        if not tensors and not own:
            raise UsageError(f"{self.name} has no {side}s: name {side}_tensors")
        add(self.part, f"{side}_tensors", *(tensor.name for tensor in tensors))
        if self.part.get(shapes) is not None:
            return
        empty = [tensor.name for tensor in tensors if 0 in (tensor.shape or ())]
        if empty:
            raise UsageError(f"{self.name}: {holds_nothing(side, *empty)}")
        unknown = [tensor.name for tensor in tensors if tensor.shape is None]
        if unknown and side == "input":
            raise UsageError(
                f"{self.name} does not say the shape of {', '.join(unknown)}: "
                "write input_shapes in a deployment file"
            )
        orders = self._orders(formats, about, tensors)
        add(self.part, formats, *(order.value for order in orders))
        dims = [
            self.dimensions.close(tensor)
            if side == "input"
            else to_ints(tensor.shape or ())
            for tensor in tensors
        ]
        if not unknown:
            add(
                self.part,
                shapes,
                *(
                    shape_text(user_to_framework(d, about.image_order, order))
                    for d, order in zip(dims, orders)
                ),
            )
        types = [border_type(tensor.dtype) for tensor in tensors]
        if any(kind is not DataType.FLOAT32 for kind in types):
            add(self.part, f"{side}_data_types", *(kind.value for kind in types))

    def _wanted(
        self, side: str, own: Sequence[TensorDescription]
    ) -> Sequence[TensorDescription]:
        """Those that the deployment names, or all."""
        named = self.part.get(f"{side}_tensors")
        if named is None:
            return own
        by_name = {tensor.name: tensor for tensor in own}
        return [by_name.get(str(n), TensorDescription(str(n))) for n in _items(named)]

    def _orders(
        self,
        key: str,
        about: ModelDescription,
        tensors: Sequence[TensorDescription],
    ) -> list[DataFormat]:
        """The order of dimensions of each tensor for the application."""
        known = {item.value: item for item in DataFormat}
        given = [
            known.get(str(text).upper(), DataFormat.NONE)
            for text in _items(self.part.get(key))
        ]
        if len(given) == 1:
            given *= len(tensors)
        if len(given) == len(tensors):
            return given
        # Where the shape is not known, the converter finds out whether it is an image.
        return [
            about.image_order
            if tensor.shape is None or len(tensor.shape) == 4
            else DataFormat.NONE
            for tensor in tensors
        ]


def _items(found: Any) -> list[Any]:
    """The values of a key that may have one or several."""
    if found is None:
        return []
    return list(found) if isinstance(found, (list, tuple)) else [found]
