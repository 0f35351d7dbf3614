# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Diagonals, bands, determinants and cross products, against TensorFlow."""

from __future__ import annotations

import pytest

from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")
raw = tf.raw_ops

_FAMILY = Family("linear_algebra_tensorflow")
check = _FAMILY.check


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 5, 5)])
def test_determinants(shape: tuple[int, ...]) -> None:
    check(tf.linalg.det, rand(*shape))


@pytest.mark.parametrize(("rows", "columns"), [(3, 3), (2, 4), (4, 2)])
def test_matrices(rows: int, columns: int) -> None:
    short = min(rows, columns)
    check(
        lambda x, d: (
            *(tf.linalg.band_part(x, a, b) for a, b in ((1, 0), (-1, 1), (0, -1))),
            tf.linalg.diag_part(x),
            raw.MatrixDiagPart(input=x),
            raw.MatrixDiagPartV2(input=x, k=0, padding_value=0.0),
            tf.linalg.set_diag(x, d),
            raw.MatrixSetDiag(input=x, diagonal=d),
            raw.MatrixSetDiagV2(input=x, diagonal=d, k=0),
            tf.linalg.diag(d),
            raw.MatrixDiag(diagonal=d),
            raw.MatrixDiagV2(
                diagonal=d, k=0, num_rows=-1, num_cols=-1, padding_value=0.0
            ),
        ),
        rand(2, rows, columns),
        rand(2, short),
    )


def test_vectors() -> None:
    check(
        lambda a, b, v: (
            tf.linalg.cross(a, b),
            tf.linalg.tensor_diag(v),
            tf.linalg.tensor_diag_part(tf.linalg.tensor_diag(v) + 1),
        ),
        rand(2, 3),
        rand(2, 3) + 1,
        rand(4),
    )


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()
