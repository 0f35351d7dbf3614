# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Several output files that appear together or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from pathlib import Path

from mace.python.tools.atomic import OutputError

# Only a write fails with these.
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})


class Staging:
    """Collects outputs under hidden names beside their targets.

    Use as a context manager: when the body ends well the files are renamed to
    their targets; when it raises, also on Ctrl-C, they are removed and what
    was there before stays.
    """

    def __init__(self) -> None:
        self._suffix = f".{os.getpid()}.{secrets.token_hex(4)}.tmp"
        self._files: dict[Path, Path] = {}
        self._new_folders: list[Path] = []

    def path(self, target: Path) -> Path:
        """Where to write what shall become `target`.

        Raises:
            OutputError: the folder cannot be made.
        """
        target = Path(os.path.realpath(target))
        try:
            self._make_folder(target.parent)
            if target.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            temporary = target.with_name(f".{target.name[:100]}{self._suffix}")
            # Fails now rather than after minutes of work.
            temporary.touch()
        except OSError as error:
            raise OutputError(target, error) from error
        self._files[temporary] = target
        return temporary

    def __enter__(self) -> Staging:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is None:
            self._commit()
            return
        self._discard()
        if (
            isinstance(error, OSError) and error.errno in _NO_ROOM and self._files
        ):  # Of nested ones, the one that was written to.
            raise OutputError(next(iter(self._files.values())), error) from error

    def _commit(self) -> None:
        try:
            for temporary, target in self._files.items():
                os.replace(temporary, target)
        except OSError as error:
            self._discard()
            raise OutputError(target, error) from error

    def _discard(self) -> None:
        for temporary in self._files:
            with contextlib.suppress(OSError):
                temporary.unlink()
        for folder in reversed(self._new_folders):
            with contextlib.suppress(OSError):
                folder.rmdir()

    def _make_folder(self, folder: Path) -> None:
        missing = []
        while not folder.exists():
            missing.append(folder)
            folder = folder.parent
        for path in reversed(missing):
            path.mkdir(exist_ok=True)
            self._new_folders.append(path)
