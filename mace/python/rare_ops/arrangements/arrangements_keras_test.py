# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions that move and copy elements, compared with Keras."""

from __future__ import annotations

from pathlib import Path

import pytest

from mace.python.tools.importers.keras.testing import Family, rand

keras = pytest.importorskip("keras")
ops = keras.ops
FAMILY = Family("arrangements_keras")


def test_order(tmp_path: Path) -> None:
    FAMILY.check(
        tmp_path,
        lambda x: [
            ops.moveaxis(x, 1, 2),
            ops.moveaxis(x, (1, 3), (3, 2)),
            ops.swapaxes(x, 1, -1),
            ops.flip(x, axis=1),
            ops.flip(x, axis=(1, 2)),
            ops.roll(x, 2, axis=2),
            ops.roll(x, -1, axis=-1),
            ops.repeat(x, 2, axis=1),
            ops.take_along_axis(x, ops.argsort(x, axis=2), axis=2),
            ops.tril(x),
            ops.triu(x, k=1),
            ops.ravel(x),
            *ops.unstack(x, axis=1),
            ops.hstack([x, x]),
            ops.vstack([x, x]),
            ops.broadcast_to(x[:, :1], (2, 3, 4, 5)),
            ops.sort(x, axis=1),
            ops.argsort(x),
        ],
        rand(2, 3, 4, 5),
    )


def test_every_handler_was_compared() -> None:
    FAMILY.assert_all_tried()
