# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Weights of 8 bits: what is kept of them, and how they lie in the file."""

from __future__ import annotations

import io
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mace.python.tools.export.constants import ConstantPlan, DataFile
from mace.python.tools.export.storage import (
    Noise,
    Storage,
    dequantize,
    is_large,
    pack_o16_scaled,
    quantize,
    quantized_rows,
    unpack_o16_scaled,
)
from mace.python.tools.ir import Constant, DataType, GraphBuilder
from mace.python.tools.ir.dtypes import Array


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


def _kept(dtype: Any, zero: int, axis: int = 0) -> tuple[Constant, Array]:
    """Weights [40, 64] that a model has in 8 bits, with a scale along `axis`."""
    rng = np.random.default_rng(2)
    bounds = np.iinfo(dtype)
    numbers: Array = rng.integers(bounds.min, bounds.max + 1, (40, 64), dtype)
    count = numbers.shape[axis]
    scales = rng.uniform(0.001, 0.1, (count,)).astype(np.float32)
    b = GraphBuilder("test", "test")
    inputs = [
        b.constant("q", numbers),
        b.constant("s", scales),
        b.constant("z", np.full(count, zero, dtype)),
    ]
    weights = b.one("Dequantize", list(inputs), "w", {"axis": axis})
    assert weights.constant is not None
    return weights.constant, numbers


@pytest.mark.parametrize(
    ("dtype", "zero"), [(np.int8, 0), (np.int8, 7), (np.uint8, 99)]
)
def test_weights_that_a_model_has_in_8_bits_are_kept(dtype: Any, zero: int) -> None:
    constant, numbers = _kept(dtype, zero)
    assert constant.integers is not None
    found = quantized_rows(constant.integers)
    assert found is not None
    scaling, q = found
    offset = 128 if dtype is np.uint8 else 0
    np.testing.assert_array_equal(q.astype(int), numbers.astype(int) - offset)
    # The product of scale and zero point is rounded, if there is one.
    largest = np.abs(constant.numpy()).max()
    error = np.abs(dequantize(scaling, q) - constant.numpy()).max()
    assert error == 0 if zero == 0 and offset == 0 else error < 1e-7 * 4 * largest
    data = b"".join(
        part.tobytes() for part in pack_o16_scaled(constant.numpy(), 1, Noise(), found)
    )
    np.testing.assert_array_equal(
        unpack_o16_scaled(data, constant.shape), dequantize(scaling, q)
    )


def test_weights_that_lose_their_scales_are_not_kept() -> None:
    constant, _ = _kept(np.int8, 0, axis=1)
    assert constant.integers is not None
    # They have several scales in each output.
    assert quantized_rows(constant.integers) is None
    rounded = _kept(np.int8, 0)[0].integers
    assert rounded is not None
    assert quantized_rows(replace(rounded, simulated=True)) is None


@pytest.mark.parametrize("storage", [Storage.FLOAT32, Storage.FLOAT16])
def test_a_layer_is_stored_in_the_integers_of_its_model(storage: Storage) -> None:
    constant, _ = _kept(np.int8, 0)
    b = GraphBuilder("test", "test")
    x = b.input("x", DataType.FLOAT32, (3, 64))
    y = b.one("FullyConnected", [x, b.graph.add_constant("w", constant)], "y")
    b.output(y, "y")
    (planned,) = ConstantPlan(b.graph, storage)
    stream = io.BytesIO()
    data = DataFile(stream)
    written = data.write(planned)
    data.finish()
    if storage is Storage.FLOAT16:
        # Layers may compute in 16 bits.
        assert written.dtype is DataType.FLOAT16
        return
    assert written.dtype is DataType.INT8
    assert written.size == 3 * (2 * 16 * 4 + 64 * 16)
    stored = unpack_o16_scaled(stream.getvalue()[: written.size], (40, 64))
    np.testing.assert_array_equal(stored, constant.numpy())
    assert written.noise is not None and written.noise.sqnr_db == math.inf


@pytest.mark.parametrize("zero", [0, 99])
def test_integers_that_are_cast_and_multiplied_are_known(zero: int) -> None:
    """How some exporters dequantize: Cast, Sub, Mul."""
    rng = np.random.default_rng(3)
    numbers = rng.integers(0, 256, (40, 64)).astype(np.uint8)
    scales = rng.uniform(0.001, 0.1, (40, 1)).astype(np.float32)
    b = GraphBuilder("test", "test")
    x = b.one("Cast", [b.constant("q", numbers)], "x", {"to": "FLOAT32"})
    if zero:
        z = b.constant("z", np.float32(zero).reshape(1, 1))
        x = b.one("Eltwise", [x, z], "d", {"mode": "SUB"})
    y = b.one("Eltwise", [x, b.constant("s", scales)], "y", {"mode": "MUL"})
    assert y.constant is not None and y.constant.integers is not None
    found = quantized_rows(y.constant.integers)
    assert found is not None
    np.testing.assert_array_equal(found[1].view(np.uint8), numbers ^ 0x80)
    np.testing.assert_array_equal(found[0][0], scales[:, 0])
    # What is no zero point of that type.
    z = b.constant("h", np.float32(0.5).reshape(1, 1))
    half = b.one("Eltwise", [x, z], "e", {"mode": "SUB"})
    assert half.constant is not None and half.constant.integers is None
