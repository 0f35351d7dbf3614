# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Layers on images with channels first, compared with Keras.

No output is as wide as it has channels: Keras then adds biases along its width.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.keras import FRAMEWORK, import_model
from mace.python.tools.importers.keras.testing import Family, fill, rand, results_of
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.passes.manager import optimize

keras = pytest.importorskip("keras")
layers = keras.layers
FAMILY = Family("convolution")
FIRST = {"data_format": "channels_first"}


@pytest.mark.parametrize(
    "build",
    [
        lambda x: layers.Conv2D(4, 3, strides=2, padding="same", **FIRST)(x),
        lambda x: layers.SeparableConv2D(5, 3, **FIRST)(x),
        lambda x: layers.Conv2DTranspose(5, 3, 2, padding="same", **FIRST)(x),
        lambda x: layers.AveragePooling2D(3, 2, padding="same", **FIRST)(x),
        lambda x: (
            layers.GlobalAveragePooling2D(**FIRST)(x),
            layers.GlobalMaxPooling2D(keepdims=True, **FIRST)(x),
        ),
        lambda x: layers.Dense(3)(layers.Flatten(**FIRST)(x)),
        lambda x: layers.UpSampling2D((2, 3), **FIRST)(x),
        lambda x: layers.ZeroPadding2D(((1, 2), (3, 0)), **FIRST)(x),
        lambda x: layers.Resizing(4, 5, **FIRST)(x),
    ],
)
def test_images(build: Callable[[Any], Any], tmp_path: Path) -> None:
    FAMILY.check(tmp_path, build, rand(2, 6, 8, 9), tolerance=1e-4)


def test_other_ranks(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda x: layers.Conv1D(4, 3, **FIRST)(x),
        rand(2, 6, 8),
        tolerance=1e-4,
    )
    FAMILY.check(
        tmp_path,
        lambda x: layers.MaxPooling3D(2, **FIRST)(layers.Conv3D(4, 2, **FIRST)(x)),
        rand(2, 6, 4, 5, 3),
        tolerance=1e-4,
    )
    FAMILY.check(
        tmp_path,
        lambda x: layers.TimeDistributed(layers.Conv2D(3, 3, **FIRST))(x),
        rand(2, 3, 4, 5, 6),
        tolerance=1e-4,
    )


def test_the_application_may_have_channels_last(tmp_path: Path) -> None:
    x = keras.Input((6, 8, 9), name="x0")
    y = layers.BatchNormalization(axis=1)(layers.Conv2D(4, 3, **FIRST)(x))
    model = keras.Model(x, layers.Dense(3)(layers.Flatten(**FIRST)(y)))
    fill(model)
    path = tmp_path / "model.keras"
    model.save(path)
    assert FRAMEWORK.open(path).describe().image_order is DataFormat.NCHW
    spec = InputSpec("x0", (2, 8, 9, 6), data_format=DataFormat.NHWC)
    name = model.layers[-1].name
    output = OutputSpec(name, DataFormat.NONE)
    graph = import_model(ImportRequest("m", path, (spec,), (output,)))
    optimize(graph)
    array = rand(2, 6, 8, 9)
    (given,) = graph.inputs
    # The passes let the application keep its order.
    fed = array if given.shape == array.shape else array.transpose(0, 2, 3, 1)
    (found,) = run_graph(graph, {"x0": fed}).values()
    np.testing.assert_allclose(found, np.asarray(results_of(model, array)), 1e-4, 1e-4)
