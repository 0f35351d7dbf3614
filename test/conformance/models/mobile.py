# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""MobileNet v1 and v2 as ONNX files, with seeded weights.

Layer by layer as in the papers (Howard et al. 2017, Sandler et al. 2018), at
width 1 and 224 x 224, with the batch normalisations that training leaves.
Filters are He-initialised; the statistics of each normalisation are what its
input then has (mean 0, variance near 1), jittered so that each matters.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from mace.python.tools.atomic import atomic_write

Array = NDArray[np.float32]
_REPOSITORY = Path(__file__).resolve().parents[3]
_RECIPE = 1
INPUT = "image"
OUTPUT = "probability"
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


class _Network:
    """An ONNX graph under construction; `value` is the last tensor."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.value = INPUT
        self.channels = INPUT_SHAPE[1]

    def constant(self, array: NDArray[Any]) -> str:
        name = f"weight_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def node(self, op: str, *inputs: str, **attributes: Any) -> str:
        name = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(
            helper.make_node(op, list(inputs), [name], name=name, **attributes)
        )
        self.value = name
        return name

    def convolve(
        self,
        channels: int,
        kernel: int,
        stride: int = 1,
        groups: int = 1,
        relu6: bool = True,
        gain: float = 1.0,
    ) -> None:
        """Convolution, normalisation, ReLU6."""
        depth = self.channels // groups
        deviation = (2.0 / (depth * kernel * kernel)) ** 0.5
        shape = (channels, depth, kernel, kernel)
        weight = self.rng.normal(0, deviation, shape).astype(np.float32)
        self.node(
            "Conv",
            self.value,
            self.constant(weight),
            kernel_shape=[kernel, kernel],
            strides=[stride, stride],
            pads=[kernel // 2] * 4,
            group=groups,
        )
        self.channels = channels
        draw = self.rng.uniform
        self.node(
            "BatchNormalization",
            self.value,
            self.constant(
                draw(0.8, 1.2, channels).astype(np.float32) * np.float32(gain)
            ),
            self.constant(draw(-0.2, 0.2, channels).astype(np.float32)),
            self.constant(draw(-0.1, 0.1, channels).astype(np.float32)),
            self.constant(draw(0.8, 1.2, channels).astype(np.float32)),
            epsilon=1e-3,
        )
        if relu6:
            limits = [np.float32(limit) for limit in (0.0, 6.0)]
            self.node(
                "Clip",
                self.value,
                *(self.constant(np.array(limit)) for limit in limits),
            )

    def classify(self) -> None:
        """Global average, dense layer, softmax over 1000 classes."""
        self.node("GlobalAveragePool", self.value)
        self.node("Flatten", self.value)
        shape = (1000, self.channels)
        deviation = (8.0 / self.channels) ** 0.5
        self.node(
            "Gemm",
            self.value,
            self.constant(self.rng.normal(0, deviation, shape).astype(np.float32)),
            self.constant(self.rng.normal(0, 0.1, 1000).astype(np.float32)),
            transB=1,
        )
        self.node("Softmax", self.value, axis=1)
        self.nodes[-1].output[0] = OUTPUT

    def model(self, name: str) -> onnx.ModelProto:
        graph = helper.make_graph(
            self.nodes,
            name,
            [helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, INPUT_SHAPE)],
            [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, (1, 1000))],
            self.constants,
        )
        opset = [helper.make_opsetid("", 13)]
        return helper.make_model(graph, opset_imports=opset, ir_version=8)


def _mobilenet_v1(net: _Network) -> None:
    net.convolve(32, 3, 2)
    for channels, stride in _V1_BLOCKS:
        net.convolve(net.channels, 3, stride, net.channels)
        net.convolve(channels, 1)
    net.classify()


def _mobilenet_v2(net: _Network) -> None:
    net.convolve(32, 3, 2)
    for expansion, channels, repeats, first_stride in _V2_BLOCKS:
        for index in range(repeats):
            shortcut, before = net.value, net.channels
            stride = first_stride if index == 0 else 1
            if expansion > 1:
                net.convolve(before * expansion, 1)
            net.convolve(net.channels, 3, stride, net.channels)
            residual = stride == 1 and before == channels
            # Beside a shortcut a branch adds little, or variance doubles.
            gain = 0.1**0.5 if residual else 1.0
            net.convolve(channels, 1, relu6=False, gain=gain)
            if residual:
                net.node("Add", shortcut, net.value)
    net.convolve(1280, 1)
    net.classify()


_BUILDERS: dict[str, Callable[[_Network], None]] = {
    "mobilenet_v1": _mobilenet_v1,
    "mobilenet_v2": _mobilenet_v2,
}
MOBILE_MODELS = MappingProxyType(_BUILDERS)


def make_mobile_model(name: str, seed: int = 0, directory: Path | None = None) -> Path:
    """Writes a network of MOBILE_MODELS and returns its path.

    The same name and seed always give the same file; one that is there is
    used as it is. Goes to build/conformance/models unless told otherwise.
    """
    directory = directory or _REPOSITORY / "build/conformance/models"
    path = directory / f"{name}_seed{seed}_v{_RECIPE}.onnx"
    if path.is_file():
        return path
    net = _Network(seed)
    MOBILE_MODELS[name](net)
    model = net.model(name)
    onnx.checker.check_model(model, full_check=True)
    with atomic_write(path) as stream:
        stream.write(model.SerializeToString(deterministic=True))
    return path
