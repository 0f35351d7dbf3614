# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Sessions of ONNX Runtime that compute 8-bit sums exactly."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from mace.python.tools.validate.frameworks.onnx_session import open_session


def test_weights_that_two_nodes_read() -> None:
    rng = np.random.default_rng(1)
    weights = rng.integers(-127, 128, (4, 4, 3, 3)).astype(np.int8)
    constants = {
        "w": weights,
        "scale": np.float32(0.02),
        "zero": np.uint8(7),
        "w_zero": np.int8(0),
    }
    nodes = [helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["q0"])]
    for i in range(2):
        nodes += [
            helper.make_node("DequantizeLinear", [f"q{i}", "scale", "zero"], [f"x{i}"]),
            helper.make_node("DequantizeLinear", ["w", "scale", "w_zero"], [f"w{i}"]),
            helper.make_node("Conv", [f"x{i}", f"w{i}"], [f"y{i}"], pads=[1] * 4),
            helper.make_node(
                "QuantizeLinear", [f"y{i}", "scale", "zero"], [f"q{i + 1}"]
            ),
        ]
    shape = [1, 4, 8, 8]
    graph = helper.make_graph(
        nodes,
        "shared",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("q2", TensorProto.UINT8, shape)],
        [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()],
    )
    opsets = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    session = open_session(model.SerializeToString(), 1)
    x = rng.uniform(-2, 2, shape).astype(np.float32)
    (found,) = session.run(None, {"x": x})

    wanted = np.clip(np.rint(x / np.float32(0.02)) + 7, 0, 255).astype(np.int64)
    for _ in range(2):
        padded = np.pad(wanted - 7, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
        sums = np.einsum("nchwij,ocij->nohw", windows, weights.astype(np.int64))
        wanted = np.clip(np.rint(sums * 0.02) + 7, 0, 255).astype(np.int64)
    assert np.abs(found.astype(np.int64) - wanted).max() <= 1
