# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Constants of which a file has only the elements that are not 0.

The elements are in the order of a tree: each of its levels stands for a dimension, or
for a block of one. In a dense level, a branch has a child for every index; in a sparse
one, `segments` says where the children of each branch are in `indices`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tflite.flatbuffer import Table
from mace.python.tools.ir.dtypes import Array

# By the number that the format has for the type of a list.
_INDEX_TYPES: dict[int, type[np.generic]] = {1: np.int32, 2: np.uint16, 3: np.uint8}
_SPARSE = 1
# A file that states a few elements of a huge tensor is no network.
_MOST_TIMES = 1024
_ALWAYS = 1 << 16


@dataclass(frozen=True)
class _Level:
    """One level of the tree.

    Attributes:
        size: of a dense one.
        segments, indices: of a sparse one.
    """

    size: int
    segments: Array | None = None
    indices: Array | None = None


@dataclass(frozen=True)
class Sparsity:
    """Where the elements of a sparse tensor are.

    Attributes:
        order: the dimension of each level; behind those of the tensor are the blocks.
        blocks: the dimension of which each block is a part.
    """

    order: tuple[int, ...]
    blocks: tuple[int, ...]
    levels: tuple[_Level, ...]

    def dense(self, values: Array, shape: tuple[int, ...]) -> Array:
        """All elements.

        Raises:
            UnsupportedNodeError: the lists contradict each other.
        """
        count = math.prod(shape)
        if count > max(_ALWAYS, _MOST_TIMES * values.size):
            raise UnsupportedNodeError(
                f"has {values.size} of {count} elements, which is too few to be read"
            )
        rank = len(shape)
        if sorted(self.order) != list(range(rank + len(self.blocks))) or len(
            self.levels
        ) != len(self.order):
            raise _damaged("the order of its dimensions")
        blocks = self._block_sizes(shape)
        outer = list(shape)
        for dim, size in zip(self.blocks, blocks):
            outer[dim] //= size
        places = self._places([*outer, *blocks], count)
        if places.shape[1] != values.size:
            raise _damaged(f"{values.size} elements for {places.shape[1]} places")
        whole = places[:rank]
        for size, dim, inner in zip(blocks, self.blocks, places[rank:]):
            whole[dim] = whole[dim] * size + inner
        result = np.zeros(shape, values.dtype)
        result[tuple(whole)] = values
        return result

    def _block_sizes(self, shape: tuple[int, ...]) -> list[int]:
        if len(set(self.blocks)) != len(self.blocks):
            raise _damaged("several blocks of one dimension")
        sizes = []
        for number, dim in enumerate(self.blocks, len(shape)):
            size = self.levels[self.order.index(number)].size
            if not 0 <= dim < len(shape) or size < 1 or shape[dim] % size:
                raise _damaged(f"blocks of {size} along dimension {dim}")
            sizes.append(size)
        return sizes

    def _places(self, sizes: list[int], most: int) -> Array:
        """The index of each element along each dimension and block."""
        places = np.zeros((len(sizes), 1), np.int64)
        for dim, level in zip(self.order, self.levels):
            before = places.shape[1]
            if level.segments is None or level.indices is None:
                if level.size != sizes[dim] or before * level.size > most:
                    raise _damaged(f"a dimension of {level.size}, not {sizes[dim]}")
                places = np.repeat(places, level.size, axis=1)
                places[dim] = np.tile(np.arange(level.size), before)
                continue
            segments = level.segments.astype(np.int64)
            indices = level.indices.astype(np.int64)
            counts = np.diff(segments)
            fits = (
                segments.size == before + 1
                and segments[0] == 0
                and segments[-1] == indices.size
                and counts.min(initial=0) >= 0
            )
            if not fits or indices.size > most:
                raise _damaged("the places of its elements")
            if indices.size and not 0 <= indices.min() <= indices.max() < sizes[dim]:
                raise _damaged(f"an index beyond {sizes[dim]}")
            places = np.repeat(places, counts, axis=1)
            places[dim] = indices
        return places


def _damaged(what: str) -> UnsupportedNodeError:
    return UnsupportedNodeError(f"is sparse, and its tables are damaged: {what}")


def read_sparsity(table: Table) -> Sparsity:
    """The table of a tensor."""
    return Sparsity(
        tuple(table.vector(0, np.int32).tolist()),
        tuple(table.vector(1, np.int32).tolist()),
        tuple(_level(entry) for entry in table.tables(2)),
    )


def _level(table: Table) -> _Level:
    size = table.number(1, "i")
    if table.number(0, "b") != _SPARSE:
        return _Level(size)
    return _Level(size, _list(table, 2), _list(table, 4))


def _list(table: Table, index: int) -> Array:
    kind, values = table.number(index, "B"), table.table(index + 1)
    if values is None or kind not in _INDEX_TYPES:
        return np.zeros(0, np.int32)
    return values.vector(0, _INDEX_TYPES[kind])
