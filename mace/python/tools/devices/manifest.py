# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Which files a device already has, by checksum.

The list is in the folder of the files, so that any computer can use it. It has a
line ``<sha256> <size>:<modification time> <path>`` for each file. A line is valid as
long as the file still has that size and time. A file is moved into place after its
old line is removed and before its new line is added: an interruption in between
causes another copy, but never a wrong file.
"""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path, PurePosixPath

from mace.python.tools.devices.device import SCRATCH

_FILE = ".manifest"
_BLOCK = 1 << 20
# Toybox, BusyBox and GNU support this form.
_STAT = "stat -c %s:%Y"


def file_digest(path: Path) -> str:
    """SHA-256 of a file, as hexadecimal digits."""
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


class Manifest:
    """Our copy of a device's list; valid while we hold the device's lock."""

    def __init__(self) -> None:
        self._digests: dict[str, str] = {}

    def has(self, path: PurePosixPath, digest: str) -> bool:
        """Whether the device holds exactly this file."""
        return self._digests.get(str(path)) == digest

    def add(self, path: PurePosixPath, digest: str) -> None:
        """Adds a file; call it after `place_script` has run."""
        self._digests[str(path)] = digest

    def forget(self, path: PurePosixPath) -> None:
        """Removes the entries at or below the path."""
        name = str(path)
        for known in list(self._digests):
            if known == name or known.startswith(f"{name}/"):
                del self._digests[known]

    def read_script(self) -> str:
        """The script that prints the valid lines, for `load`."""
        return (
            f"[ ! -f {_FILE} ] || while read -r h s p; do\n"
            f'[ "$({_STAT} "$p" 2>/dev/null)" != "$s" ] || echo "$h $p"\n'
            f"done <{_FILE}"
        )

    def load(self, text: str) -> None:
        """Reads the output of `read_script`."""
        self._digests.clear()
        for line in text.splitlines():
            digest, _, path = line.partition(" ")
            if len(digest) == 64 and path:
                self._digests[path] = digest

    def place_script(
        self,
        part: PurePosixPath,
        path: PurePosixPath,
        digest: str,
        executable: bool,
    ) -> str:
        """The script that moves a received file to its place and prints its size."""
        name = shlex.quote(str(path))
        mode = "755" if executable else "644"
        place = f"mkdir -p {shlex.quote(str(path.parent))} && chmod {mode} {part} &&\n"
        if SCRATCH in path.parents:
            # Such a file is removed before it could be used again.
            return f"{place}mv -f {part} {name} && wc -c <{name} | tr -d ' '"
        # The path is compared with the end of the line, not as a pattern. A full disk
        # must not destroy the list.
        keep = (
            f'while read -r h s p; do [ "$p" = {name} ] || echo "$h $s $p" || '
            "exit 9; done"
        )
        return (
            f"{place}{{ [ ! -f {_FILE} ] || {{ {keep} <{_FILE} >{part}.list && "
            f"mv -f {part}.list {_FILE}; }}; }} &&\n"
            f"mv -f {part} {name} &&\n"
            # Without `stat`, the line is never valid, and the file is copied again.
            f'z=$({_STAT} {name} 2>/dev/null) || z="$(wc -c <{name} | tr -d " "):"\n'
            f"echo {digest} $z {name} >>{_FILE} &&\n"
            'echo "${z%%:*}"'
        )
