# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Files that are no models are called by their name."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.importers.frame.opened import load_framework
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)


def _zip() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("model.onnx", b"x" * 100)
    return stream.getvalue()


def _tar() -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("model.onnx"), io.BytesIO())
    return stream.getvalue()


@pytest.mark.parametrize("framework", ["caffe", "onnx", "tensorflow", "tflite"])
@pytest.mark.parametrize(
    ("data", "name"),
    [
        (_zip(), "is a zip archive: unpack it"),
        (gzip.compress(b"x" * 100, mtime=0), "is compressed: unpack it"),
        (_tar(), "is a tar archive: unpack it"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
            "is a pointer of Git LFS: `git lfs pull`",
        ),
        (b"<!DOCTYPE html><html>Not found</html>", "is a web page: download"),
        (b"\x89HDF\r\n\x1a\n" + bytes(100), "is an HDF5 file"),
    ],
)
def test_other_formats(framework: str, data: bytes, name: str, tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes(data)
    with pytest.raises(ImportModelError, match=f"model {name}"):
        load_framework(framework).import_model(_request(path))


@pytest.mark.parametrize("framework", ["caffe", "onnx", "tensorflow", "tflite"])
def test_a_pipe_is_refused_and_not_waited_for(framework: str, tmp_path: Path) -> None:
    path = tmp_path / "model"
    os.mkfifo(path)
    with pytest.raises(ImportModelError, match="model.* is not a regular file"):
        load_framework(framework).import_model(_request(path))


@pytest.mark.parametrize("framework", ["onnx", "tensorflow"])
def test_a_model_of_tensorflow_lite(framework: str, tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes(b"\x1c\0\0\0TFL3" + bytes(100))
    with pytest.raises(ImportModelError, match="Lite model: say platform: tflite"):
        load_framework(framework).import_model(_request(path))


def _request(path: Path) -> ImportRequest:
    return ImportRequest("m", path, (InputSpec("x"),), (OutputSpec("y"),))
