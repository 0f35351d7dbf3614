# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from pathlib import Path
from typing import Any, Optional, Sequence

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper

import mace

Array = npt.NDArray[Any]
_FLOAT, _INT = TensorProto.FLOAT, TensorProto.INT32
_IMAGE = (1, 3, 4, 5)


def _model(
    folder: Path,
    name: str,
    op: str,
    shape: Sequence[Any] = _IMAGE,
    outputs: Sequence[str] = ("y",),
    kind: int = _FLOAT,
    formats: Optional[tuple[str, str]] = None,
    **attributes: Any,
) -> mace.Model:
    """Nodes of an operator that change no shape, from x to each output; formats: what
    a deployment file says of both sides, else that of the framework.
    """
    nodes = [helper.make_node(op, ["x"], [y], **attributes) for y in outputs]
    ports = [helper.make_tensor_value_info("x", kind, shape)]
    ends = [helper.make_tensor_value_info(y, kind, shape) for y in outputs]
    graph = helper.make_graph(nodes, name, ports, ends)
    opsets = [helper.make_opsetid("", 17)]
    path = folder / f"{name}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    if formats is None:
        return mace.load(path, dims=dict.fromkeys(_open(shape), -1))
    deployment = folder / f"{name}.yml"
    sides = [
        ("1,4,5,3" if form == "NHWC" else "1,3,4,5", f"[{form}]") for form in formats
    ]
    deployment.write_text(
        f"library_name: {name}\ntarget_abis: host\nmodels:\n  {name}:\n"
        f"    model_file_path: {path}\n    runtime: cpu\n    subgraphs:\n"
        f"      - input_shapes: {sides[0][0]}\n"
        f"        input_data_formats: {sides[0][1]}\n"
        f"        output_shapes: {sides[1][0]}\n"
        f"        output_data_formats: {sides[1][1]}\n"
    )
    return mace.load(deployment)


def _open(shape: Sequence[Any]) -> list[str]:
    return [dim for dim in shape if isinstance(dim, str)]


def _chain(first: mace.Model, second: mace.Model) -> mace.Pipeline:
    pipeline = mace.Pipeline()
    pipeline.add("a", first)
    pipeline.add("b", second)
    pipeline.connect("a", "y", "b", "x")
    return pipeline


def _image(*shape: int) -> Array:
    return np.random.default_rng(7).standard_normal(shape or _IMAGE).astype(np.float32)


_EXAMPLE = Path(__file__).resolve().parents[2] / "examples"


def _chain_of_files(folder: Path, links: str) -> Path:
    """A deployment file of two models, and its links."""
    for name, op in (("first", "Abs"), ("second", "Neg")):
        _model(folder, name, op)
    models = "".join(
        f"  {name}:\n    model_file_path: {folder / name}.onnx\n    runtime: cpu\n"
        for name in ("first", "second")
    )
    path = folder / "chain.yml"
    path.write_text(f"library_name: chain\ntarget_abis: host\nmodels:\n{models}{links}")
    return path


def test_a_deployment_file_describes_a_chain(tmp_path: Path) -> None:
    path = _chain_of_files(tmp_path, "links: {first/y: second/x}\n")
    pipeline = mace.load_pipeline(path)
    assert (pipeline.inputs, pipeline.outputs) == (("x",), ("y",))
    np.testing.assert_array_equal(pipeline(_image()), -np.abs(_image()))
    assert pipeline.copies == ()
    assert "link 'first/y' to 'second/x': in place" in pipeline.explain()


def test_what_is_no_chain_is_refused(tmp_path: Path) -> None:
    path = _chain_of_files(tmp_path, "")
    with pytest.raises(mace.MaceError, match="has no links; add, for instance"):
        mace.load_pipeline(path)
    path = _chain_of_files(tmp_path, "links: {first/z: second/x}\n")
    with pytest.raises(mace.MaceError, match="stage 'first' has no output 'z'"):
        mace.load_pipeline(path)
    path = _chain_of_files(tmp_path, "links: {second/y: first/x}\n")
    with pytest.raises(mace.MaceError, match="models run in the order of the file"):
        mace.load_pipeline(path)


def test_the_example_has_its_chain_in_its_file() -> None:
    from mace.python.tools.config.load import load_deployment

    deployment = load_deployment(_EXAMPLE / "pipeline" / "pipeline.yml")
    assert [(str(a), str(b)) for a, b in deployment.chain] == [
        ("halve/small", "digits/image")
    ]


