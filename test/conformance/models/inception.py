# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Inception v3 at 299 x 299.

Layer by layer as in the paper (Szegedy et al. 2015, "Rethinking the Inception
Architecture for Computer Vision") without the auxiliary classifier.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from test.conformance.models.onnx_builder import OnnxBuilder

INPUT_SHAPE = (1, 3, 299, 299)

# A layer of a branch: filters and kernel; a stride of 2 goes without padding.
Layer = tuple[int, "int | tuple[int, int]", int]


def _convolve(net: OnnxBuilder, layers: Sequence[Layer]) -> None:
    for channels, kernel, stride in layers:
        net.convolve(channels, kernel, stride, activation="Relu", padded=stride == 1)


def _max_pool(net: OnnxBuilder) -> None:
    net.node("MaxPool", net.value, kernel_shape=[3, 3], strides=[2, 2])


def _average_pool(net: OnnxBuilder) -> None:
    net.node("AveragePool", net.value, kernel_shape=[3, 3], pads=[1] * 4)


def _branches(
    net: OnnxBuilder, branches: Sequence[Callable[[OnnxBuilder], None]]
) -> None:
    """Every branch reads the last tensor; their results are concatenated."""
    value, channels = net.value, net.channels
    ends, total = [], 0
    for branch in branches:
        net.value, net.channels = value, channels
        branch(net)
        ends.append(net.value)
        total += net.channels
    net.node("Concat", *ends, axis=1)
    net.channels = total


def _chain(*layers: Layer) -> Callable[[OnnxBuilder], None]:
    return lambda net: _convolve(net, layers)


def _pooled(channels: int) -> Callable[[OnnxBuilder], None]:
    def branch(net: OnnxBuilder) -> None:
        _average_pool(net)
        _convolve(net, [(channels, 1, 1)])

    return branch


def _forked(*layers: Layer) -> Callable[[OnnxBuilder], None]:
    """Layers whose result goes through 1x3 and 3x1 side by side."""

    def branch(net: OnnxBuilder) -> None:
        _convolve(net, layers)
        _branches(net, [_chain((384, (1, 3), 1)), _chain((384, (3, 1), 1))])

    return branch


def _block_35(net: OnnxBuilder, pool_channels: int) -> None:
    _branches(
        net,
        [
            _chain((64, 1, 1)),
            _chain((48, 1, 1), (64, 5, 1)),
            _chain((64, 1, 1), (96, 3, 1), (96, 3, 1)),
            _pooled(pool_channels),
        ],
    )


def _block_17(net: OnnxBuilder, narrow: int) -> None:
    row, column = (1, 7), (7, 1)
    _branches(
        net,
        [
            _chain((192, 1, 1)),
            _chain((narrow, 1, 1), (narrow, row, 1), (192, column, 1)),
            _chain(
                (narrow, 1, 1),
                (narrow, column, 1),
                (narrow, row, 1),
                (narrow, column, 1),
                (192, row, 1),
            ),
            _pooled(192),
        ],
    )


def _block_8(net: OnnxBuilder) -> None:
    _branches(
        net,
        [
            _chain((320, 1, 1)),
            _forked((384, 1, 1)),
            _forked((448, 1, 1), (384, 3, 1)),
            _pooled(192),
        ],
    )


def inception_v3(net: OnnxBuilder) -> None:
    """The network, up to the softmax over 1000 classes."""
    _convolve(net, [(32, 3, 2)])
    net.convolve(32, 3, activation="Relu", padded=False)
    _convolve(net, [(64, 3, 1)])
    _max_pool(net)
    _convolve(net, [(80, 1, 1)])
    net.convolve(192, 3, activation="Relu", padded=False)
    _max_pool(net)
    for pool_channels in (32, 64, 64):
        _block_35(net, pool_channels)
    _branches(
        net,
        [
            _chain((384, 3, 2)),
            _chain((64, 1, 1), (96, 3, 1), (96, 3, 2)),
            _max_pool,
        ],
    )
    for narrow in (128, 160, 160, 192):
        _block_17(net, narrow)
    _branches(
        net,
        [
            _chain((192, 1, 1), (320, 3, 2)),
            _chain((192, 1, 1), (192, (1, 7), 1), (192, (7, 1), 1), (192, 3, 2)),
            _max_pool,
        ],
    )
    for _ in range(2):
        _block_8(net)
    net.classify()
