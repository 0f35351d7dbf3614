# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Imports a Caffe network: finds the layers that outputs need, and reports problems.

Tensors are called as the tops of layers. If layers work in place, the name of a blob
means its last version as an output, as in pycaffe; as an input, it means the version
that a data layer makes, or the last one of an inner blob.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mace.python.tools.importers.caffe.caffemodel import Blob, read_weights
from mace.python.tools.importers.caffe.layer import HANDLERS, NO_WEIGHTS, Layer
from mace.python.tools.importers.caffe.net import (
    DATA_TYPES,
    Net,
    NetLayer,
    Version,
    read_net,
)
from mace.python.tools.importers.frame.description import (
    ModelDescription,
    TensorDescription,
)
from mace.python.tools.importers.frame.errors import (
    ImportModelError,
    UnknownTensorError,
    UnsupportedNodes,
    missing_inputs,
    refusal_of,
    unknown_tensor,
)
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    add_output,
    contradiction,
)
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import DataFormat, Graph, Value
from mace.python.tools.ir.shapes import NHWC_TO_NCHW
from mace.python.tools.wording import nearest_names

_LOG = logging.getLogger(__name__)

# Known layers that cannot be converted: why, and what to do.
_CUT = "cut the model before it with output_tensors"
_COUNT = "the number of results depends on the data"
_TRAINING = "a loss or a measure, which Caffe computes in training"
_UNTIL_LOSS = "name the tensor that it reads in output_tensors"
_STATE = "recurrent layers are not supported"

_LOSSES = (
    *("Accuracy", "ContrastiveLoss", "CenterLoss", "DetectionEvaluate"),
    *("EuclideanLoss", "HingeLoss", "InfogainLoss", "MultiBoxLoss"),
    *("MultinomialLogisticLoss", "SigmoidCrossEntropyLoss", "SmoothL1Loss"),
    *("SmoothL1LossOHEM", "SoftmaxWithLossOHEM"),
)

_REFUSED = {
    "Filter": (_COUNT, _CUT),
    "Python": (
        "the layer is a Python program",
        f'{_CUT}; a ProposalLayer can be written as a layer of type "Proposal" with '
        "proposal_param",
    ),
    "HDF5Output": ("the layer writes a file", "leave it out"),
    "Im2col": ("MACE has no such operator", _CUT),
    "LSTM": (_STATE, _CUT),
    "RNN": (_STATE, _CUT),
    "Recurrent": (_STATE, _CUT),
    **dict.fromkeys(_LOSSES, (_TRAINING, _UNTIL_LOSS)),
}

# Layers that cannot run without learned numbers.
_LEARNED = frozenset(
    {
        *("BatchNorm", "Convolution", "ConvolutionDepthwise", "Deconvolution"),
        *("DepthwiseConvolution", "Embed", "InnerProduct", "Normalize", "PReLU"),
        "Parameter",
    }
)
# They have learned numbers if their second operand is no bottom.
_LEARNED_OPERAND = frozenset(("Scale", "Bias"))


@dataclass(frozen=True)
class CaffeModel:
    """A network, and the file of its weights."""

    net: Net
    weight_path: Path | None

    @cached_property
    def weights(self) -> Mapping[str, tuple[Blob, ...]]:
        """By the names of layers."""
        if self.weight_path is None:
            raise ImportModelError(
                "weight_file_path: a Caffe model also needs its weights (caffemodel)"
            )
        return read_weights(self.weight_path)


def read(model: Path, weights: Path | None) -> CaffeModel:
    """See `importers.frame.opened.Framework`."""
    return CaffeModel(read_net(model), weights)


def describe(model: CaffeModel) -> ModelDescription:
    """See `importers.frame.opened.Framework`. Results are the blobs that no layer
    reads.
    """
    net = model.net
    read = {version for versions in net.reads for version in versions}
    inputs, outputs = [], []
    for layer, made in zip(net.layers, net.makes):
        for version in made:
            if layer.type in DATA_TYPES:
                shape = net.shapes.get(version)
                inputs.append(TensorDescription(version.blob, shape, DataType.FLOAT32))
            elif version not in read:
                outputs.append(TensorDescription(version.blob, dtype=DataType.FLOAT32))
    return ModelDescription(
        framework="Caffe",
        image_order=DataFormat.NCHW,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        operators=Counter(layer.type for layer in net.layers),
    )


def build(request: ImportRequest, model: CaffeModel) -> Graph:
    """See `importers.frame.opened.Framework`."""
    return _Import(request, model.net, model.weights).run()


