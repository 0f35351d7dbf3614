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

from mace.python.tools.importers.frame.budget import budget
from mace.python.tools.importers.frame.errors import ImportModelError

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
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        budget().hold(path, found.st_size, (found.st_dev, found.st_ino))
        try:
            return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
        except (ValueError, OSError):
            return stream.read()  # it is empty, or on a file system without mapping


def leads_outside(folder: Path, path: Path) -> bool:
    """Whether a part of a model is not in the model's folder, directly or through a
    symbolic link. Models may come from strangers: converting one must not read other
    files of the user.

    Raises:
        OSError, RuntimeError: its links lead in a circle.
    """
    return folder.resolve() not in path.resolve().parents


def check_part(folder: Path, path: Path) -> None:
    """Refuses a part of a model in several files that is not in the model's folder.

    Raises:
        ImportModelError: it is a symbolic link to a file elsewhere.
    """
    try:
        outside = leads_outside(folder, path)
    except (OSError, RuntimeError) as error:
        raise ImportModelError(
            f"model_file_path: {path} is a symbolic link that leads nowhere"
        ) from error
    if outside:
        raise ImportModelError(
            f"model_file_path: {path} is a symbolic link to a file outside of the "
            f"model's folder, which is not read; copy the model with its files: cp -rL "
            f"{folder} COPY"
        )


def other_format(path: Path) -> str:
    """The actual format of the file, with advice; '' if it is unknown."""
    with path.open("rb") as stream:
        head = stream.read(512)
    for at, marks, meaning in _MARKS:
        if head[at:].lower().startswith(tuple(mark.lower() for mark in marks)):
            return meaning
    return ""
