# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes behind results whose number the run determines, compared with onnxruntime.

In each model, NonZero finds the elements of `x` above 0 or the rows of which the first
element is; the inputs make it find none, some and all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.onnx.testing import (
    assert_same,
    import_open,
    make_model,
    run_mace,
    run_onnxruntime,
)
from mace.python.tools.ir.builder import narrow
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.passes.manager import optimize

_make = onnx.helper.make_node
_SOME = np.array([0.5, -1, 2, 0.25, -3, 2], np.float32)
_CASES = {"some": _SOME, "all": np.abs(_SOME), "none": -np.abs(_SOME)}
_FILLED = {"some": _SOME, "all": np.abs(_SOME)}
# [n]: the elements of x above 0, and [n]: their positions.
_FOUND = [
    _make("Greater", ["x", "zero"], ["mask"]),
    _make("NonZero", ["mask"], ["places"]),
    _make("Transpose", ["places"], ["columns"]),
    _make("GatherND", ["x", "columns"], ["found"]),
    _make("NonZero", ["mask"], ["again"]),
    _make("Squeeze", ["again", "front"], ["index"]),
]
# [n, 4]: rows of a table.
_ROWS = [*_FOUND, _make("Gather", ["table", "index"], ["rows"])]
_CONSTANTS: dict[str, Array] = {
    "zero": np.float32(0),
    "front": np.array([0]),
    "first": np.array(0),
    "three": np.array([3]),
    "fifty": np.array([50]),
    "flat": np.array([-1]),
    "table": np.arange(24, dtype=np.float32).reshape(6, 4) % 7 - 2,
}


def _check(
    tmp_path: Path,
    nodes: Sequence[onnx.NodeProto],
    x: Array,
    constants: Mapping[str, Any] | None = None,
    outputs: Sequence[str] = ("y",),
    **more: Array,
) -> list[Array]:
    known = {**_CONSTANTS, **(constants or {})}
    read = {name for node in nodes for name in node.input}
    for node in nodes:
        for entry in node.attribute:
            read.update(name for n in entry.g.node for name in n.input)
    used = {k: np.asarray(v) for k, v in known.items() if k in read}
    inputs = {"x": x, **more}
    model = make_model(nodes, inputs, outputs, used)
    found = run_mace(model, inputs, tmp_path)
    wanted = run_onnxruntime(model, inputs)
    assert [a.shape for a in found] == [a.shape for a in wanted]
    assert_same(found, wanted)
    return found


@pytest.mark.parametrize("x", _CASES.values(), ids=_CASES)
def test_few_largest_of_what_was_found(x: Array, tmp_path: Path) -> None:
    # torch.topk(scores[mask], min(50, n)), as torchvision's detectors are exported.
    nodes = [
        *_FOUND,
        _make("Shape", ["index"], ["length"]),
        _make("Gather", ["length", "first"], ["number"], axis=0),
        _make("Unsqueeze", ["number", "front"], ["number1"]),
        _make("Concat", ["three", "number1"], ["both"], axis=0),
        _make("ReduceMin", ["both"], ["least"], keepdims=0),
        _make("Reshape", ["least", "flat"], ["k"]),
        _make("TopK", ["found", "k"], ["values", "order"]),
        _make("Gather", ["index", "order"], ["chosen"]),
        _make("Gather", ["table", "chosen"], ["rows"]),
        _make("Mul", ["values", "values"], ["squares"]),
        _make("Unsqueeze", ["squares", "one"], ["column"]),
        _make("Mul", ["rows", "column"], ["y"]),
    ]
    outputs = ["y", "values", "chosen"]
    _check(tmp_path, nodes, x, {"one": [1]}, outputs)


