# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Networks for benchmarks: an ONNX file, and the MACE model converted from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray

from mace.python.tools.atomic import atomic_write
from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.convert.requests import export_options
from mace.python.tools.export.export import ExportOptions, export_model
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.onnx import import_model
from mace.python.tools.passes.manager import optimize
from test.conformance.models.built import BUILT_MODELS, make_built_model
from test.conformance.models.light import LIGHT_MODELS, make_light_model, smooth_input
from test.conformance.models.onnx_builder import INPUT, OUTPUT

ROOT = Path(__file__).resolve().parents[1]
# The keys that a user must write; all others have their defaults. fp32 unless requested
# otherwise, since the other engines compute in fp32.
_DEPLOYMENT = """
library_name: measured
target_abis: [host]
model_graph_format: file
model_data_format: file
models:
  network:
    platform: onnx
    model_file_path: network.onnx
    subgraphs:
      - input_tensors: [input]
        input_shapes: ["1"]
        output_tensors: [output]
        output_shapes: ["1"]
    runtime: cpu
    data_type: {data_type}
"""
DIRECTORY = ROOT / "build/benchmarks"
NAMES = (*BUILT_MODELS, *LIGHT_MODELS)


@dataclass(frozen=True)
class Network:
    """One network in both forms.

    Attributes:
        onnx: the file as another engine reads it (NCHW).
        mace: path of the MACE model without suffix (NHWC).
        input_shape: NCHW, or of another rank.
        files: made already, by the format (`peers/formats.py`).
        refused: why there is no file, by the format.
    """

    name: str
    onnx: Path
    mace: Path
    input_name: str
    output_name: str
    input_shape: tuple[int, ...]
    files: Mapping[str, Path] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)

    def image(self) -> NDArray[np.float32]:
        """A seeded input: an image (NCHW), or what a sequence is embedded as."""
        if len(self.input_shape) == 4:
            return smooth_input(self.input_shape, 0)
        rng = np.random.default_rng(0)
        return rng.standard_normal(self.input_shape, dtype=np.float32)

    def output_shape(self) -> tuple[int, ...]:
        """The output shape of the ONNX file (NCHW)."""
        graph = onnx.load(str(self.onnx), load_external_data=False).graph
        dims = graph.output[0].type.tensor_type.shape.dim
        return tuple(dim.dim_value for dim in dims)

    def mace_image(self) -> NDArray[np.float32]:
        """`image()` in MACE's order (NHWC)."""
        return np.ascontiguousarray(self.image().transpose(0, 2, 3, 1))

    def mace_output_shape(self) -> tuple[int, ...]:
        """`output_shape()` in MACE's order (NHWC)."""
        return channels_last(self.output_shape())


def channels_last(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Converts NCHW to NHWC; a shape of another rank is not changed."""
    return (shape[0], *shape[2:], shape[1]) if len(shape) == 4 else shape


# The networks of the peers' scoreboard and of other tables.
MEASURED = (
    "mobilenet_v1",
    "mobilenet_v2",
    "squeezenet",
    "resnet50",
    "inception_v3",
    "inception_v1",
    "densenet121",
    "shufflenet",
)


def make_network(
    name: str,
    winograd: int | None = None,
    batch: int = 1,
    size: int | None = None,
    convert: bool = True,
) -> Network:
    """Makes the files of a network.

    Args:
        name: one of NAMES.
        winograd: as in a deployment file; None: its default.
        batch: images per inference; other than 1 for BUILT_MODELS alone.
        size: height and width of an image, for BUILT_MODELS alone; None: what
            the network is made for.
        convert: False where the MACE model was made a moment ago.
    """
    if name in BUILT_MODELS:
        n, c, h, w = BUILT_MODELS[name].input_shape
        shape: tuple[int, ...] = (n * batch, c, size or h, size or w)
        path = make_built_model(name, input_shape=shape)
        source, result = INPUT, OUTPUT
    elif batch != 1 or size is not None:
        raise ValueError(f"{name} has one batch and size only")
    else:
        info = LIGHT_MODELS[name]
        path, source, result = make_light_model(name), info.input, info.output
        shape = info.input_shape
    stem = name if winograd is None else f"{name}-winograd{winograd}"
    if batch != 1 or size is not None:
        stem += f"-{batch}x{shape[2]}"
    network = Network(name, path, DIRECTORY / stem, source, result, shape)
    if convert:
        convert_network(network, winograd)
    return network


def convert_network(network: Network, winograd: int | None = None) -> None:
    """Makes the MACE model of a network, in fp32; `winograd` as above."""
    _convert(network, network.mace, _options("fp32_fp32", winograd))


def make_variant(
    network: Network, data_type: str, eight_bit_weights: bool = False
) -> Path:
    """The MACE model with weights stored in another way; path without suffix.

    Args:
        network: what make_network made.
        data_type: as in a deployment file.
        eight_bit_weights: whether large weights are stored in 8 bits.
    """
    stem = f"{network.mace.name}-{data_type}" + "-8bit" * eight_bit_weights
    path = network.mace.with_name(stem)
    options = replace(_options(data_type, None), eight_bit_weights=eight_bit_weights)
    _convert(network, path, options)
    return path


def _options(data_type: str, winograd: int | None) -> ExportOptions:
    """The converter's options for a deployment without further keys."""
    text = _DEPLOYMENT.format(data_type=data_type)
    options = export_options(load_deployment_text(text).models["network"])
    hints = dict(options.hints)
    if winograd is not None:
        hints["winograd"] = winograd
    return replace(options, hints=hints, inputs={}, outputs={})


def _convert(
    network: Network,
    path: Path,
    options: ExportOptions,
) -> None:
    shape = channels_last(network.input_shape)
    graph = import_model(
        ImportRequest(
            network.name,
            network.onnx,
            (InputSpec(network.input_name, shape),),
            (OutputSpec(network.output_name),),
        )
    )
    optimize(graph)
    with atomic_write(path.with_suffix(".data")) as stream:
        exported = export_model(graph, options, stream)
    with atomic_write(path.with_suffix(".pb")) as file:
        file.write(exported.model.SerializeToString())
