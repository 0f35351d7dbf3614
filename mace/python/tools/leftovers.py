# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Hidden temporary files of outputs, and those that killed processes left.

An output is first written to a hidden file in the folder of its target. A process
that is killed (kill -9, no memory, no power) cannot remove this file, so the next
process that writes the same target does. The writer of a hidden file holds a lock,
which the kernel releases when the process ends; it shows whether the file is still
being written. A process ID would not: it means nothing in another container, and the
system may have reused it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

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
