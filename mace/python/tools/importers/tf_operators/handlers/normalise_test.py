# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Bias and normalisation, against TensorFlow."""

from __future__ import annotations

from pathlib import Path

import pytest

from mace.python.tools.importers.tensorflow.testing import Family, rand

tf = pytest.importorskip("tensorflow", reason="it is the reference here")

# TensorFlow's Python interface no longer makes these.
_NOT_MADE = frozenset({"BiasAddV1", "FusedBatchNorm", "FusedBatchNormV2"})
_FAMILY = Family("normalise", _NOT_MADE)
check = _FAMILY.check


def test_bias_and_batch_norm(tmp_path: Path) -> None:
    scale, offset, mean, var = (rand(3, low=0.5) for _ in range(4))
    check(tmp_path, lambda x: tf.nn.bias_add(x, offset), rand(2, 4, 4, 3))
    check(
        tmp_path,
        lambda x: (
            tf.raw_ops.FusedBatchNormV3(
                x=x,
                scale=scale,
                offset=offset,
                mean=mean,
                variance=var,
                epsilon=0.01,
                is_training=False,
            ).y
        ),
        rand(2, 4, 4, 3),
    )


def test_every_handler_was_tried() -> None:
    _FAMILY.assert_all_tried()
