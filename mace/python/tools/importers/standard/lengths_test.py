# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes whose lengths each run determines, compared with onnxruntime at several
lengths after one conversion.
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
    import_open,
    make_model,
    normal,
    run_onnxruntime,
)
from mace.python.tools.ir.builder import narrow
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import Graph
from mace.python.tools.passes.manager import optimize

_LENGTHS = ((3, 5), (1, 1), (4, 2), (2, 9))
_node = onnx.helper.make_node


def _int(*numbers: int) -> Array:
    return np.array(numbers, np.int64)


def _check(
    nodes: Sequence[onnx.NodeProto],
    folder: Path,
    constants: Mapping[str, Array] | None = None,
    outputs: Sequence[str] = ("y",),
    inputs: Any = None,
    **options: Any,
) -> Graph:
    """Compares all lengths of `x` [batch, length, 4], whose lengths are `shape`."""

    def feed(batch: int, length: int) -> dict[str, Array]:
        given: dict[str, Array] = {"x": normal(batch, length, 4)}
        return given if inputs is None else inputs(batch, length)

    known = {"zero": _int(0), "one": _int(1), "two": _int(2), **(constants or {})}
    lengths = [
        _node("Shape", ["x"], ["shape"]),
        _node("Slice", ["shape", "zero", "one"], ["batch"]),
        _node("Slice", ["shape", "one", "two"], ["length"]),
    ]
    model = make_model([*lengths, *nodes], feed(3, 5), outputs, known, **options)
    graph = import_open(model, folder, "bn.")
    optimize(graph)
    for batch, length in _LENGTHS:
        feeds = feed(batch, length)
        wanted = run_onnxruntime(model, feeds)
        found = run_graph(graph, {n: narrow(a) for n, a in feeds.items()})
        for name, array in zip(outputs, wanted):
            np.testing.assert_allclose(found[name], array, 1e-6, 1e-6, err_msg=name)
    return graph


@pytest.mark.parametrize("kind", [np.float32, np.int64, np.bool_])
def test_expand_to_lengths(kind: type, tmp_path: Path) -> None:
    nodes = [
        _node("Concat", ["batch", "two", "length"], ["target"], axis=0),
        _node("Expand", ["c", "target"], ["y"]),
    ]
    graph = _check(nodes, tmp_path, {"c": np.array([[1], [0]]).astype(kind)})
    assert graph.outputs[0].shape == ("b", 2, "n")


def test_expand_of_an_open_axis(tmp_path: Path) -> None:
    def inputs(batch: int, length: int) -> dict[str, Array]:
        return {"x": normal(batch, length, 4), "mask": normal(1, length)}

    nodes = [
        _node("Unsqueeze", ["mask", "zero"], ["row"]),
        _node("Concat", ["batch", "length", "length"], ["target"], axis=0),
        _node("Expand", ["row", "target"], ["y"]),
    ]
    _check(nodes, tmp_path, inputs=inputs)


def test_an_expansion_that_changes_nothing_is_gone(tmp_path: Path) -> None:
    graph = _check([_node("Expand", ["x", "shape"], ["y"])], tmp_path)
    assert {op.type for op in graph.ops} <= {"Identity"}


def test_minus_one_in_a_computed_shape(tmp_path: Path) -> None:
    """As PyTorch writes `expand(-1, n, -1)`."""
    constants = {"asked": _int(-1, 1, -1), "minus": _int(-1), "ones": _int(1, 1, 1)}
    nodes = [
        _node("Equal", ["asked", "minus"], ["open"]),
        _node("Where", ["open", "ones", "asked"], ["target"]),
        _node("Mul", ["shape", "target"], ["product"]),
        _node("Equal", ["product", "minus"], ["never"]),
        _node("Where", ["never", "ones", "product"], ["sizes"]),
        _node("Expand", ["x", "sizes"], ["y"]),
    ]
    graph = _check(nodes, tmp_path, constants)
    assert {op.type for op in graph.ops} <= {"Identity"}


