# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""From samples to a quantized model and its report, in one command."""

from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.calibrate.command import (
    convert_with_samples,
    quantize_deployment,
)
from mace.python.tools.calibrate.options import CalibrateOptions
from mace.python.tools.calibrate.samples import print_ranges
from mace.python.tools.cli.main import main
from mace.python.tools.config.load import load_deployment
from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.convert.options import ConvertOptions
from mace.python.tools.convert.quantization import has_calibration
from mace.python.tools.errors import CheckFailedError, UsageError
from mace.python.tools.export.model_file import read_model_file
from mace.python.tools.export.places import model_places
from mace.python.tools.quantize.ranges import RangeFileError, read_log
from mace.python.tools.run.inputs import InputDataError
from mace.python.tools.run.testing.project import DEPLOYMENT, MODEL, Project

_ACCURACY = """
import numpy as np

class AccuracyValidator:
    def __init__(self):
        self.sums = []
    def sample_size(self):
        return 2
    def batch_size(self):
        return 1
    def preprocess(self, begin, end):
        shape = (1, 6, 5, 4)
        return {"x": np.linspace(-1, 1 + begin, 120, dtype=np.float32).reshape(shape)}
    def postprocess(self, begin, end, outputs):
        self.sums.append(float(outputs["y"].mean()))
    def result(self):
        return f"mean of {len(self.sums)} samples: {np.mean(self.sums):.9f}"
"""
_QUANTIZED = ["Quantize", "Conv2D", "Conv2D", "Dequantize"]


def _operators(project: Project) -> list[str]:
    places = model_places(project.deployment(), "m", project.build_dir)
    return [op.type for op in read_model_file(places).operators]


def _report(project: Project) -> dict[str, Any]:
    path = project.build_dir / "lib" / "model" / "m_quantization.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _quantize(project: Project, folder: Path, model: str = "") -> None:
    quantize_deployment(
        project.deployment(model=model),
        CalibrateOptions(build_dir=project.build_dir, input_dir=folder),
    )


@pytest.mark.parametrize("method", ["min_max", "percentile", "mse", "entropy"])
def test_samples_quantize_the_model(project: Project, method: str) -> None:
    folder, arrays = project.samples()
    _quantize(project, folder, f"calibration:\n  method: {method}")
    assert _operators(project) == _QUANTIZED
    found = _report(project)
    assert (found["samples"], found["method"]) == (3, method)
    assert found["trials"][-1]["outputs"]["y"]["similarity"] > 0.99
    assert [op["quantized"] for op in found["operators"]] == [True, True]
    assert all(op["sqnr_db"] > 20 for op in found["operators"])
    by_name = {tensor["name"]: tensor for tensor in found["tensors"]}
    assert by_name.keys() == {"x", "r0", "y"}
    x = by_name["x"]
    assert x["min"] == min(a.min() for a in arrays)
    assert x["max"] == max(a.max() for a in arrays)
    assert sum(x["counts"]) == sum(a.size for a in arrays)


