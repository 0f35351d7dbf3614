# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Moved, selected, made, placed and reduced elements, against TensorFlow Lite."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.tflite.reader import read_network
from mace.python.tools.importers.tflite.testing import (
    Family,
    converted,
    import_file,
    one_operator,
    operators_of,
    rand,
    run_file,
)
from mace.python.tools.ir.dtypes import Array

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

_FAMILY = Family("arrangement")
check = _FAMILY.check
check_int8 = _FAMILY.check_int8
check_file = _FAMILY.check_file


_MOVES: list[Callable[[Any], Any]] = [
    lambda x: tf.reshape(x, [5, -1]),
    lambda x: tf.transpose(x, [2, 0, 1]),
    lambda x: tf.expand_dims(x, 1),
    lambda x: tf.squeeze(tf.expand_dims(x, 1), [1]),
    lambda x: tf.stack([x, x], 1),
    lambda x: tf.concat([x, x], 1),
    lambda x: tf.unstack(x, axis=1)[1:],
    lambda x: tf.split(x, 2, 2),
    lambda x: tf.split(x, [1, 3], 2),
    lambda x: tf.pad(x, [[0, 0], [1, 2], [2, 0]]),
    lambda x: tf.pad(x, [[0, 0], [1, 2], [2, 0]], "REFLECT"),
    lambda x: tf.pad(x, [[0, 0], [1, 2], [2, 0]], "SYMMETRIC"),
    lambda x: tf.pad(x, [[0, 0], [1, 2], [2, 0]], constant_values=-1.5),
    lambda x: tf.tile(x, [1, 2, 3]),
    lambda x: tf.reverse(x, [1]),
    lambda x: x[1:, ::2, -3:-1],
    lambda x: x[..., 1],
    lambda x: x[0, ..., ::-1],
    lambda x: x[:, tf.newaxis, 1, ..., tf.newaxis],
    lambda x: x[-1],
    lambda x: x[::-1, 4:0:-2],
    lambda x: tf.slice(x, [0, 1, 2], [-1, 2, 1]),
]


@pytest.mark.parametrize("number", range(len(_MOVES)))
def test_moves(number: int) -> None:
    check(_MOVES[number], rand(3, 5, 4))


@pytest.mark.parametrize("number", range(len(_MOVES)))
def test_moves_of_integers(number: int) -> None:
    check_int8(_MOVES[number], rand(3, 5, 4), share=0)


def test_concatenation_of_several_scales() -> None:
    def joined(a: Any, b: Any) -> Any:
        return tf.concat([a, b * 0.3], 1)

    check_int8(joined, rand(3, 50), rand(3, 40))


@pytest.mark.parametrize("kind", [np.float32, np.int32, np.bool_])
def test_broadcast(kind: Any) -> None:
    x = rand(3, 1).astype(kind)
    for shape in ([3, 4], [2, 3, 1], [3, 1]):
        data = one_operator(
            "BROADCAST_TO",
            [x],
            [(shape, x.dtype.name)],
            {1: np.array(shape, np.int32)},
            version=2,
        )
        check_file(data, x)


def test_broadcast_of_shapes() -> None:
    def summed(x: Any) -> Any:
        a, b = tf.constant([3, 1]), tf.constant([2, 1, 4])
        shape = tf.raw_ops.BroadcastArgs(s0=a, s1=b)
        return x + tf.cast(shape, tf.float32)

    check(summed, rand(3))
    a, b = np.array([3, 1], np.int32), np.array([2, 1, 4], np.int32)
    data = one_operator("BROADCAST_ARGS", [], [((3,), "int32")], {0: a, 1: b})
    check_file(data)


def test_reshape_of_old_files() -> None:
    data = one_operator(
        "RESHAPE",
        [rand(2, 6)],
        [((3, 4), "float32")],
        {},
        {"new_shape": [3, 4]},
        "ReshapeOptions",
    )
    check_file(data, rand(2, 6))


