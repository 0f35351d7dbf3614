# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Quantization, and operators on 8-bit integers, beside onnxruntime or ONNX itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.onnx.testing import (
    QuantizedNode,
    assert_same,
    compare,
    filled,
    import_proto,
    make_model,
    normal,
    random_bytes,
    random_scales,
    run_mace,
    run_onnxruntime,
)
from mace.python.tools.ir import Quantization
from mace.python.tools.ir.dtypes import Array, DataType

_TYPES = (np.uint8, np.int8)
_X = normal(2, 3, 4, 5) * 10


def _model(
    op: str, inputs: dict[str, Array], constants: dict[str, Array], **attributes: Any
) -> onnx.ModelProto:
    outputs = ["y", "s", "z"] if op == "DynamicQuantizeLinear" else ["y"]
    # An empty name is an input that is absent.
    names = [*inputs, *constants]
    domain, _, op_type = op.rpartition(".")
    node = onnx.helper.make_node(op_type, names, outputs, domain=domain, **attributes)
    constants.pop("", None)
    model = make_model([node], inputs, outputs, constants)
    if domain:
        model.opset_import.add(domain=domain, version=1)
    return model


def _check(
    op: str,
    inputs: dict[str, Array],
    constants: dict[str, Array],
    folder: Path,
    **attributes: Any,
) -> None:
    model = _model(op, inputs, constants, **attributes)
    compare(model, inputs, folder)


def _check_product(
    inputs: dict[str, Array], constants: dict[str, Array], folder: Path
) -> None:
    # Not beside onnxruntime, which adds pairs of products of 8 bits in 16 bits,
    # and cuts them off there, on processors without VNNI.
    model = _model("MatMulInteger", inputs, constants)
    found = run_mace(model, inputs, folder)
    wanted = ReferenceEvaluator(model).run(None, dict(inputs))
    assert_same(found, [np.asarray(value, np.int32) for value in wanted])


@pytest.mark.parametrize("dtype", _TYPES)
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_quantize(dtype: Any, axis: int | None, tmp_path: Path) -> None:
    shape = () if axis is None else (_X.shape[axis],)
    scale = np.asarray(np.abs(normal(*shape, 1)) + 0.05, np.float32).reshape(shape)
    constants = {"s": scale, "z": random_bytes(dtype, *shape)}
    attrs = {} if axis is None else {"axis": axis}
    _check("QuantizeLinear", {"x": _X}, constants, tmp_path, **attrs)


@pytest.mark.parametrize(
    "op", ["com.microsoft.QuantizeLinear", "com.microsoft.DequantizeLinear"]
)
def test_the_other_domain(op: str, tmp_path: Path) -> None:
    x = _X if op.endswith(".QuantizeLinear") else random_bytes(np.uint8, 3, 4)
    scale = np.asarray(0.2, np.float32)
    _check(op, {"x": x}, {"s": scale, "z": np.asarray(120, np.uint8)}, tmp_path)


def test_quantize_without_zero_point(tmp_path: Path) -> None:
    scale = np.array(0.1, np.float32)
    _check("QuantizeLinear", {"x": _X}, {"s": scale}, tmp_path)
    int8 = onnx.TensorProto.INT8
    _check("QuantizeLinear", {"x": _X}, {"s": scale}, tmp_path, output_dtype=int8)


