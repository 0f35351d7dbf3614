# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The bytes of a model: what is written is what was meant."""

from __future__ import annotations

import io
import logging
import zlib
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.export import (
    Exported,
    ExportError,
    ExportOptions,
    InputSignature,
    export_model,
)
from mace.python.tools.export.graph_page import (
    GraphPlaces,
    OperatorPlace,
    graph_page,
    graph_text,
)
from mace.python.tools.export.model_file import (
    ModelFileError,
    read_model_file,
    read_quantization,
)
from mace.python.tools.export.packing import (
    pack_n16_fours,
    pack_o16,
    pack_o16_fours,
    pack_o16_pairs,
    pack_rows_o16,
    unpack_n16_fours,
    unpack_o16,
    unpack_o16_fours,
    unpack_o16_pairs,
)
from mace.python.tools.export.places import ModelPlaces
from mace.python.tools.export.storage import Storage, encode
from mace.python.tools.export.testing import read_model
from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.ir import (
    Constant,
    DataFormat,
    DataType,
    Graph,
    GraphBuilder,
    Quantization,
    Value,
)
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.verify import verify
from mace.python.tools.passes import optimize
from mace.python.tools.proto import load_proto
from mace.python.tools.run.testing.project import write_dense_model


def _network(data_format: DataFormat = DataFormat.NCHW) -> Graph:
    """Group, plain and depthwise convolution, a classifier, two outputs."""
    rng = np.random.default_rng(0)

    def weights(*shape: int) -> Any:
        return b.constant("w", rng.standard_normal(shape).astype(np.float32) / 4)

    b = GraphBuilder("net", "onnx")
    nchw = {"data_format": "NCHW", "padding": "SAME"}
    x = b.input("image", DataType.FLOAT32, (None, 4, 6, 5), data_format)
    y = b.one(
        "Conv2D", [x, weights(40, 3, 3, 2), weights(40)], "a", {**nchw, "groups": 2}
    )
    y = b.one("Activation", [y], "b", {"activation": "RELUX", "activation_limit": 6.0})
    y = b.one("Conv2D", [y, weights(40, 3, 3, 1)], "c", {**nchw, "groups": 40})
    y = b.one("Conv2D", [y, weights(33, 1, 1, 40)], "d", nchw)
    b.output(y, "features", data_format)
    y = b.one("Reduce", [y], "e", {"mode": "MEAN", "axes": [2, 3], "keep_dims": False})
    y = b.one("MatMul", [y, weights(33, 70)], "f")
    index = b.constant("i", np.array([3, 1], np.int64))
    b.output(b.one("Gather", [y, index], "g", {"axis": 1}), "scores")
    optimize(b.graph)
    return b.graph


def _export(graph: Graph, **options: Any) -> tuple[Exported, bytes]:
    stream = io.BytesIO()
    exported = export_model(graph, ExportOptions(**options), stream)
    return exported, stream.getvalue()


def _read(exported: Exported, data: bytes) -> Graph:
    graph = read_model(exported.model.SerializeToString(), data)
    verify(graph)
    return graph


def _outputs(graph: Graph) -> dict[str, Any]:
    image = np.random.default_rng(1).standard_normal((2, 6, 5, 4))
    return run_graph(graph, {"image": image.astype(np.float32)})


def test_model_computes_what_the_graph_did() -> None:
    graph = _network()
    expected = _outputs(graph)
    found = _outputs(_read(*_export(graph)))
    for name in ("features", "scores"):
        np.testing.assert_array_equal(found[name], expected[name])


