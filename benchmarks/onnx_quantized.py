# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Networks of 8-bit integers as ONNX Runtime's quantizer writes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray

from benchmarks.networks import DIRECTORY, Network, convert_network
from benchmarks.peers.formats import make_model
from test.conformance.models.light import smooth_input
from test.conformance.onnx import quantizer

FOLDER = DIRECTORY / "int8"
_SAMPLES = 8
# The first one that has DequantizeLinear with scales by channel.
_OPSET = 13


def quantized_alone(network: Network) -> Network:
    """The network in integers (U8S8), for MACE alone."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{network.name}-alone-u8s8.onnx"
    plain = path.with_suffix(".float")
    write_newer(network, plain)
    write_quantized(network, plain, path, "u8s8")
    plain.unlink()
    made = replace(network, onnx=path, mace=path.with_suffix(""))
    convert_network(made)
    return made


def images(network: Network) -> Iterator[NDArray[np.float32]]:
    """What ranges of activations are measured with (NCHW)."""
    for seed in range(1, _SAMPLES + 1):
        yield smooth_input(network.input_shape, seed)


def write_newer(network: Network, to: Path) -> None:
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


def write_quantized(network: Network, plain: Path, to: Path, kind: str) -> None:
    """With activations in uint8 (u8s8) or int8 (s8s8), and a scale for each channel.

    Args:
        network: whose input the images are.
        plain: its file, by write_newer.
    """
    partial = to.with_suffix(".tmp")
    quantizer.quantize(
        plain,
        partial,
        network.input_name,
        images(network),
        activations="QUInt8" if kind == "u8s8" else "QInt8",
    )
    partial.replace(to)
