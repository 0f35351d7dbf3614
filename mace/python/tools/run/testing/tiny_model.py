# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a model file field by field, so that tests do not depend on the converter."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mace.python.tools.export.model_file import ModelFile, read_model_file
from mace.python.tools.export.places import ModelPlaces
from mace.python.tools.proto import load_proto

Array = npt.NDArray[Any]

_ALIGNMENT = 64
_BLOCK = 16


def write_dense_model(
    folder: Path, weights: Sequence[Array], name: str = "tiny"
) -> ModelFile:
    """A chain of fully connected layers `fc0`, `fc1`, ..., with ReLU between them.

    Input `x` is [1, K of the first], the output is `y`; the tensor between
    layers i and i + 1 is `h<i>`, in the source framework `source/h<i>`.

    Args:
        weights: [O, K] for each layer.
    """
    proto = load_proto("mace/proto/mace.proto")
    data = bytearray()
    model = proto.Model(format_version=1, name=name, producer="test")
    tensors = ["x", *(f"h{i}" for i in range(len(weights) - 1)), "y"]
    for i, weight in enumerate(weights):
        data += bytes(-len(data) % _ALIGNMENT)
        packed = pack(weight)
        model.constants.add(
            name=f"w{i}",
            dims=weight.shape,
            data_type=proto.DT_FLOAT32,
            layout=proto.CL_PACKED_O16,
            groups=1,
            offset=len(data),
            size=packed.nbytes,
        )
        data += packed.tobytes()
        last = i == len(weights) - 1
        model.operators.add(
            name=f"fc{i}",
            type="FullyConnected",
            inputs=[tensors[i], f"w{i}"],
            outputs=[tensors[i + 1]],
            attributes=[
                proto.Attribute(name="activation", s="NONE" if last else "RELU")
            ],
            source_outputs=["y" if last else f"source/{tensors[i + 1]}"],
            output_shapes=[proto.Shape(dims=[1, weight.shape[0]])],
            output_types=[proto.DT_FLOAT32],
        )
    for ports, tensor, size in (
        (model.inputs, "x", weights[0].shape[1]),
        (model.outputs, "y", weights[-1].shape[0]),
    ):
        ports.add(name=tensor, shape=[1, size], data_type=proto.DT_FLOAT32)
    model.data_size = len(data)
    model.data_crc32 = zlib.crc32(data)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.pb").write_bytes(model.SerializeToString())
    (folder / f"{name}.data").write_bytes(data)
    return read_model_file(ModelPlaces(folder / f"{name}.pb", folder / f"{name}.data"))


def pack(weight: Array) -> Array:
    """[O, K] -> [ceil(O / 16)][K][16], zeros beyond O."""
    rows, depth = weight.shape
    padded = np.zeros((-(-rows // _BLOCK) * _BLOCK, depth), np.float32)
    padded[:rows] = weight
    return np.ascontiguousarray(padded.reshape(-1, _BLOCK, depth).transpose(0, 2, 1))


def run_dense(weights: Sequence[Array], x: Array) -> Array:
    """What the model computes, in float64."""
    for i, weight in enumerate(weights):
        x = x @ weight.astype(np.float64).T
        if i < len(weights) - 1:
            x = np.maximum(x, 0)
    return x