@pytest.mark.parametrize("x", _CASES.values(), ids=_CASES)
def test_parts_are_joined(x: Array, tmp_path: Path) -> None:
    nodes = [
        *_ROWS,
        _make("Neg", ["x"], ["minus"]),
        _make("Greater", ["minus", "zero"], ["mask2"]),
        _make("NonZero", ["mask2"], ["places2"]),
        _make("Squeeze", ["places2", "front"], ["index2"]),
        _make("Gather", ["table", "index2"], ["rows2"]),
        _make("Concat", ["rows", "table", "rows2"], ["y"], axis=0),
        _make("Concat", ["index", "index2"], ["z"], axis=0),
        _make("Concat", ["table", "rows"], ["w"], axis=0),
        _make("Shape", ["y"], ["s"]),
    ]
    _check(tmp_path, nodes, x, outputs=["y", "z", "w", "s"])


@pytest.mark.parametrize("x", _FILLED.values(), ids=_FILLED)
@pytest.mark.parametrize(
    ("op_type", "axes"),
    [
        ("ReduceMax", [0]),
        ("ReduceMin", [0, 1]),
        ("ReduceSum", [0]),
        ("ReduceMean", [0]),
        ("ReduceMean", [0, 1]),
        ("ReduceProd", [0]),
        ("ReduceSumSquare", [0]),
        ("ReduceLogSumExp", [0]),
        ("ReduceMax", [1]),
    ],
)
def test_reductions(op_type: str, axes: list[int], x: Array, tmp_path: Path) -> None:
    nodes = [*_ROWS, _make(op_type, ["rows", "axes"], ["y"], keepdims=0)]
    _check(tmp_path, nodes, x, {"axes": axes})


@pytest.mark.parametrize("x", _FILLED.values(), ids=_FILLED)
@pytest.mark.parametrize("op_type", ["ArgMax", "ArgMin"])
def test_extreme_row(op_type: str, x: Array, tmp_path: Path) -> None:
    _check(tmp_path, [*_ROWS, _make(op_type, ["rows"], ["y"], axis=0)], x)


@pytest.mark.parametrize("x", _CASES.values(), ids=_CASES)
@pytest.mark.parametrize(
    ("begin", "end"), [(0, 2), (0, 50), (0, 2**62), (1, 3), (-2, 2**62), (0, -1)]
)
def test_slices(begin: int, end: int, x: Array, tmp_path: Path) -> None:
    nodes = [*_ROWS, _make("Slice", ["rows", "begin", "end", "front"], ["y"])]
    constants = {"begin": [begin], "end": [end]}
    if begin == 0 and end > 0:
        _check(tmp_path, nodes, x, constants)
        return
    with pytest.raises(MaceError, match="only the run determines"):
        _check(tmp_path, nodes, x, constants)


@pytest.mark.parametrize(
    ("begin", "end"), [(1, 4), (-3, 6), (4, 2), (0, 99), (-99, -2), (6, 6)]
)
def test_slice_from_and_to_computed_positions(
    begin: int, end: int, tmp_path: Path
) -> None:
    nodes = [
        _make("Slice", ["table", "a", "b", "front"], ["cut"]),
        _make("Mul", ["cut", "cut"], ["y"]),
        _make("ReduceSum", ["cut", "front"], ["z"], keepdims=0),
    ]
    bounds = {"a": np.array([begin]), "b": np.array([end])}
    _check(tmp_path, nodes, _SOME, None, ["y", "z"], **bounds)


@pytest.mark.parametrize("unknown", ["axes", "steps"])
def test_slice_along_an_axis_that_the_run_computes(
    unknown: str, tmp_path: Path
) -> None:
    inputs = ["table", "a", "b", "axes", "steps"]
    known = {name: np.array([1]) for name in inputs[1:]}
    given = {unknown: known.pop(unknown)}
    with pytest.raises(MaceError, match="is computed at run time"):
        _check(tmp_path, [_make("Slice", inputs, ["y"])], _SOME, known, ["y"], **given)
    given = {name: np.array([1]) for name in inputs[1:]}
    with pytest.raises(MaceError, match="is computed at run time"):
        _check(tmp_path, [_make("Slice", inputs, ["y"])], _SOME, None, ["y"], **given)


