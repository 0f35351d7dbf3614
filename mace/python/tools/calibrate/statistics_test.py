# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""From samples to ranges to a quantized model, as documented step by step."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

from mace.python.tools.calibrate.statistics import print_ranges
from mace.python.tools.cli.main import main
from mace.python.tools.config.load import load_deployment
from mace.python.tools.convert.options import ConvertOptions
from mace.python.tools.errors import CheckFailedError
from mace.python.tools.export.model_file import read_model_file
from mace.python.tools.export.places import model_places
from mace.python.tools.quantize.range_file import RangeFileError, read_log
from mace.python.tools.run.inputs import InputDataError
from mace.python.tools.run.testing.project import DEPLOYMENT, MODEL, Project

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
