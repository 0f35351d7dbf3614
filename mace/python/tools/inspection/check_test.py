# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What a check says of models that can be converted and of others."""

from __future__ import annotations

import io
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from mace.python.tools.cli.main import main
from mace.python.tools.config.limits import no_runtime
from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.config.problems import ConfigError
from mace.python.tools.config.vocabulary import Runtime
from mace.python.tools.convert.convert import convert_deployment
from mace.python.tools.convert.options import ConvertOptions
from mace.python.tools.errors import MaceError
from mace.python.tools.export.model_file import read_message
from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.importers.onnx.node import HANDLERS
from mace.python.tools.inspection.check import check_deployment
from mace.python.tools.inspection.explain import explain_deployment
from mace.python.tools.inspection.options import CheckOptions, ExplainOptions
from mace.python.tools.run.testing.project import Project

_FIND = HANDLERS.find


@pytest.fixture
def _no_sine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HANDLERS, "find", lambda op: None if op == "Sin" else _FIND(op))


def _write(path: Path, nodes: list[onnx.NodeProto]) -> None:
    """A model from x [1, 3, 6, 5] to y."""
    weights = np.random.default_rng(0).standard_normal((8, 3, 3, 3))
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 6, 5])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [
            numpy_helper.from_array(weights.astype(np.float32), "w"),
        ],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)


def _file(folder: Path, **models: str) -> Path:
    text = "library_name: lib\ntarget_abis: [host]\nmodels:\n"
    for name, output in models.items():
        text += (
            f"  {name}:\n    platform: onnx\n    model_file_path: {name}.onnx\n"
            "    subgraphs:\n      - input_tensors: x\n        input_shapes: 1,3,6,5\n"
            f"        input_data_formats: NCHW\n        output_tensors: {output}\n"
            "        output_data_formats: NCHW\n"
            "        output_shapes: 1,-1,-1,-1\n"
            "    runtime: cpu\n"
        )
    path = folder / "lib.yml"
    path.write_text(text, encoding="utf-8")
    return path


def _check(path: Path, **options: Any) -> tuple[bool, str]:
    deployment = load_deployment_text(path.read_text(encoding="utf-8"), path)
    stream = io.StringIO()
    passed = check_deployment(deployment, CheckOptions(**options), stream)
    return passed, stream.getvalue()


_GOOD = [
    helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[0] * 4),
    helper.make_node("Relu", ["c"], ["y"], name="relu"),
]


@pytest.mark.usefixtures("_no_sine")
def test_all_nodes_have_operators_work_and_devices(tmp_path: Path) -> None:
    _write(tmp_path / "good.onnx", _GOOD)
    passed, text = _check(_file(tmp_path, good="y"))
    assert passed
    lines = text.splitlines()
    assert lines[0] == "good (onnx, good.onnx):"
    # 4 x 3 pixels of 8 channels, each the sum of 27 products.
    assert lines[1] == (
        "  2 nodes, all can be converted, to 1 operator, "
        "0.0 million multiply-accumulates"
    )
    header, conv, relu = lines[3:6]
    heading = "# operator node becomes output MMAC KB devices"
    assert header.split() == heading.split()
    assert conv.split() == [
        *["0", "Conv", "conv", "Conv2D", "[1,", "8,", "4,", "3]"],
        "0.00",
        # 90 inputs, 216 weights, 96 results.
        f"{4 * (90 + 216 + 96) / 1000:.1f}",
        "CPU",
        "GPU",
    ]
    assert relu.split()[:4] == ["1", "Relu", "relu", "Activation"]


