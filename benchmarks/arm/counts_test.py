# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from benchmarks.arm.counts import Counts, parse

_LINES = (
    '{"type":"mark","fmla":5}',
    '{"type":"mark","fmla":10,"load":2}',
    '{"type":"mark","fmla":30,"load":4}',
    '{"type":"block","function":"f","instructions":12,"address":64,"size":3,"macs":2,"words":[1]}',
    '{"type":"total","fmla":80,"branch":20}',
)


def test_reads_what_the_plugin_writes() -> None:
    execution = parse(_LINES)
    assert execution.total.total == 100
    assert execution.total.share == 0.8
    assert execution.per_mark() == Counts(fmla=20, load=3)
    (block,) = execution.blocks
    assert (block.function, block.instructions, block.words) == ("f", 12, (1,))


def test_all_kinds_of_multiply_adds_count() -> None:
    kinds = Counts(fmla=1, fmla_half=2, fmadd=4, dot=8, mla=16, simd=32)
    assert kinds.multiply_adds == 31
    assert kinds.total == 63
    assert Counts().share == 0


def test_the_difference_of_runs_leaves_out_what_comes_before() -> None:
    one, three = Counts(fmla=150, load=7), Counts(fmla=350, load=7)
    assert three.per_run(one, 2) == Counts(fmla=100)


def test_refuses_counts_that_are_cut_off() -> None:
    with pytest.raises(ValueError, match="cut off"):
        parse(_LINES[:-1])
    with pytest.raises(ValueError, match="fewer than two marks"):
        parse(_LINES[-1:]).per_mark()