@pytest.mark.parametrize("x", _CASES.values(), ids=_CASES)
def test_elements_of_what_was_found(x: Array, tmp_path: Path) -> None:
    nodes = [
        *_FOUND,
        _make("Greater", ["found", "half"], ["large"]),
        _make("NonZero", ["large"], ["y"]),
        _make("Cast", ["large"], ["numbers"], to=onnx.TensorProto.INT64),
        _make("NonZero", ["numbers"], ["z"]),
    ]
    _check(tmp_path, nodes, x, {"half": np.float32(0.5)}, ["y", "z"])


@pytest.mark.parametrize("x", _CASES.values(), ids=_CASES)
@pytest.mark.parametrize("shape", [[-1], [0, -1], [-1, 2, 2], [1, -1, 4]])
def test_shapes(shape: list[int], x: Array, tmp_path: Path) -> None:
    nodes = [
        *_ROWS,
        _make("Reshape", ["rows", "shape"], ["made"]),
        _make("Neg", ["made"], ["y"]),
    ]
    if shape == [0, -1] and not np.any(x > 0):
        return  # ONNX gives -1 no meaning where there is no element
    _check(tmp_path, nodes, x, {"shape": shape})


@pytest.mark.parametrize("shape", [[-1], [-1, 4, 1], [0, 4]])
def test_shapes_where_zero_is_a_number(shape: list[int], tmp_path: Path) -> None:
    # As PyTorch exports them.
    nodes = [*_ROWS, _make("Reshape", ["rows", "shape"], ["y"], allowzero=1)]
    if 0 in shape:
        with pytest.raises(MaceError, match=r"do not fill \[0, 4\]"):
            _check(tmp_path, nodes, _CASES["none"], {"shape": shape})
        return
    for x in _CASES.values():
        _check(tmp_path, nodes, x, {"shape": shape})


def test_rows_become_elements_and_rows_again(tmp_path: Path) -> None:
    nodes = [
        *_ROWS,
        _make("Reshape", ["rows", "flat"], ["elements"]),
        _make("Add", ["elements", "elements"], ["sum"]),
        _make("Reshape", ["sum", "square"], ["y"]),
        _make("Flatten", ["y"], ["z"], axis=2),
    ]
    _check(tmp_path, nodes, _SOME, {"square": [-1, 2, 2]}, ["y", "z"])


@pytest.mark.parametrize("x", _CASES.values(), ids=_CASES)
def test_computed_shapes(x: Array, tmp_path: Path) -> None:
    # zeros(n, 4), arange(n), x.reshape(n, 2, -1), expand(n, 4)
    nodes = [
        *_ROWS,
        _make("Shape", ["rows"], ["shape"]),
        _make("ConstantOfShape", ["shape"], ["zeros"]),
        _make("Add", ["zeros", "rows"], ["y"]),
        _make("Gather", ["shape", "first"], ["n"], axis=0),
        _make("Range", ["first", "n", "step"], ["z"]),
        _make("Expand", ["zero", "shape"], ["w"]),
        _make("Unsqueeze", ["n", "front"], ["n1"]),
        _make("Concat", ["n1", "two"], ["target"], axis=0),
        _make("Reshape", ["rows", "target"], ["v"]),
        _make("Size", ["rows"], ["u"]),
    ]
    constants = {"step": np.array(1), "two": [2, 2]}
    _check(tmp_path, nodes, x, constants, ["y", "z", "w", "v", "u"])


@pytest.mark.parametrize("x", _CASES.values(), ids=_CASES)
def test_scatter(x: Array, tmp_path: Path) -> None:
    # result[mask] = value, and a sum of rows by their kind.
    nodes = [
        *_ROWS,
        _make("ScatterND", ["x", "columns", "squares"], ["y"]),
        _make("Mul", ["found", "found"], ["squares"]),
        _make("Unsqueeze", ["index", "one"], ["column"]),
        _make("Mod", ["column", "three"], ["kind"]),
        _make("Shape", ["rows"], ["shape"]),
        _make("Expand", ["kind", "shape"], ["kinds"]),
        _make(
            "ScatterElements", ["sums", "kinds", "rows"], ["z"], reduction="add", axis=0
        ),
    ]
    nodes.insert(len(_ROWS), nodes.pop(len(_ROWS) + 1))
    constants = {"one": [1], "sums": np.zeros((3, 4), np.float32)}
    _check(tmp_path, nodes, x, constants, ["y", "z"])