def test_dimensions_of_one() -> None:
    # The converter makes RESHAPE of them where shapes are known.
    x = rand(2, 6)
    data = one_operator(
        "EXPAND_DIMS", [x], [((2, 1, 6), "float32")], {1: np.array([-2], np.int32)}
    )
    check_file(data, x)
    x = rand(1, 6, 1)
    for axes, shape in (([], (6,)), ([0], (6, 1)), ([-1], (1, 6))):
        options = {"squeeze_dims": axes}
        data = one_operator(
            "SQUEEZE", [x], [(shape, "float32")], {}, options, "SqueezeOptions"
        )
        check_file(data, x)


def test_join_of_one() -> None:
    data = one_operator(
        "CONCATENATION",
        [rand(2, 6)],
        [((2, 6), "float32")],
        {},
        {"axis": 1},
        "ConcatenationOptions",
    )
    check_file(data, rand(2, 6))


def test_select() -> None:
    check(lambda a, b: tf.where(a > b, a, b * 2), rand(3, 4), rand(3, 4))
    check(lambda a, b: tf.where(a > b, a, 1.0), rand(3, 1), rand(4))
    a, b = rand(3, 4), rand(3, 4) + 5
    condition = np.array([True, False, True])
    data = one_operator("SELECT", [condition, a, b], [(a.shape, "float32")])
    check_file(data, condition, a, b)


def test_gather() -> None:
    check(lambda x: tf.gather(x, [2, 0, 2], axis=1), rand(2, 3, 4))
    indices = np.array([[1, 0], [1, 1]], np.int32)
    check(lambda x, i: tf.gather(x, i, axis=2), rand(2, 3, 4), indices)
    check_int8(lambda x: tf.gather(x, [2, 0], axis=1), rand(2, 3, 4), share=0)


@pytest.mark.parametrize(("axis", "batch"), [(1, 1), (2, 1), (-1, 1), (2, 2)])
def test_gather_in_each_batch(axis: int, batch: int) -> None:
    rng = np.random.default_rng(1)
    indices = rng.integers(0, 3, (2, 3, 2)).astype(np.int32)
    check(
        lambda x, i: tf.gather(x, i, axis=axis, batch_dims=batch),
        rand(2, 3, 4, 5),
        indices,
    )


def test_gather_nd() -> None:
    x = rand(3, 4, 5)
    fixed = np.array([[[1, 0], [2, 3]]], np.int32)
    check(lambda x: tf.gather_nd(x, fixed), x)
    check(tf.gather_nd, x, fixed)
    check(tf.gather_nd, x, np.array([[1, 0, 4], [2, 3, 0]], np.int32))
    check(tf.gather_nd, x, np.array([[1]], np.int32))


def test_embedding_lookup() -> None:
    ids = np.array([2, 0, 4], np.int32)
    data = one_operator(
        "EMBEDDING_LOOKUP", [ids], [((3, 6), "float32")], {1: rand(5, 6)}
    )
    check_file(data, ids)


def test_one_hot() -> None:
    indices = np.array([[1, 0], [3, 5]], np.int32)
    for axis in (-1, 0, 1):
        check(lambda i, axis=axis: tf.one_hot(i, 4, 2.0, -1.0, axis), indices)


def test_filled() -> None:
    def every(x: Any) -> list[Any]:
        return [
            x + tf.fill([4], 2.0),
            x + tf.cast(tf.range(0, 8, 2), tf.float32),
            x + tf.cast(tf.shape(x)[0], tf.float32),
        ]

    check(every, rand(3, 4))
    x = rand(3, 4)
    for kind, inputs, shape, out in (
        ("SHAPE", {}, (2,), "int32"),
        ("RANK", {}, (), "int32"),
        ("ZEROS_LIKE", {}, (3, 4), "float32"),
    ):
        table = "ShapeOptions" if kind == "SHAPE" else ""
        options = {"out_type": 2} if table else {}
        data = one_operator(kind, [x], [(shape, out)], inputs, options, table)
        check_file(data, x)
    numbers = {0: np.array([2, 3], np.int32), 1: np.array(1.5, np.float32)}
    data = one_operator("FILL", [], [((2, 3), "float32")], numbers)
    check_file(data)
    ends = {i: np.array(n, np.int32) for i, n in enumerate((1, 9, 3))}
    data = one_operator("RANGE", [], [((3,), "int32")], ends)
    check_file(data)


