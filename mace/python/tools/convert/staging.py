# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Several output files that appear together or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import weakref
from dataclasses import dataclass
from pathlib import Path

from mace.python.tools.atomic import (
    OLD,
    TEMPORARY,
    OutputError,
    hidden_name,
    make_held_file,
    new_mark,
    remove_leftovers,
)
from mace.python.tools.interruption import signals_held

# Only a write fails with these.
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})


class Staging:
    """Collects outputs under hidden names beside their targets.

    Use as a context manager: when the body ends well the files are renamed to
    their targets; when it raises, also on Ctrl-C, or a file cannot be renamed,
    all are removed and what was there before is there again. What a killed process
    left of such files is removed when their targets are written again.
    """

    def __init__(self) -> None:
        self._outputs = _Outputs()
        # Python may be interrupted at the very first or last step of a `with`,
        # where no code of ours is asked: then this is.
        self._finalizer = weakref.finalize(self, self._outputs.undo)

    def path(self, target: Path) -> Path:
        """Where to write what shall become `target`.

        Raises:
            OutputError: the folder cannot be made.
        """
        target = Path(os.path.realpath(target))
        try:
            return self._outputs.add(target)
        except OSError as error:
            raise OutputError(target, error) from error

    def publish(self, folder: Path) -> None:
        """Puts the files of a folder in place now, for others to read.

        If the body raises later, they are undone with all others.

        Raises:
            OutputError: one of them cannot be put there.
        """
        folder = Path(os.path.realpath(folder))
        with signals_held():
            self._outputs.place(folder)

    def __enter__(self) -> Staging:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        with signals_held():
            if kind is None:
                self._outputs.place()
                self._outputs.keep()
                return
            target = self._outputs.undo()
        if isinstance(error, OSError) and error.errno in _NO_ROOM and target:
            raise OutputError(target, error) from error


@dataclass
class _Output:
    """A file on its way.

    Attributes:
        target: where it shall be.
        temporary: where it is until it is placed.
        old: where the file that was at `target` is, once it is kept.
        held: the open new file, while it must not count as left over.
    """

    target: Path
    temporary: Path
    old: Path
    held: int
    kept: bool = False
    placed: bool = False

    def place(self) -> None:
        if self.target.exists():
            try:
                # So that there is a file at `target` at any time.
                os.link(self.target, self.old)
            except OSError:  # No hard links on this file system.
                os.rename(self.target, self.old)
            self.kept = True
        os.replace(self.temporary, self.target)
        self.placed = True

    def undo(self) -> None:
        """Whatever has been done, none or half of it included."""
        if self.kept:
            os.replace(self.old, self.target)
            # Renaming a file to another name of itself leaves both.
            self.old.unlink(missing_ok=True)
        elif self.placed:
            self.target.unlink(missing_ok=True)
        self.temporary.unlink(missing_ok=True)

    def release(self) -> None:
        """From now on, whatever is left is for the next writer to remove."""
        if self.held >= 0:
            os.close(self.held)
            self.held = -1


class _Outputs:
    """Files on their way, and the folders that were made for them."""

    def __init__(self) -> None:
        self._mark = new_mark()
        self._waiting: list[_Output] = []
        self._placed: list[_Output] = []
        self._new_folders: list[Path] = []

    def add(self, target: Path) -> Path:
        temporary = hidden_name(target, TEMPORARY, self._mark)
        with signals_held():
            self._make_folder(target.parent)
            if target.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            remove_leftovers(target)
            # Fails now rather than after minutes of work.
            held = make_held_file(temporary)
            output = _Output(
                target, temporary, hidden_name(target, OLD, self._mark), held
            )
            self._waiting.append(output)
        return output.temporary

    def place(self, folder: Path | None = None) -> None:
        """Puts files at their targets, all that wait or those of a folder."""
        chosen = [
            output
            for output in self._waiting
            if folder is None or folder in output.target.parents
        ]
        try:
            for output in chosen:
                self._waiting.remove(output)
                self._placed.append(output)
                output.place()
        except OSError as error:
            self.undo()
            raise OutputError(output.target, error) from error
        except BaseException:
            self.undo()
            raise

    def keep(self) -> None:
        """Forgets what was there before."""
        for output in self._placed:
            with contextlib.suppress(OSError):
                output.old.unlink(missing_ok=True)
            output.release()
        self._placed.clear()
        self._new_folders.clear()

    def undo(self) -> Path | None:
        """Removes everything; returns one of the targets, if there are any."""
        outputs = [*self._waiting, *reversed(self._placed)]
        for output in outputs:
            with contextlib.suppress(OSError):
                output.undo()
            output.release()
        for folder in reversed(self._new_folders):
            with contextlib.suppress(OSError):
                folder.rmdir()
        for done in (self._waiting, self._placed, self._new_folders):
            done.clear()
        return outputs[0].target if outputs else None

    def _make_folder(self, folder: Path) -> None:
        missing = []
        while not folder.exists():
            missing.append(folder)
            folder = folder.parent
        for path in reversed(missing):
            path.mkdir(exist_ok=True)
            self._new_folders.append(path)