@pytest.mark.parametrize("x", _CASES.values(), ids=_CASES)
def test_scatter_to_places_from_the_end(x: Array, tmp_path: Path) -> None:
    nodes = [
        *_FOUND,
        _make("Sub", ["columns", "six"], ["negative"]),
        _make("ScatterND", ["x", "negative", "found2"], ["y"]),
        _make("Reshape", ["negative", "flat"], ["line"]),
        _make("ScatterElements", ["x", "line", "found2"], ["z"], axis=0),
        _make("ReduceMax", ["bits"], ["w"], keepdims=0),
    ]
    nodes.insert(-4, _make("Mul", ["found", "found"], ["found2"]))
    nodes.insert(-1, _make("Less", ["found2", "zero"], ["bits"]))
    if not np.any(x > 0):
        nodes.pop()
    outputs = ["y", "z", "w"] if np.any(x > 0) else ["y", "z"]
    _check(tmp_path, nodes, x, {"six": [6]}, outputs)


@pytest.mark.parametrize("x", _CASES.values(), ids=_CASES)
def test_as_many_updates_as_there_are_under_a_mask(x: Array, tmp_path: Path) -> None:
    # index_put with a mask and a number, as PyTorch's second exporter writes it.
    nodes = [
        *_FOUND,
        _make("Cast", ["mask"], ["ones"], to=onnx.TensorProto.INT64),
        _make("ReduceSum", ["ones"], ["number"]),
        _make("Expand", ["nine", "number"], ["updates"]),
        _make("ScatterND", ["x", "columns", "updates"], ["y"]),
    ]
    _check(tmp_path, nodes, x, {"nine": np.float32(9)})


@pytest.mark.parametrize("x", _CASES.values(), ids=_CASES)
def test_elements_under_a_mask_are_changed_in_place(x: Array, tmp_path: Path) -> None:
    # y[mask] += 1, as PyTorch's second exporter writes it: the mask is counted flat.
    nodes = [
        _make("Greater", ["x", "zero"], ["mask"]),
        _make("NonZero", ["mask"], ["places"]),
        _make("Transpose", ["places"], ["columns"]),
        _make("GatherND", ["x", "columns"], ["found"]),
        _make("Add", ["found", "one"], ["more"]),
        _make("Reshape", ["mask", "flat"], ["line"]),
        _make("Cast", ["line"], ["ones"], to=onnx.TensorProto.INT64),
        _make("ReduceSum", ["ones"], ["number"]),
        _make("Expand", ["more", "number"], ["whole"]),
        _make("Reshape", ["whole", "flat"], ["updates"]),
        _make("ScatterND", ["x", "columns", "updates"], ["y"]),
    ]
    _check(tmp_path, nodes, x.reshape(2, 3), {"one": np.float32(1)})


@pytest.mark.parametrize("x", _CASES.values(), ids=_CASES)
def test_rows_under_a_mask_are_replaced(x: Array, tmp_path: Path) -> None:
    # y[mask] = row: a mask of rows, expanded to elements.
    nodes = [
        _make("Greater", ["x", "zero"], ["mask"]),
        _make("Unsqueeze", ["mask", "last"], ["column"]),
        _make("Expand", ["column", "shape"], ["elements"]),
        _make("NonZero", ["elements"], ["places"]),
        _make("Transpose", ["places"], ["columns"]),
        _make("Expand", ["row", "shape"], ["rows"]),
        _make("GatherND", ["rows", "columns"], ["updates"]),
        _make("ScatterND", ["table", "columns", "updates"], ["y"]),
    ]
    constants = {
        "last": [1],
        "shape": [6, 4],
        "row": np.array([5, 6, 7, 8], np.float32),
    }
    _check(tmp_path, nodes, x, constants)