def test_the_command(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    folder, _ = project.samples()
    text = MODEL.format(
        name="m", path=project.folder / "m.onnx", extra="", runtime="cpu"
    )
    config = project.folder / "d.yml"
    config.write_text(DEPLOYMENT.format(models=text), encoding="utf-8")
    flags = [f"--config={config}", f"--build_dir={project.build_dir}"]
    assert main(["quantize", *flags, f"--input_dir={folder}"]) == 0
    assert _operators(project) == _QUANTIZED
    assert main(["quantize", *flags]) == 2
    assert "no folder of samples is given" in capsys.readouterr().err
    # The same by the file alone.
    (project.build_dir / "lib" / "model" / "m.pb").unlink()
    text += "    quantize: 1\n    calibration:\n      input_dir: samples\n"
    config.write_text(DEPLOYMENT.format(models=text), encoding="utf-8")
    assert has_calibration(load_deployment(config, {}).models["m"])
    assert main(["convert", *flags]) == 0
    assert _operators(project) == _QUANTIZED
    assert main(["run", *flags, "--validate"]) == 0


def test_layers_that_lose_too_much_get_16_bits(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    folder, _ = project.samples()
    with caplog.at_level(logging.INFO):
        # More than 8 bits give, and less than 16.
        _quantize(project, folder, "calibration:\n  min_sqnr: 42.5")
    found = _report(project)
    assert sorted(op["bits"] for op in found["operators"]) == [8, 16]
    (wide,) = (op for op in found["operators"] if op["bits"] == 16)
    assert wide["quantized"]
    assert wide["reason"].startswith("alone in integers of 8 bits it makes the SQNR")
    assert found["trials"][-1]["what"] == "1 layers in 16 bits"
    assert found["trials"][-1]["outputs"]["y"]["sqnr_db"] > 42.5
    assert "calibration.min_sqnr asks for" not in caplog.text
    assert f"in 16 bits: {wide['name']}: alone in integers" in caplog.text
    # From 8 bits to 16, or back.
    assert sorted(_operators(project)) == sorted(
        [*_QUANTIZED, "Quantize", "Dequantize"]
    )


def test_layers_that_lose_too_much_stay_in_floats(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    folder, _ = project.samples()
    with caplog.at_level(logging.INFO):
        # More than weights of 8 bits can give.
        _quantize(
            project,
            folder,
            "quantize_schema: int16\ncalibration:\n  min_sqnr: 100",
        )
    found = _report(project)
    floats = [op for op in found["operators"] if not op["quantized"]]
    assert len(floats) == 1
    assert floats[0]["reason"].startswith("alone in integers it makes the SQNR")
    assert sorted(op["bits"] or 0 for op in found["operators"]) == [0, 16]
    page = project.build_dir / "lib" / "model" / "m_quantization.html"
    text = page.read_text(encoding="utf-8")
    assert "1 of 2 operators in integers" in text and floats[0]["reason"] in text
    assert text.count("<svg") == len(found["tensors"])
    costs = [op["outputs_sqnr_db"] for op in found["operators"]]
    assert min(costs) == floats[0]["outputs_sqnr_db"]
    assert "calibration.min_sqnr asks for 100.0" in caplog.text
    assert _operators(project).count("Conv2D") == 2
    assert f"in floats: {floats[0]['name']}: alone in integers" in caplog.text


def test_each_choice_has_its_time_and_accuracy(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    folder, _ = project.samples()
    script = project.folder / "accuracy.py"
    script.write_text(_ACCURACY, encoding="utf-8")
    with caplog.at_level(logging.INFO):
        _quantize(project, folder, f"accuracy_validation_script: {script}")
    trials = _report(project)["trials"]
    assert trials[0]["what"] == "in floats"
    assert trials[0]["outputs"]["y"] == {"sqnr_db": None, "similarity": 1.0}
    assert len({trial["what"] for trial in trials}) == len(trials) >= 3
    assert all(0 < trial["ms"] < 1000 for trial in trials)
    said = [trial["accuracy"][str(script)] for trial in trials]
    # Of the same samples; what is rounded differs.
    assert all(text.startswith("mean of 2 samples:") for text in said)
    assert len(set(said)) > 1
    page = project.build_dir / "lib" / "model" / "m_quantization.html"
    assert said[-1] in page.read_text(encoding="utf-8")
    assert f"m: in floats: {trials[0]['ms']:.3f} ms, {said[0]}" in caplog.text


def test_bad_samples_and_folders(project: Project, tmp_path: Path) -> None:
    folder, _ = project.samples()
    (folder / "x_1.bin").write_bytes(b"12")
    with pytest.raises(InputDataError, match="x_1.bin: 2 bytes"):
        _quantize(project, folder)
    deployment = project.deployment(
        model="quantize: 1\ncalibration:\n  input_dir: nowhere"
    )
    options = ConvertOptions(build_dir=project.build_dir)
    with pytest.raises(UsageError, match="input_dir: nowhere is no folder"):
        convert_with_samples(deployment, options)
    assert not (project.build_dir / "lib").exists()


def test_a_model_beside_that_has_ranges(project: Project) -> None:
    project.samples()
    ranges = project.folder / "ranges"
    ranges.write_text("x@@-2,2\nr0@@0,9\ny@@-20,20\n", encoding="utf-8")
    deployment = project.deployment(names=("m", "n"), model="quantize: 1")
    with_ranges = project.deployment(
        names=("n",), model=f"quantize: 1\nquantize_range_file: {ranges}"
    )
    calibrated = project.deployment(
        model="quantize: 1\ncalibration:\n  input_dir: samples"
    )
    models = {**calibrated.models, **with_ranges.models}
    convert_with_samples(
        deployment.model_copy(update={"models": models}),
        ConvertOptions(build_dir=project.build_dir),
    )
    assert _operators(project) == _QUANTIZED
    folder = project.build_dir / "lib" / "model"
    assert (folder / "n.pb").is_file() and (folder / "m_quantization.html").is_file()
    assert not (folder / "n_quantization.html").exists()


def test_fewer_samples(project: Project) -> None:
    folder, _ = project.samples(5)
    _quantize(project, folder, "calibration:\n  samples: 2")
    assert _report(project)["samples"] == 2


def test_tensors_that_are_always_zero_have_no_range(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    folder, arrays = project.samples()
    for index, array in enumerate(arrays):
        (array * 0).tofile(folder / f"x_{index}.bin")
    with caplog.at_level(logging.INFO):
        _quantize(project, folder)
    assert "samples do not show the range of x, which is always 0" in caplog.text
    first, second = _report(project)["operators"]
    assert (first["quantized"], first["reason"]) == (False, "x is 0 for all samples")
    assert second["quantized"]


def test_extremes_are_those_of_the_quantizer_of_the_framework(
    project: Project,
) -> None:
    pytest.importorskip("onnxruntime")
    from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod
    from onnxruntime.quantization.calibrate import create_calibrator

    folder, arrays = project.samples(4)
    _quantize(project, folder, "calibration:\n  method: min_max\n  equalise: 0")

    class Reader(CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self.left = [{"x": array.transpose(0, 3, 1, 2)} for array in arrays]

        def get_next(self) -> Any:
            return self.left.pop() if self.left else None

    calibrator = create_calibrator(
        str(project.folder / "m.onnx"),
        augmented_model_path=str(project.folder / "augmented.onnx"),
        calibrate_method=CalibrationMethod.MinMax,
    )
    calibrator.collect_data(Reader())
    expected = calibrator.compute_data().data
    for tensor in _report(project)["tensors"]:
        low, high = expected[tensor["name"]].range_value
        assert tensor["low"] == pytest.approx(min(0, low.item()), rel=1e-5)
        assert tensor["high"] == pytest.approx(max(0, high.item()), rel=1e-5)


def test_the_model_is_the_same_for_every_processor(project: Project) -> None:
    folder, _ = project.samples()
    files = []
    for abi in (Abi.ARM64, Abi.HOST):
        deployment = project.deployment().model_copy(update={"target_abis": (abi,)})
        quantize_deployment(
            deployment,
            CalibrateOptions(build_dir=project.build_dir, input_dir=folder),
        )
        places = [project.build_dir / f"lib/model/m.{end}" for end in ("pb", "data")]
        files.append([place.read_bytes() for place in places])
    assert files[0] == files[1]


_ROOT = Path(__file__).resolve().parents[4]
_SAMPLES = 3


def _write(project: Project, extra: str = "") -> Path:
    text = MODEL.format(
        name="m", path=project.folder / "m.onnx", extra="", runtime="cpu"
    )
    path = project.folder / "d.yml"
    path.write_text(DEPLOYMENT.format(models=text + extra), encoding="utf-8")
    return path


def _expected(
    project: Project, arrays: list[np.ndarray]
) -> dict[str, list[list[float]]]:
    """The ranges by ONNX Runtime."""
    onnxruntime = pytest.importorskip("onnxruntime")
    model = onnx.load(project.folder / "m.onnx")
    model.graph.output.append(onnx.helper.make_empty_tensor_value_info("r0"))
    session = onnxruntime.InferenceSession(model.SerializeToString())
    found: dict[str, list[list[float]]] = {"x": [], "r0": [], "y": []}
    for array in arrays:
        nchw = array.transpose(0, 3, 1, 2)
        r0, y = session.run(["r0", "y"], {"x": nchw})
        for name, tensor in (("x", nchw), ("r0", r0), ("y", y)):
            found[name].append([float(tensor.min()), float(tensor.max())])
    return found


def test_ranges_of_all_samples_are_those_of_the_framework(project: Project) -> None:
    folder, arrays = project.samples(_SAMPLES)
    stream = io.StringIO()
    options = ConvertOptions(build_dir=project.build_dir)
    print_ranges(project.deployment(), folder, options, stream)
    log = project.folder / "log"
    log.write_text(f"other lines\nI 2026 {stream.getvalue()}", encoding="utf-8")
    found = read_log(log)
    expected = _expected(project, arrays)
    assert found.keys() == expected.keys()
    for name, seen in found.items():
        mine = [[item.low, item.high] for item in seen]
        np.testing.assert_allclose(mine, expected[name], rtol=1e-5, atol=1e-5)


def test_the_documented_steps(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _ = project.samples(_SAMPLES)
    config = _write(project)
    build = f"--build_dir={project.build_dir}"
    flags = [f"--config={config}", build, "--quantize_stat", f"--input_dir={folder}"]
    assert main(["run", *flags, "--example"]) == 0
    log = project.folder / "range_log"
    log.write_text(capsys.readouterr().out, encoding="utf-8")
    for script in (
        "mace/python/tools/quantization/quantize_stat.py",
        "tools/python/quantize/quantize_stat.py",
    ):
        done = subprocess.run(
            [sys.executable, _ROOT / script, f"--log_file={log}", "--percentile=5"],
            capture_output=True,
            text=True,
            check=True,
        )
        (project.folder / "overall_range").write_text(done.stdout, encoding="utf-8")
        assert len(done.stdout.splitlines()) == 3
    quantized = "    quantize: 1\n    quantize_range_file: overall_range\n"
    config = _write(project, quantized)
    assert main(["convert", f"--config={config}", build]) == 0
    places = model_places(load_deployment(config, {}), "m", project.build_dir)
    operators = [op.type for op in read_model_file(places).operators]
    assert operators == ["Quantize", "Conv2D", "Conv2D", "Dequantize"]
    flags = [f"--config={config}", build, "--validate", "--layers=:"]
    assert main(["run", *flags]) == 0
    assert "cosine similarity 0.99" in capsys.readouterr().out
    # Integers are compared as what they stand for.
    layers = {row["output_name"]: float(row["similarity"]) for row in project.log()}
    assert layers.keys() == {"x", "r0", "y"}
    assert all(0.999 < similarity < 1 for similarity in layers.values())


def test_convert_prints_ranges_too(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _ = project.samples(_SAMPLES)
    flags = [f"--config={_write(project)}", f"--build_dir={project.build_dir}"]
    assert main(["convert", *flags, "--quantize_stat", f"--input_dir={folder}"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("Tensor range @@") for line in lines) == 3 * _SAMPLES


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x@@-2,2\n", "has no ranges of 2 tensors: r0, y"),
        ("a@@-2,2\nb@@0,1\n", "is the range file of another model"),
        ("x@@2,-2\nr0@@0,inf\ny@@1,1\n", "line 1, x: min 2 is above max -2"),
        ("x@@-2,2\nr0@@0,nan\n", "line 2, r0: 0,nan are not finite"),
        ("x@@3,3\n", "line 1, x: it is 3 in all samples"),
        ("x@@-2,2\nx@@-1,1\n", "line 2, x: it has a second range"),
        ("x: -2..2\n", "line 1 is no <tensor>@@<min>,<max>: 'x: -2..2'"),
        ("", "it has no line"),
    ],
)
def test_range_files_that_cannot_be_used(
    project: Project, text: str, told: str
) -> None:
    (project.folder / "ranges").write_text(text, encoding="utf-8")
    lines = "    quantize: 1\n    quantize_range_file: ranges\n"
    deployment = load_deployment(_write(project, lines), {})
    with pytest.raises(RangeFileError) as caught:
        project.convert(deployment)
    assert told in str(caught.value) and "run --quantize_stat" in str(caught.value)


def test_all_that_is_wrong_is_told_at_once(project: Project) -> None:
    path = project.folder / "ranges"
    path.write_text("x@@2,-2\nr0@@0,inf\ny@@1,1\n", encoding="utf-8")
    lines = f"    quantize: 1\n    quantize_range_file: {path}\n"
    with pytest.raises(RangeFileError) as caught:
        project.convert(load_deployment(_write(project, lines), {}))
    for part in ("line 1, x", "line 2, r0", "line 3, y"):
        assert part in str(caught.value)


def test_a_model_without_ranges_names_the_ways_to_get_them(project: Project) -> None:
    deployment = load_deployment(_write(project, "    quantize: 1\n"), {})
    with pytest.raises(
        RangeFileError, match="the ranges of 2 tensors are not known: r0, y"
    ):
        project.convert(deployment)


def test_samples_that_do_not_fit(project: Project) -> None:
    folder, arrays = project.samples(_SAMPLES)
    options = ConvertOptions(build_dir=project.build_dir)
    arrays[0][0, 0, 0, 0] = np.nan
    arrays[0].tofile(folder / "x_0.bin")
    with pytest.raises(CheckFailedError, match="x has NaN or infinity for sample '_0"):
        print_ranges(project.deployment(), folder, options, io.StringIO())
    (folder / "x_0.bin").write_bytes(b"1234")
    with pytest.raises(InputDataError, match="x_0.bin: 4 bytes"):
        print_ranges(project.deployment(), folder, options, io.StringIO())


def test_flags_that_do_not_go_together(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _ = project.samples(1)
    flags = [f"--config={_write(project)}", f"--build_dir={project.build_dir}"]
    flags += ["--quantize_stat", f"--input_dir={folder}"]
    assert main(["run", *flags, "--validate", f"--output_dir={folder}"]) == 2
    told = capsys.readouterr().err
    assert "leave out --validate" in told and "leave out --output_dir" in told
    assert main(["run", *flags[:3]]) == 2
    assert "--quantize_stat needs --input_dir" in capsys.readouterr().err
