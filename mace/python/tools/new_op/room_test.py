# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Names of new operators, and files that are there already.

That what is written builds and runs, test/new_op shows.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mace.python.tools.custom_ops import folder_problems
from mace.python.tools.errors import UsageError
from mace.python.tools.new_op.room import NewOp

_PROGRAMS = os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"]))
_OPS = Path(__file__).resolve().parents[3] / "ops"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """As much of one as the names are compared with."""
    ops = tmp_path / "mace" / "ops"
    (ops / "cast").mkdir(parents=True)
    for name in (
        "BUILD.bazel",
        "rooms.bzl",
        "op_enums.yaml",
        "cast/cast.op.yaml",
    ):
        shutil.copy(_OPS / name, ops / name)
    (ops / "window").mkdir()
    handlers = (
        tmp_path / "mace" / "python" / "tools" / "importers" / "standard" / "handlers"
    )
    handlers.mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize(
    ("op_type", "room"),
    [
        ("Erf", "erf"),
        ("OneHot", "one_hot"),
        ("RMSNorm", "rms_norm"),
        ("Conv2D", "conv2_d"),
        ("Conv2d", "conv2d"),
    ],
)
def test_a_room_is_called_like_its_operator(op_type: str, room: str) -> None:
    assert NewOp(op_type).room == room


@pytest.mark.parametrize(
    ("op", "reason"),
    [
        (NewOp("erf"), "starts with a capital"),
        (NewOp("Erf/../../x"), "letters and digits"),
        (NewOp("Erf", onnx="er f"), "--onnx: found 'er f'"),
        (NewOp("CAST"), "MACE has Cast in mace/ops/cast"),
        (NewOp("Window"), "there is mace/ops/window already"),
        (NewOp("With"), "cannot be the name of its room"),
        (NewOp("LeftOut"), "cannot be the name of its room"),
    ],
)
def test_names_that_cannot_be_are_refused(
    op: NewOp, reason: str, checkout: Path
) -> None:
    before = sorted(checkout.rglob("*"))
    with pytest.raises(UsageError, match=reason):
        op.write(checkout)
    assert sorted(checkout.rglob("*")) == before


def test_no_file_is_replaced(checkout: Path) -> None:
    op = NewOp("Erf", onnx="Erf")
    handler = checkout / "mace/python/tools/importers/standard/handlers/erf_test.py"
    handler.write_text("mine")
    with pytest.raises(UsageError, match="erf_test.py already"):
        op.write(checkout)
    assert handler.read_text() == "mine"
    assert not (checkout / "mace" / "ops" / "erf").exists()


def test_all_files_or_none_are_written(checkout: Path) -> None:
    op = NewOp("Erf", onnx="Erf")
    shutil.rmtree(checkout / "mace" / "python")
    (checkout / "mace" / "python").write_text("no folder")
    with pytest.raises(Exception, match="python"):
        op.write(checkout)
    assert not (checkout / "mace" / "ops" / "erf").exists()


def test_writes_the_room_and_the_importer(checkout: Path) -> None:
    written = NewOp("Erf", onnx="Erf").write(checkout)
    assert [path.name for path in written] == [
        *("erf.op.yaml", "erf.py", "erf.cc", "erf_cpu.cc"),
        *("erf_test.cc", "erf_benchmark.cc"),
        *("erf.py", "erf_test.py"),
    ]
    assert all((checkout / path).read_text().count("Erf") for path in written)
    assert len(NewOp("Sinh").write(checkout)) == 6


@pytest.mark.parametrize("name", ["Fx", "LocalContrast", "Weighted" * 7 + "Average"])
def test_a_new_operator_passes_the_checks(name: str, checkout: Path) -> None:
    for program in ("clang-format-19", "ruff"):
        if not shutil.which(program, path=_PROGRAMS):
            pytest.skip(f"there is no {program}")
    written = NewOp(name, onnx=name).write(checkout)
    for settings in (".clang-format", "pyproject.toml"):
        shutil.copy(_OPS.parents[1] / settings, checkout / settings)
    for command, ending in (
        (["clang-format-19", "--dry-run", "-Werror"], ".cc"),
        (["ruff", "format", "--check"], ".py"),
        (["ruff", "check"], ".py"),
    ):
        files = [str(path) for path in written if path.suffix == ending]
        found = subprocess.run(
            [str(shutil.which(command[0], path=_PROGRAMS)), *command[1:], *files],
            cwd=checkout,
            text=True,
            capture_output=True,
            check=False,
        )
        assert not found.returncode, found.stdout + found.stderr


def test_writes_into_a_folder_of_the_users_own(checkout: Path, tmp_path: Path) -> None:
    folder = tmp_path / "a" / "mine"
    op = NewOp("Erf", onnx="com.example.Erf")
    written = [str(path) for path in op.write_custom(checkout, folder)]
    assert written == [
        *("erf/erf.op.yaml", "erf/erf.py", "erf/erf.cc", "erf/erf_cpu.cc"),
        *("erf/erf_test.cc", "erf/erf_benchmark.cc"),
        *("erf/erf_onnx.py", "erf/erf_onnx_test.py"),
        *("custom_ops.yaml", "conftest.py"),
    ]
    assert not folder_problems(folder)
    assert len(NewOp("Sinh").write_custom(checkout, folder)) == 6
    assert not folder_problems(folder)
    before = {path: path.read_bytes() for path in folder.rglob("*.*")}
    with pytest.raises(UsageError, match="'Erf'; there is erf already"):
        op.write_custom(checkout, folder)
    assert {path: path.read_bytes() for path in folder.rglob("*.*")} == before


@pytest.mark.parametrize(
    ("op", "reason"),
    [
        (NewOp("CAST"), "MACE has Cast in mace/ops/cast"),
        (NewOp("Window"), "there is mace/ops/window already"),
        (NewOp("Erf", onnx="com..Erf"), "with its domain, as in com.example.OneHot"),
        (NewOp("Erf", onnx="com/x.Erf"), "with its domain"),
    ],
)
def test_names_that_cannot_be_in_an_own_folder(
    op: NewOp, reason: str, checkout: Path, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=reason):
        op.write_custom(checkout, tmp_path / "mine")
    assert not (tmp_path / "mine").exists()


def test_other_folders_are_not_written_to(checkout: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="has no custom_ops.yaml"):
        NewOp("Erf").write_custom(checkout, other)
    assert [path.name for path in other.iterdir()] == ["notes.txt"]
    with pytest.raises(UsageError, match=r"notes.txt is no folder"):
        NewOp("Erf").write_custom(checkout, other / "notes.txt")
    with pytest.raises(UsageError, match="Not a directory"):
        NewOp("Erf").write_custom(checkout, other / "notes.txt" / "mine")


def test_operator_sets_are_for_own_folders(checkout: Path) -> None:
    with pytest.raises(UsageError, match="only with --custom_ops"):
        NewOp("Erf", onnx="com.example.Erf").write(checkout)
