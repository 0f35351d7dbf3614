# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Uses an operator of a user's own as docs/development/adding_an_op.md says: a copy of
mace/examples/custom_op outside of the checkout is exported, converted, built and run,
beside an operator that `new-op` has written. Nothing in the checkout is touched; Bazel
builds in its usual folders, for which only these operators are new.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from mace.python.tools.build_tools import bazel_command

_ROOT = Path(__file__).resolve().parents[2]
_EXAMPLE = _ROOT / "mace" / "examples" / "custom_op"
_CONVERTER = _ROOT / "tools" / "converter.py"
_ROOMS = "conv2d,corner_pool,eltwise,winograd_transforms"
_ONLY = f"--//mace/ops:only={_ROOMS}"


class _User:
    """Somebody with the example in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        ignored = shutil.ignore_patterns("__pycache__", "build", "*.onnx")
        shutil.copytree(_EXAMPLE, folder, ignore=ignored, dirs_exist_ok=True)
        # A program with only the operators of the model, which is linked without
        # optimisation of the whole: that would take a minute.
        flags = f"{os.environ.get('BAZEL_FLAGS', '')} {_ONLY} --features=-lto_link"
        self._variables = {
            **os.environ,
            "BAZEL_FLAGS": flags,
            "PYTHONPATH": str(_ROOT),
        }
        self._variables.pop("MACE_CUSTOM_OPS", None)

    def call(self, *arguments: str | Path, status: int = 0) -> str:
        """Runs Python; returns all that it prints."""
        return self.run([sys.executable, *arguments], status=status)

    def convert(self, command: str, *flags: str, status: int = 0) -> str:
        """Runs a command of the converter with the deployment file."""
        return self.call(
            _CONVERTER, command, "--config=corner.yml", *flags, status=status
        )

    def bazel(self, command: str, *arguments: str) -> str:
        """Runs Bazel in the checkout, as a user who has set the variable."""
        self._variables["MACE_CUSTOM_OPS"] = str(self.folder / "operators")
        try:
            return self.run(bazel_command().words(command, *arguments), _ROOT)
        finally:
            del self._variables["MACE_CUSTOM_OPS"]

    def run(
        self, command: Sequence[str | Path], place: Path | None = None, status: int = 0
    ) -> str:
        """Runs a program, in the user's folder; returns all that it prints."""
        ended = subprocess.run(
            command,
            cwd=place or self.folder,
            env=self._variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert ended.returncode == status, f"{command}\n{ended.stdout}"
        return ended.stdout


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_User]:
    user = _User(tmp_path_factory.mktemp("user"))
    user.call("export.py")
    yield user
    shutil.rmtree(user.folder)


@pytest.fixture(scope="module")
def converted(user: _User) -> _User:
    user.convert("convert")
    return user


def _require_bazel() -> None:
    if shutil.which(bazel_command().program) is None:
        pytest.skip(f"{bazel_command().program} is not installed")


def test_check_knows_it(user: _User) -> None:
    table = user.convert("check")
    assert "12 nodes, all can be converted" in table
    assert table.count("CornerPool  [1, 16, 24, 24]") == 2


def test_without_the_folder_it_is_refused(user: _User) -> None:
    deployment = user.folder / "without.yml"
    text = (user.folder / "corner.yml").read_text("utf-8")
    deployment.write_text(text.replace("custom_ops: operators\n", ""), "utf-8")
    said = user.call(_CONVERTER, "convert", f"--config={deployment}", status=2)
    assert "2 nodes cannot be converted" in said
    assert "handler of your own (custom_ops)" in said
    said = user.convert("convert", "--custom_ops=operator", status=2)
    assert "error: --custom_ops: operator is no folder; looked for " in said


@pytest.fixture(scope="module")
def grown(user: _User) -> str:
    """What `new-op` says when it has written another operator into the folder."""
    flags = ("--onnx=com.example.Scale", "--custom_ops=operators")
    said = user.call(_CONVERTER, "new-op", "Scale", *flags)
    handler = user.folder / "operators/scale/scale_onnx.py"
    text = handler.read_text("utf-8")
    missing = 'raise NotImplementedError("say what com.example.Scale computes")'
    assert missing in text
    handler.write_text(text.replace(missing, "return (x,)"), "utf-8")
    return said


def test_new_op_writes_beside_it(user: _User, grown: str) -> None:
    assert "bazel test @mace_custom_ops//:scale_test" in grown
    assert "  scale/scale_onnx_test.py\n" in grown
    said = user.call("-m", "pytest", "-q", f"--rootdir={user.folder}", "operators")
    assert "6 passed" in said


@pytest.mark.usefixtures("grown")
def test_the_rooms_pass_their_tests(user: _User) -> None:
    _require_bazel()
    said = user.bazel("test", "--nobuild_tests_only", "@mace_custom_ops//...")
    assert "@mace_custom_ops//:corner_pool_test" in said
    assert "@mace_custom_ops//:scale_test" in said


def test_the_model_computes_what_its_framework_does(converted: _User) -> None:
    _require_bazel()
    said = converted.convert("run", "--validate")
    assert "mmcv.MMCVCornerPool by its class in custom_ops" in said
    assert "heatmap: cosine similarity 1.000000000" in said
    # A change in the folder is noticed, and the comparison can fail.
    source = converted.folder / "operators/corner_pool/corner_pool_cpu.cc"
    text = source.read_text("utf-8")
    source.write_text(text.replace("x > most", "x < most"), "utf-8")
    said = converted.convert("run", "--validate", status=1)
    assert "building mace_run" in said
    source.write_text(text, "utf-8")


def test_the_selection_for_a_model_has_its_operators(converted: _User) -> None:
    # With these alone the program was built that ran the model.
    flags = ("--models=build/corner/model/corner.pb", "--custom_ops=operators")
    said = converted.call("-m", "mace.python.tools.export.selection", *flags)
    assert said == f"{_ROOMS}\n"


def test_the_script_for_libraries_checks_the_folder(user: _User) -> None:
    _require_bazel()
    script = (
        "bash",
        _ROOT / "tools" / "build-standalone-lib.sh",
        "-check",
        "-abi=host",
    )
    user.run([*script, "-custom_ops=operators"])
    said = user.run([*script, "-custom_ops", "operator"], status=2)
    assert said == f"custom_ops: {user.folder / 'operator'} is no folder\n"
