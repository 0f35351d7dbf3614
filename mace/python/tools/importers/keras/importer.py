# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Imports a model of Keras: chooses and orders the calls of its layers.

A tensor is called like the layer that makes it. The second result of a layer is
`layer:1`, the result of its second call `layer#1`, and that of a layer in an inner
model `model/layer`; network.py says what other names mean.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mace.python.tools.importers.frame.description import (
    ModelDescription,
    TensorDescription,
)
from mace.python.tools.importers.frame.errors import (
    ImportModelError,
    UnsupportedNodeError,
    UnsupportedNodes,
    missing_inputs,
    refusal_of,
    unknown_tensor,
)
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    add_output,
)
from mace.python.tools.importers.keras.context import HANDLERS, Context, call_handler
from mace.python.tools.importers.keras.network import (
    BEFORE_ACTIVATION,
    INPUT,
    Call,
    Layer,
    Network,
    Reference,
    image_order,
    meaning,
    nested_map,
)
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Graph, Value
from mace.python.tools.ir.shapes import from_ints

_LOG = logging.getLogger(__name__)
EXPORT_HINT = (
    "write it with supported layers of Keras, or call model.export(FOLDER) and convert "
    "that folder"
)
# Layers whose outputs have the mask of their input in Keras; all others drop it.
_KEEP_MASKS = frozenset(
    {
        *("Activation", "ActivityRegularization", "AlphaDropout", "BatchNormalization"),
        *("Dense", "Dropout", "ELU", "GaussianDropout", "GaussianNoise"),
        *("GroupNormalization", "Identity", "InputLayer", "LayerNormalization"),
        *("LeakyReLU", "Normalization", "PReLU", "ReLU", "Rescaling", "Softmax"),
        *("SpatialDropout1D", "UnitNormalization"),
        *("Bidirectional", "GRU", "LSTM", "SimpleRNN"),
    }
)
# Layers that are known and cannot be converted: why, and what to do.
_BEFORE = "compute it in the application, and begin the model behind it (input_tensors)"
_STRINGS = "it works on strings", _BEFORE
_HASH = "it hashes its input", _BEFORE
_COLOURS = "it changes the colours of images by their histograms", _BEFORE
_EXPORT = "call model.export(FOLDER) and say platform: tensorflow"

_REFUSED = {
    "AutoContrast": _COLOURS,
    "ContrastLimitedAdaptiveHistogramEqualization": _COLOURS,
    "ConvLSTM3D": ("it unrolls convolutions of volumes", "use ConvLSTM2D"),
    "Equalization": _COLOURS,
    "FeatureSpace": _STRINGS,
    "HashedCrossing": _HASH,
    "Hashing": _HASH,
    "MaxNumBoundingBoxes": ("it works on lists of boxes", _BEFORE),
    "MelSpectrogram": ("MACE reads no settings of spectra of Keras", _EXPORT),
    "STFTSpectrogram": ("MACE reads no settings of spectra of Keras", _EXPORT),
    "RandomCrop": (
        "it resizes images in inference",
        "use Resizing with crop_to_aspect_ratio=True",
    ),
    "Solarization": _COLOURS,
    "StringLookup": _STRINGS,
    "TextVectorization": _STRINGS,
}
_INPUT_TYPES = {
    **dict.fromkeys(("float16", "bfloat16", "float32", "float64"), DataType.FLOAT32),
    **dict.fromkeys(("int32", "int64"), DataType.INT32),
    "uint8": DataType.UINT8,
    "int8": DataType.INT8,
    "bool": DataType.BOOL,
}


def build(request: ImportRequest, network: Network) -> Graph:
    """See `importers.frame.opened.Framework`."""
    return _Import(request, network).run()


