# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests the entry points with a Python without packages."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

_TOOLS = Path(__file__).resolve().parent
_DOORS = (
    "bazel_adb_run.py",
    "debug.py",
    "image/image_to_tensor.py",
    "image/tensor_to_image.py",
    "onnx_optimizer.py",
    "transform_graph.py",
)


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


_INTERRUPTED_IMPORT = """
import runpy, signal, sys
class Interrupt:
    def find_spec(self, name, *_):
        if name == module:
            signal.raise_signal(signal.SIGINT)
module, *sys.argv = sys.argv[1:]
sys.meta_path.insert(0, Interrupt())
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.parametrize(
    ("door", "module", "status", "said"),
    [
        ("converter.py", "mace.python.tools.cli.main", -signal.SIGINT, ""),
        ("converter.py", "mace.python.tools.cli.parser", 130, "error: interrupted"),
        ("bazel_adb_run.py", "mace.python.tools.bazel_run", -signal.SIGINT, ""),
        ("debug.py", "mace.python.tools.debug", -signal.SIGINT, ""),
        (
            "onnx_optimizer.py",
            "mace.python.tools.command_line.guard",
            -signal.SIGINT,
            "",
        ),
    ],
)
def test_ctrl_c_at_the_start_shows_no_traceback(
    door: str, module: str, status: int, said: str
) -> None:
    started = subprocess.run(
        [
            sys.executable,
            "-c",
            _INTERRUPTED_IMPORT,
            module,
            str(_TOOLS / door),
            "a",
            "b",
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        # SIGINT is not ignored, whoever started the tests.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert started.returncode == status
    assert started.stderr.startswith(said)
    assert started.stderr.count("\n") == bool(said)


@pytest.mark.parametrize("door", _DOORS)
def test_names_setup_when_packages_are_missing(door: str, tmp_path: Path) -> None:
    started = _start(door, tmp_path)
    assert started.returncode == 2
    assert started.stderr.count("\n") == 1
    assert "bash tools/setup.sh" in started.stderr
