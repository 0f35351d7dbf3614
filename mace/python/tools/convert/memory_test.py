# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What a conversion tells about the memory of a run."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.convert.convert import convert_deployment
from mace.python.tools.convert.memory import MemoryBound, live_bytes
from mace.python.tools.convert.options import ConvertOptions

_DEPLOYMENT = """
library_name: lib
target_abis: host
models:
  net:
    platform: onnx
    model_file_path: {path}
    runtime: cpu
    data_type: fp32_fp32
    subgraphs:
      - input_tensors: x
        input_shapes: {shape}
        input_data_formats: {format}
        output_tensors: [y, z]
        output_shapes: ["-1,-1", "-1,-1"]
        output_data_formats: {format}
"""


def _node(kind: str, inputs: list[str], output: str, **more: object) -> onnx.NodeProto:
    return helper.make_node(kind, inputs, [output], name=output, **more)


def _convert(
    folder: Path,
    nodes: list[onnx.NodeProto],
    shape: str,
    ranks: tuple[int, int] = (2, 2),
    data_format: str = "NONE",
) -> MemoryBound:
    def open_shape(name: str, rank: int) -> onnx.ValueInfoProto:
        dims = [f"{name}{i}" for i in range(rank)]
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)

    rng = np.random.default_rng(0)
    graph = helper.make_graph(
        nodes,
        "net",
        [open_shape("x", ranks[0])],
        [open_shape(name, ranks[1]) for name in ("y", "z")],
        [
            numpy_helper.from_array(rng.random(dims, np.float32), name)
            for name, dims in (("w", (3, 4)), ("filter", (4, 3, 1, 1)))
        ],
    )
    opset = [helper.make_opsetid("", 13)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=8)
    onnx.save(model, folder / "net.onnx")
    text = _DEPLOYMENT.format(path=folder / "net.onnx", shape=shape, format=data_format)
    dims = ",".join(["-1"] * ranks[1])
    deployment = load_deployment_text(text.replace("-1,-1", dims), folder / "d.yml")
    options = ConvertOptions(build_dir=folder / "build")
    (done,) = convert_deployment(deployment, options).models
    return done.memory


# a: [n, 4], then y: [n, 4] and z: [n, 1], each made of a.
_MATRIX = [
    _node("MatMul", ["x", "w"], "a"),
    _node("Softmax", ["a"], "y"),
    _node("ReduceMean", ["a"], "z", axes=[1]),
]


@pytest.mark.parametrize("rows", ["512", "1..512"])
def test_what_exists_at_one_time_at_the_largest_shape(
    tmp_path: Path, rows: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        memory = _convert(tmp_path, _MATRIX, f'["{rows},3"]')
    # While z is made: a, y, which is an output of the model, and z.
    assert memory == MemoryBound(512 * 4 * (4 + 4 + 1))
    assert "with the largest inputs: at most 0.02 MB of intermediate" in caplog.text
    assert "`converter.py explain` measures it too" in caplog.text


def test_a_tensor_ends_with_its_last_reader(tmp_path: Path) -> None:
    nodes = [
        _node("MatMul", ["x", "w"], "a"),
        _node("Softmax", ["a"], "b"),
        _node("ReduceMean", ["b"], "y", axes=[1]),
        _node("ReduceMax", ["b"], "z", axes=[1]),
    ]
    assert _convert(tmp_path, nodes, "8,3").tensor_bytes == 8 * 4 * (4 + 4)


def test_limits_of_an_image_are_in_the_order_of_the_deployment(tmp_path: Path) -> None:
    nodes = [
        _node("Conv", ["x", "filter"], "y", kernel_shape=[1, 1]),
        _node("GlobalAveragePool", ["y"], "z"),
    ]
    shape = '["1,3,1..6,1..5"]'
    memory = _convert(tmp_path, nodes, shape, (4, 4), "NCHW")
    assert memory.tensor_bytes == 4 * (4 * 6 * 5 + 4)


def test_without_a_limit_there_is_no_bound(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        memory = _convert(tmp_path, _MATRIX, '["-1,3"]')
    assert memory.tensor_bytes is None
    assert (
        "net: memory of a run is not known: input 'x' has a dimension without an "
        "upper limit (write 1..512 instead of -1 in input_shapes)" in caplog.text
    )


def test_states_are_told_apart() -> None:
    text = MemoryBound(1_000_000, 2_000_000).summary(3_000_000)
    assert "1.00 MB of intermediate tensors at one time, 2.00 MB of states" in text
    assert "3.00 MB of weights" in text


def test_tensors_count_from_their_first_step_to_their_last() -> None:
    assert live_bytes(4, [(0, 1, 10), (1, 3, 5), (2, 2, 100)]) == (10, 15, 105, 5)


def test_nothing_runs() -> None:
    assert live_bytes(0, []) == ()
