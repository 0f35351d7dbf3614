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
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.networks import Network, convert_network
from benchmarks.onnx_quantized import FOLDER, images, write_newer, write_quantized
from benchmarks.peers.formats import FormatError, make_model, make_ncnn_int8
from mace.python.tools.atomic import atomic_write

_RECIPE = 3


def quantized(network: Network) -> Network:
    """The network in integers, in the formats of `peers.engines.INT8_ENGINES`.

    Activations are uint8 (U8S8) or int8 (S8S8) and weights int8, with a scale for each
    output channel.

    Args:
        network: in floats, whose MACE model is made.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(network.onnx.read_bytes())
    digest.update(bytes([_RECIPE]))
    stem = f"{network.name}-{digest.hexdigest()[:12]}"
    paths = {kind: FOLDER / f"{stem}-{kind}.onnx" for kind in ("u8s8", "s8s8")}
    lite = FOLDER / f"{stem}.tflite"
    ncnn = FOLDER / f"{stem}-ncnn"
    # Why files of some formats are missing; written when all others are there.
    reasons = FOLDER / f"{stem}.json"
    if not reasons.exists():
        for old in FOLDER.glob(f"{network.name}-*"):
            old.unlink()
        plain = FOLDER / f"{stem}-float.onnx"
        write_newer(network, plain)
        for kind, path in paths.items():
            write_quantized(network, plain, path, kind)
        found = {
            "tflite_int8": _make_lite(network, lite),
            "ncnn_int8": _make_ncnn(network, ncnn),
        }
        with atomic_write(reasons) as stream:
            stream.write(json.dumps(found).encode())
    refused = {f: why for f, why in json.loads(reasons.read_bytes()).items() if why}
    optional = {"tflite_int8": lite, "ncnn_int8": ncnn}
    made = replace(
        network,
        name=f"{network.name}_int8",
        onnx=paths["u8s8"],
        mace=FOLDER / stem,
        files={
            "onnx": paths["u8s8"],
            "onnx_s8s8": paths["s8s8"],
            **{form: path for form, path in optional.items() if form not in refused},
            "mace_fp32": network.mace,
        },
        refused=refused,
    )
    convert_network(made)
    return replace(made, name=network.name)


def _make_lite(network: Network, to: Path) -> str:
    """Why it cannot be made; empty if it is."""
    # TensorFlow is only needed here.
    from benchmarks.peers import tflite

    feeds = [image.transpose(0, 2, 3, 1) for image in images(network)]
    try:
        model = tflite.convert(make_model(network, "onnx"), feeds)
    except NotImplementedError as error:
        return str(error)
    with atomic_write(to) as stream:
        stream.write(model)
    return ""


def _make_ncnn(network: Network, to: Path) -> str:
    """Why it cannot be made; empty if it is."""
    feeds = to.with_suffix(".npy")
    np.save(feeds, np.concatenate(list(images(network))))
    try:
        make_ncnn_int8(make_model(network, "ncnn"), feeds, to)
    except FormatError as error:
        return str(error)
    finally:
        feeds.unlink()
    return ""
