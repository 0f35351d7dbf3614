# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Networks to measure: an ONNX file, and the MACE model made of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mace.python.tools.atomic import atomic_write
from mace.python.tools.export.export import ExportOptions, export_model
from mace.python.tools.importers.base import ImportRequest, InputSpec, OutputSpec
from mace.python.tools.importers.onnx import import_model
from mace.python.tools.passes.manager import optimize
from test.conformance.models.light import LIGHT_MODELS, light_input, make_light_model
from test.conformance.models.mobile import (
    INPUT,
    INPUT_SHAPE,
    MOBILE_MODELS,
    OUTPUT,
    make_mobile_model,
)

ROOT = Path(__file__).resolve().parents[1]
DIRECTORY = ROOT / "build/benchmarks"
NAMES = (*MOBILE_MODELS, *LIGHT_MODELS)


@dataclass(frozen=True)
class Network:
    """One network in both forms.

    Attributes:
        onnx: the file as another engine reads it (NCHW).
        mace: path of the MACE model without suffix (NHWC).
        input_shape: NCHW.
    """

    name: str
    onnx: Path
    mace: Path
    input_name: str
    output_name: str
    input_shape: tuple[int, ...]

    def image(self) -> NDArray[np.float32]:
        """A seeded input, NCHW."""
        return light_input("resnet50", 0)


def make_network(name: str) -> Network:
    """Makes the files of a network, or finds them made.

    Args:
        name: one of NAMES.
    """
    if name in MOBILE_MODELS:
        path, source, result = make_mobile_model(name), INPUT, OUTPUT
        shape: tuple[int, ...] = INPUT_SHAPE
    else:
        info = LIGHT_MODELS[name]
        path, source, result = make_light_model(name), info.input, info.output
        shape = info.input_shape
    network = Network(name, path, DIRECTORY / name, source, result, shape)
    _convert(network)
    return network


def _convert(network: Network) -> None:
    n, c, h, w = network.input_shape
    graph = import_model(
        ImportRequest(
            network.name,
            network.onnx,
            (InputSpec(network.input_name, (n, h, w, c)),),
            (OutputSpec(network.output_name),),
        )
    )
    optimize(graph)
    with atomic_write(network.mace.with_suffix(".data")) as stream:
        exported = export_model(graph, ExportOptions(), stream)
    with atomic_write(network.mace.with_suffix(".pb")) as file:
        file.write(exported.model.SerializeToString())
