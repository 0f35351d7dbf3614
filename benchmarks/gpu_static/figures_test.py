# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.gpu_static.figures import (
    COMPILER,
    Figures,
    figures_of,
    measure,
    recorded,
    tiles,
    worse,
)
from test.here import only_with_all
from tools.quality.model import find_program

_ASSEMBLY = """\
\t.globl\tk
helper:
.LBB0_0:
\tv_fma_f32 v0, v1, v2, v0
\ts_cbranch_scc1 .LBB0_0
.Lfunc_end0:
k:
\tglobal_load_dwordx4 v[0:3], v4, s[0:1]
.LBB1_1:
\tv_fma_f32 v0, v1, v2, v0
.LBB1_2:
\tglobal_load_dwordx4 v[0:3], v4, s[0:1]
\ts_load_dwordx8 s[8:15], s[0:1], 0x0
\tv_fmac_f32_e32 v0, v1, v2
\tv_fma_f32 v0, v1, v2, v0
\tv_pk_fma_f16 v0, v1, v2, v0
\ts_cbranch_vccnz .LBB1_2
\tglobal_load_dwordx4 v[0:3], v4, s[0:1]
\ts_branch .LBB1_1
.Lfunc_end1:
; NumVgprs: 12
; ScratchSize: 16
; LDSByteSize: 512 bytes/workgroup (compile time only)
"""


def test_figures_are_those_of_the_innermost_loop() -> None:
    assert figures_of(_ASSEMBLY, "k") == Figures(1.0, 2, 12, 512, 16)


def test_tiles_are_read_from_the_source() -> None:
    text = """
std::vector<ConvTile> ConvTiles(const GpuTraits &gpu) {
  if (desktop) { tiles = {{8, 2, 1}, {4, 1, 16}};
  } else {
    tiles = {{4, 2, 1}};
    tiles.push_back({4, 1, 4});
  }
}
"""
    assert tiles(text) == ([(8, 2, 1), (4, 1, 16)], [(4, 2, 1), (4, 1, 4)])


def test_what_is_worse_is_named() -> None:
    before = Figures(32.0, 8, 80, 0, 0)
    assert worse(before, before) == []
    assert worse(replace(before, reads=6, registers=88), before) == []
    assert worse(replace(before, reads=9), before) == [
        "3.56 multiply-adds per read, were 4.00"
    ]
    adding = replace(before, mads=0.0)
    assert worse(replace(adding, reads=9), adding) == ["9 reads, were 8"]
    assert worse(replace(before, registers=89, spilled=4), before) == [
        "89 registers, were 80",
        "4 spilled bytes, were 0",
    ]


def test_no_kernel_is_worse_than_recorded() -> None:
    only_with_all("GPUs")
    program = find_program(COMPILER)
    if program is None:
        pytest.skip(f"{COMPILER} is not installed")
    found = measure(program)
    before = recorded()
    assert found.keys() == before.keys(), "record them: figures.py --write"
    changes = {name: worse(found[name], before[name]) for name in found}
    assert {name: change for name, change in changes.items() if change} == {}
