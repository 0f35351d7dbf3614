# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""From a deployment file to verdicts, logs and reports, nothing replaced."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import numpy_helper
from PIL import Image

from mace.python.tools.atomic import OutputError
from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.devices import DeviceError
from mace.python.tools.errors import MaceError, UnsupportedError, UsageError
from mace.python.tools.export.model_file import ModelFileError
from mace.python.tools.run.deployment_run import run_deployment
from mace.python.tools.run.inputs import InputDataError, make_inputs
from mace.python.tools.run.options import LayerRange, RunOptions
from mace.python.tools.run.testing.project import (
    BENCHMARK_SECTIONS,
    DEPLOYMENT,
    MODEL,
    Project,
)


def test_a_right_model_validates(project: Project) -> None:
    report = project.convert_and_run(validate=True, round=3)
    assert report.passed
    (run,) = report.runs
    (comparison,) = run.comparisons
    assert comparison.metrics.similarity > 0.999999
    assert comparison.metrics.max_rel_error < 1e-5
    assert run.reference.startswith("onnxruntime")
    assert len(run.report["restarts"][0]["run_ms"]["values"]) == 3
    text = project.output.getvalue()
    assert "m: y: cosine similarity 1.000000" in text
    assert "capability(CPU)" in text
    assert "validated, similarity" in text
    (row,) = project.log()
    assert row["output_name"] == "y"
    assert float(row["similarity"]) == comparison.metrics.similarity
    assert float(row["pixel_accuracy"]) == 1.0
    documented = project.build_dir / "lib" / "model" / "runtime_in_yaml" / "log.csv"
    assert documented.is_file()