class _Import:
    """One import: the network and the values created so far."""

    def __init__(
        self, request: ImportRequest, net: Net, weights: Mapping[str, tuple[Blob, ...]]
    ) -> None:
        self.request = request
        self.net = net
        self.weights = dict(weights)
        self.builder = request.builder("caffe")
        self.values: dict[Version, Value] = {}
        self.unsupported = UnsupportedNodes(str(request.model_path), request.journal)
        self.shared = _shared_weights(net, weights)
        self.wanted: set[Version] = set()

    def run(self) -> Graph:
        for spec in self.request.inputs:
            self._add_input(spec)
        outputs = [self._output(spec.name) for spec in self.request.outputs]
        needed, self.wanted = self.net.needed(outputs, self.values)
        self._check_data_layers(needed)
        for index in needed:
            source, journal = self.net.layers[index], self.request.journal
            with journal.node(source.name, source.type, self.builder.graph) as entry:
                if not self._convert(index):
                    entry.not_reached()
        self.unsupported.raise_if_any()
        for version, wanted in zip(outputs, self.request.outputs):
            add_output(self.builder, self.values[version], wanted, DataFormat.NCHW)
        graph = self.unsupported.finish(self.builder.graph)
        _LOG.info(
            "%s: %d of %d Caffe layers became %d operators",
            self.request.model_path,
            len(needed),
            len(self.net.layers),
            len(graph.ops),
        )
        return graph

    def _add_input(self, spec: InputSpec) -> None:
        version = self.net.fed(spec.name)
        if version is None:
            raise self._no_tensor("input_tensors", spec.name)
        own = self.net.shapes.get(version)
        value = self.request.add_input(
            self.builder, spec, own, DataFormat.NCHW, check=_check_shape
        )
        if version != self.net.last.get(spec.name):
            value.source = None
        self.values[version] = value

    def _output(self, name: str) -> Version:
        version = self.net.last.get(name)
        if version is None:
            raise self._no_tensor("output_tensors", name)
        return version

    def _no_tensor(self, key: str, name: str) -> UnknownTensorError:
        known = list(self.net.last)
        error = unknown_tensor(key, name, self.request.model_path, known)
        tops = [layer.tops for layer in self.net.layers if layer.name == name]
        if tops and tops[0]:
            return UnknownTensorError(
                f"{error}; a layer is called so, and makes {', '.join(tops[0])}"
            )
        return error

    def _check_data_layers(self, needed: list[int]) -> None:
        missing = [
            top
            for index in needed
            if self.net.layers[index].type in DATA_TYPES
            for top in self.net.layers[index].tops
            if Version(top, index) not in self.values
        ]
        if missing:
            raise missing_inputs(missing)

    def _convert(self, index: int) -> bool:
        """Whether the layer's results are known."""
        source = self.net.layers[index]
        problems = list(self._problems(source))
        for reason, hint in problems:
            self.unsupported.add(source.name, source.type, reason, hint)
        bottoms = [self.values.get(version) for version in self.net.reads[index]]
        handler = HANDLERS.find(source.type)
        known = [bottom for bottom in bottoms if bottom is not None]
        if problems or handler is None or len(known) < len(bottoms):
            return False  # the cause is in the table
        made = self.net.makes[index]
        tops = [v.blob if self.net.last[v.blob] == v else None for v in made]
        layer = Layer(source, self.builder, known, tops, self._blobs(source))
        refusal = refusal_of(lambda: handler(layer))
        if refusal is not None:
            self.unsupported.add(source.name, source.type, refusal.reason, refusal.hint)
            return False
        self._keep(source, made, layer)
        return True

    def _keep(self, source: NetLayer, made: tuple[Version, ...], layer: Layer) -> None:
        for position, version in enumerate(made):
            if version in self.values:  # fed by the program
                continue
            if position in layer.results:
                self.values[version] = layer.results[position]
            elif version in self.wanted:
                self.unsupported.add(
                    source.name, source.type, f"top {version.blob!r} is not supported"
                )

    def _problems(self, source: NetLayer) -> Iterator[tuple[str, str]]:
        """What can be said of a layer without its inputs."""
        if source.type in _REFUSED:
            yield _REFUSED[source.type]
            return
        if HANDLERS.find(source.type) is None:
            yield "layer not supported", HANDLERS.similar(source.type)
            return
        if source.unknown:
            yield "has unknown fields: " + ", ".join(source.unknown[:5]), ""
        if not source.proto.IsInitialized():
            missing = ", ".join(source.proto.FindInitializationErrors())
            yield f"lacks {missing}", ""
        learned = source.type in _LEARNED or (
            source.type in _LEARNED_OPERAND and len(source.bottoms) == 1
        )
        if learned and not self._blobs(source):
            near = nearest_names(source.name, self.weights, 1)
            yield NO_WEIGHTS, f"it has some for {near[0]}" if near else ""

    def _blobs(self, source: NetLayer) -> tuple[Blob, ...]:
        return self.weights.get(source.name, ()) or self.shared.get(source.name, ())


def _shared_weights(
    net: Net, weights: Mapping[str, tuple[Blob, ...]]
) -> dict[str, tuple[Blob, ...]]:
    """Blobs of layers that share all of them with another layer, by `param` names."""
    owners: dict[str, Blob] = {}
    found: dict[str, tuple[Blob, ...]] = {}
    for layer in net.layers:
        names = [param.name for param in layer.proto.param]
        owners.update(
            (name, blob)
            for name, blob in zip(names, weights.get(layer.name, ()))
            if name and name not in owners
        )
        if names and all(name in owners for name in names):
            found[layer.name] = tuple(owners[name] for name in names)
    return found


def _check_shape(
    spec: InputSpec, shape: tuple[int, ...], own: tuple[int, ...] | None
) -> None:
    """Compares an input's shape with the network's. Caffe's users change the number and
    the size of images without changing the file.
    """
    if own is None:
        return
    hint = ""
    if len(own) == len(shape) == 4:
        if own[1] == shape[1] or -1 in (own[1], shape[1]):
            return
        moved = tuple(shape[axis] for axis in NHWC_TO_NCHW)
        if tuple(spec.shape[1:]) == tuple(own[1:]) or moved[1] == own[1]:
            hint = "; is it NCHW? then say input_data_formats: NCHW"
    elif len(own) == len(shape):
        return
    raise contradiction(spec, own, hint)
