# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""ONNX networks layer by layer, with seeded weights.

Filters are He-initialised; the statistics of each normalisation are drawn around
mean 0 and variance 1, which its input has at the start of training, so that each
matters. They are not those that images would give: with random filters these make a
network chaotic. Each normalisation then scales small differences up again, tens of
times by the end of MobileNet v1 or Inception v3, and engines that are right, but sum
in another order, would be further apart than the tolerance of a comparison.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

INPUT = "image"
OUTPUT = "probability"


class OnnxBuilder:
    """An ONNX graph under construction.

    Attributes:
        value: name of the last tensor, which the next layer reads.
        channels: of that tensor.
    """

    def __init__(self, seed: int, input_shape: tuple[int, ...]) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.input_shape = input_shape
        self.value = INPUT
        self.channels = input_shape[1]

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
        kernel: int | tuple[int, int],
        stride: int = 1,
        groups: int = 1,
        activation: str = "Relu6",
        gain: float = 1.0,
        padded: bool = True,
    ) -> None:
        """Convolution, normalisation, activation.

        Args:
            kernel: one size, or height and width.
            activation: Relu6, Relu, HardSwish or none ("").
            gain: of the normalisation.
            padded: by half the kernel; else not at all.
        """
        size = (kernel, kernel) if isinstance(kernel, int) else kernel
        depth = self.channels // groups
        deviation = (2.0 / (depth * size[0] * size[1])) ** 0.5
        shape = (channels, depth, *size)
        weight = self.rng.normal(0, deviation, shape).astype(np.float32)
        self.node(
            "Conv",
            self.value,
            self.constant(weight),
            kernel_shape=list(size),
            strides=[stride, stride],
            pads=[extent // 2 if padded else 0 for extent in size] * 2,
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
        if activation == "Relu":
            self.node("Relu", self.value)
        elif activation == "HardSwish":
            # As PyTorch writes it.
            before = self.value
            self.node("HardSigmoid", before, alpha=1 / 6, beta=0.5)
            self.node("Mul", before, self.value)
        elif activation == "Relu6":
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
            [helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, self.input_shape)],
            [
                helper.make_tensor_value_info(
                    OUTPUT, TensorProto.FLOAT, (self.input_shape[0], 1000)
                )
            ],
            self.constants,
        )
        opset = [helper.make_opsetid("", 13)]
        return helper.make_model(graph, opset_imports=opset, ir_version=8)
