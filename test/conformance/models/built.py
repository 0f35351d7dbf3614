# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Networks that are built here layer by layer, as ONNX files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import onnx

from mace.python.tools.atomic import atomic_write
from test.conformance.models import inception, mobile
from test.conformance.models.onnx_builder import OnnxBuilder

_REPOSITORY = Path(__file__).resolve().parents[3]
# Part of the cached file's name: raise it when a recipe changes.
_RECIPE = 1


# ResNet-18 at 224 x 224, as in the paper (He et al. 2015) ----------------------------

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


# All --------------------------------------------------------------------------------


@dataclass(frozen=True)
class BuiltModel:
    """How to build a network, and the shape of its input (NCHW)."""

    build: Callable[[OnnxBuilder], None]
    input_shape: tuple[int, ...]


BUILT_MODELS = MappingProxyType(
    {
        "mobilenet_v1": BuiltModel(mobile.mobilenet_v1, mobile.INPUT_SHAPE),
        "mobilenet_v2": BuiltModel(mobile.mobilenet_v2, mobile.INPUT_SHAPE),
        "mobilenet_v3_large": BuiltModel(mobile.mobilenet_v3_large, mobile.INPUT_SHAPE),
        "efficientnet_lite0": BuiltModel(mobile.efficientnet_lite0, mobile.INPUT_SHAPE),
        "inception_v3": BuiltModel(inception.inception_v3, inception.INPUT_SHAPE),
        "resnet18": BuiltModel(resnet18, (1, 3, 224, 224)),
    }
)


def make_built_model(
    name: str,
    seed: int = 0,
    directory: Path | None = None,
    input_shape: tuple[int, ...] | None = None,
) -> Path:
    """Writes a network of BUILT_MODELS and returns its path.

    The same arguments always give the same file; one that is there is used as
    it is.

    Args:
        name: a key of BUILT_MODELS.
        seed: of the weights, which do not depend on the shape.
        directory: build/conformance/models of this repository if not given.
        input_shape: NCHW; the network's own if not given.
    """
    directory = directory or _REPOSITORY / "build/conformance/models"
    info = BUILT_MODELS[name]
    shape = input_shape or info.input_shape
    sides = "" if shape == info.input_shape else "_" + "x".join(map(str, shape))
    path = directory / f"{name}{sides}_seed{seed}_v{_RECIPE}.onnx"
    if path.is_file():
        return path
    net = OnnxBuilder(seed, shape)
    info.build(net)
    model = net.model(name)
    onnx.checker.check_model(model, full_check=True)
    with atomic_write(path) as stream:
        stream.write(model.SerializeToString(deterministic=True))
    return path


def main() -> None:
    """Writes the networks that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+", choices=sorted(BUILT_MODELS))
    parser.add_argument("--side", type=int, help="of the image; the network's own")
    args = parser.parse_args()
    for name in args.names:
        shape = (1, 3, args.side, args.side) if args.side else None
        sys.stdout.write(f"{make_built_model(name, input_shape=shape)}\n")


if __name__ == "__main__":
    main()
