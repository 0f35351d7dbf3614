# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators on quantized tensors beside onnxruntime: within one step, as it rounds
elsewhere.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.onnx.testing import (
    QuantizedNode,
    filled,
    import_proto,
    normal,
    random_bytes,
    random_scales,
    run_mace,
    run_onnxruntime,
)
from mace.python.tools.ir.dtypes import DataType

_TYPES = (np.uint8, np.int8)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("quantized", [False, True])
def test_gemm(transposed: bool, quantized: bool, tmp_path: Path) -> None:
    model = QuantizedNode("com.microsoft.QGemm").input(random_bytes(np.uint8, 3, 12))
    model.constant(filled(0.02), np.asarray(120, np.uint8))
    shape = (7, 12) if transposed else (12, 7)
    model.constant(
        random_bytes(np.int8, *shape), random_scales(7), np.zeros(7, np.int8)
    )
    model.constant((normal(7) * 3000).astype(np.int32))
    if quantized:
        model.constant(filled(0.2), np.asarray(130, np.uint8))
    model.check(tmp_path, transB=int(transposed), alpha=0.7 if transposed else 1.0)


@pytest.mark.parametrize("op", ["com.microsoft.QLinearAdd", "com.microsoft.QLinearMul"])
@pytest.mark.parametrize("dtype", _TYPES)
def test_binary(op: str, dtype: Any, tmp_path: Path) -> None:
    model = QuantizedNode(op).input(random_bytes(dtype, 2, 3, 4, 5))
    model.constant(filled(0.02), random_bytes(dtype).reshape(()))
    model.input(random_bytes(dtype, 4, 5))
    model.constant(filled(0.03), random_bytes(dtype).reshape(()))
    model.constant(filled(0.05), random_bytes(dtype).reshape(()))
    model.check(tmp_path)


@pytest.mark.parametrize(
    ("op", "attributes"),
    [
        ("com.microsoft.QLinearLeakyRelu", {"alpha": 0.2}),
        ("com.microsoft.QLinearSigmoid", {}),
        ("com.microsoft.QLinearSoftmax", {"axis": -1, "opset": 13}),
        (
            "com.microsoft.QLinearAveragePool",
            {"kernel_shape": [3, 2], "strides": [2, 1]},
        ),
        ("com.microsoft.QLinearGlobalAveragePool", {}),
        ("com.microsoft.QLinearGlobalAveragePool", {"channels_last": 1}),
    ],
)
def test_unary(op: str, attributes: dict[str, Any], tmp_path: Path) -> None:
    model = QuantizedNode(op).input(random_bytes(np.uint8, 2, 9, 7, 8))
    model.constant(filled(0.02), np.asarray(120, np.uint8))
    # Of values from 0 to 1, of means, of others.
    scale, zero = 0.018, 110
    if "Average" in op:
        scale = 0.005
    elif not op.endswith("LeakyRelu"):
        scale, zero = 1 / (64 if "Softmax" in op else 256), 0
    model.constant(filled(scale), np.asarray(zero, np.uint8))
    model.check(tmp_path, **attributes)


def test_concat(tmp_path: Path) -> None:
    model = QuantizedNode("com.microsoft.QLinearConcat")
    model.constant(filled(0.03), np.asarray(100, np.uint8))
    for channels, scale, zero in ((3, 0.02, 110), (5, 0.03, 100), (1, 0.04, 140)):
        model.input(random_bytes(np.uint8, 2, channels, 4))
        model.constant(filled(scale), np.asarray(zero, np.uint8))
    model.check(tmp_path, axis=1)


def test_where(tmp_path: Path) -> None:
    model = QuantizedNode("com.microsoft.QLinearWhere").input(normal(3, 4) > 0)
    for scale, zero in ((0.02, 110), (0.03, 90)):
        model.input(random_bytes(np.uint8, 3, 4))
        model.constant(filled(scale), np.asarray(zero, np.uint8))
    model.constant(filled(0.04), np.asarray(100, np.uint8))
    model.check(tmp_path)


def test_matmul_integer_to_float(tmp_path: Path) -> None:
    model = QuantizedNode("com.microsoft.MatMulIntegerToFloat")
    model.input(random_bytes(np.uint8, 4, 12)).constant(random_bytes(np.int8, 12, 6))
    model.constant(filled(0.02), random_scales(6), np.asarray(120, np.uint8))
    model.constant(np.zeros(6, np.int8), normal(6))
    model.check(tmp_path)


def test_dynamic_quantize_matmul(tmp_path: Path) -> None:
    model = QuantizedNode("com.microsoft.DynamicQuantizeMatMul").input(normal(4, 12))
    model.constant(random_bytes(np.int8, 12, 6), random_scales(6), np.zeros(6, np.int8))
    model.constant(normal(6))
    model.check(tmp_path)


def _attention(columns: bool, masked: bool, past: bool = False) -> QuantizedNode:
    model = QuantizedNode("com.microsoft.QAttention")
    model.input(random_bytes(np.uint8, 2, 5, 8)).constant(random_bytes(np.int8, 8, 24))
    scales = random_scales(24) if columns else filled(0.01)
    model.constant(normal(24), filled(0.02), scales)
    mask = np.array([[1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 1, 0, 0]], np.int32)
    model.constant(mask[:, : 7 if past else 5] if masked else None)
    zeros = np.zeros(24 if columns else (), np.int8)
    model.constant(np.asarray(120, np.uint8), zeros)
    if past:
        model.input(normal(2, 2, 2, 2, 4))
    return model


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_attention(columns: bool, masked: bool, tmp_path: Path) -> None:
    _attention(columns, masked).check(tmp_path, num_heads=2)
    model = _attention(columns, False)
    model.check(tmp_path, num_heads=2, unidirectional=1)


