# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""TensorFlow Lite models on this computer, in floats and in integers.

The library computes what the converter's own formulas say; these are compared with
TensorFlow Lite's interpreter by the importer's tests, and here again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.tflite.testing import (
    converted,
    import_file,
    interpreted,
    rand,
)
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.passes.manager import optimize
from test.conformance.native import native

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_SHAPE = (1, 12, 12, 4)


def _network(x: Any) -> Any:
    y = tf.nn.relu6(tf.nn.conv2d(x, rand(3, 3, 4, 8) * 0.3, 2, "SAME") + rand(8))
    z = tf.nn.depthwise_conv2d(y, rand(3, 3, 8, 1) * 0.4, [1, 1, 1, 1], "SAME")
    y = tf.nn.leaky_relu(z + rand(8), 0.1) + y
    y = tf.concat([y, tf.pad(z[:, 1:, 1:], [[0, 0], [1, 0], [0, 1], [0, 0]])], 3)
    y = tf.image.resize(tf.nn.max_pool2d(y, 2, 2, "SAME"), [6, 6])
    y = tf.nn.conv2d_transpose(y, rand(2, 2, 6, 16) * 0.3, [1, 12, 12, 6], 2)
    y = tf.reduce_mean(y * tf.sigmoid(y), [1, 2])
    return tf.matmul(y, rand(6, 5)) + rand(5)


@pytest.mark.parametrize(("integers", "steps"), [("", 0), ("int8", 2), ("16x8", 64)])
def test_network(integers: str, steps: int, tmp_path: Path) -> None:
    x = rand(*_SHAPE)
    data = converted(_network, [x], integers)
    path = tmp_path / "model.tflite"
    path.write_bytes(data)
    graph = import_file(path)
    optimize(graph)
    (given,), (output,) = graph.inputs, graph.outputs
    numbers = x
    if integers:
        numbers = np.rint(x * (60 if integers == "int8" else 15000))
    kind = {"": np.float32, "int8": np.int8, "16x8": np.int16}[integers]
    (wanted,) = interpreted(data, [numbers.astype(kind)])
    feed = {given.name: numbers.astype(given.dtype.numpy)}
    known = run_graph(graph, feed)[output.name]
    found = native("host")(graph, feed)[output.name]
    if not integers:
        np.testing.assert_allclose(found, wanted, 1e-4, 1e-4)
        return
    # Transposed convolutions are computed in floats between integers, and so are
    # functions of 16 bits: their last bits differ between instruction sets.
    assert np.abs(found.astype(np.int64) - known).max() <= 1
    # RESIZE_BILINEAR of 16 bits is coarse in the interpreter.
    far = np.abs(found.astype(np.int64) - wanted)
    assert far.max() <= steps and np.ptp(wanted.astype(np.int64)) > 50
