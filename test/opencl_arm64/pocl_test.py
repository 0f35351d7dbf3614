# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A network by mace_run for arm64 on PoCL for arm64."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.errors import MissingToolError
from mace.python.tools.run.options import RunOptions
from mace.python.tools.run.program import find_program
from test.opencl_arm64 import system

_ROOT = Path(__file__).resolve().parents[2]
# PoCL compiles each kernel when it is built and for each local size, in qemu.
_LIMIT_S = 600.0


@pytest.fixture(scope="module")
def root() -> Path:
    """The folder in which programs for arm64 find PoCL."""
    try:
        return system.make_system()
    except system.NoSystemError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def programs() -> dict[str, Path]:
    """mace_run for this computer, and for arm64 with the GPU runtime."""
    options = RunOptions(build_dir=_ROOT / "build")
    try:
        return {
            "host": find_program(Abi.HOST, options),
            "arm64": find_program(Abi.ARM64, options, gpu=True),
        }
    except MissingToolError as error:
        pytest.skip(f"cannot build mace_run: {error}")


def _convert(folder: Path) -> None:
    config = _ROOT / "mace" / "examples" / "digits" / "digits.yml"
    text = config.read_text("utf-8").replace("data_type: fp32_fp32", "")
    (folder / "d.yml").write_text(text.replace("runtime: cpu", "runtime: cpu+gpu"))
    subprocess.run(
        [
            *(sys.executable, "tools/converter.py", "convert"),
            *(f"--config={folder / 'd.yml'}", f"--build_dir={folder}"),
        ],
        cwd=_ROOT,
        check=True,
    )


def _flags(folder: str, output: str) -> list[str]:
    return [
        f"--model_file={folder}/digits/model/digits.pb",
        f"--model_data_file={folder}/digits/model/digits.data",
        *("--input_node=image", "--input_shape=1,8,8,1"),
        f"--input_file={folder}/in",
        *("--output_node=probability", "--output_shape=1,10"),
        f"--output_file={folder}/{output}",
    ]


def _output(path: Path) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.fromfile(path, np.float32).astype(np.float64)


@pytest.mark.parametrize("storage", ["buffer", "image"])
def test_a_network(
    root: Path, programs: dict[str, Path], tmp_path: Path, storage: str
) -> None:
    _convert(tmp_path)
    rng = np.random.default_rng(7)
    rng.random(64, np.float32).tofile(tmp_path / "in_image")
    host = [str(programs["host"]), *_flags(str(tmp_path), "host")]
    subprocess.run(host, check=True, capture_output=True)
    shutil.copy(programs["arm64"], tmp_path / "mace_run")
    command = ["/here/mace_run", *_flags("/here", "gpu"), "--runtime=gpu"]
    environment = {
        "MACE_OPENCL_PLACE_ALL": "1",
        "MACE_OPENCL_STORAGE": storage,
        "POCL_CACHE_DIR": "/here/pocl",
        "POCL_WORK_GROUP_SPECIALIZATION": "0",
        "HOME": "/here",
    }
    try:
        report = "--report_json=/here/report.json"
        done = system.run(root, tmp_path, [*command, report], environment, _LIMIT_S)
    except system.NoSystemError as error:
        pytest.skip(str(error))
    assert done.returncode == 0, done.stdout + done.stderr
    placement = json.loads((tmp_path / "report.json").read_text())["placement"]
    assert placement["left_out"] == []
    assert {op["device"] for op in placement["operators"]} == {"gpu"}
    assert f"in {storage} of half" in placement["operators"][0]["output"]
    expected = _output(tmp_path / "host_probability")
    actual = _output(tmp_path / "gpu_probability")
    norms = np.linalg.norm(expected) * np.linalg.norm(actual)
    assert expected @ actual / norms >= 0.9999
