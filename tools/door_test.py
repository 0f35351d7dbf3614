# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The thin entry points, started by a Python without packages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_TOOLS = Path(__file__).resolve().parent
_DOORS = ("bazel_adb_run.py", "debug.py")


def _start(door: str, venv: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-S", str(_TOOLS / door), "-h"],
        env={**os.environ, "MACE_VENV": str(venv)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("door", _DOORS)
def test_enters_the_virtual_environment(door: str, tmp_path: Path) -> None:
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text('#!/bin/sh\necho "venv: $@"\nexit 7\n')
    python.chmod(0o755)
    started = _start(door, tmp_path)
    assert started.returncode == 7
    assert started.stdout == f"venv: {_TOOLS / door} -h\n"


@pytest.mark.parametrize("door", _DOORS)
def test_names_setup_when_packages_are_missing(door: str, tmp_path: Path) -> None:
    started = _start(door, tmp_path)
    assert started.returncode == 2
    assert started.stderr.count("\n") == 1
    assert "bash tools/setup.sh" in started.stderr
