# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Sessions of ONNX Runtime that compute 8-bit sums exactly."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from mace.python.tools.validate.frameworks.onnx_session import (
    open_plain_session,
    open_session,
)


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


def test_a_transpose_behind_scales_of_channels() -> None:
    """ONNX Runtime 1.32 moves the DequantizeLinear and takes scales of another axis."""
    rng = np.random.default_rng(7)
    weights = rng.integers(-127, 127, (6, 6, 1, 1)).astype(np.int8)
    scales = rng.uniform(0.001, 0.02, 6).astype(np.float32)
    constants = {
        "w": weights,
        "scales": scales,
        "zeros": np.zeros(6, np.int8),
        "scale": np.float32(0.02),
        "zero": np.uint8(120),
        "large": np.float32(0.03),
        "middle": np.uint8(128),
    }
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "scales", "zeros"], ["f"], axis=0),
        helper.make_node("Transpose", ["f"], ["t"], perm=[1, 0, 2, 3]),
        helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["d"]),
        helper.make_node("Conv", ["d", "t"], ["c"]),
        helper.make_node("QuantizeLinear", ["c", "large", "middle"], ["cq"]),
        helper.make_node("DequantizeLinear", ["cq", "large", "middle"], ["y"]),
    ]
    shape = [1, 6, 3, 3]
    graph = helper.make_graph(
        nodes,
        "transposed",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()],
    )
    opsets = [helper.make_opsetid("", 13)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    x = rng.standard_normal(shape).astype(np.float32)
    session, is_plain = open_plain_session(model)
    (found,) = session.run(None, {"x": x})

    rounded = (np.clip(np.rint(x / 0.02) + 120, 0, 255) - 120) * 0.02
    floats = (weights * scales[:, None, None, None])[:, :, 0, 0]
    wanted = np.einsum("nchw,co->nohw", rounded, floats)
    wanted = (np.clip(np.rint(wanted / 0.03) + 128, 0, 255) - 128) * 0.03
    assert is_plain
    assert np.abs(found - wanted).max() < 0.031


def test_products_of_bytes_do_not_saturate() -> None:
    """On processors without VNNI, the optimizer makes them exact."""
    rng = np.random.default_rng(3)
    weights = rng.integers(-128, 128, (5, 64)).astype(np.int8)
    constants = {
        "scale": np.float32(0.01),
        "zero": np.uint8(3),
        "w": weights.T.copy(),
        "w_zero": np.int8(0),
        "y_scale": np.float32(20),
    }
    names = ["x", "scale", "zero", "w", "scale", "w_zero", "y_scale", "zero"]
    graph = helper.make_graph(
        [helper.make_node("QLinearMatMul", names, ["y"])],
        "product",
        [helper.make_tensor_value_info("x", TensorProto.UINT8, [4, 64])],
        [helper.make_tensor_value_info("y", TensorProto.UINT8, [4, 5])],
        [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()],
    )
    opsets = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    x = rng.integers(128, 256, (4, 64)).astype(np.uint8)
    session, _ = open_plain_session(model)
    (found,) = session.run(None, {"x": x})
    sums = (x.astype(np.int64) - 3) @ weights.T.astype(np.int64)
    wanted = np.clip(np.rint(sums * (0.01 * 0.01 / 20)) + 3, 0, 255)
    np.testing.assert_array_equal(found, wanted)
