# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from benchmarks.record import ROOT


def _floor(launches: int, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.gpu.floor", "--write", "60000"]
    command += ["--read", "4000", "--runs", "20", "--launches", str(launches)]
    return subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_missing_library_is_named() -> None:
    done = _floor(1, MACE_OPENCL_LIBRARY="/nowhere/libOpenCL.so")
    assert done.returncode == 1
    assert "/nowhere/libOpenCL.so" in done.stderr


def test_more_kernels_take_longer() -> None:
    done = _floor(1)
    if done.returncode == 1 and "Error" not in done.stderr:
        pytest.skip(f"no OpenCL driver: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    few: dict[str, Any] = json.loads(done.stdout)
    many: dict[str, Any] = json.loads(_floor(2000).stdout)
    assert len(few["ms"]) == 20
    assert few["device"] and few["driver"]
    assert few["context_ms"] > 0
    assert few["anonymous_after"] > few["anonymous_before"] > 0
    assert min(many["ms"]) > min(few["ms"]) > 0
