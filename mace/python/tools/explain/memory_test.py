# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What the engine says of a converted model's memory, if there is a program."""

from __future__ import annotations

import logging
import re
import subprocess

import pytest

from mace.python.tools.cli.main import main
from mace.python.tools.command_line.options import CommandOptions
from mace.python.tools.config.deployment import Deployment
from mace.python.tools.explain.memory import tell_memory
from mace.python.tools.run.testing.project import Project


def _told(
    project: Project, deployment: Deployment, caplog: pytest.LogCaptureFixture
) -> str:
    project.convert(deployment)
    caplog.clear()
    with caplog.at_level(logging.INFO):
        tell_memory(deployment, CommandOptions(build_dir=project.build_dir))
    return caplog.text


def test_a_program_that_is_there_is_asked(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    # A file of inputs that is not there does not matter.
    told = _told(project, project.deployment("validation_inputs_data: no.npy"), caplog)
    assert re.search(
        r"m: mace_run on this computer takes: intermediate tensors 0\.\d\d MB", told
    )


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


def test_without_a_program_nothing_is_built_or_told(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    (project.build_dir / "bin/host/mace_run").unlink()
    assert _told(project, project.deployment(), caplog) == ""
    assert not list((project.build_dir / "bin/host").iterdir())


def test_what_cannot_be_run_is_no_error(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    deployment = project.deployment()
    project.convert(deployment)
    (project.build_dir / "lib/model/m.pb").unlink()
    with caplog.at_level(logging.INFO):
        tell_memory(deployment, CommandOptions(build_dir=project.build_dir))
    assert "mace_run cannot tell the memory of a run: " in caplog.text
    assert "m.pb does not exist" in caplog.text


def test_convert_tells_it(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    path = project.folder / "d.yml"
    path.write_text(_TEXT.format(model=project.folder / "m.onnx"), encoding="utf-8")
    arguments = [f"--config={path}", f"--build_dir={project.build_dir}"]
    assert main(["convert", *arguments]) == 0
    told = capsys.readouterr().err
    assert "m: memory of a run with the largest inputs: at most 0.00 MB" in told
    assert "m: mace_run on this computer takes: intermediate tensors" in told


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