@pytest.mark.parametrize("x", _CASES.values(), ids=_CASES)
def test_suppression_of_boxes_under_a_mask(x: Array, tmp_path: Path) -> None:
    """Torchvision's batched_nms: a branch for no boxes, offsets for each class."""
    then = onnx.helper.make_graph(
        [_make("Identity", ["nothing"], ["none"])],
        "then",
        [],
        [onnx.helper.make_tensor_value_info("none", onnx.TensorProto.INT64, [0])],
    )
    other = onnx.helper.make_graph(
        [
            _make("ReduceMax", ["rows"], ["largest"], keepdims=0),
            _make("Mul", ["found", "largest"], ["offset"]),
            _make("Unsqueeze", ["offset", "one"], ["column"]),
            _make("Add", ["rows", "column"], ["moved"]),
            _make("Unsqueeze", ["moved", "front"], ["boxes"]),
            _make("Unsqueeze", ["found", "both"], ["scores"]),
            _make(
                "NonMaxSuppression",
                ["boxes", "scores", "many", "overlap"],
                ["chosen"],
            ),
            _make("Gather", ["chosen", "last"], ["third"], axis=1),
            _make("Squeeze", ["third", "one"], ["keep"]),
        ],
        "else",
        [],
        [onnx.helper.make_tensor_value_info("keep", onnx.TensorProto.INT64, ["n"])],
    )
    nodes = [
        *_ROWS,
        _make("Shape", ["rows"], ["shape"]),
        _make("ReduceProd", ["shape"], ["size"], keepdims=0),
        _make("Equal", ["size", "first"], ["empty"]),
        _make("If", ["empty"], ["kept"], then_branch=then, else_branch=other),
        _make("Slice", ["kept", "front", "three", "front"], ["best"]),
        _make("Gather", ["rows", "best"], ["y"]),
        _make("Gather", ["found", "best"], ["z"]),
    ]
    constants = {
        "one": [1],
        "both": [0, 1],
        "last": [2],
        "many": [2**62],
        "overlap": np.array([0.4], np.float32),
        "nothing": np.zeros(0, np.int64),
        "table": np.random.default_rng(3).random((6, 4)).astype(np.float32),
    }
    _check(tmp_path, nodes, x, constants, ["y", "z"])


def test_regions_under_a_mask(tmp_path: Path) -> None:
    """Some boxes of a pooling over several maps, and layers behind it."""
    nodes = [
        *_ROWS,
        _make("Mod", ["index", "image"], ["batch"]),
        _make(
            "RoiAlign",
            ["maps", "rows", "batch"],
            ["pooled"],
            output_height=2,
            output_width=2,
        ),
        _make("Conv", ["pooled", "filter"], ["filtered"]),
        _make("Flatten", ["filtered"], ["flattened"]),
        _make("MatMul", ["flattened", "weights"], ["scores"]),
        _make("Softmax", ["scores"], ["y"]),
        _make("ArgMax", ["y"], ["z"], axis=1),
    ]
    rng = np.random.default_rng(2)
    constants = {
        "table": np.concatenate([rng.random((6, 2)), 4 + rng.random((6, 2))], 1).astype(
            np.float32
        ),
        "image": np.array([1]),
        "filter": rng.random((3, 2, 1, 1)).astype(np.float32),
        "weights": rng.random((12, 5)).astype(np.float32),
    }
    maps = rng.random((1, 2, 8, 8)).astype(np.float32)
    _check(tmp_path, nodes, _SOME, constants, ["y", "z"], maps=maps)


def test_negative_indices_count_from_what_counts(tmp_path: Path) -> None:
    nodes = [*_ROWS, _make("Gather", ["rows", "where"], ["y"], axis=0)]
    where = np.array([-1, 0, -2])
    _check(tmp_path, nodes, _SOME, None, ["y"], where=where)