@pytest.mark.usefixtures("_no_sine")
def test_what_follows_a_node_that_cannot_be_converted_is_checked(
    tmp_path: Path,
) -> None:
    _write(
        tmp_path / "bad.onnx",
        [
            helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1] * 4),
            helper.make_node("Sin", ["c"], ["s"], name="sine"),
            helper.make_node("Relu", ["s"], ["r"], name="relu"),
            helper.make_node("Own", ["r"], ["o"], name="mine", domain="own"),
            helper.make_node("Relu", ["o"], ["p"], name="behind"),
            helper.make_node("Sin", ["r"], ["t"], name="another"),
            helper.make_node("Add", ["p", "t"], ["y"], name="sum"),
        ],
    )
    passed, text = _check(_file(tmp_path, bad="y"))
    assert not passed
    assert text.splitlines()[1].startswith(
        "  7 nodes, 3 cannot be converted, 2 behind them cannot be checked"
    )
    becomes = {
        node["node"]: (node["outcome"], [op["operator"] for op in node["becomes"]])
        for node in json.loads(_check(_file(tmp_path, bad="y"), format="json")[1])[
            "models"
        ][0]["nodes"]
    }
    assert becomes == {
        "conv": ("converted", ["Conv2D"]),
        "sine": ("refused", []),
        "relu": ("converted", ["Activation"]),
        "mine": ("refused", []),
        "behind": ("not reached", []),
        "another": ("refused", []),
        "sum": ("not reached", []),
    }
    problems = _check(_file(tmp_path, bad="y"), only_problems=True)[1]
    assert "conv " not in problems
    assert "why: the operator set 'own' is not ONNX's own" in problems
    assert "what helps: export the model with standard operators" in problems


@pytest.mark.usefixtures("_no_sine")
def test_a_problem_of_one_model_does_not_hide_the_others(tmp_path: Path) -> None:
    for name in ("first", "second", "third"):
        _write(tmp_path / f"{name}.onnx", _GOOD)
    (tmp_path / "second.onnx").write_bytes(b"\x08\x07 no model")
    passed, text = _check(_file(tmp_path, first="z", second="y", third="y"))
    assert not passed
    first, second, third = text.split("\n\n", 2)
    assert "output_tensors" in first and "'z'" in first
    assert "second.onnx" in second
    assert "all can be converted" in third


@pytest.mark.usefixtures("_no_sine")
def test_a_download_that_fails_hides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MACE_CACHE", str(tmp_path / "cache"))
    _write(tmp_path / "a.onnx", _GOOD)
    _write(tmp_path / "b.onnx", [helper.make_node("Sin", ["x"], ["y"], name="sine")])
    path = _file(tmp_path, a="y", dead="y", b="z", c="y")
    text = path.read_text(encoding="utf-8")
    dead = "http://127.0.0.1:9/dead.onnx\n    model_sha256_checksum: " + "0" * 64
    text = text.replace("model_file_path: dead.onnx", f"model_file_path: {dead}")
    text = text.replace(
        "  b:\n", "  b:\n    quantize: 1\n    quantize_range_file: ranges\n"
    )
    path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    passed, told = _check(path)
    assert not passed
    told = " ".join(told.split())
    for part in ("127.0.0.1", "no tensor 'z'", "ranges", "c.onnx", "no such file"):
        assert part in told
    options = ConvertOptions(build_dir=tmp_path / "build")
    with pytest.raises(MaceError) as caught:
        convert_deployment(load_deployment_text(text, path), options)
    told = str(caught.value)
    assert told.startswith("4 problems:\n")
    for part in (
        "127.0.0.1",
        "no tensor 'z'",
        "models.b.quantize_range_file",
        "c.onnx",
    ):
        assert part in told


@pytest.mark.usefixtures("_no_sine")
def test_a_result_that_is_known_is_a_constant(tmp_path: Path) -> None:
    _write(
        tmp_path / "known.onnx",
        [
            helper.make_node("Neg", ["w"], ["v"], name="negative"),
            helper.make_node("Conv", ["x", "v"], ["y"], name="conv"),
        ],
    )
    text = _check(_file(tmp_path, known="y"))[1]
    (row,) = [line for line in text.splitlines() if "negative" in line]
    assert row.split() == ["0", "Neg", "negative", "a", "constant"]


@pytest.mark.usefixtures("_no_sine")
def test_the_command_has_a_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _write(tmp_path / "good.onnx", _GOOD)
    assert main(["check", f"--config={_file(tmp_path, good='y')}"]) == 0
    assert "all can be converted" in capsys.readouterr().out
    sine = [helper.make_node("Sin", ["x"], ["y"], name="sine")]
    _write(tmp_path / "good.onnx", sine)
    assert main(["check", f"--config={tmp_path / 'lib.yml'}"]) == 1
    out = capsys.readouterr().out
    assert "NOT CONVERTED" in out
    assert not list(tmp_path.glob("build*"))


