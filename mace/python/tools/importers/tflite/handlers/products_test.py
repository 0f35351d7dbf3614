# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolutions, products, pooling and normalisation, against TensorFlow Lite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.tflite.testing import (
    Family,
    converted,
    import_file,
    interpreted,
    one_operator,
    rand,
    run_file,
)
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.passes.manager import optimize

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("products")
check = _FAMILY.check
check_int8 = _FAMILY.check_int8
check_file = _FAMILY.check_file


def _activated(x: Any, name: str) -> Any:
    if name == "relu_n1_to_1":
        return tf.clip_by_value(x, -1.0, 1.0)
    return x if name == "none" else getattr(tf.nn, name)(x)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("activation", ["none", "relu", "relu6", "relu_n1_to_1"])
def test_conv(padding: str, activation: str) -> None:
    w, b = rand(3, 2, 4, 6), rand(6)
    for stride, dilation in ((1, 1), (2, 1), (1, 2)):

        def layer(x: Any, stride: int = stride, dilation: int = dilation) -> Any:
            y = tf.nn.conv2d(x, w, stride, padding, dilations=dilation)
            return _activated(tf.nn.bias_add(y, b), activation)

        check(layer, rand(1, 9, 8, 4))
        check_int8(layer, rand(1, 9, 8, 4), share=0.02)
        if stride == 1:
            check_int8(layer, rand(1, 9, 8, 4), integers="16x8")


def test_grouped_conv() -> None:
    check(lambda x: tf.nn.conv2d(x, rand(3, 3, 4, 6), 1, "SAME"), rand(1, 6, 6, 8))


@pytest.mark.parametrize("multiplier", [1, 3])
def test_depthwise_conv(multiplier: int) -> None:
    w, b = rand(3, 3, 4, multiplier), rand(4 * multiplier)
    for stride, dilation in ((1, 1), (2, 1), (1, 2)):

        def layer(x: Any, stride: int = stride, dilation: int = dilation) -> Any:
            y = tf.nn.depthwise_conv2d(
                x, w, [1, stride, stride, 1], "SAME", dilations=[dilation] * 2
            )
            return tf.nn.relu6(tf.nn.bias_add(y, b))

        check(layer, rand(1, 9, 8, 4))
        check_int8(layer, rand(1, 9, 8, 4), share=0.02)
        check_int8(layer, rand(1, 9, 8, 4), integers="16x8")


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_transpose_conv(padding: str) -> None:
    w, b = rand(3, 3, 5, 4), rand(5)
    size = 8 if padding == "SAME" else 9

    def layer(x: Any) -> Any:
        y = tf.nn.conv2d_transpose(x, w, [1, size, size, 5], 2, padding)
        return tf.nn.relu(tf.nn.bias_add(y, b))

    check(layer, rand(1, 4, 4, 4))
    check_int8(layer, rand(1, 4, 4, 4))


def test_fully_connected() -> None:
    w, b = rand(6, 5), rand(5)

    def layer(x: Any) -> Any:
        return tf.nn.relu(tf.matmul(x, w) + b)

    check(layer, rand(3, 6))
    check_int8(layer, rand(3, 6), share=0.1)
    check_int8(layer, rand(3, 6), integers="16x8")
    # keep_num_dims
    check(lambda x: tf.tensordot(x, w, 1) + b, rand(2, 3, 6))
    check(lambda x: tf.matmul(x, w), rand(1, 4, 3, 6))


@pytest.mark.parametrize("keep", [False, True])
def test_fully_connected_of_any_rank(keep: bool) -> None:
    shape = (2, 3, 5) if keep else (6, 5)
    data = one_operator(
        "FULLY_CONNECTED",
        [rand(2, 3, 4)],
        [(shape, "float32")],
        {1: rand(5, 4), 2: rand(5)},
        {"keep_num_dims": keep},
        "FullyConnectedOptions",
    )
    check_file(data, rand(2, 3, 4))


def test_weights_of_16_and_8_bits() -> None:
    w, b = rand(16, 64), rand(64)

    def half(converter: Any) -> None:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.target_spec.supported_types = [tf.float16]

    def hybrid(converter: Any) -> None:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]

    def layer(x: Any) -> Any:
        return tf.matmul(x, w) + b

    x = rand(3, 16)
    check_file(converted(layer, [x], prepare=half), x)
    # The interpreter rounds the input to 8 bits.
    data = converted(layer, [x], prepare=hybrid)
    check_file(data, x, tolerance=0.1)


def test_hybrid_products_round_their_input(tmp_path: Path) -> None:
    """As the interpreter does: to the bit, but for the last digits of scales."""
    weights = np.random.default_rng(1).integers(-127, 128, (40, 64)).astype(np.int8)
    x = rand(3, 64, low=-1)
    for asymmetric in (True, False):
        data = one_operator(
            "FULLY_CONNECTED",
            [x],
            [((3, 40), "float32")],
            {1: weights, 2: rand(40)},
            {"asymmetric_quantize_inputs": asymmetric},
            "FullyConnectedOptions",
            {1: (0.02, 0)},
            version=9,
        )
        graph = import_file(_written(tmp_path, data))
        kinds = {op.type for op in graph.ops}
        assert ("DynamicQuantizeMatMul" in kinds) == asymmetric
        check_file(data, x, tolerance=2e-5 if asymmetric else 0.1)


