# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Small networks of four kinds, for images of 32 x 32 pixels and ten classes."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

_CLASSES = 10


def _conv(
    before: int,
    after: int,
    kernel: int = 1,
    stride: int = 1,
    groups: int = 1,
    activation: nn.Module | None = None,
) -> list[nn.Module]:
    pad = kernel // 2
    layers: list[nn.Module] = [
        nn.Conv2d(before, after, kernel, stride, pad, groups=groups, bias=False),
        nn.BatchNorm2d(after),
    ]
    return layers if activation is None else [*layers, activation]


class _Residual(nn.Module):
    """The sum of a branch and its input, or of the input's projection."""

    def __init__(
        self, branch: nn.Module, past: nn.Module | None = None, relu: bool = False
    ) -> None:
        super().__init__()
        self.branch = branch
        self.past = past or nn.Identity()
        self.last = nn.ReLU() if relu else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.last(self.branch(x) + self.past(x))
        return result


class _SqueezeExcite(nn.Module):
    """Weights of channels, computed from their means."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        inner = channels // 4
        self.weights = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(channels, inner, 1),
            nn.ReLU(),
            nn.Conv2d(inner, channels, 1),
            nn.Hardsigmoid(),
        )

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = x * self.weights(x)
        return result


def _inverted(
    before: int,
    after: int,
    expansion: int,
    stride: int,
    activation: Callable[[], nn.Module],
    kernel: int = 3,
    excite: bool = False,
) -> nn.Module:
    """A block of MobileNetV2 or V3."""
    wide = before * expansion
    layers = _conv(before, wide, activation=activation())
    layers += _conv(wide, wide, kernel, stride, wide, activation())
    if excite:
        layers.append(_SqueezeExcite(wide))
    branch = nn.Sequential(*layers, *_conv(wide, after))
    return _Residual(branch) if stride == 1 and before == after else branch


def _classifier(channels: int) -> list[nn.Module]:
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, _CLASSES)]


def mobilenet_v2() -> nn.Module:
    """Inverted residuals with ReLU6."""
    return nn.Sequential(
        *_conv(1, 16, 3, 2, activation=nn.ReLU6()),
        _inverted(16, 16, 4, 1, nn.ReLU6),
        _inverted(16, 24, 4, 2, nn.ReLU6),
        _inverted(24, 24, 4, 1, nn.ReLU6),
        _inverted(24, 40, 4, 2, nn.ReLU6),
        _inverted(40, 40, 4, 1, nn.ReLU6),
        *_conv(40, 160, activation=nn.ReLU6()),
        *_classifier(160),
    )


def mobilenet_v3() -> nn.Module:
    """Hard-swish, kernels of 5, and weights of channels."""
    return nn.Sequential(
        *_conv(1, 16, 3, 2, activation=nn.Hardswish()),
        _inverted(16, 16, 2, 1, nn.ReLU, excite=True),
        _inverted(16, 24, 4, 2, nn.ReLU),
        _inverted(24, 24, 4, 1, nn.Hardswish, 5, excite=True),
        _inverted(24, 40, 4, 2, nn.Hardswish, 5, excite=True),
        _inverted(40, 40, 4, 1, nn.Hardswish, 5, excite=True),
        *_conv(40, 160, activation=nn.Hardswish()),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(160, 128),
        nn.Hardswish(),
        nn.Linear(128, _CLASSES),
    )


def _basic(before: int, after: int, stride: int) -> nn.Module:
    branch = nn.Sequential(
        *_conv(before, after, 3, stride, activation=nn.ReLU()),
        *_conv(after, after, 3),
    )
    changes = stride != 1 or before != after
    past = nn.Sequential(*_conv(before, after, 1, stride)) if changes else None
    return _Residual(branch, past, relu=True)


def resnet() -> nn.Module:
    """Residual blocks of two convolutions."""
    return nn.Sequential(
        *_conv(1, 16, 3, activation=nn.ReLU()),
        nn.MaxPool2d(3, 2, 1),
        _basic(16, 16, 1),
        _basic(16, 32, 2),
        _basic(32, 32, 1),
        _basic(32, 64, 2),
        *_classifier(64),
    )


class _Attention(nn.Module):
    def __init__(self, width: int, heads: int, tokens: int) -> None:
        super().__init__()
        self.split = (tokens, heads, width // heads)
        self.width = width
        self.query, self.key, self.value, self.project = (
            nn.Linear(width, width) for _ in range(4)
        )
        self.softmax = nn.Softmax(-1)

    def _heads(self, x: Tensor) -> Tensor:
        return x.reshape(-1, *self.split).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        query = self._heads(self.query(x))
        key, value = self._heads(self.key(x)), self._heads(self.value(x))
        scores = query @ key.transpose(2, 3) * self.split[2] ** -0.5
        mixed = (self.softmax(scores) @ value).transpose(1, 2)
        result: Tensor = self.project(mixed.reshape(-1, self.split[0], self.width))
        return result


class _Transformer(nn.Module):
    """The tokens are 8 x 8 places of the image after two convolutions."""

    _TOKENS, _WIDTH, _HEADS, _LAYERS = 64, 64, 4, 3

    def __init__(self) -> None:
        super().__init__()
        width = self._WIDTH
        self.stem = nn.Sequential(
            nn.Conv2d(1, width // 2, 3, 2, 1),
            nn.ReLU(),
            nn.Conv2d(width // 2, width, 3, 2, 1),
        )
        self.places = nn.Parameter(torch.randn(1, self._TOKENS, width) * 0.02)
        self.blocks = nn.Sequential(
            *(
                nn.Sequential(
                    _Residual(
                        nn.Sequential(
                            nn.LayerNorm(width),
                            _Attention(width, self._HEADS, self._TOKENS),
                        )
                    ),
                    _Residual(
                        nn.Sequential(
                            nn.LayerNorm(width),
                            nn.Linear(width, 2 * width),
                            nn.GELU(),
                            nn.Linear(2 * width, width),
                        )
                    ),
                )
                for _ in range(self._LAYERS)
            )
        )
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, _CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        tokens = self.stem(x).reshape(-1, self._WIDTH, self._TOKENS)
        y = self.blocks(tokens.transpose(1, 2) + self.places)
        result: Tensor = self.head(self.norm(y).mean(1))
        return result


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "mobilenet_v2": mobilenet_v2,
    "mobilenet_v3": mobilenet_v3,
    "resnet": resnet,
    "transformer": _Transformer,
}