def test_tensors_filled_with_a_number(tmp_path: Path) -> None:
    nodes = [
        _node("Concat", ["length", "batch"], ["target"], axis=0),
        _node("ConstantOfShape", ["target"], ["zeros"]),
        _node(
            "ConstantOfShape",
            ["target"],
            ["sevens"],
            value=onnx.numpy_helper.from_array(np.array([7], np.int64)),
        ),
    ]
    _check(nodes, tmp_path, outputs=["zeros", "sevens"])


@pytest.mark.parametrize(
    ("begin", "end", "step"),
    [
        ("zero", "length", 1),
        ("one", "length", 1),
        ("zero", "batch", 1),
        ("batch", "far", 1),
        ("minus", "far", 1),
        ("back", "far", 1),
        ("zero", "back", 1),
        ("batch", "length", 2),
        ("less", "far", 1),
    ],
)
def test_slices_between_lengths(
    begin: str, end: str, step: int, tmp_path: Path
) -> None:
    constants = {
        "far": _int(2**31 - 1),
        "minus": _int(-1),
        "axis": _int(1),
        "step": _int(step),
    }
    nodes = [
        _node("Neg", ["batch"], ["back"]),
        _node("Sub", ["batch", "length"], ["less"]),
        _node("Slice", ["x", begin, end, "axis", "step"], ["y"]),
    ]
    _check(nodes, tmp_path, constants)


def test_a_slice_that_takes_everything_is_gone(tmp_path: Path) -> None:
    nodes = [_node("Slice", ["x", "zero", "length", "one"], ["y"])]
    graph = _check(nodes, tmp_path)
    assert not {op.type for op in graph.ops} & {"Gather", "Range"}


def test_a_table_of_positions(tmp_path: Path) -> None:
    """The first rows of a table, added to a sequence: the sum has its length."""
    table = normal(1, 12, 4)
    nodes = [
        _node("Slice", ["table", "zero", "length", "one"], ["rows"]),
        _node("Add", ["x", "rows"], ["y"]),
    ]
    graph = _check(nodes, tmp_path, {"table": table})
    assert graph.outputs[0].shape == ("b", "n", 4)


def test_copies_one_after_the_other(tmp_path: Path) -> None:
    nodes = [
        _node("Concat", ["length", "two", "one"], ["repeats"], axis=0),
        _node("Tile", ["x", "repeats"], ["y"]),
    ]
    _check(nodes, tmp_path)


def test_parts_of_computed_sizes(tmp_path: Path) -> None:
    nodes = [
        _node("Sub", ["length", "one"], ["rest"]),
        _node("Concat", ["one", "rest"], ["sizes"], axis=0),
        _node("Split", ["x", "sizes"], ["first", "others"], axis=1),
    ]
    _check(nodes, tmp_path, outputs=["first", "others"])


def test_parts_of_an_open_axis(tmp_path: Path) -> None:
    def inputs(batch: int, length: int) -> dict[str, Array]:
        return {"x": normal(batch, length + 1, 4)}

    nodes = [_node("Split", ["x"], ["a", "b"], axis=1, num_outputs=2)]
    _check(nodes, tmp_path, outputs=["a", "b"], inputs=inputs)


@pytest.mark.parametrize("upper", [0, 1])
def test_triangles(upper: int, tmp_path: Path) -> None:
    nodes = [
        _node("Concat", ["length", "length"], ["square"], axis=0),
        _node(
            "ConstantOfShape",
            ["square"],
            ["lowest"],
            value=onnx.numpy_helper.from_array(np.array([-9.0], np.float32)),
        ),
        _node("Trilu", ["lowest", "k"], ["y"], upper=upper),
    ]
    _check(nodes, tmp_path, {"k": np.array(1)})


@pytest.mark.parametrize("axis", [0, 1, 2, 3])
def test_flattening(axis: int, tmp_path: Path) -> None:
    _check([_node("Flatten", ["x"], ["y"], axis=axis)], tmp_path)


