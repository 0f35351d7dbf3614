# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The examples in the documentation of older releases compile and run."""

from __future__ import annotations

import random
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from mace.python.tools.build_tools import bazel_command

_ROOT = Path(__file__).resolve().parents[2]
_FOLDER = Path(__file__).parent
_DEPLOYMENT = _ROOT / "mace" / "examples" / "digits" / "digits.yml"
_MODEL = (
    *("--input_node=image", "--input_shape=1,8,8,1"),
    *("--output_node=probability", "--output_shape=1,10"),
)
# How often each prints the result.
_PROGRAMS = {"miai": 2, "v0": 2, "v1": 3}


def _run(*words: str | Path, status: int = 0) -> str:
    ran = subprocess.run(
        [str(word) for word in words],
        cwd=_ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == status, ran.stdout[-3000:] + ran.stderr[-3000:]
    return ran.stdout


@pytest.fixture(scope="module")
def bin_folder() -> Path:
    """Where Bazel's results are."""
    labels = ("//mace:libmace.so", "//mace/tools:mace_run")
    _run(*bazel_command().words("build", *labels))
    return Path(_run(*bazel_command().words("info", "bazel-bin")).strip()) / "mace"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The digit classifier as files and as code, and an input."""
    made = tmp_path_factory.mktemp("old_api")
    text = _DEPLOYMENT.read_text("utf-8")
    for kind in ("file", "code"):
        config = made / f"{kind}.yml"
        for key in ("model_graph_format", "model_data_format"):
            text = text.replace(f"{key}: file", f"{key}: {kind}")
        config.write_text(text, "utf-8")
        converter = _ROOT / "tools" / "converter.py"
        build_dir = f"--build_dir={made / kind}"
        _run(sys.executable, converter, "convert", f"--config={config}", build_dir)
    numbers = random.Random(2)
    pixels = [numbers.random() for _ in range(64)]
    (made / "in_image").write_bytes(struct.pack("=64f", *pixels))
    return made


def _model(folder: Path) -> tuple[str, str]:
    stem = folder / "file" / "digits" / "model" / "digits"
    return f"{stem}.pb", f"{stem}.data"


@pytest.fixture(scope="module")
def answer(bin_folder: Path, folder: Path) -> list[float]:
    """What mace_run makes of the input."""
    graph, weights = _model(folder)
    files = (f"--model_file={graph}", f"--model_data_file={weights}")
    tensors = (f"--input_file={folder}/in", f"--output_file={folder}/out")
    _run(bin_folder / "tools" / "mace_run", *files, *_MODEL, *tensors)
    return list(struct.unpack("=10f", (folder / "out_probability").read_bytes()))


@pytest.mark.parametrize("name", list(_PROGRAMS))
def test_a_program_runs(
    name: str, bin_folder: Path, folder: Path, answer: list[float]
) -> None:
    program = folder / name
    code = folder / "code" / "digits"
    _run(
        *("clang++-19", "-std=c++17", "-Wall", "-Wextra", "-Werror"),
        # The factory's header is that of the deployment.
        *(f"-I{code / 'include'}", f"-I{_ROOT}", _FOLDER / f"{name}.cc"),
        *(code / "model" / "host" / "digits.a", bin_folder / "libmace.so"),
        *(f"-Wl,-rpath,{bin_folder}", "-fuse-ld=lld", "-pthread", "-o", program),
    )
    files = (*_model(folder), folder / "in_image")
    lines = _run(program, "CPU", *files).splitlines()
    assert len(lines) == _PROGRAMS[name]
    for line in lines:
        assert [float.fromhex(word) for word in line.split()] == answer
    # A library without a GPU runtime says so, and runs nothing.
    said = _run(program, "GPU", *files, status=3)
    assert said.startswith("code 3: ")
    assert "GPU" in said and "no GPU runtime" in said
