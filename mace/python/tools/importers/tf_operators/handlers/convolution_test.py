# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolutions and matrix products, against TensorFlow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

# TensorFlow's Python interface no longer makes these.
_NOT_MADE = frozenset({"BatchMatMul", "BatchMatMulV3"})
_FAMILY = Family("convolution", _NOT_MADE)
check = _FAMILY.check


@pytest.mark.parametrize("padding", ["SAME", "VALID", [[0, 0], [1, 2], [0, 1], [0, 0]]])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_conv2d(tmp_path: Path, padding: Any, stride: int) -> None:
    w = rand(3, 5, 4, 6)
    check(
        tmp_path,
        lambda x: tf.nn.conv2d(x, w, stride, padding),
        rand(2, 11, 12, 4),
    )


def test_conv2d_dilated_and_grouped(tmp_path: Path) -> None:
    w = rand(3, 3, 2, 6)
    x = rand(1, 9, 9, 4)
    check(tmp_path, lambda x: tf.nn.conv2d(x, w, 1, "SAME"), x)
    w1 = rand(3, 3, 4, 6)
    check(
        tmp_path,
        lambda x: tf.raw_ops.Conv2D(
            input=x, filter=w1, strides=[1] * 4, padding="VALID", dilations=[1, 2, 2, 1]
        ),
        x,
    )


@pytest.mark.parametrize("multiplier", [1, 3])
def test_depthwise(tmp_path: Path, multiplier: int) -> None:
    w = rand(3, 3, 5, multiplier)
    check(
        tmp_path,
        lambda x: tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "SAME"),
        rand(1, 8, 9, 5),
    )


@pytest.mark.parametrize("padding", ["SAME", "VALID", [[0, 0], [1, 2], [0, 1], [0, 0]]])
@pytest.mark.parametrize("stride", [1, 2, 4])
def test_transposed_conv2d(tmp_path: Path, padding: Any, stride: int) -> None:
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
            tmp_path,
            lambda x, size=size: tf.nn.conv2d_transpose(
                x, w, [2, *size, 6], stride, padding
            ),
            x,
        )


def test_transposed_conv2d_to_a_shape_that_is_computed(tmp_path: Path) -> None:
    w = rand(4, 4, 6, 5)

    def upsample(x: Any) -> Any:
        n, h, width = (tf.shape(x)[i] for i in range(3))
        return tf.nn.conv2d_transpose(x, w, tf.stack([n, h * 2, width * 2, 6]), 2)

    check(tmp_path, upsample, rand(1, 4, 3, 5), dynamic=True)


@pytest.mark.parametrize("multiplier", [1, 2])
def test_transposed_depthwise(tmp_path: Path, multiplier: int) -> None:
    w = rand(3, 3, 5, multiplier)
    check(
        tmp_path,
        lambda x: tf.raw_ops.DepthwiseConv2dNativeBackpropInput(
            input_sizes=[2, 8, 9, 5],
            filter=w,
            out_backprop=x,
            strides=[1, 2, 2, 1],
            padding="SAME",
        ),
        rand(2, 4, 5, 5 * multiplier),
    )


@pytest.mark.parametrize("a, b", [(False, False), (True, False), (False, True)])
def test_matmul(tmp_path: Path, a: bool, b: bool) -> None:
    x = rand(5, 4) if a else rand(4, 5)
    y = rand(6, 5) if b else rand(5, 6)
    check(tmp_path, lambda x, y: tf.matmul(x, y, a, b), x, y)
    check(tmp_path, lambda x: tf.matmul(x, y, a, b), x)
    check(
        tmp_path,
        lambda x, y: tf.matmul(x, y, transpose_b=True),
        rand(2, 1, 4, 5),
        rand(3, 6, 5),
    )


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()
