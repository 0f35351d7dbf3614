# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A folder of models as two small files.

The same weights are in several files: as float and as half, and for several engines.
They are rounded so that few bits of a half are set. Blocks of a file are stored in the
shortest form that keeps every bit, and what was stored before is stored once. `pack`
needs NumPy; `unpack` needs the standard library alone.

| form | in the file | stored |
|---|---|---|
| float8 | floats that half represents, with the lower byte zero | the upper byte |
| half8 | halves with the lower byte zero | the upper byte |
| float16 | floats that half represents | halves |
| raw | anything | as it is |
"""

from __future__ import annotations

import hashlib
import json
import lzma
import struct
import zlib
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# What is stored of float8 and half8, by Huffman codes alone: LZMA takes more for few
# values in random order.
WEIGHTS = "weights.z"
# What is stored of the others.
REST = "rest.xz"
INDEX = "models.json"
# Bytes of a block.
_BLOCK = 4096
# The shortest repetition that is stored once, and how much of it is searched for.
_WINDOW = 32768
_NEEDLE = 64
# Bytes of halves that are expanded at a time.
_PART = 1 << 20
_FORMS = ("raw", "float16", "half8", "float8")
# A form, the bytes of the file, and the slices of what is stored: offset, bytes.
Piece = tuple[str, int, list[tuple[int, int]]]


class PackingError(Exception):
    """A packed folder is damaged; the message names the file."""


class Store:
    """What is stored, with long repetitions of other files of a group once."""

    def __init__(self) -> None:
        self.data = bytearray()
        self._group: object = None
        self._begin = self._end = 0

    def next_file(self, group: object) -> None:
        """What is added from now on is of another file, maybe of another group."""
        self._end = len(self.data)
        if group != self._group:
            self._group, self._begin = group, self._end

    def add(self, own: bytes) -> list[tuple[int, int]]:
        """Stores bytes; returns the slices to which they correspond."""
        slices: list[tuple[int, int]] = []
        at, next_place = 0, -1
        while at < len(own):
            window = own[at : at + _WINDOW]
            place = next_place
            if place < 0 or self.data[place : place + len(window)] != window:
                place = self._find(window)
            if place < 0:
                slices.append((len(self.data), len(window)))
                self.data += window
                at, next_place = at + len(window), -1
                continue
            size = len(window)
            slices.append((place, size))
            at, next_place = at + size, place + size
        return _joined(slices)

    def _find(self, window: bytes) -> int:
        """Where a window of full length is; -1 if nowhere."""
        if len(window) < _WINDOW:
            return -1
        place = self.data.find(window[:_NEEDLE], self._begin, self._end)
        if place < 0 or self.data[place : place + len(window)] != window:
            return -1
        return place


def _joined(slices: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same slices, with one for those that follow each other."""
    result: list[tuple[int, int]] = []
    for offset, size in slices:
        if result and sum(result[-1]) == offset:
            result[-1] = (result[-1][0], result[-1][1] + size)
        else:
            result.append((offset, size))
    return result


def encode(data: bytes, weights: Store, rest: Store) -> list[Piece]:
    """Splits a file into pieces and stores them."""
    import numpy as np

    blocks = len(data) // _BLOCK
    whole = data[: blocks * _BLOCK]
    floats = np.frombuffer(whole, "<f4").reshape(blocks, _BLOCK // 4)
    words = np.frombuffer(whole, "<u2").reshape(blocks, _BLOCK // 2)
    with np.errstate(over="ignore", invalid="ignore"):
        halves = floats.astype("<f2")
        same = halves.astype("<f4").view("<u4") == floats.view("<u4")
    is_float = same.all(axis=1)
    forms = np.zeros(blocks, int)
    forms[is_float] = 1
    forms[(words & 0xFF == 0).all(axis=1)] = 2
    forms[is_float & (halves.view("<u2") & 0xFF == 0).all(axis=1)] = 3
    edges = [0, *map(int, np.flatnonzero(np.diff(forms)) + 1), blocks]
    pieces: list[Piece] = []
    for begin, end in zip(edges, edges[1:]):
        if begin == end:
            continue
        form = _FORMS[forms[begin]]
        own = data[begin * _BLOCK : end * _BLOCK]
        if form.startswith("float"):
            own = halves[begin:end].tobytes()
        in_bytes = form.endswith("8")
        slices = weights.add(own[1::2]) if in_bytes else rest.add(own)
        pieces.append((form, (end - begin) * _BLOCK, slices))
    tail = data[blocks * _BLOCK :]
    if tail:
        pieces.append(("raw", len(tail), rest.add(tail)))
    return pieces


def _expand(form: str, stored: bytes) -> bytes:
    if form.endswith("8"):
        halves = bytearray(2 * len(stored))
        halves[1::2] = stored
        stored = bytes(halves)
    if not form.startswith("float"):
        return stored
    parts = []
    # Each number is an object of Python for a moment.
    for at in range(0, len(stored), _PART):
        part = stored[at : at + _PART]
        parts.append(array("f", struct.unpack(f"<{len(part) // 2}e", part)).tobytes())
    return b"".join(parts)


def decode(pieces: Sequence[Sequence[Any]], weights: bytes, rest: bytes) -> bytes:
    """The file of some pieces."""
    parts = []
    for form, _, slices in pieces:
        store = weights if form.endswith("8") else rest
        own = b"".join(store[offset : offset + size] for offset, size in slices)
        parts.append(_expand(form, own))
    return b"".join(parts)


def pack(files: dict[str, Path], folder: Path) -> int:
    """Writes WEIGHTS, REST and INDEX to a folder; returns their size in bytes.

    Args:
        files: what to pack, by name in the folder that `unpack` makes. Files of the
            same folder there are searched for repetitions.
    """
    weights, rest, index = Store(), Store(), []
    for name, path in files.items():
        data = path.read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        for store in (weights, rest):
            store.next_file(Path(name).parent)
        pieces = encode(data, weights, rest)
        index.append({"name": name, "pieces": pieces, "sha256": digest})
    huffman = zlib.compressobj(9, strategy=zlib.Z_HUFFMAN_ONLY)
    packed = huffman.compress(weights.data) + huffman.flush()
    (folder / WEIGHTS).write_bytes(packed)
    (folder / REST).write_bytes(lzma.compress(rest.data))
    (folder / INDEX).write_text(json.dumps(index), encoding="utf-8")
    return sum((folder / name).stat().st_size for name in (WEIGHTS, REST, INDEX))


def unpack(folder: Path, target: Path) -> None:
    """Restores the files of a packed folder.

    Raises:
        PackingError: a file is not as it was packed.
    """
    index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    try:
        weights = zlib.decompress((folder / WEIGHTS).read_bytes())
        rest = lzma.decompress((folder / REST).read_bytes())
    except (zlib.error, lzma.LZMAError) as error:
        raise PackingError(f"{folder}: {error}") from None
    for entry in index:
        data = decode(entry["pieces"], weights, rest)
        if hashlib.sha256(data).hexdigest() != entry["sha256"]:
            raise PackingError(f"{entry['name']} of {folder} is damaged")
        path = target / entry["name"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