def test_large_constants_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    shape = {0: np.array([2**30, 2], np.int32), 1: np.array(1.5, np.float32)}
    ends = {i: np.array(n, np.int32) for i, n in enumerate((1, 2**31 - 1, 1))}
    for kind, numbers in (("FILL", shape), ("RANGE", ends)):
        path.write_bytes(one_operator(kind, [], [((1,), "int32")], numbers))
        with pytest.raises(UnsupportedNodesError, match="too large"):
            import_file(path)


@pytest.mark.parametrize(
    ("align_corners", "half_pixel_centers"),
    [(False, False), (True, False), (False, True)],
)
@pytest.mark.parametrize("op", ["Bilinear", "NearestNeighbor"])
def test_resize(op: str, align_corners: bool, half_pixel_centers: bool) -> None:
    for size in ([12, 18], [11, 5], [3, 20], [1, 1]):

        def resized(x: Any, size: list[int] = size) -> Any:
            return getattr(tf.raw_ops, f"Resize{op}")(
                images=x,
                size=size,
                align_corners=align_corners,
                half_pixel_centers=half_pixel_centers,
            )

        check(resized, rand(2, 6, 9, 3))
        # The interpreter rounds the positions of integers to 1/1024 pixels.
        steps = 0 if op == "NearestNeighbor" else 2
        check_int8(resized, rand(2, 6, 9, 3), steps=steps)


@pytest.mark.parametrize("block", [2, 3])
def test_blocks(block: int) -> None:
    check(lambda x: tf.nn.space_to_depth(x, block), rand(2, 6, 12, 3))
    check(lambda x: tf.nn.depth_to_space(x, block), rand(2, 3, 4, 36))


def test_batches() -> None:
    def there(x: Any) -> Any:
        return tf.space_to_batch(x, [2, 3], [[1, 1], [0, 3]])

    def back(x: Any) -> Any:
        return tf.batch_to_space(x, [2, 3], [[1, 0], [0, 2]])

    check(there, rand(2, 6, 9, 3))
    check(back, rand(12, 4, 5, 3))
    check_int8(there, rand(2, 6, 9, 3), share=0)


def _compressed(rows: Array) -> tuple[list[int], list[int]]:
    """Segments and indices of the columns of each row that are not 0."""
    kept = [np.flatnonzero(row).tolist() for row in rows]
    segments = np.cumsum([0, *map(len, kept)])
    return segments.tolist(), [index for row in kept for index in row]


