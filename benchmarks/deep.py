# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Networks of many small nodes, to see how the time of a conversion grows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

SHAPE = (1, 8, 8, 8)


def write_deep(path: Path, count: int) -> str:
    """Writes a network of at least `count` nodes, in blocks as PyTorch exports them.

    A block is a convolution with normalisation and SiLU, a reshape whose batch size is
    computed, a product with Softmax, and a sum.

    Returns:
        the name of the output; the input is ``x``, and both have SHAPE.
    """
    random = np.random.default_rng(0)
    constants: list[onnx.TensorProto] = []
    nodes: list[onnx.NodeProto] = []

    def constant(name: str, array: NDArray[np.generic]) -> str:
        constants.append(numpy_helper.from_array(array, name))
        return name

    def normal(*shape: int) -> NDArray[np.generic]:
        return (random.standard_normal(shape) / 8).astype(np.float32)

    axis = constant("axis", np.asarray([0], np.int64))
    first = constant("first", np.asarray(0, np.int64))
    rest = constant("rest", np.asarray([8, -1], np.int64))
    image = constant("image", np.asarray(SHAPE, np.int64))
    x = "x"
    while len(nodes) < count:
        block = f"block{len(nodes)}"

        def node(kind: str, *inputs: str, block: str = block, **attributes: int) -> str:
            name = f"{block}/{kind}{len(nodes)}"
            nodes.append(
                helper.make_node(kind, inputs, [name], name=name, **attributes)
            )
            return name

        weights = constant(f"{block}/filter", normal(8, 8, 3, 3))
        nodes.append(
            helper.make_node(
                "Conv", [x, weights], [f"{block}/c"], name=f"{block}/Conv", pads=[1] * 4
            )
        )
        statistics = [
            constant(f"{block}/{name}", np.abs(normal(8)) + np.float32(0.5))
            for name in ("scale", "bias", "mean", "variance")
        ]
        y = node("BatchNormalization", f"{block}/c", *statistics)
        y = node("Mul", y, node("Sigmoid", y))
        batch = node("Unsqueeze", node("Gather", node("Shape", y), first), axis)
        y = node("Reshape", y, node("Concat", batch, rest, axis=0))
        y = node("Softmax", node("MatMul", y, constant(f"{block}/w", normal(64, 64))))
        x = node("Add", node("Reshape", y, image), x)
    graph = helper.make_graph(
        nodes,
        "deep",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE)],
        [helper.make_tensor_value_info(x, TensorProto.FLOAT, SHAPE)],
        constants,
    )
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return x
