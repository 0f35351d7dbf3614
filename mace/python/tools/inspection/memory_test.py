# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What conversion and engine say of the memory of a run."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from mace.python.tools.cli.main import main
from mace.python.tools.run.testing.project import Project


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
