# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Entries of archives, and what they may unpack to."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from mace.python.tools.importers.frame.budget import one_budget
from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.importers.frame.zip_file import DamagedZipError, ZipFile

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
