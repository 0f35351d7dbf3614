# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes corner.onnx: the corner pooling module of CornerNet with random weights.

Two convolutions, each followed by a pooling towards one corner, their sum, and a
convolution beside a shortcut. The pooling is written as MMCV exports it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import helper

CHANNELS = 16
SIZE = 24


def model() -> onnx.ModelProto:
    """The network."""
    rng = np.random.default_rng(1)
    nodes: list[onnx.NodeProto] = []
    weights: list[onnx.TensorProto] = []

    def conv(x: str, y: str, channels: tuple[int, int], kernel: int) -> None:
        shape = (channels[1], channels[0], kernel, kernel)
        scale = (2 / (channels[0] * kernel * kernel)) ** 0.5
        for name, values in (
            (f"{y}/weight", rng.normal(0, scale, shape)),
            (f"{y}/bias", rng.normal(0, 0.1, channels[1])),
        ):
            weights.append(onnx.numpy_helper.from_array(values.astype("f"), name))
        inputs = [x, f"{y}/weight", f"{y}/bias"]
        pads = [kernel // 2] * 4
        nodes.append(helper.make_node("Conv", inputs, [y], pads=pads))

    def corner_pool(x: str, y: str, mode: int) -> None:
        relu = helper.make_node("Relu", [x], [f"{y}/relu"])
        pool = helper.make_node(
            "MMCVCornerPool", [f"{y}/relu"], [y], domain="mmcv", mode=mode
        )
        nodes.extend([relu, pool])

    conv("image", "top/conv", (3, CHANNELS), 3)
    corner_pool("top/conv", "top", 0)
    conv("image", "left/conv", (3, CHANNELS), 3)
    corner_pool("left/conv", "left", 2)
    nodes.append(helper.make_node("Add", ["top", "left"], ["corner"]))
    conv("corner", "joined", (CHANNELS, CHANNELS), 3)
    conv("image", "shortcut", (3, CHANNELS), 1)
    nodes.append(helper.make_node("Add", ["joined", "shortcut"], ["sum"]))
    nodes.append(helper.make_node("Relu", ["sum"], ["features"]))
    conv("features", "heatmap", (CHANNELS, 4), 1)

    kind = onnx.TensorProto.FLOAT
    shapes = {"image": [1, 3, SIZE, SIZE], "heatmap": [1, 4, SIZE, SIZE]}
    image, heatmap = (
        helper.make_tensor_value_info(name, kind, shape)
        for name, shape in shapes.items()
    )
    graph = helper.make_graph(nodes, "corner", [image], [heatmap], weights)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("mmcv", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


if __name__ == "__main__":
    path = Path(__file__).with_name("corner.onnx")
    path.write_bytes(model().SerializeToString())
    print(path)