def test_with_json_standard_output_has_nothing_else(
    project: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    deployment = project.deployment()
    project.convert(deployment)
    options = RunOptions(
        build_dir=project.build_dir, benchmark=True, full=True, round=3, json="-"
    )
    run_deployment(deployment, options)
    out, messages = capfd.readouterr()
    content = json.loads(out)
    assert (content["deployment"], content["passed"]) == ("lib", True)
    (run,) = content["runs"]
    benchmark = run["mace_run"]["benchmark"]
    assert benchmark["without_statistics_ms"]["round"] == 3
    # The members that docs and mace/tools/README.md promise to programs.
    assert set(benchmark["stability"]) >= {
        *("verdict", "sentence", "cold_ms", "warm_ms", "sustained_ms"),
        *("trend", "spread", "window_medians_ms", "other_cores", "cores"),
    }
    # People still get everything, without source files and control characters.
    for title in (*BENCHMARK_SECTIONS, "Summary", "1 of 1 ran"):
        assert title in messages
    assert "statistics.cc" not in messages
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", messages)
    # The same in a file.
    path = project.folder / "results.json"
    project.run(deployment, json=str(path))
    assert json.loads(path.read_text())["runs"][0]["passed"]


def test_the_layout_the_user_declares_is_used(project: Project) -> None:
    yaml = (
        DEPLOYMENT.format(
            models=MODEL.format(
                name="m",
                path=project.folder / "m.onnx",
                runtime="cpu",
                extra="        input_data_formats: [NCHW]\n"
                "        output_data_formats: [NCHW]",
            )
        )
        .replace("1,6,5,4", "1,4,6,5")
        .replace("1,6,5,8", "1,8,6,5")
    )
    deployment = load_deployment_text(yaml, project.folder / "d.yml")
    project.convert(deployment)
    report = project.run(deployment, validate=True)
    assert report.passed
    assert report.runs[0].report["outputs"][0]["shape"] == [1, 8, 6, 5]


def test_a_result_is_judged_by_the_threshold(project: Project) -> None:
    # The right outputs and noise of a tenth of their power: SQNR 100.
    x = make_inputs(project.deployment().models["m"].subgraphs[0])["x"]
    session = onnxruntime.InferenceSession(project.folder / "m.onnx")
    (y,) = session.run(["y"], {"x": x.transpose(0, 3, 1, 2)})
    y = y.transpose(0, 2, 3, 1)
    noise = np.random.default_rng(5).standard_normal(y.shape)
    noise *= np.linalg.norm(y) / np.linalg.norm(noise) / 10
    np.save(project.folder / "expected.npy", (y + noise).astype(np.float32))
    given = f"validation_outputs_data: [{project.folder / 'expected.npy'}]"
    report = project.convert_and_run(given, validate=True)
    assert not report.passed
    metrics = report.runs[0].comparisons[0].metrics
    assert metrics.similarity == pytest.approx(0.995, abs=2e-3)
    assert metrics.sqnr == pytest.approx(101, rel=0.05)
    assert "cosine similarity is below 0.999" in project.output.getvalue()
    assert "wrong: y" in project.output.getvalue()
    lenient = f"{given}\nvalidation_threshold: {{cpu: 0.9}}"
    assert project.convert_and_run(lenient, validate=True).passed


def test_nan_fails_and_names_the_first_operator(project: Project) -> None:
    path = project.folder / "m.onnx"
    model = onnx.load(path)
    (w1,) = (w for w in model.graph.initializer if w.name == "w1")
    values = numpy_helper.to_array(w1).copy()
    values[2, 3] = np.nan
    w1.CopyFrom(numpy_helper.from_array(values, "w1"))
    onnx.save(model, path)
    report = project.convert_and_run(validate=True, report=True)
    assert not report.passed
    assert "output y has 30 NaN and 0 Inf among 240 values" in report.runs[0].failure
    assert "operator 'y' (Conv2D) is the first" in report.runs[0].failure
    assert "m on host: FAILED, output y has 30 NaN" in project.output.getvalue()
    data = json.loads(report.runs[0].files[0].read_text())
    assert data["failure"] == report.runs[0].failure
    # --layers shows where it begins, though the run failed.
    (run,) = project.run(project.deployment(), validate=True, layers=LayerRange()).runs
    found = {layer.comparison.name: layer.comparison.failure for layer in run.layers}
    assert found["r0"] == ""
    assert "30 NaN and 0 Inf among 240 values" in found["y"]
    assert "output y has 30 NaN" in run.failure


def test_layers_are_compared_and_the_worst_is_named(project: Project) -> None:
    report = project.convert_and_run(validate=True, layers=LayerRange())
    (run,) = report.runs
    names = [layer.comparison.name for layer in run.layers]
    assert names == ["r0", "y"]
    assert all(layer.comparison.metrics.similarity > 0.999999 for layer in run.layers)
    assert "(worst)" in project.output.getvalue()
    assert [row["output_name"] for row in project.log()] == ["r0", "y", "y"]
    first = project.run(project.deployment(), validate=True, layers=LayerRange(0, 1))
    assert [layer.comparison.name for layer in first.runs[0].layers] == ["r0"]
    with pytest.raises(UsageError, match="none of the 2 layers"):
        project.run(project.deployment(), validate=True, layers=LayerRange(9, None))


def test_given_inputs_are_used(project: Project) -> None:
    zeros = np.zeros((1, 6, 5, 4), np.float32)
    np.save(project.folder / "zeros.npy", zeros)
    report = project.convert_and_run(
        f"validation_inputs_data: [{project.folder / 'zeros.npy'}]", validate=True
    )
    assert report.passed
    # The same for every pixel: w1 relu(b0).
    output = report.runs[0].report["outputs"][0]
    assert output["max"] > output["min"]


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_an_application_may_use_half_the_bytes(project: Project, kind: str) -> None:
    extra = f"input_data_types: {kind}\noutput_data_types: {kind}\n"
    out = project.folder / "out"
    report = project.convert_and_run(extra, validate=True, output_dir=out)
    assert report.passed
    assert (out / "y").stat().st_size == 2 * 240


def test_an_application_may_pass_bytes(project: Project) -> None:
    pixels = (
        "        input_data_types: uint8\n"
        "        input_means: 120,110,100,90\n"
        "        input_scales: 0.02"
    )
    path = project.folder / "m.onnx"
    model = MODEL.format(name="m", path=path, runtime="cpu", extra=pixels)
    yaml = DEPLOYMENT.format(models=model.replace("-2,2", "0,255"))
    deployment = load_deployment_text(yaml, project.folder / "d.yml")
    project.convert(deployment)
    given = make_inputs(deployment.models["m"].whole)["x"]
    assert given.dtype == np.uint8 and given.max() > 200
    report = project.run(deployment, validate=True)
    assert report.passed
    assert report.runs[0].comparisons[0].metrics.similarity > 0.999999


def test_two_models_and_restarts(project: Project) -> None:
    deployment = project.deployment(names=("m", "n"))
    project.convert(deployment)
    report = project.run(deployment, validate=True, restart_round=2)
    assert [run.model for run in report.runs] == ["m", "n"]
    assert all(len(run.times) == 2 for run in report.runs)
    assert report.passed
    assert [row["output_name"] for row in project.log()] == ["m/host/y", "n/host/y"]


def test_reports_are_written(project: Project) -> None:
    report = project.convert_and_run(
        validate=True, benchmark=True, report=True, round=5, layers=LayerRange()
    )
    files = {path.name: path for path in report.runs[0].files}
    ends = ("json", "html", "graph.html", "trace.json")
    assert set(files) == {f"m_host_cpu.{end}" for end in ends}
    data = json.loads(files["m_host_cpu.json"].read_text())
    assert data["passed"] is True
    assert data["outputs"][0]["name"] == "y"
    assert len(data["layers"]) == 2
    assert data["mace_run"]["peak"]["gflops"] > 0
    page = files["m_host_cpu.html"].read_text()
    assert page.count("<svg") == 5
    assert page.count('<div class="bars">') == 2
    for title in ("Roofline", "By operator type", "Process memory over time"):
        assert title in page
    assert 'href="m_host_cpu.graph.html"' in page
    graph = files["m_host_cpu.graph.html"].read_text()
    assert "2 on cpu</button>" in graph
    # Nothing is fetched: every address in it is a name space.
    for word in ('src="http', 'href="http', "@import", "url(http"):
        assert word not in page + graph
    trace = json.loads(files["m_host_cpu.trace.json"].read_text())
    spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert [span["cat"] for span in spans] == ["Conv2D", "Conv2D"]


def test_samples_of_a_folder(project: Project) -> None:
    deployment = project.deployment()
    project.convert(deployment)
    samples = project.folder / "samples"
    samples.mkdir()
    for i in range(3):
        array = np.full((1, 6, 5, 4), i, np.float32)
        array.tofile(samples / f"x_{i}")
    out = project.folder / "out"
    out.mkdir()
    (out / "mine").write_text("stays")
    assert project.run(deployment, input_dir=samples, output_dir=out).passed
    assert sorted(p.name for p in out.iterdir()) == ["mine", "y_0", "y_1", "y_2"]
    values = [np.fromfile(out / f"y_{i}", np.float32) for i in range(3)]
    assert values[0].size == 240
    assert not np.array_equal(values[0], values[1])
    with pytest.raises(UnsupportedError, match="--output_dir"):
        project.run(deployment, input_dir=samples)
    with pytest.raises(UnsupportedError, match=r"--round, --validate.*--input_dir"):
        project.run(
            deployment, input_dir=samples, output_dir=out, validate=True, round=2
        )


def test_a_bad_sample_is_found_before_any_runs(project: Project) -> None:
    deployment = project.deployment()
    project.convert(deployment)
    samples, out = project.folder / "samples", project.folder / "out"
    samples.mkdir()
    for i in range(14):
        size = 120 if i in (0, 1) else 119
        np.zeros(size, np.float32).tofile(samples / f"x_{i:02}")
    with pytest.raises(InputDataError) as caught:
        project.run(deployment, input_dir=samples, output_dir=out)
    message = str(caught.value)
    assert "12 of 14 samples' files cannot be used" in message
    assert "x_02: 476 bytes; float32 values of shape [1, 6, 5, 4] are 480" in message
    assert message.endswith("and 2 more")
    assert not out.exists()
    assert project.output.getvalue() == ""


def test_outputs_are_kept(project: Project) -> None:
    out = project.folder / "out"
    project.convert_and_run(output_dir=out, validate=True)
    (kept,) = out.iterdir()
    assert kept.name == "y"
    assert np.fromfile(kept, np.float32).size == 240


def test_an_accuracy_script(project: Project) -> None:
    script = project.folder / "accuracy.py"
    script.write_text(
        "import numpy as np\n"
        "class AccuracyValidator:\n"
        "    shapes = []\n"
        "    def sample_size(self): return 3\n"
        "    def batch_size(self): return 1\n"
        "    def preprocess(self, begin, end):\n"
        "        return {'x': np.ones((end - begin, 6, 5, 4), np.float32)}\n"
        "    def postprocess(self, begin, end, outputs):\n"
        "        self.shapes.append(outputs['y'].shape)\n"
        "    def result(self): return self.shapes\n"
    )
    report = project.convert_and_run(
        f"accuracy_validation_script: {script}", validate=True
    )
    assert report.runs[0].accuracy == {str(script): str([(1, 6, 5, 8)] * 3)}


_DIGITS = Path(__file__).resolve().parents[3] / "examples" / "digits"
_TOP_K = """
from mace.python.tools.validate.labelled_images import LabelledImages

class AccuracyValidator(LabelledImages):
    images = {images!r}
    labels = "labels.txt"
    input = "image"
    size = (8, 8)
    colours = "GRAY"
    scale = 1 / 255
    ranks = (1, 2, 5)
"""


def test_top_k_of_the_digits(project: Project) -> None:
    """The same shares as by ONNX Runtime."""
    files = sorted((_DIGITS / "images").glob("*_is_[0-9].png"))
    assert len(files) == 40
    truth = np.array([int(file.stem[-1]) for file in files])
    lines = [f"{file.name} {digit}\n" for file, digit in zip(files, truth)]
    (project.folder / "labels.txt").write_text("".join(lines))
    script = project.folder / "top_k.py"
    script.write_text(_TOP_K.format(images=str(_DIGITS / "images")))
    text = (_DIGITS / "digits.yml").read_text()
    text = text.replace(
        "mace/examples/digits/digits.onnx", str(_DIGITS / "digits.onnx")
    )
    key = "        output_data_formats: [NONE]\n"
    assert key in text
    text = text.replace(key, f"{key}        accuracy_validation_script: {script}\n")
    deployment = load_deployment_text(text, project.folder / "digits.yml")
    project.convert(deployment)
    report = project.run(deployment, validate=True)
    pixels = np.stack([np.asarray(Image.open(file).convert("L")) for file in files])
    session = onnxruntime.InferenceSession(_DIGITS / "digits.onnx")
    inputs = {"image": pixels[:, None].astype(np.float32) / 255}
    (scores,) = session.run(None, inputs)
    better = (scores > np.take_along_axis(scores, truth[:, None], 1)).sum(1)
    shares = [f"top-{k} {100 * np.mean(better < k):.2f} %" for k in (1, 2, 5)]
    said = f"{', '.join(shares)} of 40 images"
    assert report.runs[0].accuracy == {str(script): said}
    assert np.mean(better < 1) > 0.9


@pytest.mark.usefixtures("release_without_gpu")
def test_what_cannot_be_run_is_said_at_once(project: Project) -> None:
    deployment = project.deployment(names=("m", "n"), runtime="gpu")
    with pytest.raises(UnsupportedError) as caught:
        project.run(deployment)
    assert "models.m.runtime: the library has no GPU" in str(caught.value)
    assert "models.n.runtime: the library has no GPU" in str(caught.value)


@pytest.mark.usefixtures("release_without_gpu")
def test_cpu_and_gpu_runs_on_the_cpu_and_says_so(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    deployment = project.deployment(runtime="cpu+gpu")
    project.convert(deployment)
    report = project.run(deployment)
    assert [run.runtime.value for run in report.runs] == ["cpu"]
    assert (
        "the library has no GPU runtime; it has: CPU, on which models run"
        in caplog.text
    )


def test_places_are_tried_before_anything_runs(project: Project) -> None:
    deployment = project.deployment()
    project.convert(deployment)
    (project.folder / "taken").write_text("a file")
    place = project.folder / "taken" / "deeper"
    for options in ({"report": True, "report_dir": place}, {"output_dir": place}):
        with pytest.raises(OutputError, match=r"cannot write .*taken/deeper"):
            project.run(deployment, **options)
    # Where log.csv goes.
    (project.build_dir / "lib" / "model" / "cpu").write_text("a file")
    with pytest.raises(OutputError, match=r"cannot write .*lib/model/cpu"):
        project.run(deployment, validate=True)
    assert project.output.getvalue() == ""


def test_not_converted(project: Project) -> None:
    there = (
        rf"convert the model first \(.* convert .* --build_dir={project.build_dir}\)"
    )
    with pytest.raises(ModelFileError, match=there):
        project.run(project.deployment())


def test_unknown_device(project: Project) -> None:
    deployment = project.deployment()
    project.convert(deployment)
    with pytest.raises(DeviceError, match=r"(?s)MI6.*found host"):
        project.run(deployment, devices_to_run=("MI6",))


def _damage_graph(project: Project) -> None:
    (project.build_dir / "lib" / "model" / "m.pb").write_bytes(b"\x08")


def _truncate_data(project: Project) -> None:
    path = project.build_dir / "lib" / "model" / "m.data"
    path.write_bytes(path.read_bytes()[:100])


def _flip_data(project: Project) -> None:
    path = project.build_dir / "lib" / "model" / "m.data"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def _lose_source(project: Project) -> None:
    (project.folder / "m.onnx").unlink()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_damage_graph, r"m\.pb"),
        (_truncate_data, r"m\.pb"),
        (_flip_data, r"m\.pb: .*weights of model 'm' are damaged.*convert the model"),
        (_lose_source, r"m\.onnx"),
    ],
)
def test_damaged_files_are_one_clear_error(
    project: Project, damage: Callable[[Project], None], message: str
) -> None:
    deployment = project.deployment()
    project.convert(deployment)
    damage(project)
    with pytest.raises(MaceError, match=message) as caught:
        project.run(deployment, validate=True)
    assert caught.value.exit_status == 2