def test_the_number_of_elements(tmp_path: Path) -> None:
    nodes = [_node("Size", ["x"], ["y"])]
    _check(nodes, tmp_path)


def test_a_mask_that_is_longer_than_the_words(tmp_path: Path) -> None:
    """The length of a mask is written as a sum, which the scores have, too."""

    def feed(past: int, new: int) -> dict[str, Array]:
        return {
            "kept": normal(1, past, 4),
            "x": normal(1, new, 4),
            "mask": normal(1, past + new),
        }

    nodes = [
        _node("Concat", ["kept", "x"], ["all"], axis=1),
        _node("Transpose", ["all"], ["turned"], perm=[0, 2, 1]),
        _node("MatMul", ["x", "turned"], ["scores"]),
        _node("Add", ["scores", "mask"], ["y"]),
    ]
    model = make_model(nodes, feed(2, 3), ["y"])
    for value, text in zip(model.graph.input, ("past", "new", "past + new")):
        value.type.tensor_type.shape.dim[1].dim_param = text
    graph = import_open(model, tmp_path, "...")
    optimize(graph)
    assert graph.outputs[0].shape == (1, "new", "new+past")
    for past, new in ((2, 3), (1, 1), (6, 2)):
        feeds = feed(past, new)
        (wanted,) = run_onnxruntime(model, feeds)
        found = run_graph(graph, feeds)["y"]
        np.testing.assert_allclose(found, wanted, 1e-5, 1e-5)


def test_an_expansion_by_elements_is_refused(tmp_path: Path) -> None:
    inputs = {"x": normal(1, 4), "n": _int(3, 4)}
    model = make_model([_node("Expand", ["x", "n"], ["y"])], inputs, ["y"])
    with pytest.raises(MaceError, match="depends on the elements of n, not only"):
        import_open(model, tmp_path, "..")


@pytest.mark.parametrize(
    "equation",
    [
        "bnk,bnl->bkl",
        "bnk,bmk->bnm",
        "bnk,bmk->bm",
        "bnk,cmk->bncm",
        "bnk,bnl->nbkl",
        "bnk,cnk->bc",
        "bnk,bnk->bn",
        "bnk,bml,bnk->bnml",
        "...k,...l->...kl",
    ],
)
def test_einsum(equation: str, tmp_path: Path) -> None:
    operands = equation.split("->")[0].split(",")
    _check([_node("Einsum", ["x"] * len(operands), ["y"], equation=equation)], tmp_path)


@pytest.mark.parametrize("most", [None, 4])
def test_elements_in_order(most: int | None, tmp_path: Path) -> None:
    """All of an axis, as a sort is exported, or some of it."""
    nodes = [
        _node("Min", ["length", "most"], ["few"]),
        _node("TopK", ["x", "few" if most else "length"], ["y", "i"], axis=1),
    ]
    constants = {"most": _int(most)} if most else {}
    _check(nodes[not most :], tmp_path, constants, ("y", "i"))


@pytest.mark.parametrize("k", [0, 2, -1])
def test_ones_on_a_diagonal(k: int, tmp_path: Path) -> None:
    nodes = [
        _node("Concat", ["batch", "length"], ["sizes"], axis=0),
        _node("ConstantOfShape", ["sizes"], ["zeros"]),
        _node("EyeLike", ["zeros"], ["y"], k=k),
    ]
    _check(nodes, tmp_path)


def test_spectra_of_a_signal(tmp_path: Path) -> None:
    window = np.hanning(16).astype(np.float32) / 16  # sums round less
    constants = {"step": np.array(4), "window": window, "count": np.array(16)}
    constants |= {"line": _int(1, -1, 1), "before": normal(1, 16, 1)}
    nodes = [
        _node("Reshape", ["x", "line"], ["samples"]),
        _node("Concat", ["before", "samples"], ["signal"], axis=1),
        _node("STFT", ["signal", "step", "window", "count"], ["y"]),
    ]
    _check(nodes, tmp_path, constants, opset=17)


