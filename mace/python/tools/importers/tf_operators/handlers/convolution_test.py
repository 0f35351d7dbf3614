# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution, pooling and normalisation, against TensorFlow."""

from __future__ import annotations

from typing import Any

import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

# TensorFlow's Python interface no longer makes these.
_NOT_MADE = frozenset({"BiasAddV1", "FusedBatchNorm", "FusedBatchNormV2"})
_FAMILY = Family("convolution", _NOT_MADE)
check = _FAMILY.check


@pytest.mark.parametrize("padding", ["SAME", "VALID", [[0, 0], [1, 2], [0, 1], [0, 0]]])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_conv2d(padding: Any, stride: int) -> None:
    w = rand(3, 5, 4, 6)
    check(lambda x: tf.nn.conv2d(x, w, stride, padding), rand(2, 11, 12, 4))


def test_conv2d_dilated_and_grouped() -> None:
    w = rand(3, 3, 2, 6)
    x = rand(1, 9, 9, 4)
    check(lambda x: tf.nn.conv2d(x, w, 1, "SAME"), x)
    w1 = rand(3, 3, 4, 6)
    check(
        lambda x: tf.raw_ops.Conv2D(
            input=x, filter=w1, strides=[1] * 4, padding="VALID", dilations=[1, 2, 2, 1]
        ),
        x,
    )


@pytest.mark.parametrize("multiplier", [1, 3])
def test_depthwise(multiplier: int) -> None:
    w = rand(3, 3, 5, multiplier)
    check(
        lambda x: tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "SAME"), rand(1, 8, 9, 5)
    )


@pytest.mark.parametrize("padding", ["SAME", "VALID", [[0, 0], [1, 2], [0, 1], [0, 0]]])
@pytest.mark.parametrize("stride", [1, 2, 4])
def test_transposed_conv2d(padding: Any, stride: int) -> None:
    w = rand(3, 2, 6, 5)
    x = rand(2, 4, 5, 5)
    pads = [[1, 2], [0, 1]] if isinstance(padding, list) else [[0, 0], [0, 0]]
    for extra in range(stride):
        if padding == "SAME":
            size = [4 * stride - extra, 5 * stride - extra]
        else:
            size = [
                stride * (x.shape[i + 1] - 1) + w.shape[i] - sum(pads[i]) + extra
                for i in range(2)
            ]
        check(
            lambda x, size=size: tf.nn.conv2d_transpose(
                x, w, [2, *size, 6], stride, padding
            ),
            x,
        )


def test_transposed_conv2d_to_a_shape_that_is_computed() -> None:
    w = rand(4, 4, 6, 5)

    def upsample(x: Any) -> Any:
        n, h, width = (tf.shape(x)[i] for i in range(3))
        return tf.nn.conv2d_transpose(x, w, tf.stack([n, h * 2, width * 2, 6]), 2)

    check(upsample, rand(1, 4, 3, 5), dynamic=True)


@pytest.mark.parametrize("multiplier", [1, 2])
def test_transposed_depthwise(multiplier: int) -> None:
    w = rand(3, 3, 5, multiplier)
    check(
        lambda x: tf.raw_ops.DepthwiseConv2dNativeBackpropInput(
            input_sizes=[2, 8, 9, 5],
            filter=w,
            out_backprop=x,
            strides=[1, 2, 2, 1],
            padding="SAME",
        ),
        rand(2, 4, 5, 5 * multiplier),
    )


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("pool", ["max_pool2d", "avg_pool2d"])
def test_pool(padding: str, pool: str) -> None:
    check(lambda x: getattr(tf.nn, pool)(x, [3, 2], [2, 1], padding), rand(2, 7, 8, 3))


def test_pool_whose_window_is_an_input() -> None:
    sizes = {"ksize": [1, 3, 2, 1], "strides": [1, 2, 1, 1]}
    check(
        lambda x: tf.raw_ops.MaxPoolV2(input=x, padding="SAME", **sizes),
        rand(2, 7, 6, 3),
    )


def test_local_response_norm() -> None:
    check(lambda x: tf.nn.lrn(x, 2, 1.5, 0.3, 0.7), rand(1, 3, 3, 9))


def test_bias_and_batch_norm() -> None:
    scale, offset, mean, var = (rand(3, low=0.5) for _ in range(4))
    check(lambda x: tf.nn.bias_add(x, offset), rand(2, 4, 4, 3))
    check(
        lambda x: (
            tf.raw_ops.FusedBatchNormV3(
                x=x,
                scale=scale,
                offset=offset,
                mean=mean,
                variance=var,
                epsilon=0.01,
                is_training=False,
            ).y
        ),
        rand(2, 4, 4, 3),
    )


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("strides", [[1, 1, 1], [2, 1, 3]])
def test_conv3d(strides: list[int], padding: str) -> None:
    filters = rand(3, 2, 3, 4, 5)
    check(
        lambda x: tf.nn.conv3d(x, filters, [1, *strides, 1], padding),
        rand(2, 6, 7, 8, 4),
        tolerance=1e-4,
    )


@pytest.mark.parametrize(
    ("padding", "sizes"), [("SAME", (8, 3, 11)), ("VALID", (9, 4, 14))]
)
def test_transposed_conv3d(padding: str, sizes: tuple[int, ...]) -> None:
    filters = rand(3, 2, 3, 5, 4)
    check(
        lambda x: tf.nn.conv3d_transpose(
            x, filters, [2, *sizes, 5], [1, 2, 1, 3, 1], padding
        ),
        rand(2, 4, 3, 4, 4),
        tolerance=1e-4,
    )


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("pool", ["max_pool3d", "avg_pool3d"])
def test_pool3d(pool: str, padding: str) -> None:
    check(
        lambda x: getattr(tf.nn, pool)(x, [2, 3, 2], [2, 2, 1], padding),
        rand(2, 5, 7, 6, 3),
    )


def test_windows_over_channels_are_refused() -> None:
    with pytest.raises(UnsupportedNodesError, match="over batch or channels"):
        check(
            lambda x: tf.nn.max_pool3d(x, [1, 1, 1, 1, 2], [1, 1, 1, 1, 2], "VALID"),
            rand(1, 2, 2, 2, 4),
        )


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()
