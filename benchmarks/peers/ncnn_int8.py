# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Converts an ncnn model in fp32 to 8-bit integers, as ncnn's tools do, which are in no
package.

    python -m benchmarks.peers.ncnn_int8 MODEL IMAGES.npy RESULT

MODEL and RESULT are paths without `.param` and `.bin`. IMAGES has the shape
[samples, C, H, W]. Convolutions and inner products become integers: weights with a
scale for each output, activations with one for the tensor, all symmetric; ncnn's other
layers compute in floats. A convolution whose result only such layers read gives
integers itself. Runs in the environment that has ncnn.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

_MAGIC = "7767517"
_CONVOLUTIONS = ("Convolution", "ConvolutionDepthWise")
_QUANTIZED = (*_CONVOLUTIONS, "InnerProduct")
# Layers without weights in the .bin file.
_WITHOUT_WEIGHTS = frozenset(
    [
        "BinaryOp",
        "Clip",
        "Concat",
        "Dropout",
        "Eltwise",
        "Flatten",
        "HardSigmoid",
        "HardSwish",
        "Input",
        "Interp",
        "Permute",
        "Pooling",
        "ReLU",
        "Reshape",
        "Sigmoid",
        "Softmax",
        "Split",
        "Swish",
        "UnaryOp",
    ]
)
_FLOATS_TAG = 0
_INT8_TAG = 0x000D4B38
# The keys of a layer's parameters.
_OUTPUTS, _SIZE, _GROUPS, _SCALES = 0, 6, 7, 8
_BIAS = {"Convolution": 5, "ConvolutionDepthWise": 5, "InnerProduct": 1}
_PRODUCT_SIZE = 2
# "8=": integers with scales; of which a depthwise one has a scale for each group. With
# another 100, the result is in integers, too.
_KINDS = {"Convolution": 2, "ConvolutionDepthWise": 1, "InnerProduct": 2}
_INTEGER_RESULT = 100


@dataclass(frozen=True)
class Layer:
    """A line of a .param file."""

    kind: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: tuple[str, ...]

    def parameter(self, key: int) -> int:
        """An integer; 0 if it is not stated."""
        start = f"{key}="
        found = (p[len(start) :] for p in self.parameters if p.startswith(start))
        return int(next(found, "0"))

    def line(self) -> str:
        counts = (str(len(self.inputs)), str(len(self.outputs)))
        parts = (self.kind, self.name, *counts, *self.inputs, *self.outputs)
        return " ".join((*parts, *self.parameters))


def layers_of(text: str) -> list[Layer]:
    """The layers in the text of a .param file."""
    magic, _, *lines = text.splitlines()
    if magic.strip() != _MAGIC:
        raise ValueError(f"it begins with {magic!r}, not {_MAGIC}")
    found = []
    for line in lines:
        if not line.strip():
            continue
        kind, name, inputs, outputs, *rest = line.split()
        first, second = int(inputs), int(inputs) + int(outputs)
        found.append(
            Layer(
                kind,
                name,
                tuple(rest[:first]),
                tuple(rest[first:second]),
                tuple(rest[second:]),
            )
        )
    unknown = {layer.kind for layer in found} - {*_QUANTIZED, *_WITHOUT_WEIGHTS}
    if unknown:
        raise ValueError(f"no rule for {', '.join(sorted(unknown))}")
    return found


def integer_results(layers: Sequence[Layer]) -> dict[str, str]:
    """The convolutions whose result only quantized layers read: by the layer's name,
    one of these.
    """
    readers = {blob: layer for layer in layers for blob in layer.inputs}
    found = {}
    for layer in layers:
        reader = readers.get(layer.outputs[0])
        if layer.kind not in _CONVOLUTIONS or reader is None:
            continue
        blobs = reader.outputs if reader.kind == "Split" else layer.outputs
        last = [readers.get(blob) for blob in blobs]
        if all(r is not None and r.kind in _CONVOLUTIONS for r in last):
            first = last[0]
            assert first is not None
            found[layer.name] = first.name
    return found


