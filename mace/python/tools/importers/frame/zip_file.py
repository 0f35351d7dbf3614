# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads zip archives whose large entries stay in the mapped file."""

from __future__ import annotations

import io
import shutil
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Union

from mace.python.tools.importers.frame.budget import budget

_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_SIGNATURE = b"PK\x03\x04"
_ENCRYPTED = 1
# What zipfile raises at damaged archives has no common base class.
_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    ArithmeticError,
    AttributeError,
    EOFError,
    IndexError,
    KeyError,
    MemoryError,
    NotImplementedError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)


class DamagedZipError(Exception):
    """The archive or an entry cannot be read; the message says why."""


class ZipFile:
    """An archive, given as its bytes. What its entries unpack to is taken from the
    budget of the model.
    """

    def __init__(self, data: memoryview) -> None:
        self._data = data
        # Several tensors may name one entry.
        self._read: dict[str, memoryview] = {}
        try:
            self._zip = zipfile.ZipFile(io.BufferedReader(_Stream(data)))
            self._entries = {info.filename: info for info in self._zip.infolist()}
        except _ERRORS as error:
            raise DamagedZipError(str(error) or type(error).__name__) from error

    @property
    def names(self) -> list[str]:
        """Of the entries, in the archive's order."""
        return list(self._entries)

    def read(self, name: str) -> memoryview:
        """The bytes of an entry, whose checksum is compared.

        Raises:
            DamagedZipError: they cannot be read.
            ImportModelError: they are too many.
            KeyError: there is no such entry.
        """
        if name not in self._read:
            self._read[name] = self._unpacked(self._entries[name])
        return self._read[name]

    def read_text(self, name: str) -> bytes:
        """The same of a text, which is parsed next."""
        budget().unpack_text(self._entries[name].file_size, name)
        return bytes(self._unpacked(self._entries[name], counted=True))

    def extract(self, name: str, target: Path) -> None:
        """Writes an entry to a file, not to memory.

        Raises:
            DamagedZipError: it cannot be read.
            ImportModelError: it is too large.
            KeyError: there is no such entry.
        """
        info = self._entries[name]
        try:
            with target.open("wb") as stream:
                if info.compress_type == zipfile.ZIP_STORED:
                    stream.write(self._stored(info))
                    return
                budget().unpack(info.file_size, name)
                with self._zip.open(info) as source:
                    shutil.copyfileobj(source, stream)
        except DamagedZipError:
            raise
        except _ERRORS as error:
            raise DamagedZipError(f"{name}: {error or type(error).__name__}") from error

    def take_all(self) -> None:
        """Takes what all entries unpack to from the budget, for another reader.

        Raises:
            ImportModelError: they are too large.
        """
        packed = [i for i in self._entries.values() if i.compress_type]
        budget().unpack(sum(info.file_size for info in packed), "its entries")

    def _unpacked(self, info: zipfile.ZipInfo, counted: bool = False) -> memoryview:
        name = info.filename
        try:
            if info.compress_type == zipfile.ZIP_STORED:
                return self._stored(info)
            if not counted:
                budget().unpack(info.file_size, name)
            return memoryview(self._zip.read(info))
        except DamagedZipError:
            raise
        except _ERRORS as error:
            raise DamagedZipError(f"{name}: {error or type(error).__name__}") from error

    def _stored(self, info: zipfile.ZipInfo) -> memoryview:
        begin = info.header_offset
        header = self._data[begin : begin + _LOCAL_HEADER.size]
        fields = _LOCAL_HEADER.unpack(header)
        if fields[0] != _SIGNATURE or info.flag_bits & _ENCRYPTED:
            raise DamagedZipError(f"{info.filename} has no header that can be read")
        begin += _LOCAL_HEADER.size + fields[9] + fields[10]
        content = self._data[begin : begin + info.file_size]
        if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
            raise DamagedZipError(f"the checksum of {info.filename} is wrong")
        return content


class _Stream(io.RawIOBase):
    """A file whose bytes are in memory already; io.BytesIO would copy them."""

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: len(self._data)}
        at = base[whence] + offset
        if at < 0:
            raise OSError("before the beginning of the file")
        self._at = at
        return at

    def readinto(self, buffer: Union[bytearray, memoryview]) -> int:  # type: ignore[override]
        part = self._data[self._at : self._at + len(buffer)]
        buffer[: len(part)] = part
        self._at += len(part)
        return len(part)