def test_refuses_shapes_of_two_numbers(tmp_path: Path) -> None:
    nodes = [
        *_ROWS,
        _make("Greater", ["x", "bound"], ["mask2"]),
        _make("NonZero", ["mask2"], ["places2"]),
        _make("Squeeze", ["places2", "front"], ["index2"]),
        _make("Shape", ["index2"], ["n"]),
        _make("Concat", ["n", "flat"], ["target"], axis=0),
        _make("Reshape", ["rows", "target"], ["y"]),
    ]
    with pytest.raises(MaceError, match="not where these are in the shape"):
        _check(tmp_path, nodes, _SOME, {"bound": np.float32(-2)})


@pytest.mark.parametrize("x", _FILLED.values(), ids=_FILLED)
def test_sequence_of_bags(x: Array, tmp_path: Path) -> None:
    """The mean of pieces between offsets (EmbeddingBag): slices in a loop."""
    body = onnx.helper.make_graph(
        [
            _make("Unsqueeze", ["i", "front"], ["at"]),
            _make("Add", ["at", "step"], ["next"]),
            _make("Slice", ["offsets", "at", "next"], ["begin"]),
            _make("Slice", ["offsets", "next", "after"], ["end"]),
            _make("Add", ["next", "step"], ["after"]),
            _make("Slice", ["table", "begin", "end"], ["piece"]),
            _make("ReduceMean", ["piece", "front"], ["mean"], keepdims=0),
            _make("Identity", ["go"], ["on"]),
        ],
        "body",
        [
            onnx.helper.make_tensor_value_info("i", onnx.TensorProto.INT64, []),
            onnx.helper.make_tensor_value_info("go", onnx.TensorProto.BOOL, []),
        ],
        [
            onnx.helper.make_tensor_value_info("on", onnx.TensorProto.BOOL, []),
            onnx.helper.make_tensor_value_info("mean", onnx.TensorProto.FLOAT, [4]),
        ],
    )
    inner = list(body.node)
    inner[3], inner[4] = inner[4], inner[3]
    del body.node[:]
    body.node.extend(inner)
    nodes = [_make("Loop", ["steps", "yes"], ["y"], body=body)]
    constants = {"steps": np.array(3), "yes": np.array(True), "step": [1]}
    offsets = np.array([0, 2, 3, 6])
    _check(tmp_path, nodes, x, constants, ["y"], offsets=offsets)


@pytest.mark.parametrize("limit", [9, 6, 4])
@pytest.mark.parametrize("case", _CASES)
def test_pad_to_a_fixed_number(case: str, limit: int, tmp_path: Path) -> None:
    """As detectors end: rows of nothing behind those that were found, in pads that
    exporters bring into ONNX's order. Of more rows than wanted, the last are cut off.
    """
    nodes = [
        *_ROWS,
        _make("Shape", ["rows"], ["shape"]),
        _make("Gather", ["shape", "first"], ["n"]),
        _make("Sub", ["limit", "n"], ["missing"]),
        _make("Unsqueeze", ["missing", "front"], ["last"]),
        _make("Concat", ["front", "front", "front", "last"], ["pairs"], axis=0),
        _make("Reshape", ["pairs", "by_two"], ["table2"]),
        _make("Slice", ["table2", "flat", "far", "front", "flat"], ["turned"]),
        _make("Transpose", ["turned"], ["sides"], perm=[1, 0]),
        _make("Reshape", ["sides", "flat"], ["pads"]),
        _make("Pad", ["rows", "pads", "value"], ["y"]),
    ]
    constants = {
        "limit": np.array(limit),
        "by_two": np.array([-1, 2]),
        "far": np.array([-(2**63) + 1]),
        "value": np.float32(-1),
    }
    (found,) = _check(tmp_path, nodes, _CASES[case], constants)
    assert found.shape == (limit, 4)