@pytest.mark.parametrize("dtype", [np.int16, np.uint16])
@pytest.mark.parametrize("axis", [None, 1])
def test_quantize_to_16_bits(dtype: Any, axis: int | None, tmp_path: Path) -> None:
    shape = () if axis is None else (_X.shape[axis],)
    scale = np.asarray(np.abs(normal(*shape, 1)) + 5e-4, np.float32).reshape(shape)
    constants = {"s": scale, "z": random_bytes(dtype, *shape)}
    attrs = {} if axis is None else {"axis": axis}
    inputs = {"x": _X}
    model = _model("QuantizeLinear", inputs, constants, **attrs)
    model.opset_import[0].version = 21
    wanted = run_onnxruntime(model, inputs)
    # The application gets int32, as of all integers that MACE does not store.
    assert_same(run_mace(model, inputs, tmp_path), wanted)

    # Of what was quantized, the integers of 16 bits.
    model.graph.node.append(
        onnx.helper.make_node("DequantizeLinear", ["y", "s", "z"], ["d"], **attrs)
    )
    model.graph.output[0].CopyFrom(onnx.helper.make_empty_tensor_value_info("d"))
    graph = import_proto(model, inputs, ["d"], tmp_path)
    (result,) = graph.outputs
    assert result.producer is not None
    assert result.producer.input(0).dtype is DataType.INT16
    compare(model, inputs, tmp_path)


def test_16_bits_without_zero_point(tmp_path: Path) -> None:
    scale = np.array(0.001, np.float32)
    for dtype in (onnx.TensorProto.INT16, onnx.TensorProto.UINT16):
        model = _model("QuantizeLinear", {"x": _X}, {"s": scale}, output_dtype=dtype)
        model.opset_import[0].version = 21
        compare(model, {"x": _X}, tmp_path)


@pytest.mark.parametrize("dtype", [*_TYPES, np.int16, np.uint16, np.int32])
@pytest.mark.parametrize("axis", [None, 1, -1])
def test_dequantize(dtype: Any, axis: int | None, tmp_path: Path) -> None:
    x = random_bytes(dtype, 2, 3, 4)
    shape = (1,) if axis is None else (x.shape[axis],)
    zero = np.zeros(shape, dtype) if dtype is np.int32 else random_bytes(dtype, *shape)
    constants = {"s": np.abs(normal(*shape)), "z": zero}
    attrs = {} if axis is None else {"axis": axis}
    _check("DequantizeLinear", {"x": x}, constants, tmp_path, **attrs)


@pytest.mark.parametrize("x", [_X, _X + 100, _X - 100, _X * 0])
def test_dynamic_quantize(x: Array, tmp_path: Path) -> None:
    _check("DynamicQuantizeLinear", {"x": x}, {}, tmp_path)


@pytest.mark.parametrize("a_type", _TYPES)
@pytest.mark.parametrize("b_type", _TYPES)
def test_matmul_integer(a_type: Any, b_type: Any, tmp_path: Path) -> None:
    a, b = random_bytes(a_type, 2, 5, 7), random_bytes(b_type, 7, 9)
    zeros = {"az": random_bytes(a_type), "bz": random_bytes(b_type)}
    _check_product({"a": a, "b": b}, {}, tmp_path)
    _check_product({"a": a, "b": b}, dict(zeros), tmp_path)
    _check_product({"a": a}, {"b": b, **zeros}, tmp_path)
    columns = {"b": b, "az": zeros["az"], "bz": random_bytes(b_type, 9)}
    _check_product({"a": a}, columns, tmp_path)
    absent = {"b": b, "": zeros["az"], "bz": zeros["bz"]}
    _check_product({"a": a}, absent, tmp_path)


def test_matmul_integer_of_vectors(tmp_path: Path) -> None:
    for a_shape, b_shape in (((7,), (7, 9)), ((5, 7), (7,)), ((7,), (7,))):
        a, b = random_bytes(np.uint8, *a_shape), random_bytes(np.int8, *b_shape)
        model = _model("MatMulInteger", {"a": a, "b": b}, {})
        (found,) = run_mace(model, {"a": a, "b": b}, tmp_path)
        np.testing.assert_array_equal(found, a.astype(np.int32) @ b.astype(np.int32))


