# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Opens a model file; says what the file is if it is not a model."""

from __future__ import annotations

import errno
import mmap
import os
import stat
from pathlib import Path
from typing import Union

Buffer = Union[bytes, mmap.mmap]

# Offsets of magic bytes, the bytes, and advice for the user.
_MARKS: tuple[tuple[int, tuple[bytes, ...], str], ...] = (
    (0, (b"PK\x03\x04", b"PK\x05\x06"), "a zip archive: unpack it, name what is in it"),
    (0, (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"(\xb5/\xfd"), "compressed: unpack it"),
    (257, (b"ustar",), "a tar archive: unpack it and name the model in it"),
    (
        0,
        (b"version https://git-lfs",),
        "a pointer of Git LFS: `git lfs pull` gets the model itself",
    ),
    (0, (b"<!doctype html", b"<html"), "a web page: download the file itself"),
    (0, (b"\x89HDF\r\n",), "an HDF5 file (of Keras?): say platform: keras"),
    (4, (b"TFL3",), "a TensorFlow Lite model: say platform: tflite"),
    (0, (b"GGUF",), "a file of weights for llama.cpp: export the model to ONNX"),
    (0, (b"\x93NUMPY",), "an array of NumPy: name the model"),
    (0, (b"\x89PNG\r\n", b"\xff\xd8\xff"), "a picture: name the model"),
    (0, (b"\x7fELF",), "a program or library: name the model"),
)


def map_file(path: Path) -> Buffer:
    """The bytes of a regular file, mapped if its file system supports it.

    Raises:
        OSError: it cannot be read, or is a folder, pipe or device, which may have
            no end.
    """
    # Without O_NONBLOCK, opening a pipe would wait for its writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        try:
            return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
        except (ValueError, OSError):
            return stream.read()  # it is empty, or on a file system without mapping


def other_format(path: Path) -> str:
    """The actual format of the file, with advice; '' if it is unknown."""
    with path.open("rb") as stream:
        head = stream.read(512)
    for at, marks, meaning in _MARKS:
        if head[at:].lower().startswith(tuple(mark.lower() for mark in marks)):
            return meaning
    return ""
