# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Weights of 8 bits: what is kept of them, and how they lie in the file."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mace.python.tools.export.storage import (
    Noise,
    dequantize,
    is_large,
    pack_o16_scaled,
    quantize,
    unpack_o16_scaled,
)


def test_no_weight_moves_by_more_than_half_a_step() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((20, 300)).astype(np.float32)
    rows *= 10.0 ** rng.integers(-6, 6, (20, 1))
    rows += rows.std(axis=1, keepdims=True) * rng.uniform(-4, 4, (20, 1))
    rows = rows.astype(np.float32)
    scaling, q = quantize(rows)
    assert q.dtype == np.int8
    steps = (rows.max(axis=1) - rows.min(axis=1)) / 255
    np.testing.assert_allclose(scaling[0], steps, rtol=1e-6)
    error = np.abs(dequantize(scaling, q) - rows).max(axis=1)
    assert np.all(error <= 0.501 * steps)
    # The whole range of the type is used.
    assert np.all(q.min(axis=1) == -128)
    assert np.all(q.max(axis=1) == 127)


def test_a_channel_of_equal_weights_is_exact() -> None:
    rows = np.repeat(np.array([[0.0], [0.1], [-3e38], [1e-45]], np.float32), 7, axis=1)
    scaling, q = quantize(rows)
    np.testing.assert_array_equal(dequantize(scaling, q), rows)
    assert not q.any()


def test_the_widest_and_the_narrowest_range() -> None:
    widest = np.array([[-3.4e38, 3.4e38, 0.0]], np.float32)
    found = dequantize(*quantize(widest))
    np.testing.assert_allclose(found, widest, atol=3.4e38 / 250)
    narrowest = np.array([[1e-45, 4e-45, 1e-43]], np.float32)
    assert np.all(np.abs(dequantize(*quantize(narrowest)) - narrowest) <= 1e-43)


@pytest.mark.parametrize(("out", "groups"), [(16, 1), (17, 1), (40, 2), (6, 3)])
def test_packing_follows_the_specification(out: int, groups: int) -> None:
    rng = np.random.default_rng(1)
    filters = rng.standard_normal((out, 3, 2, 5)).astype(np.float32)
    noise = Noise()
    data = b"".join(part.tobytes() for part in pack_o16_scaled(filters, groups, noise))
    per_group = out // groups
    blocks = groups * -(-per_group // 16)
    size = 2 * 16 * 4 + 30 * 16
    assert len(data) == blocks * size
    scaling, q = quantize(filters.reshape(out, 30))
    for o in range(out):
        group, inner = divmod(o, per_group)
        at = (group * (blocks // groups) + inner // 16) * size
        floats = np.frombuffer(data, "<f4", 32, at).reshape(2, 16)
        whole = np.frombuffer(data, "i1", 480, at + 128).reshape(30, 16)
        np.testing.assert_array_equal(floats[:, inner % 16], scaling[:, o])
        np.testing.assert_array_equal(whole[:, inner % 16], q[o])
    stored = unpack_o16_scaled(data, filters.shape, groups)
    np.testing.assert_array_equal(stored, dequantize(scaling, q).reshape(filters.shape))
    ratio = np.square(filters).sum() / np.square(filters - stored).sum()
    assert noise.sqnr_db == pytest.approx(10 * math.log10(ratio), abs=0.01)


def test_noise_of_weights_that_lose_nothing() -> None:
    noise = Noise()
    noise.add(np.ones(3, np.float32), np.ones(3, np.float32))
    assert noise.sqnr_db == math.inf


def test_what_is_large() -> None:
    assert is_large((32, 32))
    assert is_large((64, 3, 3, 16))
    assert not is_large((31, 33))
    # A scale and an offset for 27 weights each.
    assert not is_large((64, 3, 3, 3))