@pytest.mark.parametrize(
    ("storage", "digits"), [(Storage.FLOAT16, 2e-3), (Storage.BFLOAT16, 2e-2)]
)
def test_half_storage_is_smaller_and_nearly_as_exact(
    storage: Storage, digits: float
) -> None:
    graph = _network()
    expected, (_, whole) = _outputs(graph), _export(graph)
    exported, data = _export(graph, storage=storage)
    assert len(data) < 0.7 * len(whole)
    kinds = {(c.name, c.data_type) for c in exported.model.constants}
    proto = load_proto("mace/proto/mace.proto")
    half = getattr(proto, f"DT_{storage.name}")
    # Of 1024 elements and more, and only what the catalogue lets be half.
    assert sorted(n for n, kind in kinds if kind == half) == sorted(
        c.name for c in exported.model.constants if np.prod(c.dims) >= 1024
    )
    found = _outputs(_read(exported, data))
    for name in ("features", "scores"):
        scale = np.abs(expected[name]).max()
        np.testing.assert_allclose(found[name], expected[name], atol=digits * scale)
        assert np.any(found[name] != expected[name])


def test_arithmetic_in_half_needs_small_weights_too() -> None:
    half = load_proto("mace/proto/mace.proto").DT_FLOAT16
    for whatever_size in (False, True):
        b = GraphBuilder("net", "onnx")
        x = b.input("x", DataType.FLOAT32, (1, 4))
        w = b.constant("small", np.ones((2, 4), np.float32))
        c = b.constant("bias", np.ones(2, np.float32))
        b.output(b.one("FullyConnected", [x, w, c], "y"), "y")
        exported, _ = _export(
            b.graph, storage=Storage.FLOAT16, whatever_size=whatever_size
        )
        stored = {c.name: c.data_type == half for c in exported.model.constants}
        assert stored == {"small": whatever_size, "bias": False}


@pytest.mark.parametrize("storage", [Storage.FLOAT16, Storage.BFLOAT16])
def test_a_type_that_the_result_would_have_is_not_narrowed(storage: Storage) -> None:
    b = GraphBuilder("net", "onnx")
    x = b.input("x", DataType.FLOAT32, (1, 64, 64))
    w = b.constant("turned", np.ones((1, 64, 64), np.float32))
    y = b.op("Transpose", [w], None, {"perm": [0, 2, 1]}, fold=False)[0]
    b.output(b.one("Eltwise", [x, y], "y", {"mode": "MUL"}), "y")
    exported, _ = _export(b.graph, storage=storage)
    stored = {c.name: c.data_type for c in exported.model.constants}
    assert stored == {"turned": load_proto("mace/proto/mace.proto").DT_FLOAT32}


@pytest.mark.parametrize(
    ("number", "kept"),
    # 3e-5 has eight digits in float16 instead of eleven, and 1e-8 is 0.
    [(7e4, True), (3e-5, True), (1e-8, True), (6e4, False), (7e-5, False), (0, False)],
)
def test_weights_beyond_half_stay_whole_and_say_so(
    number: float, kept: bool, caplog: pytest.LogCaptureFixture
) -> None:
    b = GraphBuilder("net", "onnx")
    x = b.input("x", DataType.FLOAT32, (1, 64))
    weights = np.full((32, 64), number / 4096, np.float32)
    weights[3, 5] = -number
    w = b.constant("odd", weights)
    b.output(b.one("FullyConnected", [x, w], "y"), "y")
    with caplog.at_level(logging.WARNING):
        exported, _ = _export(b.graph, storage=Storage.FLOAT16)
    assert exported.model.constants[0].data_type == (1 if kept else 2)
    assert ("odd holds numbers that float16 cannot" in caplog.text) == kept


def test_eight_bit_weights_are_those_of_large_layers() -> None:
    graph = _network()
    expected, (_, whole) = _outputs(graph), _export(graph)
    exported, data = _export(graph, storage=Storage.FLOAT16, eight_bit_weights=True)
    model, proto = exported.model, load_proto("mace/proto/mace.proto")
    assert model.format_version == 3
    scaled = {
        c.name
        for c in model.constants
        if c.layout == proto.CL_PACKED_O16_SCALED and c.data_type == proto.DT_INT8
    }
    read_by = {
        op.type for op in model.operators for name in op.inputs if name in scaled
    }
    assert read_by == {"Conv2D", "FullyConnected"}
    # 33 x 1 x 1 x 40 and 70 x 33; 40 x 3 x 3 x 2 has 18 to a channel.
    assert len(scaled) == 2
    assert len(data) < 0.5 * len(whole)
    found = _outputs(_read(exported, data))
    for name in ("features", "scores"):
        scale = np.abs(expected[name]).max()
        np.testing.assert_allclose(found[name], expected[name], atol=2e-2 * scale)
        assert np.any(found[name] != expected[name])
    stored = exported.eight_bit
    assert stored is not None
    assert stored.tensors == 2
    assert stored.worst in scaled
    assert 35 < stored.worst_sqnr_db < 60
    assert stored.summary().startswith("2 tensors of weights stored in 8 bits, 14.5 kB")