def test_pads_that_lead_to_no_fixed_number_are_refused(tmp_path: Path) -> None:
    nodes = [
        *_FOUND,
        _make("Shape", ["found"], ["n"]),
        _make("Concat", ["front", "n"], ["pads"], axis=0),
        _make("Pad", ["found", "pads"], ["y"]),
    ]
    with pytest.raises(MaceError, match="does not bring axis 0"):
        _check(tmp_path, nodes, _SOME)


@pytest.mark.parametrize("case", _CASES)
def test_elements_of_a_shorter_list_for_places_that_count(
    case: str, tmp_path: Path
) -> None:
    """masked_scatter of PyTorch: the first elements of a list go where a mask is, of
    which there are never more.
    """
    nodes = [
        *_FOUND,
        _make("Shape", ["found"], ["n"]),
        _make("Slice", ["list", "front", "n"], ["taken"]),
        _make("ScatterND", ["x", "columns", "taken"], ["y"]),
    ]
    # A list of 4 for at most 6 places.
    x = np.where(np.arange(6) < 4, _CASES[case], -1).astype(np.float32)
    _check(tmp_path, nodes, x, {"list": np.arange(10, 14, dtype=np.float32)})


def _check_open(
    tmp_path: Path,
    nodes: Sequence[onnx.NodeProto],
    constants: Mapping[str, Any] | None = None,
    outputs: Sequence[str] = ("y",),
    cases: Sequence[str] = tuple(_CASES),
) -> None:
    """Compares several lengths of `x` [n] and `table` [n, m] after one conversion."""

    def feeds(case: str, rows: int, columns: int) -> dict[str, Array]:
        rng = np.random.default_rng(rows)
        x = np.resize(_CASES[case], rows)
        return {"x": x, "table": rng.random((rows, columns)).astype(np.float32)}

    known = {**_CONSTANTS, **(constants or {})}
    read = {name for node in nodes for name in node.input} - {"table"}
    used = {k: np.asarray(v) for k, v in known.items() if k in read}
    model = make_model(nodes, feeds("some", 6, 4), outputs, used)
    graph = import_open(model, tmp_path, "nm")
    optimize(graph)
    for case in cases:
        for rows, columns in ((6, 4), (3, 5), (12, 1)):
            inputs = feeds(case, rows, columns)
            results = run_graph(graph, {n: narrow(a) for n, a in inputs.items()})
            found = [results[name] for name in outputs]
            wanted = run_onnxruntime(model, inputs)
            assert [a.shape for a in found] == [a.shape for a in wanted]
            assert_same(found, wanted)


# The number of rows, as the last of these.
_NUMBER = [
    *_ROWS,
    _make("Shape", ["rows"], ["shape"]),
    _make("Gather", ["shape", "first"], ["n"], axis=0),
    _make("Reshape", ["n", "flat"], ["n1"]),
]


def test_few_largest_of_open_lengths(tmp_path: Path) -> None:
    nodes = [
        *_NUMBER,
        _make("Concat", ["two", "n1"], ["both"], axis=0),
        _make("ReduceMin", ["both"], ["least"], keepdims=1),
        _make("TopK", ["rows", "least"], ["y", "at"], axis=0),
        _make("TopK", ["rows", "n1"], ["all", "order"], axis=0, largest=0),
        _make("TopK", ["rows", "single"], ["z", "w"], axis=1),
        _make("TopK", ["found", "least"], ["v", "u"]),
    ]
    constants = {"two": [2], "single": [1]}
    outputs = ["y", "at", "all", "order", "z", "w", "v", "u"]
    _check_open(tmp_path, nodes, constants, outputs)


