# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Networks of 8-bit integers: ONNX files with QuantizeLinear and DequantizeLinear by
ONNX Runtime's quantizer, LiteRT's by TensorFlow's converter, and ncnn's by
`peers/ncnn_int8.py`, all from the same network in floats and the same images. Files are
kept in build/benchmarks/int8 until the network or the recipe changes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray

from benchmarks.networks import DIRECTORY, Network, convert_network
from benchmarks.peers import tflite
from benchmarks.peers.formats import FormatError, make_model, make_ncnn_int8
from mace.python.tools.atomic import atomic_write
from test.conformance.models.light import smooth_input
from test.conformance.onnx import quantizer

_FOLDER = DIRECTORY / "int8"
_RECIPE = 3
_SAMPLES = 8
# The first one that has DequantizeLinear with scales by channel.
_OPSET = 13


def quantized(network: Network) -> Network:
    """The network in integers, in the formats of `peers.engines.INT8_ENGINES`.

    Activations are uint8 (U8S8) or int8 (S8S8) and weights int8, with a scale for each
    output channel.

    Args:
        network: in floats, whose MACE model is made.
    """
    _FOLDER.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(network.onnx.read_bytes())
    digest.update(bytes([_RECIPE]))
    stem = f"{network.name}-{digest.hexdigest()[:12]}"
    paths = {kind: _FOLDER / f"{stem}-{kind}.onnx" for kind in ("u8s8", "s8s8")}
    lite = _FOLDER / f"{stem}.tflite"
    ncnn = _FOLDER / f"{stem}-ncnn"
    ncnn_made = ncnn.with_name(f"{ncnn.name}.json")
    if not all(path.exists() for path in (*paths.values(), lite, ncnn_made)):
        for old in _FOLDER.glob(f"{network.name}-*"):
            old.unlink()
        plain = _FOLDER / f"{stem}-float.onnx"
        _write_newer(network, plain)
        for kind, path in paths.items():
            _quantize(network, plain, path, kind)
        images = [image.transpose(0, 2, 3, 1) for image in _images(network)]
        with atomic_write(lite) as stream:
            stream.write(tflite.convert(make_model(network, "onnx"), images))
        refused = _make_ncnn(network, ncnn)
        with atomic_write(ncnn_made) as stream:
            stream.write(json.dumps(refused).encode())
    refused = json.loads(ncnn_made.read_bytes())
    made = replace(
        network,
        name=f"{network.name}_int8",
        onnx=paths["u8s8"],
        mace=_FOLDER / stem,
        files={
            "onnx": paths["u8s8"],
            "onnx_s8s8": paths["s8s8"],
            "tflite_int8": lite,
            **({} if refused else {"ncnn_int8": ncnn}),
            "mace_fp32": network.mace,
        },
        refused={"ncnn_int8": refused} if refused else {},
    )
    convert_network(made)
    return replace(made, name=network.name)


def _make_ncnn(network: Network, to: Path) -> str:
    """Why it cannot be made; empty if it is."""
    images = to.with_suffix(".npy")
    np.save(images, np.concatenate(list(_images(network))))
    try:
        make_ncnn_int8(make_model(network, "ncnn"), images, to)
    except FormatError as error:
        return str(error)
    finally:
        images.unlink()
    return ""


def _images(network: Network) -> Iterator[NDArray[np.float32]]:
    for seed in range(1, _SAMPLES + 1):
        yield smooth_input(network.input_shape, seed)


def _write_newer(network: Network, to: Path) -> None:
    """In an operator set that the quantizer takes, with the batch normalisations in the
    filters.
    """
    model = onnx.load(str(make_model(network, "onnx")))
    if model.opset_import[0].version < _OPSET:
        model = onnx.version_converter.convert_version(model, _OPSET)
    partial = to.with_suffix(".tmp")
    onnx.save(model, str(partial))
    quantizer.prepare(partial, to)
    partial.unlink()


def _quantize(network: Network, plain: Path, to: Path, kind: str) -> None:
    partial = to.with_suffix(".tmp")
    quantizer.quantize(
        plain,
        partial,
        network.input_name,
        _images(network),
        activations="QUInt8" if kind == "u8s8" else "QInt8",
    )
    partial.replace(to)