def rewrite(
    layers: Sequence[Layer], weights: bytes, largest: Mapping[str, float]
) -> tuple[str, bytes]:
    """The texts of both files in integers.

    Args:
        layers: of the network in floats.
        weights: its .bin file.
        largest: by the name of a quantized layer, its input's largest magnitude.

    Raises:
        ValueError: the weights are not as the layers say.
    """
    results = integer_results(layers)
    offset = 0
    lines: list[str] = []
    blobs = {name for layer in layers for name in (*layer.inputs, *layer.outputs)}
    data = bytearray()

    def take(count: int, kind: Any) -> NDArray[Any]:
        nonlocal offset
        found = np.frombuffer(weights, kind, count, offset)
        offset += found.nbytes
        return found

    for layer in layers:
        if layer.kind not in _QUANTIZED:
            lines.append(layer.line())
            continue
        product = layer.kind == "InnerProduct"
        outputs = layer.parameter(_OUTPUTS)
        size = layer.parameter(_PRODUCT_SIZE if product else _SIZE)
        if take(1, np.uint32)[0] != _FLOATS_TAG:
            raise ValueError(f"the weights of {layer.name} are not in fp32")
        filters = take(size, np.float32)
        bias = take(outputs, np.float32) if layer.parameter(_BIAS[layer.kind]) else None
        depthwise = layer.kind == "ConvolutionDepthWise"
        rows = filters.reshape(layer.parameter(_GROUPS) if depthwise else outputs, -1)
        scales = _scales(np.abs(rows).max(axis=1))
        integers = _rounded(rows * scales[:, None]).tobytes()
        data += np.uint32(_INT8_TAG).tobytes() + integers + bytes(-len(integers) % 4)
        if bias is not None:
            data += bias.tobytes()
        data += scales.tobytes() + _scale(largest[layer.name])
        kind = _KINDS[layer.kind]
        if layer.name in results:
            kind += _INTEGER_RESULT
            data += _scale(largest[results[layer.name]])
        quantized = (*layer.parameters, f"{_SCALES}={kind}")
        lines.append(replace(layer, parameters=quantized).line())
    if offset != len(weights):
        raise ValueError(f"{len(weights) - offset} bytes of weights are left")
    head = [_MAGIC, f"{len(layers)} {len(blobs)}"]
    return "\n".join((*head, *lines, "")), bytes(data)


def _scales(largest: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.where(largest > 0, np.float32(127) / largest, 1).astype(np.float32)


def _scale(largest: float) -> bytes:
    return _scales(np.array([largest], np.float32)).tobytes()


def _rounded(values: Floats) -> NDArray[np.int8]:
    """To the nearest integers, ties away from 0."""
    away = np.trunc(values + np.copysign(np.float32(0.5), values))
    return np.clip(away, -127, 127).astype(np.int8)


def _largest(model: str, layers: Sequence[Layer], images: Floats) -> dict[str, float]:
    """Of the inputs of quantized layers, over all images, computed in floats."""
    ncnn = import_module("ncnn")
    net = ncnn.Net()
    net.opt.num_threads = 1
    for option in ("packed", "storage", "arithmetic"):
        setattr(net.opt, f"use_fp16_{option}", False)
    net.opt.use_bf16_storage = False
    if net.load_param(model + ".param") != 0 or net.load_model(model + ".bin") != 0:
        raise ValueError("ncnn cannot load it")
    found: dict[str, float] = {}
    for image in images:
        extractor = net.create_extractor()
        extractor.set_light_mode(False)
        extractor.input("in0", ncnn.Mat(image).clone())
        for layer in layers:
            if layer.kind in _QUANTIZED:
                code, blob = extractor.extract(layer.inputs[0])
                if code != 0:
                    raise ValueError(f"ncnn computes no {layer.inputs[0]}")
                here = float(np.abs(np.array(blob)).max())
                found[layer.name] = max(found.get(layer.name, 0.0), here)
    return found


def main() -> int:
    model, images, result = sys.argv[1:]
    try:
        layers = layers_of(Path(model + ".param").read_text(encoding="utf-8"))
        largest = _largest(model, layers, np.load(images))
        text, data = rewrite(layers, Path(model + ".bin").read_bytes(), largest)
    except ValueError as error:
        sys.stderr.write(f"{Path(model).name}: {error}\n")
        return 1
    Path(result + ".param").write_text(text, encoding="utf-8")
    Path(result + ".bin").write_bytes(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