def test_images_as_large_as_others(tmp_path: Path) -> None:
    """Sizes of which the first two are known to be those of the images."""

    def inputs(batch: int, length: int) -> dict[str, Array]:
        images = normal(batch, length, 3, 5)
        return {"x": normal(batch, length, 4), "images": images}

    nodes = [
        _node("Concat", ["batch", "length", "length", "seven"], ["sizes"], axis=0),
        _node("Resize", ["images", "", "", "sizes"], ["y"], mode="linear"),
    ]
    _check(nodes, tmp_path, {"seven": _int(7)}, inputs=inputs)


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_pads_by_lengths(mode: str, tmp_path: Path) -> None:
    """Of axis 2, to a multiple of 3 with one element before them; less in front of
    axis 1 if it is long.
    """
    nodes = [
        _node("Mod", ["length", "three"], ["rest"]),
        _node("Min", ["batch", "one"], ["before"]),
        _node("Neg", ["rest"], ["less"]) if mode == "constant"
        else _node("Identity", ["rest"], ["less"]),
        _node("Concat", ["zero", "less", "before", "zero", "one", "zero"], ["pads"],
              axis=0),
        _node("Concat", ["x", "x"], ["xx"], axis=1),
        _node("Concat", ["xx", "xx"], ["long"], axis=1),
        _node("Pad", ["long", "pads", "value"] if mode == "constant"
              else ["long", "pads"], ["y"], mode=mode),
    ]  # fmt: skip
    _check(nodes, tmp_path, {"three": _int(3), "value": np.float32(2.5)})


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_pads_with_what_is_no_number(value: float, tmp_path: Path) -> None:
    node = _node("Pad", ["x", "pads", "value"], ["y"])
    constants = {"pads": _int(0, 1, 2, 0, -1, 0), "value": np.float32(value)}
    _check([node], tmp_path, constants)


# Images [batch, 4, length, 3] of x.
_IMAGES = (
    _node("Transpose", ["x"], ["turned"], perm=[0, 2, 1]),
    _node("Unsqueeze", ["turned", "three"], ["tall"]),
    _node("Concat", ["tall"] * 3, ["images"], axis=3),
)


@pytest.mark.parametrize("groups", [1, 2])
def test_convolutions_by_computed_filters(groups: int, tmp_path: Path) -> None:
    window = {"pads": [1, 1, 1, 0], "strides": [2, 1]}
    nodes = [
        *_IMAGES,
        _node("ReduceMean", ["x"], ["mean"], keepdims=0),
        _node("Mul", ["weights", "mean"], ["filters"]),
        _node("Conv", ["images", "filters"], ["y"], group=groups, **window),
    ]
    constants = {"three": _int(3), "weights": normal(6, 4 // groups, 3, 2)}
    _check(nodes, tmp_path, constants)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("rank", [3, 4])
def test_convolutions_that_onnxruntime_quantized(
    rank: int, groups: int, tmp_path: Path
) -> None:
    """Padding adds the zero point, which each run computes."""
    window: dict[str, Any] = {"pads": [1, 1], "strides": [2], "kernel_shape": [3]}
    if rank == 4:
        window = {"pads": [1, 1, 1, 0], "strides": [2, 1], "kernel_shape": [3, 2]}
    weights = np.random.default_rng(3).integers(
        0, 256, (6, 4 // groups, *window["kernel_shape"]), np.uint8
    )
    images = "turned" if rank == 3 else "images"
    nodes = [
        *_IMAGES,
        _node("DynamicQuantizeLinear", [images], ["bytes", "scale", "zp"]),
        _node(
            "ConvInteger",
            ["bytes", "weights", "zp", "middle"],
            ["sums"],
            group=groups,
            **window,
        ),
        _node("Cast", ["sums"], ["numbers"], to=onnx.TensorProto.FLOAT),
        _node("Mul", ["numbers", "scale"], ["y"]),
    ]
    middle = np.array(120, np.uint8)
    constants = {"three": _int(3), "weights": weights, "middle": middle}
    _check(nodes, tmp_path, constants)