def test_eight_bits_need_finite_weights(caplog: pytest.LogCaptureFixture) -> None:
    b = GraphBuilder("net", "onnx")
    x = b.input("x", DataType.FLOAT32, (1, 64))
    weights = np.ones((32, 64), np.float32)
    weights[3, 5] = np.inf
    w = b.constant("w", weights)
    b.output(b.one("FullyConnected", [x, w], "y"), "y")
    with caplog.at_level(logging.WARNING):
        exported, _ = _export(b.graph, eight_bit_weights=True)
    assert exported.model.constants[0].data_type == 1
    assert exported.model.format_version == 1
    assert exported.eight_bit is None
    assert "w holds numbers that int8 cannot" in caplog.text


def test_data_is_written_in_large_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = _network()
    _, expected = _export(graph)
    monkeypatch.setattr("mace.python.tools.export.constants.WRITE_BYTES", 1024)
    pieces: list[bytes] = []

    class Stream(io.BytesIO):
        def write(self, piece: Any) -> int:
            pieces.append(bytes(piece))
            return len(piece)

    export_model(graph, ExportOptions(), Stream())
    assert b"".join(pieces) == expected
    assert {len(piece) for piece in pieces[:-1]} == {1024}


def test_layout_of_the_data_file() -> None:
    exported, data = _export(_network())
    model = exported.model
    assert model.data_size == len(data)
    assert model.data_crc32 == zlib.crc32(data)
    end = 0
    for constant in model.constants:
        assert constant.offset % 64 == 0
        assert 0 <= constant.offset - end < 64
        assert data[end : constant.offset] == b"\0" * (constant.offset - end)
        end = constant.offset + constant.size
    assert end == len(data)


