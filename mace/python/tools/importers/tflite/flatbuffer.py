# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads FlatBuffers: tables whose fields are at offsets that a file states.

A table begins with the distance to its vtable, which has the position of each field in
the table; 0 for a field that has its default. Strings, vectors and other tables are at
an offset from the field. Every offset and length is checked against the file. Parts of
a file may overlap, so that a small file could describe more than any memory holds;
therefore, what is read of a file is at most a multiple of its size.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from mace.python.tools.importers.frame.model_file import Buffer
from mace.python.tools.ir.dtypes import Array

# Writers may share strings and empty vectors, but not so many.
_READ_TIMES = 16
_READ_AT_LEAST = 1 << 16


class DamagedError(Exception):
    """The bytes contradict the format."""


class Flat:
    """The bytes of a file, and how much of them may still be read.

    Attributes:
        data: all bytes.
        size: their number.
    """

    def __init__(self, data: Buffer) -> None:
        self.data = data
        self.size = len(data)
        self._left = _READ_TIMES * self.size + _READ_AT_LEAST

    def root(self) -> Table:
        """The table that contains all others."""
        return Table(self, self.offset(0))

    def number(self, code: str, at: int) -> Any:
        """A number, by the code that `struct` has for its type."""
        self.check(at, struct.calcsize(code))
        return struct.unpack_from(f"<{code}", self.data, at)[0]

    def offset(self, at: int) -> int:
        """The position that an offset at `at` leads to."""
        return at + int(self.number("I", at))

    def check(self, at: int, count: int) -> None:
        """Counts bytes as read.

        Raises:
            DamagedError: they are outside of the file, or too many were read.
        """
        if at < 0 or at + count > self.size:
            raise DamagedError(f"bytes {at} to {at + count} of {self.size}")
        self._left -= count
        if self._left < 0:
            raise DamagedError("its parts overlap")

    def vector(self, at: int, dtype: np.dtype[Any]) -> Array:
        """The numbers of a vector, as a view."""
        count = int(self.number("I", at))
        self.check(at + 4, count * dtype.itemsize)
        return np.frombuffer(self.data, dtype.newbyteorder("<"), count, at + 4)


class Table:
    """One table of a file.

    Args:
        flat: the file.
        at: the position of the table.
    """

    def __init__(self, flat: Flat, at: int) -> None:
        self._flat = flat
        self._at = at
        self._fields = at - int(flat.number("i", at))
        size = int(flat.number("H", self._fields))
        flat.check(self._fields, size)
        self._count = (size - 4) // 2

    def number(self, index: int, code: str, default: Any = 0) -> Any:
        """A field of numbers, by the code that `struct` has for its type."""
        place = self._place(index)
        return self._flat.number(code, place) if place else default

    def table(self, index: int) -> Table | None:
        """A field of a table; None if it is absent."""
        place = self._place(index)
        return Table(self._flat, self._flat.offset(place)) if place else None

    def tables(self, index: int) -> list[Table]:
        """A vector of tables; empty if it is absent."""
        place = self._place(index)
        if not place:
            return []
        at = self._flat.offset(place)
        offsets = self._flat.vector(at, np.dtype(np.uint32))
        starts = (at + 4 + 4 * i + int(o) for i, o in enumerate(offsets))
        return [Table(self._flat, start) for start in starts]

    def vector(self, index: int, dtype: type[np.generic]) -> Array:
        """A vector of numbers; empty if it is absent."""
        place = self._place(index)
        if not place:
            return np.zeros(0, dtype)
        return self._flat.vector(self._flat.offset(place), np.dtype(dtype))

    def text(self, index: int) -> str:
        """A string; empty if it is absent."""
        return self.vector(index, np.uint8).tobytes().decode("utf-8", "replace")

    def _place(self, index: int) -> int:
        """The position of a field; 0 if it is absent."""
        if not 0 <= index < self._count:
            return 0
        offset = int(self._flat.number("H", self._fields + 4 + 2 * index))
        return self._at + offset if offset else 0
