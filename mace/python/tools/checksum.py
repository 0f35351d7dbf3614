# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Checksums of files and folders."""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path

# Block size for checksums: small enough for the processor's cache; with blocks that are
# not much smaller, SHA-256 itself is the limit.
_BLOCK_BYTES = 1 << 18


def sha256_of(path: Path) -> str:
    """The checksum of a file, in lower-case hexadecimal.

    That of a folder is the checksum of a list of its files, sorted by the bytes of
    their names, as `sha256sum` prints them: checksum, two spaces, path in the folder.

    Raises:
        OSError: it cannot be read.
    """
    if not path.is_dir():
        return _digest(path)
    files = [file for file in path.rglob("*") if file.is_file()]
    for file in files:
        # A folder from strangers must not make us read files elsewhere.
        if path.resolve() not in file.resolve().parents:
            what = f"{file} is a symbolic link to a file outside of the folder"
            raise OSError(errno.ELOOP, what)
    names = [os.fsencode(file.relative_to(path).as_posix()) for file in files]
    listed = b"".join(
        _digest(path / os.fsdecode(name)).encode() + b"  " + name + b"\n"
        for name in sorted(names)
    )
    return hashlib.sha256(listed).hexdigest()


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    block = memoryview(bytearray(_BLOCK_BYTES))
    with open(path, "rb", buffering=0) as stream:
        while count := stream.readinto(block):
            digest.update(block[:count])
    return digest.hexdigest()
