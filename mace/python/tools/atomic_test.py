# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Atomic outputs: complete or absent, whatever happens in between."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mace.python.tools.atomic import (
    OutputError,
    atomic_dir,
    atomic_write,
    remove_leftovers,
)
from mace.python.tools.convert.staging import Staging
from mace.python.tools.errors import MaceError


def _names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_write_appears_only_when_complete(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "model.pb"
    with atomic_write(target) as stream:
        stream.write(b"abc")
        assert not target.exists()
    assert target.read_bytes() == b"abc"
    assert _names(target.parent) == ["model.pb"]


def test_text_is_utf8_with_unix_line_ends(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    with atomic_write(target, "w") as stream:
        stream.write("å\n")
    assert target.read_bytes() == b"\xc3\xa5\n"


@pytest.mark.parametrize("raised", [ValueError, KeyboardInterrupt, SystemExit])
def test_failed_write_keeps_old_content(
    tmp_path: Path, raised: type[BaseException]
) -> None:
    target = tmp_path / "model.pb"
    target.write_bytes(b"old")
    with pytest.raises(raised), atomic_write(target) as stream:
        stream.write(b"half")
        raise raised()
    assert target.read_bytes() == b"old"
    assert _names(tmp_path) == ["model.pb"]


def test_two_writers_do_not_take_each_other_for_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "model.pb"

    def replace_late(source: Path, name: Path) -> None:
        remove_leftovers(target)  # as another writer does when it begins
        os.rename(source, name)

    monkeypatch.setattr(os, "replace", replace_late)
    with atomic_write(target) as stream:
        stream.write(b"abc")
    assert target.read_bytes() == b"abc"


def test_permissions_follow_umask_and_old_file(tmp_path: Path) -> None:
    target = tmp_path / "a"
    old_umask = os.umask(0o027)
    try:
        with atomic_write(target) as stream:
            stream.write(b"1")
    finally:
        os.umask(old_umask)
    assert target.stat().st_mode & 0o777 == 0o640
    target.chmod(0o755)
    with atomic_write(target) as stream:
        stream.write(b"2")
    assert target.stat().st_mode & 0o777 == 0o755


def test_symbolic_link_survives(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to(real)
    with atomic_write(link) as stream:
        stream.write(b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"


def test_target_that_is_a_folder_is_a_user_error(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="directory"):
        with atomic_write(tmp_path):
            pytest.fail("the body must not run")


def test_parent_that_is_a_file_is_a_user_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for name in ("file/a", "file/a/b"):
        with pytest.raises(MaceError, match="cannot write"):
            with atomic_write(tmp_path / name):
                pytest.fail("the body must not run")


def test_full_disk_in_the_body_is_a_user_error(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="No space"):
        with atomic_write(tmp_path / "a"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert _names(tmp_path) == []


def test_unrelated_os_error_in_the_body_passes_through(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), atomic_write(tmp_path / "a"):
        (tmp_path / "missing").read_bytes()
    assert _names(tmp_path) == []


def test_dir_replaces_the_whole_folder(tmp_path: Path) -> None:
    target = tmp_path / "model"
    for name in ("first", "second"):
        with atomic_dir(target) as folder:
            (folder / name).write_text(name)
            assert not (target / name).exists()
    assert _names(target) == ["second"]
    assert _names(tmp_path) == ["model"]


@pytest.mark.parametrize("raised", [ValueError, KeyboardInterrupt])
def test_failed_dir_keeps_old_folder(
    tmp_path: Path, raised: type[BaseException]
) -> None:
    target = tmp_path / "model"
    target.mkdir()
    (target / "old").touch()
    with pytest.raises(raised), atomic_dir(target) as folder:
        (folder / "new").touch()
        raise raised()
    assert _names(target) == ["old"]
    assert _names(tmp_path) == ["model"]


def test_dir_swap_is_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "model"
    target.mkdir()
    (target / "old").touch()
    real_rename = os.rename
    calls = []

    def rename(source: str, destination: str) -> None:
        calls.append(destination)
        if len(calls) == 2:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real_rename(source, destination)

    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(OutputError), atomic_dir(target):
        pass
    assert _names(target) == ["old"]
    assert _names(tmp_path) == ["model"]


def test_dir_over_a_file_is_a_user_error(tmp_path: Path) -> None:
    (tmp_path / "model").touch()
    with pytest.raises(OutputError, match="[Nn]ot a directory"):
        with atomic_dir(tmp_path / "model"):
            pytest.fail("the body must not run")


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