class _Import:
    """One import."""

    def __init__(self, request: ImportRequest, network: Network) -> None:
        self.request = request
        self.network = network
        self.order = image_order(network)
        self.builder = request.builder("keras")
        self.unsupported = UnsupportedNodes(str(request.model_path), request.journal)
        self.values: dict[str, Value] = {}
        # The masks of values by identity; None: one that is not known.
        self.masks: dict[int, Value | None] = {}

    def run(self) -> Graph:
        for spec in self.request.inputs:
            self._add_input(spec)
        scope = _Scope(self, self.network, "", dict(self._given()))
        outputs = [
            self._find("output_tensors", output.name) for output in self.request.outputs
        ]
        # What is inside of a model is converted with it.
        scope.convert([reference for reference, _ in outputs])
        self.unsupported.raise_if_any()
        for (_, name), output in zip(outputs, self.request.outputs):
            value = self.values.get(name)
            if value is None:
                raise ImportModelError(
                    f"output_tensors: {self.request.model_path} has no tensor "
                    f"{name!r}; its layer has fewer results"
                )
            add_output(self.builder, value, output, self.order)
        return self.unsupported.finish(self.builder.graph)

    def _given(self) -> Iterable[tuple[Reference, Value]]:
        for reference, name in self._names():
            if name in self.values:
                yield reference, self.values[name]

    def _names(self) -> Iterable[tuple[Reference, str]]:
        """The tensors of the outermost model that certainly exist."""
        for name, layer in self.network.layers.items():
            if layer.kind == INPUT:
                yield Reference(name), name
        for key in self.network.calls:
            yield Reference(*key), Reference(*key).name

    def _find(self, key: str, name: str) -> tuple[Reference, str]:
        """The tensor of the outermost model that has to be converted for one."""
        names = {known: reference for reference, known in self._names()}
        found = meaning(name, names, self._config)
        if found is not None:
            if found.is_old:
                what = f"the result of layer {found.name}"
                if found.layer is not None:
                    what = f"what layer {found.layer} has before its activation"
                _LOG.warning(
                    "%s: %s is a name of Keras 2; taken for %s", key, name, what
                )
            return names[found.layer or found.name], found.name
        outer, _, index = name.rpartition(":")
        if index.isdigit() and outer in names:
            reference = names[outer]._replace(result=int(index))
            return reference, name if reference.result else outer
        outer = name.split("/")[0]
        inner = self.network.layers.get(outer.split("#")[0])
        if key == "output_tensors" and inner is not None and inner.network is not None:
            return names.get(outer, Reference(inner.name)), name
        raise unknown_tensor(key, name, self.request.model_path, names)

    def _config(self, name: str) -> Mapping[str, Any] | None:
        layer = self.network.layers.get(name.split("#")[0])
        return None if layer is None or layer.network else layer.config

    def _add_input(self, spec: InputSpec) -> None:
        reference, name = self._find("input_tensors", spec.name)
        layer = self.network.layers[reference.layer]
        own: tuple[int, ...] | None = None
        dtype: DataType | None = None
        if layer.kind == INPUT:
            own, dtype = declared(layer)
        self.values[name] = self.request.add_input(
            self.builder, spec, own, self.order, dtype=dtype, source=name
        )


def declared(layer: Layer) -> tuple[tuple[int, ...] | None, DataType | None]:
    """Shape and type of an input layer, as far as the file says them.

    Raises:
        ImportModelError: it is a tensor of another type.
    """
    shape = layer.config.get("batch_shape", layer.config.get("batch_input_shape"))
    own: tuple[int, ...] | None = None
    if isinstance(shape, list) and all(
        d is None or (isinstance(d, int) and 0 <= d < 2**31) for d in shape
    ):
        own = tuple(-1 if dim is None else dim for dim in shape)
    name = layer.config.get("dtype")
    if name is not None and not (isinstance(name, str) and name in _INPUT_TYPES):
        raise ImportModelError(
            f"input_tensors: {layer.name} is a tensor of {name!r}, not supported"
        )
    return own, None if name is None else _INPUT_TYPES[name]


