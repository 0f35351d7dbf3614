# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Library and commands say the same of a device that is not there."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from mace.python.tools.config.limits import no_runtime
from mace.python.tools.config.vocabulary import Runtime
from mace.python.tools.run.testing.project import Project

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
