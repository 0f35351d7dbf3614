# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A model in two parts, from the deployment file to the engine's answer."""

from __future__ import annotations

import io
import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.config.problems import ConfigError
from mace.python.tools.export.model_file import read_message
from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.inspection.explain import explain_deployment
from mace.python.tools.inspection.options import ExplainOptions
from mace.python.tools.run.testing.project import Project

_DEPLOYMENT = """
library_name: lib
target_abis: host
models:
  net:
    platform: onnx
    model_file_path: {folder}/net.onnx
    data_type: fp32_fp32
    subgraphs:
      - name: front
        runtime: {front}
        input_tensors: x
        input_shapes: "1,8,8,3"
        output_tensors: {features}
        output_shapes: "1,8,8,4"
      - name: back
        runtime: cpu
        input_tensors: [features, scale]
        input_shapes: [{shape}, "1,8,8,4"]
        output_tensors: y
        output_shapes: "1,8,8,5"
        {extra}
"""


def _write(project: Project) -> None:
    """features = relu(conv(x)); y = conv(features * scale)."""
    rng = np.random.default_rng(5)
    filters = {"w": (4, 3, 3, 3), "v": (5, 4, 1, 1)}
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["x", "w"], ["sums"], pads=[1] * 4),
            helper.make_node("Relu", ["sums"], ["features"]),
            helper.make_node("Mul", ["features", "scale"], ["scaled"]),
            helper.make_node("Conv", ["scaled", "v"], ["y"]),
        ],
        "net",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 3, 8, 8)),
            helper.make_tensor_value_info("scale", TensorProto.FLOAT, (1, 4, 8, 8)),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 5, 8, 8))],
        [
            numpy_helper.from_array(rng.standard_normal(s).astype(np.float32), name)
            for name, s in filters.items()
        ],
    )
    opset = [helper.make_opsetid("", 13)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=8)
    onnx.save(model, project.folder / "net.onnx")


def _text(project: Project, **changes: str) -> str:
    values = {
        "front": "cpu",
        "features": "features",
        "shape": '"1,8,8,4"',
        "extra": "",
        **changes,
    }
    return _DEPLOYMENT.format(folder=project.folder, **values)


def _operators(project: Project) -> list[tuple[str, str]]:
    message = read_message(project.build_dir / "lib/model/net.pb")
    names = [part.name for part in message.subgraphs]
    return [(op.type, names[op.subgraph]) for op in message.operators]


def test_parts_become_one_model(project: Project) -> None:
    _write(project)
    deployment = load_deployment_text(_text(project), project.folder / "d.yml")
    project.convert(deployment)
    message = read_message(project.build_dir / "lib/model/net.pb")
    assert [i.name for i in message.inputs] == ["x", "scale"]
    assert [o.name for o in message.outputs] == ["y"]
    assert _operators(project) == [
        ("Conv2D", "front"),
        ("Eltwise", "back"),
        ("Conv2D", "back"),
    ]
    report = project.run(deployment, validate=True)
    assert [run.failure for run in report.runs] == [""]


@pytest.mark.usefixtures("release_without_gpu")
def test_explain_asks_for_the_devices_of_each(project: Project) -> None:
    _write(project)
    text = _text(project, front="cpu+gpu")
    deployment = load_deployment_text(text, project.folder / "d.yml")
    project.convert(deployment)
    stream = io.StringIO()
    options = ExplainOptions(build_dir=project.build_dir, format="json")
    explain_deployment(deployment, options, stream)
    (run,) = json.loads(stream.getvalue())["runs"]
    assert [op["subgraph"] for op in run["operators"]] == ["front", "back", "back"]
    assert [item["device"] for item in run["left_out"]] == ["gpu"]


def test_what_does_not_fit_is_told_at_once(project: Project) -> None:
    text = _text(project, shape='"1,8,8,5"', extra="winograd: 2")
    with pytest.raises(ConfigError) as caught:
        load_deployment_text(text, project.folder / "d.yml")
    message = str(caught.value)
    assert "models.net.subgraphs: the subgraphs of a model have one winograd" in message
    assert "'features' has another shape, type or format in one subgraph" in message


def test_tensors_that_the_model_lacks(project: Project) -> None:
    _write(project)
    text = _text(project, features="[features, absent]").replace(
        'output_shapes: "1,8,8,4"', 'output_shapes: ["1,8,8,4", "1,8,8,4"]'
    )
    deployment = load_deployment_text(text, project.folder / "d.yml")
    with pytest.raises(ImportModelError, match="absent"):
        project.convert(deployment)
