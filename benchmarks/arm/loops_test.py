# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import shutil

import pytest

from benchmarks.arm.emulator import Block
from benchmarks.arm.loops import CORES, analyse, hottest_loops, short_name, tables

# fmla v0.4s, v24.4s, v25.4s and 19 more sums; subs x0, x0, #1; b.ne to the first.
_SUMS = tuple(0x4E39CF00 | register for register in range(20))
_SUBS = 0xF1000400
_WORDS = (*_SUMS, _SUBS, 0x54000001 | (-21 & 0x7FFFF) << 5)


def _block(
    words: tuple[int, ...], instructions: int = 1, macs: int = 20, address: int = 0
) -> Block:
    return Block("f", instructions, address, len(words), macs, words)


def test_finds_loops_and_joins_equal_ones() -> None:
    elsewhere = (*_WORDS[:-1], 0x54000001 | 8 << 5)
    blocks = [
        _block(elsewhere, 1000, address=400),
        _block(_WORDS, 30),
        _block((_SUBS, 0x54000001 | (-1 & 0x7FFFF) << 5), 500, macs=0, address=800),
        _block((), 700, address=1200),
        _block(_WORDS, 12),
    ]
    assert hottest_loops(blocks, 5) == [_block(_WORDS, 42)]
    assert hottest_loops(blocks, 0) == []


def test_a_loop_that_the_emulator_cut_is_one() -> None:
    head, tail = _WORDS[:8], _WORDS[8:]
    blocks = [
        _block(tail, 14, macs=12, address=4096 + 32),
        _block(head, 8, macs=8, address=4096),
        # Entered in its middle, once.
        _block(_WORDS[4:8], 4, macs=4, address=4096 + 16),
    ]
    assert hottest_loops(blocks, 5) == [_block(_WORDS, 22, address=4096)]


def test_independent_sums_reach_the_peak_of_every_core() -> None:
    if not any(shutil.which(name) for name in ("llvm-mca", "llvm-mca-19")):
        pytest.skip("llvm-mca is missing: apt-get install llvm-19")
    loop = analyse(_block(_WORDS))
    for core in CORES:
        assert 0.6 < loop.of_peak[core] <= 1.01, core
    # A sum that is always added to must wait for itself.
    chain = analyse(_block((*(_SUMS[:1] * 20), *_WORDS[20:])))
    for core in CORES:
        assert chain.of_peak[core] < loop.of_peak[core] / 2, core


def test_a_row_names_the_loop_and_each_core() -> None:
    name = short_name(
        "void mace::gemm::neon::(anonymous namespace)::RunTiles<8>(mace::Tile const&)"
    )
    assert name == "gemm::neon::RunTiles<8>"
    loop = {"function": name, "share": 0.5, "instructions": 80, "multiply_adds": 64}
    data = {"cores": ["x"], "networks": {"n": [{**loop, "of_peak": {"x": 0.875}}]}}
    (table,) = tables(data)
    assert table.columns[-1] == "x"
    assert table.rows == [(name, "50.0%", "80", "64", "88%")]
