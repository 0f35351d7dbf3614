# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Files of models, and entries of archives, as views of a mapping."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from mace.python.tools.importers.frame.budget import one_budget
from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.importers.frame.opened import load_framework
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.importers.frame.zip_file import DamagedZipError, ZipFile


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


_LARGE = 65 << 20


def _archive(size: int, method: int) -> memoryview:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        archive.writestr("a", bytes(size))
        archive.writestr("b", b"text")
    return memoryview(stream.getvalue())


def test_compressed_zeros_are_refused_before_they_are_unpacked(tmp_path: Path) -> None:
    with one_budget():
        archive = ZipFile(_archive(_LARGE, zipfile.ZIP_DEFLATED))
        for read in (
            archive.read,
            archive.read_text,
            lambda name: archive.extract(name, tmp_path / "a"),
            lambda _: archive.take_all(),
        ):
            with pytest.raises(ImportModelError, match=r"68\.2 MB"):
                read("a")
        assert not (tmp_path / "a").stat().st_size
        assert bytes(archive.read("b")) == b"text"


def test_plain_entries_are_views_of_the_file() -> None:
    with one_budget():
        archive = ZipFile(_archive(_LARGE, zipfile.ZIP_STORED))
        assert len(archive.read("a")) == _LARGE
        assert archive.read("a") is archive.read("a")
        archive.take_all()


def test_an_entry_counts_once(tmp_path: Path) -> None:
    size = 40 << 20
    with one_budget():
        archive = ZipFile(_archive(size, zipfile.ZIP_DEFLATED))
        for _ in range(3):
            assert len(archive.read("a")) == size
        with pytest.raises(ImportModelError, match=r"after 41\.9 MB of other parts"):
            archive.extract("a", tmp_path / "a")


def test_an_archive_of_a_newer_version() -> None:
    data = bytearray(_archive(10, zipfile.ZIP_STORED))
    at = data.index(b"PK\x01\x02")
    data[at + 6 : at + 8] = (234).to_bytes(2, "little")
    with pytest.raises(DamagedZipError, match="23.4"):
        ZipFile(memoryview(bytes(data)))