# onnxruntime takes no zero point for each row.
def test_zero_point_of_rows(tmp_path: Path) -> None:
    a, b, zero = (
        random_bytes(np.uint8, 5, 7),
        random_bytes(np.int8, 7, 9),
        random_bytes(np.uint8, 5),
    )
    model = _model("MatMulInteger", {"a": a, "b": b}, {"az": zero})
    (found,) = run_mace(model, {"a": a, "b": b}, tmp_path)
    wanted = (a.astype(np.int32) - zero.reshape(5, 1)) @ b.astype(np.int32)
    np.testing.assert_array_equal(found, wanted)


def test_dequantized_constants_become_floats(tmp_path: Path) -> None:
    make = onnx.helper.make_node
    nodes = [
        make("DequantizeLinear", ["w", "s"], ["f"]),
        make("MatMul", ["x", "f"], ["y"]),
    ]
    x = {"x": normal(3, 7)}
    weights = {"w": random_bytes(np.int8, 7, 9), "s": np.array(0.02, np.float32)}
    model = make_model(nodes, x, ["y"], weights)
    graph = import_proto(model, x, ["y"], tmp_path)
    assert [op.type for op in graph.ops] == ["MatMul"]
    # Not beside onnxruntime, which rounds x too here.
    wanted = x["x"] @ (weights["w"] * weights["s"])
    assert_same(run_mace(model, x, tmp_path), [wanted])


def test_dequantized_constants_say_what_they_stand_for(tmp_path: Path) -> None:
    make = onnx.helper.make_node
    nodes = [
        make("DequantizeLinear", ["w", "s", "z"], ["f"], axis=-1),
        make("MatMul", ["x", "f"], ["y"]),
        make("MatMulInteger", ["i", "w", "", "z"], ["j"]),
    ]
    inputs = {"x": normal(3, 7), "i": random_bytes(np.uint8, 5, 7)}
    zeros = np.array([3, -4, 0], np.int8)
    weights = {
        "w": random_bytes(np.int8, 7, 3),
        "s": np.array([0.5, 0.25, 2], np.float32),
        "z": zeros,
    }
    model = make_model(nodes, inputs, ["y", "j"], weights)
    graph = import_proto(model, inputs, ["y", "j"], tmp_path)
    stated = Quantization((0.5, 0.25, 2.0), (3, -4, 0), axis=1)
    assert graph.values["w"].quantization == stated
    assert [op.type for op in graph.ops] == ["MatMul", "MatMulInteger"]
    wide = weights["w"].astype(np.int32) - zeros
    wanted = [inputs["x"] @ (wide * weights["s"]), inputs["i"].astype(np.int32) @ wide]
    assert_same(run_mace(model, inputs, tmp_path), wanted)


_A = random_bytes(np.uint8, 5, 7)
_REFUSED: list[tuple[str, dict[str, Array], dict[str, Array], dict[str, Any], str]] = [
    (
        "QuantizeLinear",
        {"x": _X},
        {"s": np.array(1, np.float32), "z": np.array(1, np.int32)},
        {},
        "quantizes to other types than uint8, int8, uint16 and int16",
    ),
    (
        "QuantizeLinear",
        {"x": _X},
        {"s": np.ones((2, 3, 2, 5), np.float32)},
        {"axis": 2, "block_size": 2},
        "a scale for each block",
    ),
    (
        "QuantizeLinear",
        {"x": np.ones(3, np.int32)},
        {"s": np.array(1, np.float32)},
        {},
        "quantizes int32",
    ),
    (
        "MatMulInteger",
        {"a": _A.reshape(1, 5, 7), "b": _A.reshape(1, 7, 5)},
        {"az": np.zeros((1, 5, 1), np.uint8)},
        {},
        "a zero point of a for each matrix",
    ),
]


@pytest.mark.parametrize(("op", "inputs", "constants", "attrs", "reason"), _REFUSED)
def test_refusals(
    op: str,
    inputs: dict[str, Array],
    constants: dict[str, Array],
    attrs: dict[str, Any],
    reason: str,
    tmp_path: Path,
) -> None:
    model = _model(op, inputs, dict(constants), **attrs)
    with pytest.raises(UnsupportedNodesError) as error:
        run_mace(model, inputs, tmp_path)
    assert reason in str(error.value)


