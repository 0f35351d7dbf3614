# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of sparse constants; whole files: handlers/densify_test.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tflite.sparse import Sparsity, _Level
from mace.python.tools.ir.dtypes import Array


def _compressed(rows: Array) -> tuple[list[int], list[int]]:
    """Segments and indices of the columns of each row that are not 0."""
    kept = [np.flatnonzero(row).tolist() for row in rows]
    segments = np.cumsum([0, *map(len, kept)])
    return segments.tolist(), [index for row in kept for index in row]


def test_other_orders() -> None:
    """Columns first, each of them sparse."""
    dense = np.zeros((3, 4), np.float32)
    dense[[0, 2, 1], [0, 0, 3]] = [1, 2, 3]
    segments, indices = _compressed(dense.T)
    levels = (_Level(4), _Level(0, np.array(segments), np.array(indices)))
    found = Sparsity((1, 0), (), levels).dense(np.array([1, 2, 3], np.float32), (3, 4))
    np.testing.assert_array_equal(found, dense)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"order": (0, 0)}, "the order of its dimensions"),
        ({"order": (0, 5)}, "the order of its dimensions"),
        ({"blocks": (7,), "order": (0, 1, 2)}, "the order of its dimensions"),
        ({"levels": (_Level(9), _Level(4))}, "a dimension of 9, not 3"),
        ({"levels": (_Level(3), _Level(4))}, "2 elements for 12 places"),
        (
            {"levels": (_Level(3), _Level(0, np.array([0, 2]), np.array([0, 1])))},
            "the places of its elements",
        ),
        (
            {
                "levels": (
                    _Level(3),
                    _Level(0, np.array([0, 3, 1, 2]), np.array([0, 1])),
                )
            },
            "the places of its elements",
        ),
        (
            {
                "levels": (
                    _Level(3),
                    _Level(0, np.array([0, 1, 1, 2]), np.array([0, 4])),
                )
            },
            "an index beyond 4",
        ),
    ],
)
def test_damaged_tables(changes: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"order": (0, 1), "blocks": (), "levels": ()}
    with pytest.raises(UnsupportedNodeError, match=message):
        Sparsity(**{**good, **changes}).dense(np.array([1, 2], np.float32), (3, 4))


def test_few_elements_of_a_huge_tensor() -> None:
    levels = (_Level(1 << 15), _Level(1 << 15))
    with pytest.raises(UnsupportedNodeError, match="2 of 1073741824 elements"):
        Sparsity((0, 1), (), levels).dense(
            np.array([1, 2], np.float32), (1 << 15, 1 << 15)
        )
