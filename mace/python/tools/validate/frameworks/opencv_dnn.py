# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs Caffe models in OpenCV. Used only in the child process.

OpenCV reads the weights itself. Of the network, it gets the layers between inputs and
outputs, in the current format, so that inputs may be inner tensors and what data
layers make.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf import text_format

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.caffe.net import (
    INPUT_TYPE,
    Net,
    NetLayer,
    Version,
    read_net,
)
from mace.python.tools.validate.frameworks.reference import (
    Array,
    FrameworkError,
    ReferenceRequest,
    ReferenceResult,
)
from mace.python.tools.wording import near_names

# Begins the names of copies of blobs.
_COPY = "mace_copy_of_blob_"

# Types of layers that OpenCV knows by another name.
_TYPES = {
    "ChannelShuffle": "ShuffleChannel",
    "ConvolutionDepthwise": "Convolution",
    "DepthwiseConvolution": "Convolution",
}


def run(request: ReferenceRequest) -> ReferenceResult:
    """Runs a prototxt with its caffemodel."""
    import cv2

    try:
        net = read_net(request.model_file)
    except MaceError as error:
        raise FrameworkError(str(error)) from error
    _check_names(net, request)
    fed = {net.fed(name): name for name in request.inputs}
    wanted = {name: net.last[name] for name in request.outputs}
    optional = {name: net.last[name] for name in request.optional_outputs}
    wanted.update((n, v) for n, v in optional.items() if v.layer >= 0)
    known = {name: v for name, v in wanted.items() if v in fed}
    computed = {name: v for name, v in wanted.items() if v not in fed}
    tensors = {name: request.inputs[fed[v]] for name, v in known.items()}
    if computed:
        try:
            reader = _Reader(cv2, net, request, fed)
            tensors.update(reader.run(computed))
        except cv2.error as error:
            raise FrameworkError(
                f"OpenCV cannot run {request.model_file}: {_first_line(error)}; "
                "give validation_outputs_data instead"
            ) from error
    return ReferenceResult(tensors, f"opencv {cv2.__version__}")


def _check_names(net: Net, request: ReferenceRequest) -> None:
    missing = [
        near_names(name, net.last)
        for name in (*request.outputs, *request.inputs)
        if name not in net.last
    ]
    if missing:
        raise FrameworkError(
            f"{request.model_file} has no tensor " + "; ".join(missing)
        )


class _Reader:
    """A network in OpenCV."""

    def __init__(
        self,
        cv2: Any,
        net: Net,
        request: ReferenceRequest,
        fed: dict[Version | None, str],
    ) -> None:
        self._cv2 = cv2
        self._net = net
        self._request = request
        self._fed = fed

    def run(self, wanted: dict[str, Version]) -> dict[str, Array]:
        """The tensors of some versions of blobs."""
        given = {version for version in self._fed if version is not None}
        needed, _ = self._net.needed(wanted.values(), given)
        # OpenCV wants a reader for each top of a layer. These are also simpler to ask
        # for than layers, whose names it changes in some cases.
        rest = [
            v for i in needed if len(self._net.makes[i]) > 1 for v in self._net.makes[i]
        ]
        asked = {
            version: f"{_COPY}{index}"
            for index, version in enumerate(dict.fromkeys([*wanted.values(), *rest]))
            if version == self._net.last[version.blob]
        }
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "net.prototxt"
            path.write_text("".join(self._layers(needed, asked)), encoding="utf-8")
            reader = self._cv2.dnn.readNetFromCaffe(
                str(path), str(self._request.weight_file)
            )
        reader.enableFusion(False)
        for name, array in self._request.inputs.items():
            if self._is_read(self._net.fed(name), needed):
                reader.setInput(np.ascontiguousarray(array, np.float32), name)
        found = reader.forwardAndRetrieve([asked[v] for v in wanted.values()])
        return {
            name: without_padding(self._net.layers[version.layer], tops[0])
            for (name, version), tops in zip(wanted.items(), found)
        }

    def _is_read(self, version: Version | None, needed: list[int]) -> bool:
        return any(version in self._net.reads[index] for index in needed)

    def _layers(self, needed: list[int], asked: dict[Version, str]) -> Iterable[str]:
        """The text of inputs, layers, and copies of blobs."""
        for version, name in self._fed.items():
            if not self._is_read(version, needed):
                continue
            dims = " ".join(f"dim: {dim}" for dim in self._request.inputs[name].shape)
            yield (
                f'layer {{ name: "{name}" type: "{INPUT_TYPE}" top: "{name}" '
                f"input_param {{ shape {{ {dims} }} }} }}\n"
            )
        for index in needed:
            proto = _explicit(self._net.layers[index].proto)
            text = text_format.MessageToString(proto, as_one_line=True)
            yield f"layer {{ {text} }}\n"
        for version, name in asked.items():
            yield (
                f'layer {{ name: "{name}" type: "Power" bottom: "{version.blob}" '
                f'top: "{name}" }}\n'
            )


def without_padding(layer: NetLayer, top: Array) -> Array:
    """What a layer found, without the rows of zeros that OpenCV adds."""
    array = np.array(top)
    if layer.type != "DetectionOutput" or array.ndim != 4:
        return array
    rows = np.flatnonzero(array.any((0, 1, 3)))
    return array[:, :, : rows[-1] + 1 if rows.size else 0]


def _explicit(proto: Any) -> Any:
    """A layer in which Caffe's defaults and older names are written out, where OpenCV
    has other ones.
    """
    layer = type(proto)()
    layer.CopyFrom(proto)
    layer.type = _TYPES.get(layer.type, layer.type)
    if proto.type != layer.type == "Convolution":
        layer.convolution_param.group = proto.convolution_param.num_output
    elif layer.type == "Pooling":
        layer.pooling_param.pool = proto.pooling_param.pool
    elif layer.type == "LRN":
        for name in ("local_size", "alpha", "beta", "norm_region"):
            setattr(layer.lrn_param, name, getattr(proto.lrn_param, name))
    elif layer.type == "Concat" and proto.concat_param.HasField("concat_dim"):
        layer.concat_param.axis = proto.concat_param.concat_dim
    elif layer.type == "DetectionOutput":
        for name in ("share_location", "background_label_id", "code_type"):
            value = getattr(proto.detection_output_param, name)
            setattr(layer.detection_output_param, name, value)
    elif layer.type == "PriorBox":
        layer.prior_box_param.clip = proto.prior_box_param.clip
        if not proto.prior_box_param.variance:
            layer.prior_box_param.variance.append(0.1)
    return layer


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