@pytest.mark.parametrize(("out", "groups"), [(16, 1), (17, 1), (40, 2), (6, 3)])
def test_packing_follows_the_specification(out: int, groups: int) -> None:
    rng = np.random.default_rng(0)
    filters = rng.standard_normal((out, 3, 2, 5)).astype(np.float32)
    per_group = out // groups
    packed = np.stack(list(pack_o16(filters, groups)))
    packed = packed.reshape(groups, -1, 30, 16)
    assert packed.shape == (groups, -(-per_group // 16), 30, 16)
    flat = filters.reshape(out, 30)
    for o in range(out):
        group, inner = divmod(o, per_group)
        np.testing.assert_array_equal(
            packed[group, inner // 16, :, inner % 16], flat[o]
        )
    # Everything else is zero.
    assert np.count_nonzero(packed) == np.count_nonzero(filters)
    np.testing.assert_array_equal(unpack_o16(packed, filters.shape, groups), filters)


def test_rows_that_a_pass_moves_are_packed_without_the_others() -> None:
    given = np.arange(70 * 6000, dtype=np.float32).reshape(70, 6000)
    wanted = given.reshape(70, 20, 300).transpose(0, 2, 1).reshape(70, 6000)
    asked: list[int] = []

    def transposed(rows: Array) -> Array:
        asked.append(len(rows))
        return np.transpose(rows.reshape(len(rows), 20, 300), (0, 2, 1))

    constant = Constant.of(given).moved_rows(transposed, given.shape)
    np.testing.assert_array_equal(constant.numpy(), wanted)
    asked.clear()
    packed = list(pack_rows_o16(constant.rows(), 70))
    for block, other in zip_longest(packed, pack_o16(wanted)):
        np.testing.assert_array_equal(block, other)
    assert asked == [16, 16, 16, 16, 6]


@pytest.mark.parametrize(("out", "groups"), [(16, 1), (17, 1), (40, 2), (6, 3)])
@pytest.mark.parametrize("channels", [1, 4, 5])
def test_pairs_follow_the_specification(out: int, groups: int, channels: int) -> None:
    rng = np.random.default_rng(0)
    filters = rng.standard_normal((out, 3, 2, channels)).astype(np.float32)
    per_group = out // groups
    even = channels + channels % 2
    packed = np.stack(list(pack_o16_pairs(filters, groups)))
    packed = packed.reshape(groups, -1, 6 * even // 2, 16, 2)
    for o in range(out):
        group, inner = divmod(o, per_group)
        found = packed[group, inner // 16, :, inner % 16].reshape(3, 2, even)
        np.testing.assert_array_equal(found[..., :channels], filters[o])
    assert np.count_nonzero(packed) == np.count_nonzero(filters)
    np.testing.assert_array_equal(
        unpack_o16_pairs(packed, filters.shape, groups), filters
    )


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("shape", [(4, 16), (7, 33), (2, 3, 5, 1)])
def test_fours_follow_the_specification(dtype: Any, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    bounds = np.iinfo(dtype)
    plain = rng.integers(bounds.min, bounds.max + 1, shape).astype(dtype)
    depth, columns = shape[-2:]
    panels, fours = -(-columns // 16), -(-depth // 4)
    parts = list(pack_n16_fours(plain))
    count = len(parts) // 2
    packed = np.stack(parts[:count]).reshape(-1, panels, fours, 16, 4)
    sums = np.stack(parts[count:]).reshape(-1, panels, 16)
    assert packed.dtype == np.int8
    assert sums.dtype == np.int32
    signed = plain.astype(np.int32) - (128 if dtype is np.uint8 else 0)
    for i, matrix in enumerate(signed.reshape(-1, depth, columns)):
        for k, n in np.ndindex(depth, columns):
            assert packed[i, n // 16, k // 4, n % 16, k % 4] == matrix[k, n]
        by_column = sums[i].reshape(-1)
        np.testing.assert_array_equal(by_column[:columns], matrix.sum(axis=0))
        assert not by_column[columns:].any()
    assert np.count_nonzero(packed) == np.count_nonzero(signed)
    raw = b"".join(part.tobytes() for part in parts)
    found = unpack_n16_fours(raw, shape, DataType.of(plain.dtype))
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, plain)


def test_matrices_of_integers_are_packed_unless_another_operator_reads_them() -> None:
    b = GraphBuilder("net", "onnx")
    x = b.input("x", DataType.UINT8, (5, 7))
    w = b.constant("w", np.arange(-40, 44, dtype=np.int8).reshape(7, 12))
    empty = b.constant("empty", np.zeros((7, 0), np.int8))
    scale = b.input("scale", DataType.FLOAT32, (1,))
    b.output(b.one("MatMulInteger", [x, w], "y"), "y")
    b.output(b.one("MatMulInteger", [x, empty], "e"), "e")
    b.output(b.one("Dequantize", [w, scale], "d"), "d")
    exported, data = _export(b.graph)
    proto = load_proto("mace/proto/mace.proto")
    stored = {c.name: (c.layout, c.size) for c in exported.model.constants}
    # Eight rows of 16 columns, and their sums.
    assert stored == {
        "w": (proto.CL_PACKED_N16_FOURS, 8 * 16 + 4 * 16),
        "w#1": (proto.CL_PLAIN, 7 * 12),
        "empty": (proto.CL_PLAIN, 0),
    }
    assert exported.model.format_version == 5
    inputs: dict[str, Any] = {
        "x": np.arange(35, dtype=np.uint8).reshape(5, 7),
        "scale": np.array([0.5], np.float32),
    }
    expected = run_graph(b.graph, inputs)
    found = run_graph(_read(exported, data), inputs)
    for name in ("y", "e", "d"):
        np.testing.assert_array_equal(found[name], expected[name])


@pytest.mark.parametrize(
    ("shape", "groups"), [((6, 1, 1, 8), 2), ((20, 3, 3, 4), 1), ((17, 2, 1, 12), 1)]
)
def test_filters_are_packed_in_fours(shape: tuple[int, ...], groups: int) -> None:
    rng = np.random.default_rng(5)
    plain = rng.integers(-128, 128, shape).astype(np.int8)
    parts = list(pack_o16_fours(plain, groups))
    columns, depth = shape[0] // groups, plain.size // shape[0]
    blocks = -(-columns // 16)
    packed = np.stack(parts).reshape(groups, blocks, depth // 4, 16, 4)
    for o, k in np.ndindex(shape[0], depth):
        group, n = divmod(o, columns)
        found = packed[group, n // 16, k // 4, n % 16, k % 4]
        assert found == plain.reshape(shape[0], depth)[o, k]
    assert np.count_nonzero(packed) == np.count_nonzero(plain)
    np.testing.assert_array_equal(unpack_o16_fours(packed, shape, groups), plain)


def _rounded(b: GraphBuilder, x: Value, scale: float, name: str) -> Value:
    one = b.constant(f"{name}/scale", np.array([scale], np.float32))
    q = b.one("Quantize", [x, one], None, {"to": "INT8"}, f"{name}/q")
    return b.one("Dequantize", [q, one], None, None, name)


def test_filters_of_quantized_operators_are_packed_in_fours() -> None:
    b = GraphBuilder("net", "onnx")
    rng = np.random.default_rng(6)

    def weights(name: str, *shape: int) -> Value:
        scales = b.constant(f"{name}/s", np.full(shape[0], 0.01, np.float32))
        q = b.constant(name, rng.integers(-127, 128, shape).astype(np.int8))
        return b.one("Dequantize", [q, scales], None, {"axis": 0}, f"{name}/float")

    y = _rounded(b, b.input("x", DataType.FLOAT32, (1, 5, 5, 6)), 0.02, "x/rounded")
    for name, *shape, groups in (("odd", 8, 3, 3, 6, 1), ("fours", 6, 1, 1, 4, 2)):
        attrs = {"groups": groups}
        y = b.one("Conv2D", [y, weights(name, *shape)], None, attrs, f"{name}/conv")
        y = _rounded(b, y, 0.05, f"{name}/rounded")
    b.output(y, "y")
    optimize(b.graph)
    exported, data = _export(b.graph)
    proto = load_proto("mace/proto/mace.proto")
    stored = {
        tuple(c.dims): (c.layout, c.groups, c.size)
        for c in exported.model.constants
        if len(c.dims) == 4
    }
    assert stored == {
        (8, 3, 3, 6): (proto.CL_PLAIN, 0, 8 * 54),
        (6, 1, 1, 4): (proto.CL_PACKED_O16_FOURS, 2, 2 * 16 * 4),
    }
    assert exported.model.format_version == 7
    x = {"x": rng.standard_normal((1, 5, 5, 6)).astype(np.float32)}
    np.testing.assert_array_equal(
        run_graph(_read(exported, data), x)["y"], run_graph(b.graph, x)["y"]
    )


def test_bf16_arithmetic_stores_bfloat16_in_pairs() -> None:
    graph = _network()
    plain, plain_data = _export(graph, storage=Storage.BFLOAT16)
    exported, data = _export(graph, storage=Storage.BFLOAT16, pairs=True)
    proto = load_proto("mace/proto/mace.proto")
    assert (plain.model.format_version, exported.model.format_version) == (1, 2)
    for constant in exported.model.constants:
        half = constant.data_type == proto.DT_BFLOAT16
        assert (constant.layout == proto.CL_PACKED_O16_PAIRS) == half
    expected = _outputs(_read(plain, plain_data))
    found = _outputs(_read(exported, data))
    for name in ("features", "scores"):
        np.testing.assert_array_equal(found[name], expected[name])


def test_bfloat16_rounds_to_nearest_even() -> None:
    values = np.array(
        [1.0, 1 + 2**-8, 1 + 3 * 2**-8, -3.14159, 1e-40, np.inf, -np.inf, 0.0],
        np.float32,
    )
    bits = encode(values, Storage.BFLOAT16)
    wide = (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
    # Ties go to the even neighbour: down for the first, up for the second.
    assert wide[:3].tolist() == [1.0, 1.0, 1 + 2**-6]
    finite = np.isfinite(values) & (np.abs(values) > 1e-30)
    np.testing.assert_allclose(wide[finite], values[finite], rtol=2**-8)
    assert wide[5:].tolist() == [np.inf, -np.inf, 0.0]
    nan = np.array([0x7F800001], np.uint32).view(np.float32)
    assert encode(nan, Storage.BFLOAT16)[0] & 0x7F == 0x40 | 0x40


def test_names_and_hints_of_the_border() -> None:
    signature = InputSignature(DataFormat.NCHW, alias="in", value_range=(-1.0, 2.0))
    exported, _ = _export(
        _network(),
        inputs={"image": signature},
        hints={"runtime": "cpu", "winograd": 4, "data_type": "fp32_fp32"},
    )
    model = exported.model
    (image,) = model.inputs
    assert list(image.shape) == [-1, 4, 6, 5]
    assert (image.data_format, image.data_type) == (2, 1)
    assert (image.alias, list(image.range)) == ("in", [-1.0, 2.0])
    features, scores = model.outputs
    assert list(features.shape) == [-1, 6, 5, 33]
    assert features.data_format == 1
    assert (scores.data_type, scores.data_format) == (1, 0)
    assert (model.hints.winograd, model.hints.runtime) == (4, "cpu")
    assert model.producer.startswith("mace-converter ")


def test_format_none_is_written_as_none() -> None:
    exported, _ = _export(_network(DataFormat.NONE))
    assert list(exported.model.inputs[0].shape) == [-1, 4, 6, 5]
    assert exported.model.inputs[0].data_format == 0


def test_operators_tell_their_source_and_shapes() -> None:
    exported, _ = _export(_network())
    by_type = {op.type: op for op in exported.model.operators}
    assert list(by_type["Gather"].source_outputs) == ["g"]
    first = exported.model.operators[0]
    assert list(first.source_outputs) == ["b"]
    assert list(first.output_shapes[0].dims) == [-1, 6, 5, 40]
    attributes = {a.name: a for a in first.attributes}
    assert attributes["groups"].i == 2
    assert attributes["activation"].s == "RELUX"


def test_obfuscation_hides_names_but_those_of_the_border() -> None:
    graph = _network()
    plain, (exported, data) = (
        _outputs(graph),
        _export(graph, obfuscate=True, hints={"obfuscated": True}),
    )
    model = exported.model
    names = [op.name for op in model.operators] + [c.name for c in model.constants]
    names += [n for op in model.operators for n in op.outputs]
    names = [n for n in names if n not in ("features", "scores")]
    assert all(len(n) == 8 and int(n, 16) >= 0 for n in names)
    assert len({op.name for op in model.operators}) == len(model.operators)
    assert not any(op.source_outputs for op in model.operators)
    assert model.hints.obfuscated
    found = _outputs(_read(exported, data))
    np.testing.assert_array_equal(found["scores"], plain["scores"])


def _quantized_graph() -> Graph:
    """An image whose channels have scales of their own, and a whole one."""
    b = GraphBuilder("net", "onnx")
    x = b.input("x", DataType.FLOAT32, (1, 2, 5, 3), DataFormat.NCHW)
    scales = b.constant("scales", np.array([0.5, 2.0], np.float32))
    zeros = b.constant("zeros", np.array([1, -3], np.int8))
    q = b.one("Quantize", [x, scales, zeros], "q", {"to": "INT8", "axis": 1})
    b.output(b.one("Squeeze", [q], "s", {"axes": [0]}), "s")
    b.output(b.one("Dequantize", [q, scales, zeros], "y", {"axis": 1}), "y")
    scale = b.constant("scale", np.array(0.25, np.float32))
    whole = b.one("Quantize", [x, scale], "w", {"to": "UINT8"})
    b.output(b.one("ExpandDims", [whole], "e", {"axes": [0]}), "e")
    table = b.constant("table", np.linspace(-1, 1, 6, dtype=np.float32).reshape(3, 2))
    k = b.one("Quantize", [table, scale], "k", {"to": "INT8"})
    i = b.input("i", DataType.INT8, (4, 3))
    i.quantization = Quantization((0.125,), (7,))
    b.output(b.one("MatMulInteger", [i, k], "m"), "m")
    return b.graph


def test_quantization_is_kept_from_graph_to_file_and_back() -> None:
    graph = _quantized_graph()
    optimize(graph)
    verify(graph)
    exported, data = _export(graph)
    model = exported.model
    found = {
        name: read_quantization(quantization)
        for op in model.operators
        for name, quantization in zip(op.outputs, op.output_quantization)
    }
    by_channel = Quantization((0.5, 2.0), (1, -3), axis=3)
    assert by_channel in found.values()
    assert found["e"] == Quantization((0.25,))
    assert "m" not in found and "y" not in found
    borders = {
        v.name: read_quantization(v.quantization)
        for v in (*model.inputs, *model.outputs)
    }
    # The channels of an image without its first axis.
    assert borders["s"] is not None and borders["s"].axis in (0, 2)
    assert borders == {
        "x": None,
        "i": Quantization((0.125,), (7,)),
        "s": Quantization((0.5, 2.0), (1, -3), borders["s"].axis),
        "y": None,
        "e": Quantization((0.25,)),
        "m": None,
    }
    constants = {c.name: read_quantization(c.quantization) for c in model.constants}
    assert constants["k"] == Quantization((0.25,))
    assert [name for name, found in constants.items() if found] == ["k"]
    again = _read(exported, data)
    verify(again)
    for name, value in graph.values.items():
        if not value.is_constant:
            assert again.values[name].quantization == value.quantization, name


def test_nothing_is_quantized_that_no_model_says() -> None:
    exported, _ = _export(_network())
    model = exported.model
    assert not any(op.output_quantization for op in model.operators)
    values = (*model.inputs, *model.outputs, *model.constants)
    assert not any(value.HasField("quantization") for value in values)


def test_constant_read_in_two_forms_is_written_in_both() -> None:
    b = GraphBuilder("net", "onnx")
    x = b.input("x", DataType.FLOAT32, (16, 16))
    w = b.constant("w", np.arange(256, dtype=np.float32).reshape(16, 16))
    y = b.one("FullyConnected", [x, w], "y")
    z = b.one("Eltwise", [y, w], "z", {"mode": "ADD"})
    b.output(b.one("Eltwise", [z, w], "v", {"mode": "MUL"}), "v")
    exported, data = _export(b.graph)
    assert [c.name for c in exported.model.constants] == ["w", "w#1"]
    feed = {"x": np.eye(16, dtype=np.float32)}
    np.testing.assert_array_equal(
        run_graph(_read(exported, data), feed)["v"], run_graph(b.graph, feed)["v"]
    )


def test_everything_unsupported_is_listed() -> None:
    b = GraphBuilder("net", "onnx")
    x = b.input("x", DataType.INT32, (2, 3))
    y = b.one("Softmax", [x], "soft")
    b.output(b.one("Activation", [y], "act", {"activation": "TANH"}), "y")
    with pytest.raises(UnsupportedNodesError) as caught:
        _export(b.graph)
    assert "2 nodes cannot be converted" in str(caught.value)
    assert [n.node for n in caught.value.nodes] == ["soft", "act"]


def test_unknown_rank_at_the_border() -> None:
    b = GraphBuilder("net", "onnx")
    x = b.input("x", DataType.FLOAT32, (2, 3))
    y = b.one("Activation", [x], "y", {"activation": "TANH"})
    b.output(y, "y")
    y.shape = None
    with pytest.raises(ExportError, match="rank of 'y'"):
        _export(b.graph)


def test_text_form_parses_back() -> None:
    from google.protobuf import text_format

    exported, _ = _export(_network())
    text = graph_text(exported.model)
    proto = load_proto("mace/proto/mace.proto")
    assert text_format.Parse(text, proto.Model()) == exported.model


def test_page_draws_every_operator_and_loads_nothing() -> None:
    exported, _ = _export(_network())
    model = exported.model
    model.operators[0].name = '</script><b>"&'
    page = graph_page(model)
    assert page.count('class="node"') == len(model.operators) + 3
    for op in model.operators[1:]:
        assert op.name in page
    assert "</script><b>" not in page
    # Within a script, these begin what only another end tag would end.
    model.operators[0].name = "<!--<script>"
    script = graph_page(model).split("<script>")[1]
    assert "<!--" not in script and "\\u003c!--\\u003cscript\\u003e" in script
    for part in ("in", "out", "whole", "svg", "png"):
        assert f'<button id="{part}"' in page
    assert "prefers-color-scheme: dark" in page
    for loading in ("http://", "https://", "src=", "@import", "<link"):
        assert loading not in page


def test_page_shows_devices_and_copies() -> None:
    exported, _ = _export(_network())
    model = exported.model
    plain = graph_page(model)
    assert "data-device" not in plain and 'class="edge copy"' not in plain
    made = {name: op for op in model.operators for name in op.outputs}
    second = next(op for op in model.operators if op.inputs[0] in made)
    tensor = second.inputs[0]
    gpu = OperatorPlace("gpu", "1.5 us", {"not on apu": "no <such> kernel"})
    places = {(op.name, op.type): OperatorPlace("cpu") for op in model.operators}
    places[second.name, second.type] = gpu
    copies = {(tensor, "cpu", "gpu"): 48}
    page = graph_page(model, GraphPlaces(places, copies))
    assert f"{len(model.operators) - 1} on cpu</button>" in page
    assert "1 on gpu</button>" in page
    assert ">gpu 1.5 us</text>" in page
    assert page.count('class="edge copy"') == 1
    assert f"{tensor}: 48 bytes are copied, cpu to gpu" in page
    assert "no \\u003csuch\\u003e kernel" in page
    # An operator that a device added may have the name of another.
    other = {(second.name, "Cast"): gpu}
    assert "data-device" not in graph_page(model, GraphPlaces(other))


def test_page_names_states() -> None:
    exported, _ = _export(_network(), states={"image": "scores"})
    assert exported.model.format_version == 4
    page = graph_page(exported.model)
    assert page.count(">state</text>") == 1
    assert "becomes scores after each run" in page


def test_reads_what_was_written(tmp_path: Path) -> None:
    model = write_dense_model(tmp_path, [np.ones((4, 3)), np.ones((2, 4))])
    assert [t.name for t in model.inputs] == ["x"]
    output = model.output("y")
    assert output is not None
    assert (output.shape, output.data_type) == ((1, 2), "float32")
    assert model.output("h0") is None
    first, second = model.operators
    assert (first.name, first.type, first.inputs) == (
        "fc0",
        "FullyConnected",
        ("x", "w0"),
    )
    assert first.outputs[0].source == "source/h0"
    assert second.outputs[0].is_static


def test_errors_name_the_file_and_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"m\.pb does not exist: convert"):
        read_model_file(ModelPlaces(tmp_path / "m.pb", tmp_path / "m.data"))
    (tmp_path / "m.pb").write_bytes(b"\xff\xff\xff")
    with pytest.raises(ModelFileError, match=r"m\.data does not exist"):
        read_model_file(ModelPlaces(tmp_path / "m.pb", tmp_path / "m.data"))
    (tmp_path / "m.data").write_bytes(b"")
    with pytest.raises(ModelFileError, match=r"m\.pb is no readable MACE model"):
        read_model_file(ModelPlaces(tmp_path / "m.pb", tmp_path / "m.data"))