def _written(folder: Path, data: bytes) -> Path:
    path = folder / "m.tflite"
    path.write_bytes(data)
    return path


def test_batch_matmul() -> None:
    a, b = rand(2, 3, 4), rand(2, 4, 5, low=-1)
    check(tf.matmul, a, b)
    check(lambda a, b: tf.matmul(a, b, transpose_b=True), a, rand(2, 6, 4))
    check(lambda a, b: tf.matmul(a, b, transpose_a=True), rand(2, 4, 3), b)
    check_int8(tf.matmul, a, b, share=0.1)


@pytest.mark.parametrize(
    ("zero", "low", "high"), [(128, 1, 256), (100, 0, 200), (30, 0, 256)]
)
def test_files_of_uint8(tmp_path: Path, zero: int, low: int, high: int) -> None:
    # Of weights with that zero point, the last ones do not fit into int8 without it.
    rng = np.random.default_rng(zero)
    x = rng.integers(0, 256, (1, 7, 8, 4), np.uint8)
    constants = {
        1: rng.integers(low, high, (6, 3, 3, 4), np.uint8),
        2: rng.integers(-5000, 5000, 6, np.int32),
    }
    data = one_operator(
        "CONV_2D",
        [x],
        [((1, 7, 8, 6), "uint8")],
        constants,
        {"padding": 0, "stride_w": 1, "stride_h": 1, "fused_activation_function": 1},
        "Conv2DOptions",
        {0: (0.02, 120), 1: (0.01, zero), 2: (0.0002, 0), 3: (0.05, 3)},
    )
    path = tmp_path / "m.tflite"
    (found,) = run_file(data, [x], path)
    (wanted,) = interpreted(data, [x])
    far = np.abs(found.astype(int) - wanted.astype(int))
    assert far.max() <= 1 and np.count_nonzero(far) <= 0.03 * far.size
    graph = import_file(path)
    optimize(graph)
    in_integers = all(op.output.dtype is DataType.UINT8 for op in graph.ops)
    assert in_integers == (zero != 30)


def test_weights_of_four_bits(tmp_path: Path) -> None:
    weights = np.arange(-8, 8, dtype=np.int8).repeat(4).reshape(4, 16)
    x = rand(3, 16)
    data = one_operator(
        "FULLY_CONNECTED",
        [x],
        [((3, 4), "float32")],
        {1: weights[:, ::-1]},
        {},
        "FullyConnectedOptions",
        {1: (0.25, 0)},
        version=12,
        four_bits=(1,),
    )
    # The interpreter rounds the input to 8 bits.
    check_file(data, x, tolerance=0.2)
    (found,) = run_file(data, [x], tmp_path / "m.tflite")
    expected = x @ (weights[:, ::-1].T * np.float32(0.25))
    np.testing.assert_allclose(found, expected, 1e-5, 1e-5)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("pool", ["max_pool2d", "avg_pool2d"])
def test_pool(padding: str, pool: str) -> None:
    def pooled(x: Any) -> Any:
        return getattr(tf.nn, pool)(x, [3, 2], [2, 1], padding)

    check(pooled, rand(2, 7, 8, 3))
    # Means of integers are often between two integers.
    share = 0 if pool == "max_pool2d" else 0.2
    check_int8(pooled, rand(2, 7, 8, 3), share=share)


def test_pool_with_activation() -> None:
    check(lambda x: tf.nn.relu6(tf.nn.avg_pool2d(x, 2, 2, "SAME")), rand(1, 6, 6, 3))


def test_l2_pool() -> None:
    x = rand(1, 6, 5, 3)
    options = {
        "padding": 0,
        "stride_w": 2,
        "stride_h": 1,
        "filter_width": 3,
        "filter_height": 2,
    }
    data = one_operator(
        "L2_POOL_2D", [x], [((1, 6, 3, 3), "float32")], {}, options, "Pool2DOptions"
    )
    check_file(data, x)


def test_normalisation() -> None:
    check(lambda x: tf.math.l2_normalize(x, -1, 1e-12), rand(2, 3, 9))
    x = rand(2, 3, 9)
    data = one_operator(
        "L2_NORMALIZATION", [x], [(x.shape, "float32")], {}, {}, "L2NormOptions"
    )
    check_file(data, x)
    check(lambda x: tf.nn.lrn(x, 2, 1.5, 0.3, 0.7), rand(1, 3, 3, 9))


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_conv3d(padding: str) -> None:
    filters, bias = rand(3, 2, 3, 4, 5), rand(5)
    check(
        lambda x: tf.nn.relu(tf.nn.conv3d(x, filters, [1, 2, 1, 3, 1], padding) + bias),
        rand(2, 6, 7, 8, 4),
        tolerance=1e-4,
    )


@pytest.mark.parametrize(
    ("padding", "sizes"), [("SAME", (8, 3, 11)), ("VALID", (9, 4, 14))]
)
def test_transposed_conv3d(padding: str, sizes: tuple[int, ...]) -> None:
    filters, bias = rand(3, 2, 3, 5, 4), rand(5)
    check(
        lambda x: (
            tf.nn.conv3d_transpose(x, filters, [2, *sizes, 5], [1, 2, 1, 3, 1], padding)
            + bias
        ),
        rand(2, 4, 3, 4, 4),
        tolerance=1e-4,
    )


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()