@pytest.mark.parametrize("kind", [onnx.TensorProto.INT4, onnx.TensorProto.UINT4])
@pytest.mark.parametrize("blocks", [False, True], ids=["channels", "blocks"])
@pytest.mark.parametrize("raw", [False, True], ids=["numbers", "raw"])
def test_weights_of_4_bits(kind: int, blocks: bool, raw: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    low = -8 if kind == onnx.TensorProto.INT4 else 0
    shape = (8, 5)

    def packed(name: str, dims: tuple[int, ...]) -> onnx.TensorProto:
        numbers = rng.integers(low, low + 16, dims).reshape(-1)
        if not raw:
            return onnx.helper.make_tensor(name, kind, dims, numbers.tolist())
        halves = np.append(numbers, 0)[: numbers.size + numbers.size % 2] & 15
        pairs = (halves[::2] | halves[1::2] << 4).astype(np.uint8)
        return onnx.helper.make_tensor(name, kind, dims, pairs.tobytes(), raw=True)

    scales = rng.random((2, 5) if blocks else 5, np.float32)
    attributes = {"axis": 0, "block_size": 4} if blocks else {"axis": 1}
    nodes = [
        onnx.helper.make_node("DequantizeLinear", ["q", "s", "z"], ["w"], **attributes),
        onnx.helper.make_node("MatMul", ["x", "w"], ["y"]),
    ]
    x = {"x": rng.random((3, 8), np.float32)}
    model = make_model(nodes, x, ["y"], {"s": scales})
    model.graph.initializer.extend([packed("q", shape), packed("z", scales.shape)])
    # onnxruntime quantizes x as well for such a product.
    wanted = ReferenceEvaluator(model).run(None, x)
    assert_same(run_mace(model, x, tmp_path), wanted)


def test_activations_of_4_bits_are_refused(tmp_path: Path) -> None:
    nodes = [
        onnx.helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        onnx.helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"]),
    ]
    model = make_model(nodes, {"x": _X}, ["y"], {"s": np.array(0.1, np.float32)})
    zero = onnx.helper.make_tensor("z", onnx.TensorProto.INT4, [], [1])
    model.graph.initializer.append(zero)
    with pytest.raises(UnsupportedNodesError, match="quantizes to 4 bits"):
        run_mace(model, {"x": _X}, tmp_path)


@pytest.mark.parametrize("dtype", _TYPES)
@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("has_bias", [False, True])
def test_qlinear_conv(
    dtype: Any, per_channel: bool, has_bias: bool, tmp_path: Path
) -> None:
    channels = 6
    model = QuantizedNode("QLinearConv").input(random_bytes(dtype, 1, 4, 9, 8))
    model.constant(filled(0.02), random_bytes(dtype).reshape(()))
    model.constant(random_bytes(np.int8, channels, 4, 3, 3))
    scales = random_scales(channels) if per_channel else filled(0.01)
    model.constant(scales, np.zeros(scales.shape, np.int8))
    model.constant(filled(0.3), random_bytes(dtype).reshape(()))
    if has_bias:
        model.constant((normal(channels) * 3000).astype(np.int32))
    model.check(tmp_path, pads=[1, 0, 0, 1], strides=[2, 1])


def test_grouped_qlinear_conv_with_zero_points_of_the_filter(tmp_path: Path) -> None:
    model = QuantizedNode("QLinearConv").input(random_bytes(np.uint8, 1, 4, 6, 5))
    model.constant(filled(0.02), np.asarray(131, np.uint8))
    model.constant(
        random_bytes(np.uint8, 4, 1, 3, 3), filled(0.01), np.asarray(120, np.uint8)
    )
    model.constant(filled(0.05), np.asarray(99, np.uint8))
    model.check(tmp_path, group=4)


@pytest.mark.parametrize("dtype", _TYPES)
def test_qlinear_matmul(dtype: Any, tmp_path: Path) -> None:
    model = QuantizedNode("QLinearMatMul").input(random_bytes(dtype, 2, 5, 12))
    model.constant(filled(0.02), random_bytes(dtype).reshape(()))
    # Of 7 bits: with a scale for each column, ONNX Runtime's sums of larger ones are
    # wrong on processors without VNNI.
    weights = random_bytes(np.int8, 12, 7) // 2
    model.constant(weights, random_scales(7), np.zeros(7, np.int8))
    model.constant(filled(0.2), random_bytes(dtype).reshape(()))
    model.check(tmp_path)


# ONNX Runtime does not multiply int8 by uint8.
@pytest.mark.parametrize(
    ("a_type", "b_type"),
    [(np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.int8)],
)
def test_qlinear_matmul_of_two_computed(
    a_type: Any, b_type: Any, tmp_path: Path
) -> None:
    model = QuantizedNode("QLinearMatMul").input(random_bytes(a_type, 2, 3, 5, 12))
    model.constant(filled(0.02), random_bytes(a_type).reshape(()))
    model.input(random_bytes(b_type, 3, 12, 7) // 2)
    model.constant(filled(0.03), random_bytes(b_type).reshape(()))
    model.constant(filled(0.4), random_bytes(a_type).reshape(()))
    model.check(tmp_path)


def _bytes(dtype: Any, *shape: int) -> Array:
    bounds = np.iinfo(dtype)
    rng = np.random.default_rng([4, *shape])
    return np.asarray(rng.integers(bounds.min, bounds.max + 1, shape, dtype))


def _wanted(x: Array, w: Array, zeros: dict[str, Array], attrs: Any) -> Array:
    shifted = x.astype(np.float32) - zeros.get("xz", np.zeros(1)).astype(np.float32)
    w_zero = zeros.get("wz", np.zeros(1)).astype(np.float32)
    weights = w.astype(np.float32) - w_zero.reshape(-1, *[1] * (w.ndim - 1))
    node = onnx.helper.make_node("Conv", ["x", "w"], ["y"], **attrs)
    inputs = {"x": shifted, "w": weights}
    return run_onnxruntime(make_model([node], inputs, ["y"]), inputs)[0]


def _check_convolution(
    folder: Path,
    x: Array,
    w: Array,
    zeros: dict[str, Array],
    computed: tuple[str, ...] = (),
    **attrs: Any,
) -> None:
    """`computed`: the zero points that are inputs of the model."""
    names = [name if name in zeros else "" for name in ("xz", "wz")]
    node = onnx.helper.make_node("ConvInteger", ["x", "w", *names], ["y"], **attrs)
    inputs = {"x": x, **{name: zeros[name] for name in computed}}
    constants = {"w": w, **{n: z for n, z in zeros.items() if n not in computed}}
    (found,) = run_mace(make_model([node], inputs, ["y"], constants), inputs, folder)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, _wanted(x, w, zeros, attrs))


@pytest.mark.parametrize("computed", [(), ("xz",)])
@pytest.mark.parametrize(
    "attrs",
    [
        {},
        {"pads": [1, 0, 2, 1]},
        {"pads": [1, 1, 1, 1], "strides": [2, 3]},
        {"dilations": [2, 1], "pads": [2, 1, 2, 1]},
        {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
        {"auto_pad": "SAME_LOWER", "strides": [2, 2]},
        {"auto_pad": "VALID"},
    ],
)
def test_windows(
    attrs: dict[str, Any], computed: tuple[str, ...], tmp_path: Path
) -> None:
    x, w = _bytes(np.uint8, 2, 6, 9, 8), _bytes(np.int8, 5, 6, 3, 2)
    zeros = {"xz": np.asarray(131, np.uint8), "wz": np.asarray(-3, np.int8)}
    _check_convolution(tmp_path, x, w, zeros, computed, **attrs)


@pytest.mark.parametrize("computed", [(), ("xz",)])
@pytest.mark.parametrize("groups", [2, 6])
def test_groups(groups: int, computed: tuple[str, ...], tmp_path: Path) -> None:
    x, w = _bytes(np.int8, 1, 6, 7, 8), _bytes(np.uint8, 12, 6 // groups, 3, 3)
    zeros = {"xz": np.asarray(-7, np.int8), "wz": np.asarray(120, np.uint8)}
    _check_convolution(tmp_path, x, w, zeros, computed, group=groups, pads=[1, 1, 1, 1])


def test_zero_points(tmp_path: Path) -> None:
    x, w = _bytes(np.uint8, 1, 4, 6, 5), _bytes(np.int8, 3, 4, 3, 3)
    pads = [1, 1, 1, 1]
    _check_convolution(tmp_path, x, w, {}, pads=pads)
    _check_convolution(tmp_path, x, w, {"xz": np.asarray(9, np.uint8)}, pads=pads)
    _check_convolution(
        tmp_path, x, w, {"wz": np.asarray([1, -2, 3], np.int8)}, pads=pads
    )
    both = {"xz": np.asarray(9, np.uint8), "wz": np.asarray([1, -2, 3], np.int8)}
    _check_convolution(tmp_path, x, w, both, ("xz",), pads=pads)


def test_lines(tmp_path: Path) -> None:
    x, w = _bytes(np.uint8, 2, 4, 11), _bytes(np.int8, 6, 2, 3)
    zeros = {"xz": np.asarray(200, np.uint8)}
    for computed in ((), ("xz",)):
        _check_convolution(
            tmp_path, x, w, zeros, computed, group=2, pads=[1, 2], strides=[2]
        )


def test_what_is_not_supported(tmp_path: Path) -> None:
    x, w = _bytes(np.uint8, 1, 4, 6, 5), _bytes(np.int8, 4, 2, 3, 3)
    zeros = {"wz": np.asarray([1, -2, 3, 4], np.int8)}
    with pytest.raises(UnsupportedNodesError, match="use one zero point"):
        _check_convolution(tmp_path, x, w, zeros, group=2)
    with pytest.raises(UnsupportedNodesError, match="at run time"):
        _check_convolution(tmp_path, x, w, zeros, ("wz",), group=2)


def test_a_network_that_onnxruntime_quantized_dynamically(tmp_path: Path) -> None:
    quantization = pytest.importorskip("onnxruntime.quantization")
    nodes = [
        onnx.helper.make_node("Conv", ["x", "v", "b"], ["h"], pads=[1] * 4),
        onnx.helper.make_node("Relu", ["h"], ["r"]),
        onnx.helper.make_node("Conv", ["r", "w"], ["y"], group=8, strides=[2, 2]),
    ]
    inputs = {"x": normal(1, 3, 9, 10)}
    constants = {"v": normal(8, 3, 3, 3), "b": normal(8), "w": normal(8, 1, 3, 3)}
    model = make_model(nodes, inputs, ["y"], constants, opset=17)
    onnx.save(model, tmp_path / "float.onnx")
    quantization.quantize_dynamic(
        tmp_path / "float.onnx",
        tmp_path / "dynamic.onnx",
        op_types_to_quantize=["Conv"],
        # ONNX Runtime has no ConvInteger of int8 weights.
        weight_type=quantization.QuantType.QUInt8,
    )
    dynamic = onnx.load(tmp_path / "dynamic.onnx")
    assert any(node.op_type == "ConvInteger" for node in dynamic.graph.node)
    wanted = run_onnxruntime(dynamic, inputs)[0]
    (found,) = run_mace(dynamic, inputs, tmp_path)
    # Where a step of the dynamic quantization rounds in another way.
    np.testing.assert_allclose(found, wanted, rtol=0, atol=0.02 * np.abs(wanted).max())
