# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""MobileNet v1, v2 and v3 at width 1, and EfficientNet-Lite0, at 224 x 224.

Layer by layer as in the papers (Howard et al. 2017 and 2019, Sandler et al. 2018, Tan
and Le 2019), with the batch normalisations that training leaves.
"""

from __future__ import annotations

from test.conformance.models.onnx_builder import OnnxBuilder

INPUT_SHAPE = (1, 3, 224, 224)

# Depthwise-separable blocks of v1: output channels, stride.
_V1_BLOCKS = (
    (64, 1),
    (128, 2),
    (128, 1),
    (256, 2),
    (256, 1),
    (512, 2),
    *((512, 1),) * 5,
    (1024, 2),
    (1024, 1),
)
# Inverted residuals of v2: expansion, output channels, repeats, stride.
_V2_BLOCKS = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
# Those of EfficientNet-Lite0, with the width of the depthwise filter.
_LITE_BLOCKS = (
    (1, 16, 1, 1, 3),
    (6, 24, 2, 2, 3),
    (6, 40, 2, 2, 5),
    (6, 80, 3, 2, 3),
    (6, 112, 3, 1, 5),
    (6, 192, 4, 2, 5),
    (6, 320, 1, 1, 3),
)
# Those of v3, Large: kernel, channels between, output channels, squeeze and excitation,
# activation, stride.
_V3_BLOCKS = (
    (3, 16, 16, False, "Relu", 1),
    (3, 64, 24, False, "Relu", 2),
    (3, 72, 24, False, "Relu", 1),
    (5, 72, 40, True, "Relu", 2),
    (5, 120, 40, True, "Relu", 1),
    (5, 120, 40, True, "Relu", 1),
    (3, 240, 80, False, "HardSwish", 2),
    (3, 200, 80, False, "HardSwish", 1),
    (3, 184, 80, False, "HardSwish", 1),
    (3, 184, 80, False, "HardSwish", 1),
    (3, 480, 112, True, "HardSwish", 1),
    (3, 672, 112, True, "HardSwish", 1),
    (5, 672, 160, True, "HardSwish", 2),
    (5, 960, 160, True, "HardSwish", 1),
    (5, 960, 160, True, "HardSwish", 1),
)


def mobilenet_v1(net: OnnxBuilder) -> None:
    net.convolve(32, 3, 2)
    for channels, stride in _V1_BLOCKS:
        net.convolve(net.channels, 3, stride, net.channels)
        net.convolve(channels, 1)
    net.classify()


def mobilenet_v2(net: OnnxBuilder) -> None:
    net.convolve(32, 3, 2)
    for expansion, channels, repeats, stride in _V2_BLOCKS:
        _inverted_residuals(net, expansion, channels, repeats, stride, 3)
    net.convolve(1280, 1)
    net.classify()


def efficientnet_lite0(net: OnnxBuilder) -> None:
    net.convolve(32, 3, 2)
    for expansion, channels, repeats, stride, kernel in _LITE_BLOCKS:
        _inverted_residuals(net, expansion, channels, repeats, stride, kernel)
    net.convolve(1280, 1)
    net.classify()


def mobilenet_v3_large(net: OnnxBuilder) -> None:
    net.convolve(16, 3, 2, activation="HardSwish")
    for kernel, between, channels, excited, activation, stride in _V3_BLOCKS:
        shortcut, before = net.value, net.channels
        if between != before:
            net.convolve(between, 1, activation=activation)
        net.convolve(between, kernel, stride, between, activation)
        if excited:
            _squeeze_and_excite(net)
        residual = stride == 1 and before == channels
        gain = 0.1**0.5 if residual else 1.0
        net.convolve(channels, 1, activation="", gain=gain)
        if residual:
            net.node("Add", shortcut, net.value)
    net.convolve(960, 1, activation="HardSwish")
    net.classify()


def _squeeze_and_excite(net: OnnxBuilder) -> None:
    image, channels = net.value, net.channels
    net.node("GlobalAveragePool", image)
    net.convolve(channels // 4, 1, activation="Relu")
    net.convolve(channels, 1, activation="")
    net.node("HardSigmoid", net.value, alpha=1 / 6, beta=0.5)
    net.node("Mul", image, net.value)


def _inverted_residuals(
    net: OnnxBuilder,
    expansion: int,
    channels: int,
    repeats: int,
    first_stride: int,
    kernel: int,
) -> None:
    for index in range(repeats):
        shortcut, before = net.value, net.channels
        stride = first_stride if index == 0 else 1
        if expansion > 1:
            net.convolve(before * expansion, 1)
        net.convolve(net.channels, kernel, stride, net.channels)
        residual = stride == 1 and before == channels
        # Beside a shortcut a branch adds little, or variance doubles.
        gain = 0.1**0.5 if residual else 1.0
        net.convolve(channels, 1, activation="", gain=gain)
        if residual:
            net.node("Add", shortcut, net.value)