def test_computed_shapes_of_open_lengths(tmp_path: Path) -> None:
    # zeros(n, m), arange(n), expand(n, m), x.reshape(n, m, 1)
    nodes = [
        *_NUMBER,
        _make("ConstantOfShape", ["shape"], ["zeros"]),
        _make("Add", ["zeros", "rows"], ["y"]),
        _make("Range", ["first", "n", "step"], ["z"]),
        _make("Expand", ["zero", "shape"], ["w"]),
        _make("Concat", ["shape", "one"], ["target"], axis=0),
        _make("Reshape", ["rows", "target"], ["v"]),
        _make("Expand", ["v", "wide"], ["u"]),
        _make("Size", ["rows"], ["t"]),
        _make("Flatten", ["u"], ["s"], axis=1),
    ]
    constants = {"step": np.array(1), "one": [1], "wide": [1, 1, 3]}
    outputs = ["y", "z", "w", "v", "u", "t", "s"]
    _check_open(tmp_path, nodes, constants, outputs)


@pytest.mark.parametrize("op_type", ["ReduceMax", "ReduceMean", "ReduceL2"])
@pytest.mark.parametrize("axes", [[0], [1], [0, 1]])
def test_reductions_of_open_lengths(
    op_type: str, axes: list[int], tmp_path: Path
) -> None:
    nodes = [*_ROWS, _make(op_type, ["rows", "axes"], ["y"], keepdims=0)]
    _check_open(tmp_path, nodes, {"axes": axes}, cases=list(_FILLED))


def test_parts_of_open_lengths_are_joined(tmp_path: Path) -> None:
    nodes = [
        *_ROWS,
        _make("Concat", ["rows", "table", "rows"], ["joined"], axis=0),
        _make("Slice", ["joined", "front", "three", "front"], ["y"]),
        _make("ScatterND", ["table", "columns", "rows"], ["z"]),
        _make("Shape", ["joined"], ["w"]),
    ]
    _check_open(tmp_path, nodes, None, ["joined", "y", "z", "w"])


def test_the_same_number_of_other_tensors(tmp_path: Path) -> None:
    # The nodes of a graph beside edges that were found, as torch_geometric has them:
    # their number is taken from one tensor here, from another there.
    nodes = [
        *_NUMBER,
        _make("Concat", ["found", "x"], ["both"], axis=0),
        _make("Shape", ["table"], ["sizes"]),
        _make("Gather", ["sizes", "first"], ["length"], axis=0),
        _make("Add", ["length", "n"], ["sum"]),
        _make("Reshape", ["sum", "flat"], ["total"]),
        _make("Expand", ["both", "total"], ["y"]),
        _make("Expand", ["zero", "total"], ["zeros"]),
        _make("Add", ["zeros", "both"], ["z"]),
    ]
    _check_open(tmp_path, nodes, outputs=["y", "z"])


@pytest.mark.parametrize("limit", [15, 4])
def test_pad_open_rows_to_a_fixed_number(limit: int, tmp_path: Path) -> None:
    nodes = [
        *_NUMBER,
        _make("Sub", ["limit", "n1"], ["missing"]),
        _make("Concat", ["front", "front", "missing", "front"], ["pads"], axis=0),
        _make("Pad", ["rows", "pads"], ["y"]),
    ]
    _check_open(tmp_path, nodes, {"limit": [limit]})


def test_suppression_of_boxes_in_open_classes(tmp_path: Path) -> None:
    """Boxes under a mask, whose scores in each class are the columns of a table."""
    nodes = [
        *_ROWS,
        _make("Gather", ["corners", "index"], ["chosen"]),
        _make("Unsqueeze", ["chosen", "front"], ["boxes"]),
        _make("Transpose", ["rows"], ["classes"], perm=[1, 0]),
        _make("Unsqueeze", ["classes", "front"], ["scores"]),
        _make("NonMaxSuppression", ["boxes", "scores", "many", "overlap"], ["y"]),
    ]
    rng = np.random.default_rng(4)
    corners = np.concatenate([rng.random((12, 2)), 1 + rng.random((12, 2))], 1)
    constants = {
        "corners": corners.astype(np.float32),
        "many": [3],
        "overlap": np.array([0.5], np.float32),
    }
    _check_open(tmp_path, nodes, constants)
