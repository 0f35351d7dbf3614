# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A recurrent network whose state the engine keeps, from file to verdict."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from mace.python.tools.config.deployment import Deployment
from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.config.problems import ConfigError
from mace.python.tools.export.model_file import read_message
from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.run.inputs import InputDataError
from mace.python.tools.run.invocation import RunnerError
from mace.python.tools.run.testing.project import Project

_DEPLOYMENT = """
library_name: lib
target_abis: host
models:
  rnn:
    platform: onnx
    model_file_path: {folder}/rnn.onnx
    runtime: cpu
    data_type: fp32_fp32
    obfuscate: {obfuscate}
    subgraphs:
      - input_tensors: [x, h]
        input_shapes: ["1,3", "1,4"]
        output_tensors: [y, h_new]
        output_shapes: ["1,2", "1,4"]
        {extra}
"""


def _write_rnn(path: Path) -> None:
    """h_new = tanh(x w + h u); y = h_new v."""
    rng = np.random.default_rng(3)

    def info(name: str, *shape: int) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["x", "w"], ["a"]),
            helper.make_node("MatMul", ["h", "u"], ["b"]),
            helper.make_node("Add", ["a", "b"], ["sum"]),
            helper.make_node("Tanh", ["sum"], ["h_new"]),
            helper.make_node("MatMul", ["h_new", "v"], ["y"]),
        ],
        "rnn",
        [info("x", 1, 3), info("h", 1, 4)],
        [info("y", 1, 2), info("h_new", 1, 4)],
        [
            numpy_helper.from_array(rng.standard_normal(s).astype(np.float32), name)
            for name, s in (("w", (3, 4)), ("u", (4, 4)), ("v", (4, 2)))
        ],
    )
    opset = [helper.make_opsetid("", 13)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)


def _deployment(
    project: Project, extra: str = "states: {h: h_new}", obfuscate: int = 0
) -> Deployment:
    _write_rnn(project.folder / "rnn.onnx")
    text = _DEPLOYMENT.format(folder=project.folder, extra=extra, obfuscate=obfuscate)
    return load_deployment_text(text, project.folder / "d.yml")


@pytest.mark.parametrize("obfuscate", [0, 1])
def test_states_are_written_and_not_fed(project: Project, obfuscate: int) -> None:
    deployment = _deployment(project, obfuscate=obfuscate)
    project.convert(deployment)
    model = project.build_dir / "lib" / "model" / "rnn.pb"
    message = read_message(model)
    assert message.format_version == 4
    (state,) = message.states
    assert (state.input, state.output) == ("h", "h_new")
    # Results are those of the first run, however many there were.
    report = project.run(deployment, validate=True, round=4)
    assert report.passed
    assert [c.name for c in report.runs[0].comparisons] == ["y", "h_new"]


def test_samples_hold_no_states(project: Project) -> None:
    deployment = _deployment(project)
    project.convert(deployment)
    samples, out = project.folder / "samples", project.folder / "out"
    samples.mkdir()
    for i in range(3):
        np.ones(3, np.float32).tofile(samples / f"x_{i}")
    assert project.run(deployment, input_dir=samples, output_dir=out).passed
    # Each begins anew.
    first, *others = (np.fromfile(out / f"y_{i}", np.float32) for i in range(3))
    assert all(np.array_equal(first, other) for other in others)


def test_values_of_a_state_are_zeros(project: Project) -> None:
    for name, value in (("x", np.ones((1, 3))), ("h", np.zeros((1, 4)))):
        np.save(project.folder / f"{name}.npy", value.astype(np.float32))
    files = f"[{project.folder}/x.npy, {project.folder}/h.npy]"
    extra = f"states: {{h: h_new}}\n        validation_inputs_data: {files}"
    deployment = _deployment(project, extra)
    project.convert(deployment)
    assert project.run(deployment, validate=True).passed
    np.save(project.folder / "h.npy", np.ones((1, 4), np.float32))
    with pytest.raises(InputDataError, match=r"h\.npy is for the state h, which is"):
        project.run(deployment, validate=True)


def test_a_state_takes_what_fits(project: Project) -> None:
    says = (
        r"'h' cannot become 'y': that is of shape \[1, 2\], the state of shape \[1, 4"
    )
    with pytest.raises(ImportModelError, match=says):
        project.convert(_deployment(project, "states: {h: y}"))


def test_a_model_with_other_states_is_told(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    project.convert(_deployment(project, ""))
    assert project.run(_deployment(project, ""), validate=True).passed
    assert "other settings" not in caplog.text
    # Its file has none: h is fed, with the zeros that it would begin with.
    project.run(_deployment(project))
    assert "states are {'h': 'h_new'}, were none" in caplog.text


_LIMITED = """
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


def _limited(project: Project, shape: str) -> Deployment:
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
    text = _LIMITED.format(folder=project.folder, shape=shape)
    return load_deployment_text(text, project.folder / "d.yml")


@pytest.mark.parametrize(
    "shape", ["1,1..512,3", '["1, 1..512, 3"]', "[[1, 1..512, 3]]"]
)
def test_the_model_has_the_limit(project: Project, shape: str) -> None:
    deployment = _limited(project, shape)
    (info,) = deployment.models["net"].whole.inputs
    assert (info.shape, info.largest) == ((1, -1, 3), (1, 512, 3))
    project.convert(deployment)
    message = read_message(project.build_dir / "lib/model/net.pb")
    assert list(message.inputs[0].shape) == [1, -1, 3]
    assert list(message.inputs[0].largest_shape) == [1, 512, 3]


def test_random_inputs_are_of_the_largest_shape(project: Project) -> None:
    deployment = _limited(project, "1,1..512,3")
    project.convert(deployment)
    report = project.run(deployment, validate=True)
    (run,) = report.runs
    assert run.failure == ""
    assert "[1, 512, 4]" in run.report["placement"]["operators"][0]["output"]


def test_another_limit_needs_another_conversion(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    project.convert(_limited(project, "1,1..512,3"))
    with pytest.raises(RunnerError, match=r"for at most 512 \(\[1, 512, 3\]\)"):
        project.run(_limited(project, "1,1..600,3"))
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
        _limited(project, shape)
    assert says in str(caught.value)
