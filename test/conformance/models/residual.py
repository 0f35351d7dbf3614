# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""ResNet-18 at 224 x 224, as in the paper (He et al. 2015)."""

from __future__ import annotations

from test.conformance.models.onnx_builder import OnnxBuilder

INPUT_SHAPE = (1, 3, 224, 224)

# Output channels of the blocks, and the stride of the first one of each stage.
_STAGES = ((64, 1), (128, 2), (256, 2), (512, 2))
_BLOCKS = 2


def resnet18(net: OnnxBuilder) -> None:
    net.convolve(64, 7, 2, activation="Relu")
    shape = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
    net.node("MaxPool", net.value, **shape)
    for channels, first_stride in _STAGES:
        for index in range(_BLOCKS):
            _block(net, channels, first_stride if index == 0 else 1)
    net.classify()


def _block(net: OnnxBuilder, channels: int, stride: int) -> None:
    shortcut, before = net.value, net.channels
    net.convolve(channels, 3, stride, activation="Relu")
    # Beside a shortcut a branch adds little, or variance doubles.
    net.convolve(channels, 3, activation="", gain=0.1**0.5)
    branch = net.value
    if stride > 1 or before != channels:
        net.value, net.channels = shortcut, before
        net.convolve(channels, 1, stride, activation="")
        shortcut = net.value
    net.node("Add", branch, shortcut)
    net.node("Relu", net.value)
