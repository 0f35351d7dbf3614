# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Layers of networks whose packets are counted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Layer:
    """A convolution; a fully connected layer is one of one pixel.

    Attributes:
        side: of the square result, in pixels.
        filter: side of the filter.
        stride: of its windows.
        inputs: channels.
        outputs: channels.
        depthwise: each channel has a filter of its own.
        times: how often a network has it.
    """

    side: int
    filter: int
    stride: int
    inputs: int
    outputs: int
    depthwise: bool = False
    times: int = 1

    @property
    def name(self) -> str:
        """As tables have it: "1x1 112, 32 to 64"."""
        if self.side == 1:
            return f"fully connected, {self.inputs} to {self.outputs}"
        size = f"{self.filter}x{self.filter}"
        place = f"{self.side}{f' by {self.stride}' if self.stride > 1 else ''}"
        if self.depthwise:
            return f"depthwise {size} {place}, {self.outputs}"
        return f"{size} {place}, {self.inputs} to {self.outputs}"

    @property
    def macs(self) -> int:
        """Multiply-adds."""
        taps = self.filter**2 * (1 if self.depthwise else self.inputs)
        return self.side**2 * taps * self.outputs

    def numbers(self, channels: int) -> list[str]:
        """Arguments of the programs; `channels`: of a pixel in memory."""
        parts = (self.side, self.filter, self.stride, channels, self.outputs)
        return [str(part) for part in parts]


def _separable(
    side: int, stride: int, inputs: int, outputs: int, times: int = 1
) -> tuple[Layer, Layer]:
    return (
        Layer(side, 3, stride, inputs, inputs, depthwise=True, times=times),
        Layer(side, 1, 1, inputs, outputs, times=times),
    )


MOBILENET_V1 = (
    Layer(112, 3, 2, 3, 32),
    *_separable(112, 1, 32, 64),
    *_separable(56, 2, 64, 128),
    *_separable(56, 1, 128, 128),
    *_separable(28, 2, 128, 256),
    *_separable(28, 1, 256, 256),
    *_separable(14, 2, 256, 512),
    *_separable(14, 1, 512, 512, 5),
    *_separable(7, 2, 512, 1024),
    *_separable(7, 1, 1024, 1024),
    Layer(1, 1, 1, 1024, 1000),
)
# Those of MobileNet v2 that version 1 does not have.
MOBILENET_V2 = (
    Layer(112, 1, 1, 32, 16),
    Layer(112, 1, 1, 16, 96),
    Layer(56, 3, 2, 96, 96, depthwise=True),
    Layer(56, 1, 1, 96, 24),
    Layer(56, 1, 1, 24, 144, times=2),
    Layer(56, 3, 1, 144, 144, depthwise=True),
    Layer(56, 1, 1, 144, 24),
    Layer(28, 1, 1, 144, 32),
    Layer(28, 1, 1, 32, 192, times=3),
    Layer(28, 1, 1, 192, 32, times=2),
    Layer(14, 1, 1, 192, 64),
    Layer(14, 1, 1, 64, 384, times=4),
    Layer(14, 1, 1, 384, 64, times=3),
    Layer(14, 1, 1, 384, 96),
    Layer(14, 1, 1, 96, 576, times=3),
    Layer(14, 1, 1, 576, 96, times=2),
    Layer(7, 1, 1, 576, 160),
    Layer(7, 1, 1, 160, 960, times=3),
    Layer(7, 1, 1, 960, 160, times=2),
    Layer(7, 1, 1, 960, 320),
    Layer(7, 1, 1, 320, 1280),
    Layer(1, 1, 1, 1280, 1000),
)
OTHERS = (
    Layer(56, 3, 1, 64, 64),
    Layer(28, 3, 1, 128, 128),
    Layer(14, 3, 1, 256, 256),
    Layer(28, 1, 1, 40, 240),
    Layer(28, 5, 1, 240, 240, depthwise=True),
    Layer(28, 5, 2, 72, 72, depthwise=True),
)
