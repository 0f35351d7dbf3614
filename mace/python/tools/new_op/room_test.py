# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Names of new operators, and files that are there already.

That what is written builds and runs, test/new_op shows.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mace.python.tools.errors import UsageError
from mace.python.tools.new_op.room import NewOp

_OPS = Path(__file__).resolve().parents[3] / "ops"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """As much of one as the names are compared with."""
    ops = tmp_path / "mace" / "ops"
    (ops / "one_hot").mkdir(parents=True)
    for name in (
        "BUILD.bazel",
        "rooms.bzl",
        "op_enums.yaml",
        "one_hot/one_hot.op.yaml",
    ):
        shutil.copy(_OPS / name, ops / name)
    (ops / "window").mkdir()
    handlers = (
        tmp_path / "mace" / "python" / "tools" / "importers" / "onnx" / "handlers"
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
        (NewOp("ONEHOT"), "MACE has OneHot in mace/ops/one_hot"),
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
    handler = checkout / "mace/python/tools/importers/onnx/handlers/erf_test.py"
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
