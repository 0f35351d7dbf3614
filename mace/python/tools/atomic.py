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
import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Union

from mace.python.tools.errors import MaceError
from mace.python.tools.interruption import signals_held

# Hidden temporary files of outputs, and those that killed processes left.
#
# An output is first written to a hidden file in the folder of its target. A process
# that is killed (kill -9, no memory, no power) cannot remove this file, so the next
# process that writes the same target does. The writer of a hidden file holds a lock,
# which the kernel releases when the process ends; it shows whether the file is still
# being written. A process ID would not: it means nothing in another container, and the
# system may have reused it.


TEMPORARY, OLD = "tmp", "old"


def hidden_name(target: Path, kind: str, mark: str | None = None) -> Path:
    """A name beside `target`; `TEMPORARY` for what is written, `OLD` for what was.

    Args:
        target: the file or folder that shall be replaced.
        kind: the ending.
        mark: of the names that belong together; None: a new one.
    """
    # Limited, because file names have at most 255 bytes on common file systems.
    return target.with_name(f".{target.name[:100]}.{mark or new_mark()}.{kind}")


def new_mark() -> str:
    """A text that no other writer has in its hidden names."""
    return f"{os.getpid()}.{secrets.token_hex(4)}"


def make_held_file(path: Path) -> int:
    """Makes a file that counts as being written until the result is closed."""
    while True:
        # The permissions of the umask, unlike tempfile's.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        if _held(descriptor, path):
            return descriptor
        os.close(descriptor)


def make_held_folder(path: Path) -> int:
    """Like `make_held_file`, for a folder."""
    while True:
        path.mkdir()
        with contextlib.suppress(FileNotFoundError):
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            if _held(descriptor, path):
                return descriptor
            os.close(descriptor)


def _held(descriptor: int, path: Path) -> bool:
    """Locks a new file; returns False if another process removed it before."""
    # Some file systems have no locks. Leftovers are not removed there.
    with contextlib.suppress(OSError):
        # A process that takes it for a leftover locks it for a moment, to remove it.
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def remove_leftovers(target: Path) -> None:
    """Removes the files that killed writers of `target` left beside it.

    If they had moved the old target away and not put the new one in its place, the
    old one is put back. What cannot be removed stays.
    """
    pattern = re.compile(
        re.escape(f".{target.name[:100]}.") + r"(\d+\.[0-9a-f]{8})\.(tmp|old)"
    )
    with contextlib.suppress(OSError):
        for name in sorted(os.listdir(target.parent)):
            match = pattern.fullmatch(name)
            if match:
                _remove(target, match[1], match[2])


def _remove(target: Path, mark: str, kind: str) -> None:
    leftover = hidden_name(target, kind, mark)
    # The writer holds the new file, which may already have its final name.
    written = hidden_name(target, TEMPORARY, mark)
    with contextlib.suppress(OSError), _not_held(written, target):
        if kind == OLD and not target.exists():
            os.rename(leftover, target)
        elif leftover.is_dir():
            shutil.rmtree(leftover)
        else:
            leftover.unlink(missing_ok=True)


@contextlib.contextmanager
def _not_held(*paths: Path) -> Iterator[None]:
    """Locks the first path that exists, if there is one.

    Raises:
        OSError: somebody holds it, or there are no locks on this file system.
    """
    for path in paths:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        finally:
            os.close(descriptor)
        return
    yield


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
        # Closed before it has its name, it would count as a leftover.
        with _place_errors(Path(path), every_errno=False), stream:
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
