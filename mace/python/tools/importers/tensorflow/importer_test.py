# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What the importer says of files and deployments that are wrong."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.errors import MaceError
from mace.python.tools.importers.frame.errors import (
    ImportModelError,
    UnsupportedNodesError,
)
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.tensorflow import import_model
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import DataFormat, Graph
from mace.python.tools.proto import load_proto

PROTO = "mace/python/tools/importers/tensorflow/graph_def.proto"
FLOAT = 1


def graph_def() -> Any:
    return load_proto(PROTO).GraphDef()


def small_graph() -> Any:
    """image [?, 4, 4, 1] -> Relu -> Add(constant 2) -> out."""
    graph = graph_def()
    image = graph.node.add(name="scope/image", op="Placeholder")
    image.attr["dtype"].type = FLOAT
    for size in (-1, 4, 4, 1):
        image.attr["shape"].shape.dim.add(size=size)
    graph.node.add(name="scope/relu", op="Relu", input=["scope/image"])
    two = graph.node.add(name="two", op="Const")
    two.attr["dtype"].type = FLOAT
    two.attr["value"].tensor.dtype = FLOAT
    two.attr["value"].tensor.float_val.append(2.0)
    graph.node.add(name="out", op="AddV2", input=["scope/relu:0", "two", "^scope/relu"])
    return graph


def load(
    tmp_path: Path,
    graph: Any,
    inputs: tuple[InputSpec, ...] = (InputSpec("scope/image", (1, 4, 4, 1)),),
    outputs: tuple[str, ...] = ("out:0",),
) -> Graph:
    path = tmp_path / "model.pb"
    path.write_bytes(graph if isinstance(graph, bytes) else graph.SerializeToString())
    return import_model(
        ImportRequest("m", path, inputs, tuple(map(OutputSpec, outputs)))
    )


def test_a_graph_is_imported(tmp_path: Path) -> None:
    graph = load(tmp_path, small_graph())
    image = np.array([-1.0, 3.0] * 8, np.float32).reshape(1, 4, 4, 1)
    result = run_graph(graph, {"scope/image": image})["out:0"]
    np.testing.assert_array_equal(result, np.maximum(image, 0) + 2)
    assert graph.formats["scope/image"] is DataFormat.NHWC


def test_the_text_form_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "model.pbtxt"
    path.write_text(str(small_graph()))
    request = ImportRequest(
        "m", path, (InputSpec("scope/image", (1, 4, 4, 1)),), (OutputSpec("out"),)
    )
    assert len(import_model(request).ops) == 2


def test_a_nchw_user_shape_is_turned(tmp_path: Path) -> None:
    spec = InputSpec("scope/image", (1, 1, 4, 4), data_format=DataFormat.NCHW)
    assert load(tmp_path, small_graph(), (spec,)).inputs[0].shape == (1, 4, 4, 1)
    # The model's own shape is in its own order.
    graph = small_graph()
    graph.node[0].attr["shape"].shape.dim[1].size = 6
    spec = InputSpec("scope/image", data_format=DataFormat.NCHW)
    found = load(tmp_path, graph, (spec,)).inputs[0].shape
    assert found is not None and found[1:] == (6, 4, 1)


def test_an_inner_tensor_can_be_the_input(tmp_path: Path) -> None:
    spec = InputSpec("scope/relu", (1, 4, 4, 1))
    graph = load(tmp_path, small_graph(), (spec,))
    assert [op.type for op in graph.ops] == ["Eltwise"]


def test_wrong_names_get_near_ones(tmp_path: Path) -> None:
    with pytest.raises(ImportModelError, match=r"input_tensors.*scope/image"):
        load(tmp_path, small_graph(), (InputSpec("image", (1, 4, 4, 1)),))
    with pytest.raises(ImportModelError, match=r"output_tensors.*out"):
        load(tmp_path, small_graph(), outputs=("outt",))
    with pytest.raises(ImportModelError, match="no output 3"):
        load(tmp_path, small_graph(), outputs=("out:3",))


def test_a_node_that_is_missing_is_named(tmp_path: Path) -> None:
    graph = small_graph()
    rounding = graph.node.add(name="rounding", op="FakeQuantWithMinMaxVars")
    rounding.input.extend(["out", "two", "rounding/max"])
    with pytest.raises(ImportModelError, match="node rounding reads 'rounding/max'"):
        load(tmp_path, graph, outputs=("rounding",))


def test_a_forgotten_input_is_named(tmp_path: Path) -> None:
    with pytest.raises(ImportModelError, match=r"also need scope/image"):
        load(tmp_path, small_graph(), inputs=())


def test_a_contradicting_shape_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportModelError, match=r"\[-1, 4, 4, 1\].*\[1, 5, 4, 1\]"):
        load(tmp_path, small_graph(), (InputSpec("scope/image", (1, 5, 4, 1)),))
    with pytest.raises(ImportModelError, match="input_data_formats: NCHW"):
        load(tmp_path, small_graph(), (InputSpec("scope/image", (1, 1, 4, 4)),))
    first = InputSpec("scope/image", (1, 1, 5, 4), data_format=DataFormat.NCHW)
    with pytest.raises(ImportModelError, match=r"\[1, 1, 5, 4\] in the order NCHW of"):
        load(tmp_path, small_graph(), (first,))


def test_all_unsupported_nodes_are_in_one_table(tmp_path: Path) -> None:
    graph = small_graph()
    graph.node.add(name="odd", op="Reluu", input=["out"])
    graph.node.add(name="after", op="Relu", input=["odd"])
    graph.node.add(name="var", op="VarHandleOp")
    graph.node.add(name="end", op="Einstein", input=["after", "var"])
    with pytest.raises(UnsupportedNodesError) as caught:
        load(tmp_path, graph, outputs=("end",))
    assert [(n.node, n.op) for n in caught.value.nodes] == [
        ("odd", "Reluu"),
        ("var", "VarHandleOp"),
        ("end", "Einstein"),
    ]
    assert "Relu" in caught.value.nodes[0].hint
    assert "freeze" in caught.value.nodes[1].hint


def test_a_loop_is_named(tmp_path: Path) -> None:
    graph = small_graph()
    graph.node[1].input[0] = "out"
    with pytest.raises(ImportModelError, match="depends on itself"):
        load(tmp_path, graph)


@pytest.mark.parametrize(
    "data", [b"", b"not a graph at all", b"\x00" * 64, b"\x0a\xff\xff\xff"]
)
def test_other_files_are_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(ImportModelError, match="frozen TensorFlow graph"):
        load(tmp_path, data)


def test_a_folder_and_a_missing_file_are_named(tmp_path: Path) -> None:
    for path, words in ((tmp_path, "SavedModel"), (tmp_path / "x", "No such")):
        with pytest.raises(ImportModelError, match=words):
            import_model(ImportRequest("m", path, (), ()))


def test_mutated_files_give_errors_not_crashes(tmp_path: Path) -> None:
    """1,000 damaged files: each imports, or raises one MaceError."""
    good = small_graph().SerializeToString()
    rng = random.Random(20261121)
    refused = 0
    for _ in range(1000):
        data = bytearray(good)
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        if rng.random() < 0.2:
            data = data[: rng.randrange(len(data))]
        try:
            load(tmp_path, bytes(data))
        except MaceError:
            refused += 1
    assert refused > 300