@dataclass(frozen=True)
class _Scope:
    """One model under conversion, the outermost or one inside of it.

    Attributes:
        prefix: of the names of its tensors.
    """

    run: _Import
    network: Network
    prefix: str
    values: dict[Reference, Value]

    def convert(self, wanted: Sequence[Reference]) -> list[Value | None]:
        """The tensors, None for those that are not known."""
        for call in self._ordered(wanted):
            if call.layer.network is not None and not call.layer.custom:
                self._convert_network(call)
                continue
            name, kind = self.prefix + call.name, call.layer.kind
            journal, graph = self.run.request.journal, self.run.builder.graph
            with journal.node(name, kind, graph) as entry:
                if not self._convert_layer(call, name):
                    entry.not_reached()
        return [self.values.get(reference) for reference in wanted]

    def _ordered(self, wanted: Sequence[Reference]) -> list[Call]:
        """The calls that some tensors need, producers first."""
        order: list[Call] = []
        done: set[tuple[str, int]] = set()
        path: set[tuple[str, int]] = set()
        stack = [(reference, False) for reference in reversed(wanted)]
        while stack:
            reference, leaving = stack.pop()
            key = reference[:2]
            if leaving:
                path.discard(key)
                done.add(key)
                order.append(self.network.calls[key])
                continue
            if key in done or reference in self.values:
                continue
            call = self.network.calls.get(key)
            if call is None:
                raise self._not_given(reference)
            if key in path:
                raise ImportModelError(
                    f"model_file_path: {self.run.request.model_path}: layer "
                    f"{reference.layer} depends on itself: the file is damaged"
                )
            path.add(key)
            stack.append((reference, True))
            stack += [(item, False) for item in reversed(list(call.references()))]
        return order

    def _not_given(self, reference: Reference) -> ImportModelError:
        layer = self.network.layers.get(reference.layer)
        if layer is not None and layer.kind == INPUT:
            return missing_inputs([reference.layer])
        return ImportModelError(
            f"model_file_path: {self.run.request.model_path}: there is no call "
            f"{reference.call} of layer {reference.layer}: the file is damaged"
        )

    def _convert_network(self, call: Call) -> None:
        missing = [r for r in call.references() if r not in self.values]
        if missing:
            return  # caused by a layer that is already in the table
        given = [self.values[reference] for reference in call.references()]
        results = self._network_results(call.layer, self.prefix + call.name, given)
        for index, value in enumerate(results):
            if value is not None:
                self._keep(call, index, value)

    def _network_results(
        self, layer: Layer, name: str, given: Sequence[Value]
    ) -> list[Value | None]:
        """The outputs of a model for these inputs, None where they are not known."""
        inner: Network = layer.network
        run = self.run
        if len(given) != len(inner.inputs):
            run.unsupported.add(
                name,
                layer.kind,
                f"a model with {len(inner.inputs)} inputs is called with {len(given)}",
                EXPORT_HINT,
            )
            return []
        if self.prefix.count("/") > 16:
            raise ImportModelError(
                f"model_file_path: {run.request.model_path}: too many models in each "
                "other"
            )
        known = dict(zip(inner.inputs, given))
        return _Scope(run, inner, f"{name}/", known).convert(inner.outputs)

    def _wrapped_results(
        self, layer: Layer, name: str, given: Sequence[Value]
    ) -> list[Value] | None:
        """All outputs of a model that a layer wraps."""
        results = self._network_results(layer, name, given)
        known = [value for value in results if value is not None]
        return known if known and len(known) == len(results) else None

    def _convert_layer(self, call: Call, name: str) -> bool:
        layer, run = call.layer, self.run
        handler = HANDLERS.find(layer.kind)
        if handler is None or layer.custom:
            run.unsupported.add(name, layer.kind, *_why(layer))
            return False
        missing = [r for r in call.references() if r not in self.values]
        if missing:
            return False  # caused by a layer that is already in the table
        arguments, keywords = (
            nested_map(Reference, self.values.__getitem__, nested)
            for nested in (call.arguments, call.keywords)
        )
        inputs = [id(self.values[r]) for r in call.references()]
        masks = {run.masks[i] for i in inputs if i in run.masks}
        mask = next(iter(masks)) if len(masks) == 1 else None
        context = Context(
            layer,
            run.builder,
            name,
            arguments,
            keywords,
            bool(masks),
            mask,
            run.masks,
            self._wrapped_results,
        )

        def convert() -> None:
            _check_type(layer)
            call_handler(handler, context)

        refusal = refusal_of(convert)
        if refusal is not None:
            hint = refusal.hint or EXPORT_HINT
            run.unsupported.add(name, layer.kind, refusal.reason, hint)
            return True
        before = context.before_activation
        if before is not None:
            run.values.setdefault(f"{name}/{BEFORE_ACTIVATION}", before)
        given = context.gives_mask
        for index, value in context.results.items():
            if isinstance(given, Value):
                run.masks[id(value)] = given
            elif masks and given is None:
                run.masks[id(value)] = mask if layer.kind in _KEEP_MASKS else None
            self._keep(call, index, value)
        return True

    def _keep(self, call: Call, index: int, value: Value) -> None:
        reference = Reference(call.layer.name, call.number, index)
        self.values[reference] = value
        self.run.values.setdefault(self.prefix + reference.name, value)


def _check_type(layer: Layer) -> None:
    """Refuses layers whose weights are quantized."""
    if layer.kind.startswith("ops."):
        return  # a function has no weights; its dtype is that of the result
    policy = layer.config.get("dtype")
    if isinstance(policy, dict):
        config = policy.get("config")
        policy = config.get("name") if isinstance(config, dict) else None
    kind = policy.split("_from_")[0] if isinstance(policy, str) else ""
    if any(word in kind for word in ("int", "float8", "gptq", "awq")):
        raise UnsupportedNodeError(f"its dtype is {policy}", "save the model in floats")


def _why(layer: Layer) -> tuple[str, str]:
    if layer.custom:
        return f"a class that is not of Keras ({layer.custom})", EXPORT_HINT
    if layer.kind in _REFUSED:
        return _REFUSED[layer.kind]
    if layer.kind.startswith("ops."):
        # One that is spelled alike does something else.
        return "function not supported", EXPORT_HINT
    hints = filter(None, (HANDLERS.similar(layer.kind), EXPORT_HINT))
    return "layer not supported", "; or ".join(hints)


def describe(network: Network) -> ModelDescription:
    """See `importers.frame.opened.Framework`."""
    first = next(iter(network.layers.values()))
    return ModelDescription(
        framework=f"Keras {first.keras}",
        image_order=image_order(network),
        inputs=tuple(_described(network, item) for item in network.inputs),
        outputs=tuple(TensorDescription(item.name) for item in network.outputs),
        operators=Counter(_kinds(network)),
    )


def _described(network: Network, reference: Reference) -> TensorDescription:
    layer = network.layers[reference.layer]
    if layer.kind != INPUT:
        return TensorDescription(reference.name)
    shape, dtype = declared(layer)
    return TensorDescription(
        reference.name, None if shape is None else from_ints(shape), dtype
    )


def _kinds(network: Network) -> Iterator[str]:
    """The class of each call, and of those in inner models."""
    for call in network.calls.values():
        if call.layer.network is None:
            yield call.layer.kind
        else:
            yield from _kinds(call.layer.network)
