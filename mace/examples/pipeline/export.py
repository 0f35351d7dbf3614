# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes build/halve.onnx: a picture of 16 x 16 pixels at half its size.

It is the first model of the example's chain; the digit classifier of
mace/examples/digits is the second.
"""

from __future__ import annotations

from pathlib import Path

import onnx
from onnx import helper


def model() -> onnx.ModelProto:
    """The network."""
    pool = helper.make_node(
        "AveragePool", ["photo"], ["small"], kernel_shape=[2, 2], strides=[2, 2]
    )
    kind = onnx.TensorProto.FLOAT
    photo = helper.make_tensor_value_info("photo", kind, [1, 1, 16, 16])
    small = helper.make_tensor_value_info("small", kind, [1, 1, 8, 8])
    graph = helper.make_graph([pool], "halve", [photo], [small])
    opsets = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


if __name__ == "__main__":
    path = Path("build/halve.onnx")
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(model().SerializeToString())
    print(path)
