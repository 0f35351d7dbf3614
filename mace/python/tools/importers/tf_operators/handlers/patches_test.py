# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Windows, contrast and smooth sizes, compared with TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")
raw = tf.raw_ops
_FAMILY = Family("patches")


@pytest.fixture(scope="module", autouse=True)
def _every_handler_is_compared() -> Iterator[None]:
    yield
    _FAMILY.assert_all_tried()


def test_windows(tmp_path: Path) -> None:
    extract = tf.image.extract_patches
    _FAMILY.check(
        tmp_path,
        lambda x: (
            extract(x, [1, 2, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"),
            extract(x, [1, 3, 3, 1], [1, 2, 1, 1], [1, 2, 1, 1], "SAME"),
            raw.MaxPoolV2(
                input=x, ksize=[1, 3, 2, 1], strides=[1, 2, 1, 1], padding="SAME"
            ),
        ),
        rand(2, 7, 6, 3),
    )


def test_contrast(tmp_path: Path) -> None:
    _FAMILY.check(
        tmp_path, lambda x: tf.image.adjust_contrast(x, 1.5), rand(2, 5, 4, 3)
    )


@pytest.mark.parametrize("method", ["bilinear", "bicubic"])
@pytest.mark.parametrize("size", [(4, 5), (17, 21), (13, 3)])
def test_smooth_sizes(tmp_path: Path, method: str, size: tuple[int, int]) -> None:
    _FAMILY.check(
        tmp_path,
        lambda x: tf.image.resize(x, size, method, antialias=True),
        rand(1, 9, 11, 2),
    )
