# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes files and folders completely or not at all.

The new content is written to a hidden temporary file in the folder of its target
and renamed at the end. If the body raises, including on Ctrl-C, the temporary file
is removed and the old content stays. Files that a killed process left are removed
when the target is written again.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Union

from mace.python.tools.errors import MaceError
from mace.python.tools.interruption import signals_held
from mace.python.tools.leftovers import (
    OLD,
    TEMPORARY,
    hidden_name,
    make_held_file,
    make_held_folder,
    new_mark,
    remove_leftovers,
)

PathLike = Union[str, "os.PathLike[str]"]

# Errors of a write whose cause is the target folder or disk, not the program.
_PLACE_ERRNOS = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS}
)


class OutputError(MaceError):
    """An output file or folder cannot be written."""

    def __init__(self, path: Path, cause: OSError) -> None:
        reason = cause.strerror or str(cause)
        super().__init__(
            f"cannot write {path}: {reason}; "
            "choose another output folder or free this one"
        )
        self.path = path


@contextlib.contextmanager
def atomic_write(
    path: PathLike, mode: str = "wb", encoding: str | None = None
) -> Iterator[IO[Any]]:
    """Opens `path` for writing; it appears, complete, when the body ends.

    Missing parent folders are made. An existing file keeps its permissions; a
    symbolic link keeps pointing to the file that is replaced.

    Args:
        path: the file to write.
        mode: ``'wb'`` or ``'w'``; text is UTF-8 with ``\\n`` line ends unless
            `encoding` says otherwise.
        encoding: text encoding, for mode ``'w'``.

    Raises:
        OutputError: the folder cannot be made or written, or it is full.
    """
    if mode not in ("wb", "w"):
        raise ValueError(f"atomic_write takes mode 'wb' or 'w', not {mode!r}")
    target = Path(os.path.realpath(path))
    temporary = hidden_name(target, TEMPORARY)
    try:
        with _place_errors(Path(path), every_errno=True):
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            remove_leftovers(target)
            stream = _open_new(temporary, mode, encoding)
        with _place_errors(Path(path), every_errno=False):
            with stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
        with _place_errors(Path(path), every_errno=True):
            if target.exists():
                shutil.copymode(target, temporary)
            os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def check_writable(folder: PathLike) -> None:
    """Checks before the work starts that its outputs can be written.

    Raises:
        OutputError: the folder cannot be made, or no file in it.
    """
    target = Path(os.path.realpath(folder))
    made: list[Path] = []
    with _place_errors(Path(folder), every_errno=True):
        try:
            missing = [p for p in (target, *target.parents) if not p.exists()]
            for path in reversed(missing):
                path.mkdir(exist_ok=True)
                made.append(path)
            probe = hidden_name(target / "probe", TEMPORARY)
            probe.touch()
            probe.unlink()
        finally:
            for path in reversed(made):
                with contextlib.suppress(OSError):
                    path.rmdir()


@contextlib.contextmanager
def atomic_dir(path: PathLike) -> Iterator[Path]:
    """Yields an empty folder that replaces `path` at the end.

    An existing folder `path` is replaced as a whole, so that no files of an earlier run
    remain. This takes two renames; if the second fails, the first is undone.

    Raises:
        OutputError: the folder cannot be made or replaced, or it is full.
    """
    target = Path(os.path.realpath(path))
    mark = new_mark()
    temporary = hidden_name(target, TEMPORARY, mark)
    held = -1
    try:
        with _place_errors(Path(path), every_errno=True):
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists() and not target.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            remove_leftovers(target)
            held = make_held_folder(temporary)
        with _place_errors(Path(path), every_errno=False):
            yield temporary
        with _place_errors(Path(path), every_errno=True):
            with signals_held():
                _swap_in(temporary, target, hidden_name(target, OLD, mark))
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    finally:
        if held >= 0:
            os.close(held)


def _swap_in(temporary: Path, target: Path, old: Path) -> None:
    if not target.exists():
        os.rename(temporary, target)
        return
    os.rename(target, old)
    try:
        os.rename(temporary, target)
    except BaseException:
        os.rename(old, target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _open_new(path: Path, mode: str, encoding: str | None) -> IO[Any]:
    descriptor = make_held_file(path)
    is_text = mode == "w"
    return open(
        path,
        mode,
        encoding=(encoding or "utf-8") if is_text else None,
        newline="\n" if is_text else None,
        opener=lambda *_: descriptor,
    )


@contextlib.contextmanager
def _place_errors(path: Path, *, every_errno: bool) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if every_errno or error.errno in _PLACE_ERRNOS:
            raise OutputError(path, error) from error
        raise
