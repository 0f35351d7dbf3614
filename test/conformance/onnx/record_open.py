# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Stores exports with open dimensions for open_lengths_test.py.

    python -m benchmarks.families --dynamic
    python -m test.conformance.onnx.record_open [FOLDER]

Takes the networks of `NETWORKS` from the folder of `benchmarks.families --dynamic`.
Instead of large tensors of weights it stores their shapes; the test fills them with
random numbers. Of inputs it stores the shapes, and integers themselves.
"""

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path

import numpy as np
import onnx

from benchmarks.networks import DIRECTORY

NETWORKS = (
    "bert.torchscript",
    "llama_masked.torchscript",
    "llama_masked.dynamo",
    "llama_open.dynamo",
    "t5.torchscript",
    "whisper_decoder.dynamo",
    "whisper_decoder_step.torchscript",
    "conformer_ctc.dynamo",
    "yolo_heads.torchscript",
    "segformer.dynamo",
)
RECORDED = Path(__file__).with_name("open_lengths.zip")
PLACES = (0, 1, 2)
# Larger tensors are weights, whose numbers do not matter.
_MOST_ELEMENTS = 64


def stripped(path: Path) -> bytes:
    """An export without the numbers of its weights."""
    model = onnx.load(str(path))
    for tensor in model.graph.initializer:
        count = int(np.prod(tensor.dims))
        if tensor.data_type == onnx.TensorProto.FLOAT and count > _MOST_ELEMENTS:
            tensor.ClearField("raw_data")
            tensor.ClearField("float_data")
    for node in model.graph.node:
        node.ClearField("doc_string")
        node.ClearField("metadata_props")
    model.graph.ClearField("value_info")
    for value in (*model.graph.input, *model.graph.output):
        value.ClearField("metadata_props")
    return bytes(model.SerializeToString())


def inputs(path: Path, place: int) -> bytes:
    """The inputs of one of the lengths: integers, and the shapes of the others."""
    arrays = {}
    for value in onnx.load(str(path)).graph.input:
        suffix = f".{value.name}.npy" if place == 0 else f".{value.name}.{place}.npy"
        array = np.load(path.with_suffix(suffix))
        if array.dtype.kind == "f":
            arrays[f"{value.name}.shape"] = np.array(array.shape)
        else:
            arrays[value.name] = array
    stream = io.BytesIO()
    np.savez(stream, **arrays)  # type: ignore[arg-type]
    return stream.getvalue()


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DIRECTORY / "dynamic"
    with zipfile.ZipFile(RECORDED, "w", zipfile.ZIP_LZMA) as archive:
        for name in NETWORKS:
            path = folder / f"{name}.onnx"
            files = {f"{name}.onnx": stripped(path)}
            files.update({f"{name}.{p}.npz": inputs(path, p) for p in PLACES})
            for file, data in files.items():
                # The same bytes each time.
                archive.writestr(zipfile.ZipInfo(file), data, zipfile.ZIP_LZMA)


if __name__ == "__main__":
    main()
