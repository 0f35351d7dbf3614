# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Sizes of images and blocks of pixels, against TensorFlow."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("images")
check = _FAMILY.check


@pytest.mark.parametrize(
    ("align_corners", "half_pixel_centers"),
    [(False, False), (True, False), (False, True)],
)
@pytest.mark.parametrize("op", ["Bilinear", "NearestNeighbor", "Bicubic"])
def test_resize(op: str, align_corners: bool, half_pixel_centers: bool) -> None:
    for size in ([12, 18], [11, 5], [3, 20], [1, 1]):
        check(
            lambda x, size=size: getattr(tf.raw_ops, f"Resize{op}")(
                images=x,
                size=size,
                align_corners=align_corners,
                half_pixel_centers=half_pixel_centers,
            ),
            rand(2, 6, 9, 3),
            # TensorFlow looks cubic weights up in a table: 8e-4 of the range of 4.
            tolerance=3.2e-3 if op == "Bicubic" else 2e-5,
        )


@pytest.mark.parametrize("block", [2, 3])
def test_blocks(block: int) -> None:
    check(lambda x: tf.nn.space_to_depth(x, block), rand(2, 6, 12, 3))
    check(lambda x: tf.nn.depth_to_space(x, block), rand(2, 3, 4, 36))


def test_resize_by_a_computed_size() -> None:
    check(
        lambda x: tf.compat.v1.image.resize_bilinear(x, tf.shape(x)[1:3] * 2),
        rand(2, 6, 9, 3),
        dynamic=True,
    )


def test_batches_of_blocks() -> None:
    image = rand(2, 6, 9, 3)
    check(lambda x: tf.space_to_batch(x, [2, 3], [[0, 0], [0, 0]]), image)
    check(lambda x: tf.space_to_batch(x, [4, 2], [[1, 1], [2, 1]]), image)
    check(lambda x: tf.space_to_batch(x, [3], [[1, 2]]), image)
    batch = rand(12, 3, 4, 5)
    check(lambda x: tf.batch_to_space(x, [2, 3], [[0, 0], [0, 0]]), batch)
    check(lambda x: tf.batch_to_space(x, [3, 2], [[1, 2], [0, 3]]), batch)
    check(lambda x: tf.batch_to_space(x, [4], [[0, 1]]), batch)


def test_blocks_of_one_size() -> None:
    raw = tf.raw_ops
    edges = [[1, 1], [2, 1]]
    check(
        lambda x: raw.SpaceToBatch(input=x, paddings=edges, block_size=2),
        rand(2, 6, 9, 3),
    )
    check(
        lambda x: raw.BatchToSpace(input=x, crops=edges, block_size=2), rand(8, 3, 4, 5)
    )


def _atrous(
    x: Any, filters: Any, blocks: list[int], inner: str = "VALID", depth: bool = False
) -> Any:
    """As TensorFlow 1 wrote a convolution with dilations and padding SAME."""
    crops = []
    pads = []
    for size, kernel, block in zip(x.shape[1:3], filters.shape[:2], blocks):
        whole = (kernel - 1) * block if inner == "VALID" else 0
        before, after = whole // 2, whole - whole // 2
        more = -(size + whole) % block
        pads.append([before, after + more])
        crops.append([0, more])
    y = tf.space_to_batch(x, blocks, pads)
    if depth:
        y = tf.nn.depthwise_conv2d(y, filters, [1, 1, 1, 1], inner)
    else:
        y = tf.nn.conv2d(y, filters, 1, inner)
    return y, crops


@pytest.mark.parametrize(
    "blocks, inner, depth",
    [([2, 2], "VALID", True), ([3, 2], "VALID", False), ([2, 2], "SAME", False)],
)
def test_convolutions_of_blocks_have_dilations(
    blocks: list[int], inner: str, depth: bool
) -> None:
    filters = rand(3, 3, 4, 2)

    def plain(x: Any) -> Any:
        y, crops = _atrous(x, filters, blocks, inner, depth)
        return tf.batch_to_space(y, blocks, crops)

    def with_others(x: Any) -> Any:
        y, crops = _atrous(x, filters, blocks, inner, depth)
        y = tf.nn.bias_add(y, rand(y.shape[-1]))
        channels = y.shape[-1]
        y, *_ = tf.compat.v1.nn.fused_batch_norm(
            y, *(abs(rand(channels)) for _ in range(4)), is_training=False
        )
        y = tf.quantization.fake_quant_with_min_max_vars(tf.nn.relu6(y), 0.0, 6.0)
        return tf.batch_to_space(y, blocks, crops)

    for build, most in ((plain, 1), (with_others, 5)):
        graph = check(build, rand(1, 9, 10, 4), tolerance=0.03)
        types = Counter(op.type for op in graph.ops)
        assert types["DepthwiseConv2d" if depth else "Conv2D"] == 1
        assert not {"Transpose", "Pad", "StridedSlice", "Reshape"} & types.keys()
        assert sum(types.values()) <= most + 2


def test_convolutions_of_blocks_of_rows_have_dilations() -> None:
    filters = rand(1, 3, 4, 2)

    def build(x: Any) -> Any:
        y = tf.space_to_batch(x, [2], [[2, 3]])
        y = tf.squeeze(tf.nn.conv2d(tf.expand_dims(y, 1), filters, 1, "VALID"), [1])
        return tf.batch_to_space(tf.nn.relu(y), [2], [[0, 1]])

    graph = check(build, rand(2, 9, 4))
    assert not {"Transpose", "Pad", "StridedSlice"} & {op.type for op in graph.ops}


def test_other_convolutions_between_blocks_stay_as_they_are() -> None:
    filters = rand(3, 3, 4, 4)

    def strided(x: Any) -> Any:
        y = tf.nn.conv2d(tf.space_to_batch(x, [2, 2], [[0, 0]] * 2), filters, 2, "SAME")
        return tf.batch_to_space(y, [2, 2], [[0, 0]] * 2)

    def other_blocks(x: Any) -> Any:
        y = tf.space_to_batch(x, [2, 2], [[0, 0]] * 2)
        y = tf.nn.conv2d(y, filters, 1, "SAME")
        return tf.batch_to_space(y, [4, 1], [[0, 0]] * 2)

    def cropped(x: Any) -> Any:
        y = tf.space_to_batch(x, [2, 2], [[0, 0]] * 2)
        y = tf.nn.conv2d(y, filters, 1, "VALID")
        return tf.batch_to_space(y, [2, 2], [[1, 0], [0, 1]])

    for build in (strided, other_blocks, cropped):
        graph = check(build, rand(1, 12, 12, 4))
        assert "Transpose" in {op.type for op in graph.ops}


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()
