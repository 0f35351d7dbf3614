# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Sparse constants, compared with TensorFlow's interpreter."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.tflite.reader import read_network
from mace.python.tools.importers.tflite.testing import (
    Family,
    one_operator,
    operators_of,
)
from mace.python.tools.ir.dtypes import Array

_FAMILY = Family("densify")


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
    _FAMILY.check_file(tmp_path, data, rng.random(dense.shape, np.float32))


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()
