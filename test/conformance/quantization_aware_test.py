# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Frozen graphs of quantization-aware training, on this computer.

The reference is TensorFlow, which computes in floats and rounds them by FakeQuant.
Results may differ by one step of the output's scale.
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
from mace.python.tools.importers.tensorflow import import_model
from mace.python.tools.importers.tensorflow.testing import frozen, rand, traced
from mace.python.tools.ir import Graph
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.ir.quantized_ops import is_quantized
from mace.python.tools.ir.shapes import NHWC_TO_NCHW
from mace.python.tools.passes.manager import optimize
from test.conformance.native import native

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_SHAPE = (1, 13, 12, 4)
_RANGE = 12.0
_STEP = 2 * _RANGE / 255


def _rounded(x: Any, low: float, high: float) -> Any:
    return tf.quantization.fake_quant_with_min_max_vars(x, low, high)


def _symmetric(weights: Array) -> Any:
    """Weights with one range, as training in TensorFlow 1 rounds them."""
    limit = float(np.abs(weights).max())
    return tf.quantization.fake_quant_with_min_max_vars(
        tf.constant(weights), -limit, limit, narrow_range=True
    )


def _by_channel(weights: Array) -> Any:
    """Weights with a range for each innermost index, as Keras rounds them."""
    limit = np.abs(weights).max(tuple(range(weights.ndim - 1)))
    return tf.quantization.fake_quant_with_min_max_vars_per_channel(
        tf.constant(weights), -limit, limit, narrow_range=True
    )


def _normalised(x: Any, channels: int) -> Any:
    return tf.raw_ops.FusedBatchNormV3(
        x=x,
        scale=rand(channels, low=-1, high=1.5),
        offset=rand(channels),
        mean=rand(channels),
        variance=rand(channels, low=0.5),
        epsilon=0.01,
        is_training=False,
    ).y


def _network(rounded_weights: Callable[[Array], Any]) -> Callable[[Any], Any]:
    def network(x: Any) -> Any:
        x = _rounded(x, -2, 2)
        # The factors of a normalisation are folded before the rounding.
        y = tf.nn.conv2d(x, rounded_weights(rand(3, 3, 4, 16) * 0.2), 2, "SAME")
        y = _rounded(tf.nn.relu6(tf.nn.bias_add(y, rand(16))), 0, 6)
        y = tf.nn.max_pool2d(y, 3, 2, "SAME")
        # Keras rounds depthwise filters with the channels innermost.
        filters = tf.transpose(rounded_weights(rand(3, 3, 1, 16) * 0.5), [0, 1, 3, 2])
        y = tf.nn.depthwise_conv2d(y, filters, [1, 1, 1, 1], "SAME")
        y = _rounded(tf.nn.relu6(tf.nn.bias_add(y, rand(16))), 0, 6)
        # The normalisation is not folded.
        z = tf.nn.conv2d(y, rounded_weights(rand(1, 1, 16, 16) * 0.3), 1, "SAME")
        z = _rounded(_normalised(z, 16), -8, 8)
        y = _rounded(y + z, -8, 12)
        y = _rounded(tf.reduce_mean(y, [1, 2]), -3, 6)
        y = tf.nn.bias_add(tf.matmul(y, rounded_weights(rand(16, 10) * 0.25)), rand(10))
        return _rounded(y, -_RANGE, _RANGE)

    return network


def _converted(
    function: Callable[[Any], Any], x: Array, folder: Path
) -> tuple[Graph, Array]:
    """The optimized graph, whose input is x0 and whose output is y, and what TensorFlow
    computes.
    """
    concrete = frozen(traced(tf, function, [x], dynamic=False))
    path = folder / "model.pb"
    path.write_bytes(concrete.graph.as_graph_def().SerializeToString())
    (output,) = concrete.outputs
    graph = import_model(
        ImportRequest(
            "m",
            path,
            (InputSpec("x0", x.shape),),
            (OutputSpec(output.name, DataFormat.NONE),),
        )
    )
    graph.rename_value(graph.outputs[0], "y")
    optimize(graph)
    (wanted,) = concrete(tf.constant(x))
    return graph, wanted.numpy()


@pytest.mark.parametrize("rounded_weights", [_symmetric, _by_channel])
def test_network(rounded_weights: Callable[[Array], Any], tmp_path: Path) -> None:
    x = rand(*_SHAPE)
    graph, wanted = _converted(_network(rounded_weights), x, tmp_path)
    kinds = [op.type for op in graph.ops]
    assert kinds[0] == "Quantize" and kinds[-1] == "Dequantize"
    assert all(op.output.dtype is DataType.UINT8 for op in graph.ops[:-1])
    known = run_graph(graph, {"x0": x})["y"]
    found = native("host")(graph, {"x0": x.transpose(NHWC_TO_NCHW)})["y"]
    np.testing.assert_array_equal(found, known)
    assert np.ptp(wanted) > 50 * _STEP and np.abs(wanted).max() < _RANGE - _STEP
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1.001 * _STEP)


def test_weights_with_a_zero_point(tmp_path: Path) -> None:
    x = rand(3, 40, low=-1, high=1)
    low, high = -0.5, 1.3
    weights = rand(40, 6, low=low, high=high)
    # The numbers of this output fit without the zero point.
    weights[:, 2] *= 0.5
    rounded = np.asarray(_rounded(weights, low, high))

    def network(x: Any) -> Any:
        y = tf.matmul(_rounded(x, -1, 1), _rounded(tf.constant(weights), low, high))
        return _rounded(y, -_RANGE, _RANGE)

    graph, wanted = _converted(network, x, tmp_path)
    (product,) = (op for op in graph.ops if op.type == "FullyConnected")
    assert is_quantized(product)
    value = product.input(1)
    assert value.dtype is DataType.INT8 and value.quantization is not None
    scales = np.asarray(value.quantization.scales)
    step = (high - low) / 255
    np.testing.assert_allclose(scales[2], step, rtol=1e-6)
    assert (np.delete(scales, 2) > 1.1 * step).all() and (scales < 1.5 * step).all()
    kept = value.numpy().T * scales
    np.testing.assert_allclose(kept[:, 2], rounded[:, 2], rtol=0, atol=1e-6)
    assert (np.abs(kept - rounded) < 0.501 * scales).all()
    (found,) = run_graph(graph, {"x0": x}).values()
    # Of 40 weights, each is wrong by half a step at most.
    np.testing.assert_allclose(
        found, wanted, rtol=0, atol=_STEP + 40 * 0.5 * scales.max() * 0.5
    )


def test_results_without_a_range_are_floats(tmp_path: Path) -> None:
    def network(x: Any) -> Any:
        y = tf.nn.conv2d(_rounded(x, -2, 2), _by_channel(rand(3, 3, 4, 8)), 1, "SAME")
        y = _rounded(tf.nn.relu(tf.nn.bias_add(y, rand(8))), 0, 30)
        y = tf.nn.max_pool2d(y, 2, 2, "VALID")
        return tf.nn.relu(tf.nn.conv2d(y, _by_channel(rand(1, 1, 8, 5)), 1, "SAME"))

    x = rand(*_SHAPE)
    graph, wanted = _converted(network, x, tmp_path)
    kinds = [(op.type, is_quantized(op)) for op in graph.ops]
    assert kinds == [
        ("Quantize", False),
        ("Conv2D", True),
        ("Pooling", True),
        ("Dequantize", False),
        ("Conv2D", False),
    ]
    found = native("host")(graph, {"x0": x.transpose(NHWC_TO_NCHW)})["y"]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())