def test_the_engine_takes_no_more_than_it_tells(project: Project) -> None:
    project.convert(project.deployment())

    def run(*flags: str) -> subprocess.CompletedProcess[str]:
        model = project.build_dir / "lib/model/m"
        program = project.build_dir / "bin/host/mace_run"
        words = [f"--model_file={model}.pb", f"--model_data_file={model}.data"]
        words += ["--input_node=x", "--input_shape=1,6,5,4"]
        words += ["--output_node=y", "--output_shape=1,6,5,8", *flags]
        return subprocess.run(
            [program, *words], capture_output=True, text=True, check=False
        )

    told = re.search(r"memory: (\d+) bytes: (\d+) of inter", run("--memory").stdout)
    assert told and int(told[2]) > 0
    enough = run("--memory", f"--memory_limit={told[1]}")
    assert enough.returncode == 0 and told[0] in enough.stdout
    refused = run(f"--memory_limit={int(told[1]) - 1}")
    assert refused.returncode not in (0, -6)
    text = f"no memory for the intermediate tensors of model 'm' ({told[2]} bytes, over"
    assert text in refused.stderr and len(refused.stderr.splitlines()) == 1


def test_a_run_that_fails_has_no_figures(project: Project) -> None:
    """Nothing was measured: the report has the error and no benchmark."""
    project.convert(project.deployment())
    model = project.build_dir / "lib/model/m"
    report = project.folder / "report.json"
    done = subprocess.run(
        [
            project.build_dir / "bin/host/mace_run",
            f"--model_file={model}.pb",
            f"--model_data_file={model}.data",
            "--input_node=x",
            "--input_shape=1,6,5,3",
            "--output_node=y",
            "--output_shape=1,6,5,8",
            "--benchmark",
            f"--report_json={report}",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "has the shape [1, 6, 5, 3]" in done.stderr
    assert "benchmark" not in json.loads(report.read_text(encoding="utf-8"))


def test_convert_tells_it(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    path = project.folder / "d.yml"
    path.write_text(_TEXT.format(model=project.folder / "m.onnx"), encoding="utf-8")
    arguments = [f"--config={path}", f"--build_dir={project.build_dir}"]
    assert main(["convert", *arguments]) == 0
    told = capsys.readouterr().err
    assert "m: memory of a run with the largest inputs: at most 0.00 MB" in told
    assert "explain` measures it too" in " ".join(told.split())


_TEXT = """
library_name: lib
target_abis: [host]
models:
  m:
    platform: onnx
    model_file_path: {model}
    runtime: cpu
    subgraphs:
      - {{input_tensors: x, input_shapes: "1,6,5,4", output_tensors: y,
         output_shapes: "1,6,5,8"}}
"""


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


def _write_subgraphs(project: Project) -> None:
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
    _write_subgraphs(project)
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
    _write_subgraphs(project)
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
    _write_subgraphs(project)
    text = _text(project, features="[features, absent]").replace(
        'output_shapes: "1,8,8,4"', 'output_shapes: ["1,8,8,4", "1,8,8,4"]'
    )
    deployment = load_deployment_text(text, project.folder / "d.yml")
    with pytest.raises(ImportModelError, match="absent"):
        project.convert(deployment)


_ROOT = Path(__file__).resolve().parents[4]
# Those that `mace_run` is built without.
_ABSENT = [r for r in Runtime if r.is_delegate]


def _stderr(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    return done.stderr


def _lacks(device: Runtime) -> str:
    """The words; what is there after them depends on how the library was built."""
    return no_runtime(device).partition(";")[0]


@pytest.mark.parametrize("device", _ABSENT)
def test_the_library_says_it(project: Project, mace_run: Path, device: Runtime) -> None:
    project.convert(project.deployment())
    model = project.build_dir / "lib" / "model" / "m"
    error = _stderr(
        mace_run,
        f"--model_file={model}.pb",
        f"--model_data_file={model}.data",
        "--input_node=x",
        "--input_shape=1,6,5,4",
        "--output_node=y",
        "--output_shape=1,6,5,8",
        f"--runtime={device.value}",
    )
    assert f"{_lacks(device)}; it has: CPU" in error


def test_the_build_script_names_what_it_does_not_know() -> None:
    script = _ROOT / "tools" / "build-standalone-lib.sh"
    assert "unknown device 'tpu'" in _stderr("bash", script, "-runtimes", "tpu")
    assert "needs a value" in _stderr("bash", script, "-runtimes", "", "-check")