def _file(dense: Array, blocked: bool) -> bytes:
    """A sum of a sparse matrix, or of one in blocks of 1 x 4, and an input."""
    schema: Any = importlib.import_module("tensorflow.lite.python.schema_py_generated")
    flatbuffers: Any = importlib.import_module("flatbuffers")
    data = one_operator(
        "DENSIFY",
        [],
        [(dense.shape, dense.dtype.name)],
        constants={0: dense},
        options={},
        table="DensifyOptions",
    )
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(data, 0))
    graph = model.subgraphs[0]
    tensor, dense_tensor = graph.tensors[0], graph.tensors[1]
    rows, columns = dense.shape
    blocks = dense.reshape(rows, columns // 4, 4)
    kept: Array = np.asarray(blocks.any(-1)) if blocked else dense
    segments, indices = _compressed(kept)
    sparsity = schema.SparsityParametersT()
    sparsity.traversalOrder = [0, 1, 2] if blocked else [0, 1]
    sparsity.blockMap = [1] if blocked else []
    outer, inner = schema.DimensionMetadataT(), schema.DimensionMetadataT()
    outer.format, outer.denseSize = schema.DimensionType.DENSE, rows
    inner.format = schema.DimensionType.SPARSE_CSR
    inner.arraySegmentsType = schema.SparseIndexVector.Uint16Vector
    inner.arraySegments = schema.Uint16VectorT()
    inner.arraySegments.values = segments
    inner.arrayIndicesType = schema.SparseIndexVector.Uint8Vector
    inner.arrayIndices = schema.Uint8VectorT()
    inner.arrayIndices.values = indices
    sparsity.dimMetadata = [outer, inner]
    values = dense[dense != 0]
    if blocked:
        block = schema.DimensionMetadataT()
        block.format, block.denseSize = schema.DimensionType.DENSE, 4
        sparsity.dimMetadata.append(block)
        values = blocks[blocks.any(-1)].reshape(-1)
    tensor.sparsity = sparsity
    stored = np.frombuffer(values.tobytes(), np.uint8)
    model.buffers[tensor.buffer].data = stored
    x, result = schema.TensorT(), schema.TensorT()
    for entry, name in ((x, "x"), (result, "sum")):
        entry.name, entry.shape, entry.type = name, list(dense.shape), 0
        entry.buffer = 0
    graph.tensors += [x, result]
    add = schema.OperatorT()
    add.inputs, add.outputs, add.opcodeIndex = [1, 2], [3], 1
    graph.operators.append(add)
    graph.inputs, graph.outputs = [2], [3]
    code = schema.OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.ADD
    code.version = 1
    model.operatorCodes.append(code)
    assert dense_tensor.type == 0
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


@pytest.mark.parametrize("blocked", [False, True], ids=["elements", "blocks"])
def test_sparse_weights(blocked: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    dense = rng.random((6, 8), np.float32)
    dense *= np.repeat(rng.random((6, 2)) > 0.6, 4, 1)
    dense[0, 1] = 0 if not blocked else dense[0, 1]
    data = _file(dense, blocked)
    assert operators_of(data, tmp_path / "m.tflite") == {"DENSIFY", "ADD"}
    tensor = read_network(tmp_path / "m.tflite").tensors[0]
    assert 0 < tensor.buffer.size < dense.nbytes
    np.testing.assert_array_equal(tensor.array(), dense)
    check_file(data, rng.random(dense.shape, np.float32))


def test_top_k() -> None:
    check(lambda x: tf.math.top_k(x, 3), rand(2, 3, 7))
    integers = np.random.default_rng(3).permutation(12).reshape(2, 6).astype(np.int32)
    check(lambda x: tf.math.top_k(x, 6), integers)


def test_scatter_nd() -> None:
    places = np.array([[1], [4], [1]], np.int32)
    check(lambda x: tf.scatter_nd(places, x, [5, 3]), rand(3, 3))
    pairs = np.array([[0, 2], [1, 1]], np.int32)
    check(lambda i, x: tf.scatter_nd(i, x, [2, 3]), pairs, rand(2))


def test_reverse_sequence() -> None:
    lengths = np.array([2, 0, 4], np.int32)
    check(lambda x: tf.reverse_sequence(x, lengths, 1), rand(3, 4, 2))
    check(
        lambda x, n: tf.reverse_sequence(x, n, seq_axis=0, batch_axis=2),
        rand(4, 2, 3),
        lengths,
    )


def test_diagonals() -> None:
    check(lambda x: tf.linalg.diag(x), rand(2, 4))
    check(lambda x, y: tf.linalg.set_diag(x, y), rand(2, 3, 4), rand(2, 3))


def test_segments() -> None:
    check(lambda x: tf.math.segment_sum(x, [0, 0, 1, 2]), rand(4, 3))
    for kind in ("sum", "prod", "max", "min"):
        combine = getattr(tf.math, f"unsorted_segment_{kind}")
        check(lambda x, f=combine: f(x, [0, 2, 1, 2], 3), rand(4, 3))


def test_where_and_unique() -> None:
    check(lambda x: tf.where(x > 0), rand(3, 4))
    values = np.array([3, 1, 3, 2, 1], np.int32)
    check(lambda x: tf.unique(x), values)
    check(lambda x: tf.unique(x), values.astype(np.float32))


def test_buckets() -> None:
    check(
        lambda x: tf.raw_ops.Bucketize(input=x, boundaries=[-0.5, 0.25, 1.0]),
        np.append(rand(2, 5).reshape(-1), np.float32(0.25)),
    )


@pytest.mark.parametrize("most", [3, 6, 9])
@pytest.mark.parametrize("scored", [False, True])
def test_non_max_suppression(scored: bool, most: int) -> None:
    corners = np.sort(rand(6, 2, 2), axis=1).reshape(6, 4)
    raw = tf.raw_ops

    def select(boxes: Any, scores: Any) -> Any:
        common = {
            "boxes": boxes,
            "scores": scores,
            "max_output_size": most,
            "iou_threshold": 0.3,
            "score_threshold": 0.1,
            "pad_to_max_output_size": True,
        }
        if not scored:
            return tuple(raw.NonMaxSuppressionV4(**common))
        return tuple(raw.NonMaxSuppressionV5(soft_nms_sigma=0.0, **common))

    check(select, corners, np.abs(rand(6)))


@pytest.mark.parametrize("start", [[0, 1, 0], [1, 9, 0], [-3, 2, 1]])
@pytest.mark.parametrize("block", [(1, 2, 5), (2, 1, 3), (3, 4, 5)])
def test_dynamic_update_slice(block: tuple[int, ...], start: list[int]) -> None:
    x, update = rand(3, 4, 5), rand(*block) + 5
    places = np.array(start, np.int32)
    data = one_operator(
        "DYNAMIC_UPDATE_SLICE", [x, update, places], [(x.shape, "float32")]
    )
    check_file(data, x, update, places)


@pytest.mark.parametrize("keep", [False, True])
def test_reductions(keep: bool) -> None:
    operations = [
        tf.reduce_mean,
        tf.reduce_sum,
        tf.reduce_max,
        tf.reduce_min,
        tf.reduce_prod,
    ]
    check(lambda x: [f(x, [0, -1], keep) for f in operations], rand(3, 4, 5))
    check(
        lambda x: [tf.reduce_any(x > 1, 1, keep), tf.reduce_all(x > -1, 1, keep)],
        rand(3, 4, 5),
    )


@pytest.mark.parametrize("reduce", ["mean", "sum", "max", "min"])
def test_reductions_of_integers(reduce: str) -> None:
    function = getattr(tf, f"reduce_{reduce}")
    # The interpreter's mean is up to 0.75 steps from the exact one.
    x = rand(2, 6, 7, 20)
    check_int8(lambda x: function(x, [1, 2]), x, share=0.4)
    check_int8(lambda x: function(x, [1], True), x, share=0.4)


def test_mean_of_16_bits() -> None:
    x = rand(2, 6, 7, 20)
    check_int8(lambda x: tf.reduce_mean(x, [1, 2]), x, integers="16x8")


@pytest.mark.parametrize("axis", [0, 2, -1])
def test_arg(axis: int) -> None:
    def every(x: Any) -> list[Any]:
        return [tf.argmax(x, axis), tf.argmin(x, axis, tf.int32)]

    check(every, np.round(rand(4, 5, 6, 7)))  # has ties
    check_int8(every, np.round(rand(4, 5, 6, 7)), steps=0)


def test_cumsum() -> None:
    for exclusive in (False, True):
        for reverse in (False, True):
            check(
                lambda x, e=exclusive, r=reverse: tf.cumsum(x, 1, e, r), rand(3, 4, 5)
            )


def _drawn(
    function: Callable[[Any], Any], x: Array, operator: str, folder: Path
) -> Array:
    data, path = converted(function, [x]), folder / "m.tflite"
    assert operator in operators_of(data, path)
    _FAMILY.note(operator)
    (found,) = run_file(data, [x], path)
    return found


def test_numbers(tmp_path: Path) -> None:
    x = np.zeros((64, 64), np.float32)
    drawn = _drawn(
        lambda x: x + tf.random.normal((64, 64)), x, "RANDOM_STANDARD_NORMAL", tmp_path
    )
    assert abs(drawn.mean()) < 0.1 and abs(drawn.std() - 1) < 0.1
    drawn = _drawn(
        lambda x: x + tf.random.uniform((64, 64)), x, "RANDOM_UNIFORM", tmp_path
    )
    assert drawn.min() >= 0 and drawn.max() < 1 and abs(drawn.mean() - 0.5) < 0.05


def test_classes(tmp_path: Path) -> None:
    chances = np.array([0.1, 0.7, 0.2], np.float32)
    drawn = _drawn(
        lambda x: tf.random.categorical(x, 2000),
        np.log(chances)[None],
        "MULTINOMIAL",
        tmp_path,
    )
    assert drawn.shape == (1, 2000)
    shares = np.bincount(drawn[0], minlength=3) / 2000
    np.testing.assert_allclose(shares, chances, atol=0.05)


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()
