# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Kinds of networks that no library of export.py has in a small form."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def super_resolution() -> nn.Module:
    """Enlarges an image three times, by sub-pixel convolution (ESPCN)."""
    return nn.Sequential(
        nn.Conv2d(3, 64, 5, padding=2),
        nn.Tanh(),
        nn.Conv2d(64, 32, 3, padding=1),
        nn.Tanh(),
        nn.Conv2d(32, 27, 3, padding=1),
        nn.PixelShuffle(3),
    )


def _normalised(before: int, after: int, kernel: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(before, after, kernel, stride, kernel // 2),
        nn.InstanceNorm2d(after, affine=True),
    )


class _Residual(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        first, second = (_normalised(channels, channels, 3) for _ in range(2))
        self.branch = nn.Sequential(first, nn.ReLU(), second)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = x + self.branch(x)
        return result


def style_transfer() -> nn.Module:
    """An image in another style (Johnson et al. 2016), with instance normalisation."""
    layers: list[nn.Module] = []
    for before, after, kernel, stride in (
        (3, 32, 9, 1),
        (32, 64, 3, 2),
        (64, 128, 3, 2),
    ):
        layers += [_normalised(before, after, kernel, stride), nn.ReLU()]
    layers += [_Residual(128) for _ in range(5)]
    for before, after in ((128, 64), (64, 32)):
        layers += [
            nn.Upsample(scale_factor=2),
            _normalised(before, after, 3),
            nn.ReLU(),
        ]
    return nn.Sequential(*layers, nn.Conv2d(32, 3, 9, padding=4), nn.Tanh())


def _layer(before: int, after: int, kernel: int = 3, stride: int = 1) -> nn.Sequential:
    conv = nn.Conv2d(before, after, kernel, stride, kernel // 2, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(after), nn.SiLU())


class _Split(nn.Module):
    """Half of the channels goes through a residual block, half goes by."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        half = after // 2
        self.through, self.past = _layer(before, half, 1), _layer(before, half, 1)
        self.block = nn.Sequential(_layer(half, half), _layer(half, half))
        self.join = _layer(after, after, 1)

    def forward(self, x: Tensor) -> Tensor:
        y = self.through(x)
        result: Tensor = self.join(torch.cat([y + self.block(y), self.past(x)], 1))
        return result


class _Pyramid(nn.Module):
    """Poolings of several sizes, one after the other."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.reduce = _layer(channels, channels // 2, 1)
        self.pool = nn.MaxPool2d(5, 1, 2)
        self.join = _layer(channels * 2, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        parts = [self.reduce(x)]
        for _ in range(3):
            parts.append(self.pool(parts[-1]))
        result: Tensor = self.join(torch.cat(parts, 1))
        return result


class Detector(nn.Module):
    """A detector like YOLO's: CSP backbone, pooling pyramid, two scales.

    Its result has the box, the score and 80 classes of each place: (1, places, 85).
    """

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            _layer(3, 16, 3, 2), _layer(16, 32, 3, 2), _Split(32, 32)
        )
        self.middle = nn.Sequential(_layer(32, 64, 3, 2), _Split(64, 64))
        self.fine = nn.Sequential(_layer(64, 128, 3, 2), _Split(128, 128))
        self.coarse = nn.Sequential(
            _layer(128, 256, 3, 2), _Split(256, 256), _Pyramid(256)
        )
        self.narrow, self.up = _layer(256, 128, 1), nn.Upsample(scale_factor=2)
        self.neck = _Split(256, 128)
        self.heads = nn.ModuleList([nn.Conv2d(128, 85, 1), nn.Conv2d(128, 85, 1)])

    def forward(self, x: Tensor) -> Tensor:
        fine = self.fine(self.middle(self.stem(x)))
        coarse = self.narrow(self.coarse(fine))
        joined = self.neck(torch.cat([self.up(coarse), fine], 1))
        maps = [head(part) for head, part in zip(self.heads, (joined, coarse))]
        places = torch.cat([part.flatten(2) for part in maps], 2).transpose(1, 2)
        return places.sigmoid()