@pytest.mark.parametrize("masked", [False, True])
def test_attention_that_goes_on(masked: bool, tmp_path: Path) -> None:
    model = _attention(False, masked, True)
    proto = model.proto(num_heads=2)
    proto.graph.node[0].output.append("present")
    proto.graph.output.add(name="present").type.tensor_type.elem_type = 1
    wanted = run_onnxruntime(proto, model.inputs)
    for got, expected in zip(run_mace(proto, model.inputs, tmp_path), wanted):
        np.testing.assert_allclose(got, expected, 1e-4, 1e-4)


def test_channels_last(tmp_path: Path) -> None:
    model = QuantizedNode("com.microsoft.QLinearConv").input(
        random_bytes(np.uint8, 1, 6, 5, 4)
    )
    model.constant(filled(0.02), np.asarray(110, np.uint8))
    model.constant(
        random_bytes(np.int8, 6, 4, 3, 3), filled(0.01), np.int8(0).reshape(())
    )
    model.constant(filled(0.5), np.asarray(120, np.uint8))
    options = {"strides": [2, 1], "pads": [1, 1, 1, 1]}
    proto = model.proto(channels_last=1, **options)
    (found,) = run_mace(proto, model.inputs, tmp_path)
    # ONNX's own operator: ONNX Runtime's form with channels last saturates sums in 16
    # bits on processors without VNNI, whatever it is asked for.
    node = proto.graph.node[0]
    node.domain = ""
    del node.attribute[:]
    node.attribute.extend(
        onnx.helper.make_attribute(name, value) for name, value in options.items()
    )
    (name,) = model.inputs
    image = model.inputs[name].transpose(0, 3, 1, 2)
    shape = proto.graph.input[0].type.tensor_type.shape
    for dim, size in zip(shape.dim, image.shape):
        dim.dim_value = size
    (wanted,) = run_onnxruntime(proto, {name: image})
    np.testing.assert_array_equal(found, wanted.transpose(0, 2, 3, 1))
    model = QuantizedNode("com.microsoft.NhwcMaxPool").input(
        random_bytes(np.uint8, 1, 6, 5, 4)
    )
    model.check(tmp_path, kernel_shape=[2, 3], strides=[2, 1])


def test_embeddings(tmp_path: Path) -> None:
    model = QuantizedNode("com.microsoft.QEmbedLayerNormalization")
    model.input(np.array([[1, 5, 2], [0, 9, 3]], np.int32))
    model.input(np.array([[0, 0, 1], [1, 0, 1]], np.int32))
    sizes = [(10, 8), (6, 8), (2, 8), (8,), (8,)]
    model.constant(*(random_bytes(np.uint8, *size) for size in sizes), None)
    model.constant(*(filled(0.01 + place / 100) for place in range(5)))
    model.constant(*(np.asarray(100 + place, np.uint8) for place in range(5)))
    proto = model.proto()
    proto.graph.node[0].output[:] = ["y", "mask"]
    (found,) = run_mace(proto, model.inputs, tmp_path)
    (wanted,) = run_onnxruntime(proto, model.inputs)
    np.testing.assert_allclose(found, wanted, 1e-4, 1e-4)


def _lstm(
    dtype: Any, directions: int, columns: bool
) -> tuple[QuantizedNode, dict[str, Any]]:
    size, units = 5, 20
    model = QuantizedNode("com.microsoft.DynamicQuantizeLSTM").input(normal(7, 1, size))
    weights = (
        random_bytes(dtype, directions, depth, 4 * units) for depth in (size, units)
    )
    model.constant(*weights, normal(directions, 8 * units), None, None, None, None)
    for _ in range(2):
        shape = (directions, 4 * units) if columns else (directions,)
        # ONNX Runtime wants them to be equal.
        zeros = np.full(shape, 9 if dtype is np.int8 else 130, dtype)
        model.constant(filled(0.004, *shape), zeros)
    direction = "bidirectional" if directions == 2 else "forward"
    return model, {"hidden_size": units, "direction": direction}


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_lstm(dtype: Any, directions: int, columns: bool, tmp_path: Path) -> None:
    model, attributes = _lstm(dtype, directions, columns)
    proto = model.proto(**attributes)
    (found,) = run_mace(proto, model.inputs, tmp_path)
    (wanted,) = run_onnxruntime(proto, model.inputs)
    # Inputs and sums are equal. Functions differ in their last digits, so that a state
    # becomes the next integer, seldom: a step of 1/128 times a weight of 0.5.
    near = np.abs(found - wanted) < 1e-5
    np.testing.assert_allclose(found, wanted, atol=0.01)
    assert near.mean() > 0.95


def test_lstm_keeps_its_weights_in_8_bits(tmp_path: Path) -> None:
    model, attributes = _lstm(np.int8, 2, True)
    graph = import_proto(model.proto(**attributes), model.inputs, ["y"], tmp_path)
    types = {op.type for op in graph.ops}
    assert types >= {"DynamicQuantizeMatMul", "DynamicQuantizeRecurrent"}
    large = [op.input(1) for op in graph.ops if op.type.startswith("DynamicQuantize")]
    assert {value.dtype for value in large} == {DataType.INT8}


def test_16_bits_are_refused(tmp_path: Path) -> None:
    model = QuantizedNode("com.microsoft.QLinearAdd")
    for _ in range(2):
        model.input(random_bytes(np.int16, 3, 4)).constant(
            filled(1), np.int16(0).reshape(())
        )
    model.constant(filled(1), np.int16(0).reshape(()))
    with pytest.raises(UnsupportedNodesError, match="than uint8 and int8") as error:
        run_mace(model.proto(), model.inputs, tmp_path)
    assert "com.microsoft.QLinearAdd" in str(error.value)
