# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Networks of large weights in a separate file, as models above 2 GB need it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

WIDTH = 4096
# Of one weight, in bytes.
LARGEST = WIDTH * WIDTH * 4
SHAPE = (1, WIDTH)


def write_large(path: Path, size: int) -> str:
    """Writes a network of fully connected layers with at least `size` bytes of weights.

    The weights are in a file beside `path`. No two are equal.

    Returns:
        the name of the output; the input is ``x``, and both have SHAPE.
    """
    block = np.random.default_rng(0).standard_normal((WIDTH, WIDTH), np.float32)
    block /= np.sqrt(WIDTH, dtype=np.float32)
    data = path.with_suffix(".weights")
    constants: list[onnx.TensorProto] = []
    nodes: list[onnx.NodeProto] = []
    x = "x"
    with data.open("wb") as stream:
        while stream.tell() < size:
            layer = len(constants)
            weights = onnx.TensorProto(
                name=f"weights{layer}",
                data_type=TensorProto.FLOAT,
                dims=[WIDTH, WIDTH],
                data_location=TensorProto.EXTERNAL,
            )
            for key, value in (
                ("location", data.name),
                ("offset", str(stream.tell())),
                ("length", str(LARGEST)),
            ):
                weights.external_data.add(key=key, value=value)
            stream.write(np.roll(block, layer, 1).tobytes())
            constants.append(weights)
            product, y = f"product{layer}", f"y{layer}"
            nodes.append(helper.make_node("MatMul", [x, weights.name], [product]))
            nodes.append(helper.make_node("Relu", [product], [y]))
            x = y
    graph = helper.make_graph(
        nodes,
        "large",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE)],
        [helper.make_tensor_value_info(x, TensorProto.FLOAT, SHAPE)],
        constants,
    )
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return x
