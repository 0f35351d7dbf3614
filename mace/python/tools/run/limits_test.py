# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Dimensions with an upper limit, from the deployment file to the engine."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from mace.python.tools.config.deployment import Deployment
from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.config.problems import ConfigError
from mace.python.tools.export.model_file import read_message
from mace.python.tools.run.invocation import RunnerError
from mace.python.tools.run.testing.project import Project

_DEPLOYMENT = """
library_name: lib
target_abis: host
models:
  net:
    platform: onnx
    model_file_path: {folder}/net.onnx
    runtime: cpu
    data_type: fp32_fp32
    subgraphs:
      - input_tensors: x
        input_shapes: {shape}
        output_tensors: y
        output_shapes: "1,512,4"
"""


def _deployment(project: Project, shape: str) -> Deployment:
    """y = tanh(x w) for any number of rows."""
    weights = np.random.default_rng(6).standard_normal((3, 4)).astype(np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["x", "w"], ["a"]),
            helper.make_node("Tanh", ["a"], ["y"]),
        ],
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, "rows", 3))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, "rows", 4))],
        [numpy_helper.from_array(weights, "w")],
    )
    opset = [helper.make_opsetid("", 13)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=8)
    onnx.save(model, project.folder / "net.onnx")
    text = _DEPLOYMENT.format(folder=project.folder, shape=shape)
    return load_deployment_text(text, project.folder / "d.yml")


@pytest.mark.parametrize(
    "shape", ["1,1..512,3", '["1, 1..512, 3"]', "[[1, 1..512, 3]]"]
)
def test_the_model_has_the_limit(project: Project, shape: str) -> None:
    deployment = _deployment(project, shape)
    (info,) = deployment.models["net"].whole.inputs
    assert (info.shape, info.largest) == ((1, -1, 3), (1, 512, 3))
    project.convert(deployment)
    message = read_message(project.build_dir / "lib/model/net.pb")
    assert list(message.inputs[0].shape) == [1, -1, 3]
    assert list(message.inputs[0].largest_shape) == [1, 512, 3]


def test_random_inputs_are_of_the_largest_shape(project: Project) -> None:
    deployment = _deployment(project, "1,1..512,3")
    project.convert(deployment)
    report = project.run(deployment, validate=True)
    (run,) = report.runs
    assert run.failure == ""
    assert "[1, 512, 4]" in run.report["placement"]["operators"][0]["output"]


def test_another_limit_needs_another_conversion(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    project.convert(_deployment(project, "1,1..512,3"))
    with pytest.raises(RunnerError, match=r"for at most 512 \(\[1, 512, 3\]\)"):
        project.run(_deployment(project, "1,1..600,3"))
    assert "the limits of x are [1, 600, 3], were [1, 512, 3]" in caplog.text


@pytest.mark.parametrize(
    ("shape", "says"),
    [
        ("-1,1..512,3", "give every open dimension a limit"),
        ("1,2..512,3", "accepted: dimensions such as 1,224,224,3"),
        ("1,1..0,3", "accepted: dimensions such as 1,224,224,3"),
        ("1,1..,3", "accepted: dimensions such as 1,224,224,3"),
    ],
)
def test_wrong_limits(project: Project, shape: str, says: str) -> None:
    with pytest.raises(ConfigError, match="input_shapes") as caught:
        _deployment(project, shape)
    assert says in str(caught.value)
