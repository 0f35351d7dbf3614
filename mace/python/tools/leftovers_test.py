# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What killed writers leave is removed; what others are writing is not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mace.python.tools.atomic import atomic_dir, atomic_write
from mace.python.tools.convert.staging import Staging
from mace.python.tools.leftovers import remove_leftovers

_WRITER = """\
import sys, time
from pathlib import Path
from mace.python.tools.atomic import atomic_dir, atomic_write
from mace.python.tools.convert.staging import Staging
target = Path(sys.argv[2])
def stop(*_):
    print("writing", flush=True)
    time.sleep(60)
if sys.argv[1] == "file":
    with atomic_write(target) as stream:
        stop(stream.write(b"half"))
elif sys.argv[1] == "folder":
    with atomic_dir(target) as folder:
        stop((folder / "half").touch())
else:
    with Staging() as staging:
        staging.path(target).write_text("half")
        if sys.argv[1] == "placed":
            staging.publish(target.parent)
        stop()
"""
_KINDS = ["file", "folder", "staged", "placed"]


def _start(kind: str, target: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", _WRITER, kind, str(target)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    return process


@pytest.fixture(params=_KINDS)
def writer(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[subprocess.Popen[str]]:
    """Another process that writes `target`, or has put it in its place already."""
    if request.param == "placed":
        (tmp_path / "target").write_text("earlier")
    process = _start(request.param, tmp_path / "target")
    yield process
    process.kill()
    process.communicate()


def _write(kind: str, target: Path) -> None:
    if kind == "folder":
        with atomic_dir(target) as folder:
            (folder / "whole").touch()
    elif kind == "file":
        with atomic_write(target) as stream:
            stream.write(b"whole")
    else:
        with Staging() as staging:
            staging.path(target).write_text("whole")


def _hidden(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("kind", _KINDS)
def test_the_next_writer_removes_what_a_killed_one_left(
    kind: str, tmp_path: Path
) -> None:
    target = tmp_path / "target"
    if kind == "placed":
        target.write_text("earlier")
    process = _start(kind, target)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert len(_hidden(tmp_path)) == 1
    (tmp_path / ".target.old").touch()
    (tmp_path / ".target2.1.0123abcd.tmp").touch()
    _write(kind, target)
    # Names that are nearly alike belong to others.
    assert sorted(_hidden(tmp_path)) == [".target.old", ".target2.1.0123abcd.tmp"]
    assert (target / "whole").exists() if kind == "folder" else target.read_text()


def test_what_another_process_writes_stays(
    writer: subprocess.Popen[str], tmp_path: Path
) -> None:
    before = _hidden(tmp_path)
    assert len(before) == 1
    remove_leftovers(tmp_path / "target")
    assert _hidden(tmp_path) == before
    assert writer.poll() is None


def test_the_only_copy_is_put_back(tmp_path: Path) -> None:
    """A folder is away between two renames, and a file without hard links."""
    old = tmp_path / ".target.1.0123abcd.old"
    old.mkdir()
    (old / "precious").touch()
    new = tmp_path / ".target.1.0123abcd.tmp"
    new.mkdir()
    remove_leftovers(tmp_path / "target")
    assert (tmp_path / "target" / "precious").exists()
    assert _hidden(tmp_path) == []


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("x")
    link = tmp_path / ".target.1.0123abcd.tmp"
    os.symlink(tmp_path / "precious", link)
    remove_leftovers(tmp_path / "target")
    assert (tmp_path / "precious").read_text() == "x"