def test_images_are_linked_without_a_copy(tmp_path: Path) -> None:
    first, second = _model(tmp_path, "f", "Abs"), _model(tmp_path, "s", "Neg")
    pipeline = _chain(first, second)
    for image in (_image(), 2 * _image()):
        np.testing.assert_array_equal(pipeline(image), -np.abs(image))
    assert pipeline.copies == ()
    assert pipeline.inputs == ("x",) and pipeline.outputs == ("y",)
    assert "link 'a/y' to 'b/x': in place" in pipeline.explain()
    # The link has the order of the engine, and one array for all runs.
    link = pipeline._plan()[0]._arrays[0]
    assert link.shape == (1, 4, 5, 3)
    pipeline(_image())
    assert pipeline._plan()[0]._arrays[0] is link


@pytest.mark.parametrize(
    "written, read, copies",
    [
        ("NHWC", "NHWC", []),
        ("NHWC", "NCHW", []),
        ("NCHW", "NHWC", []),
        ("NCHW", "NONE", [("a", "y", True)]),
        ("NONE", "NCHW", [("b", "x", False)]),
        ("NONE", "NONE", []),
    ],
)
def test_each_pair_of_formats(
    written: str, read: str, copies: list[tuple[str, str, bool]], tmp_path: Path
) -> None:
    first = _model(tmp_path, "f", "Abs", formats=("NCHW", written))
    second = _model(tmp_path, "s", "Neg", formats=(read, "NCHW"))
    pipeline = _chain(first, second)
    image = _image()
    np.testing.assert_array_equal(pipeline(image), -np.abs(image))
    assert [(c.stage, c.tensor, c.is_output) for c in pipeline.copies] == copies
    for copy in pipeline.copies:
        assert copy.reason == "the buffer is NCHW, and engines compute in NHWC"


def test_shapes_may_be_decided_by_each_run(tmp_path: Path) -> None:
    shape = ("N", 3, "H", "W")
    first = _model(tmp_path, "f", "Abs", shape)
    pipeline = _chain(first, _model(tmp_path, "s", "Neg", shape))
    for sizes in ((1, 3, 4, 5), (2, 3, 6, 2), (1, 3, 4, 5)):
        image = _image(*sizes)
        np.testing.assert_array_equal(pipeline(image), -np.abs(image))


def test_an_output_may_feed_several_inputs(tmp_path: Path) -> None:
    pipeline = mace.Pipeline()
    pipeline.add("a", _model(tmp_path, "a", "Abs", outputs=("y", "z")))
    pipeline.add("b", _model(tmp_path, "b", "Neg"))
    pipeline.add("c", _model(tmp_path, "c", "Relu"))
    for stage in ("b", "c"):
        pipeline.connect("a", "y", stage, "x")
    image = _image()
    found = pipeline.run({"a/x": image})
    assert list(found) == ["z", "b/y", "c/y"] == list(pipeline.outputs)
    np.testing.assert_array_equal(found["b/y"], -np.abs(image))
    np.testing.assert_array_equal(found["c/y"], np.abs(image))


def test_errors_name_what_there_is(tmp_path: Path) -> None:
    model = _model(tmp_path, "f", "Abs")
    whole = _model(tmp_path, "i", "Abs", kind=_INT)
    pipeline = _chain(model, model)
    pipeline.add("whole", whole)
    for arguments, message in (
        (("c", "y", "b", "x"), "no stage 'c'; there are: a, b, whole"),
        (("b", "y", "a", "x"), "stage 'a' runs before 'b' has its outputs"),
        (("a", "z", "b", "x"), "stage 'a' has no output 'z'; it has: y"),
        (("a", "y", "b", "x"), "input 'x' of stage 'b' has a link already"),
        (("a", "y", "whole", "x"), "is float32, input 'whole/x' is int32"),
    ):
        with pytest.raises(mace.MaceError, match=message):
            pipeline.connect(*arguments)
    for name in ("a", "", "a/b"):
        with pytest.raises(mace.MaceError, match="stage"):
            pipeline.add(name, model)
    with pytest.raises(mace.MaceError, match="'X' is not an input of the pipeline"):
        pipeline.run({"X": _image()})
    with pytest.raises(mace.MaceError, match="missing: a/x, whole/x"):
        pipeline.run({})
