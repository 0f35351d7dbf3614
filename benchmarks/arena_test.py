# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import pytest

from benchmarks import record
from benchmarks.arena import LIMIT, Plan, measure, parse
from benchmarks.networks import MEASURED
from test.conformance.native import native

_LINE = "I engine_run.cc:351] planned {} tensors into {} bytes (lower bound {})\n"
_KEPT = record.read("arena").data


def test_the_last_plan_of_a_log_counts() -> None:
    log = "loaded\n" + _LINE.format(3, 640, 640) + _LINE.format(57, 4821760, 4816896)
    assert parse(log + "ran\n") == Plan(57, 4821760, 4816896)


def test_a_log_without_a_plan_is_an_error() -> None:
    with pytest.raises(ValueError, match="no plan"):
        parse("loaded model\n")


@pytest.mark.parametrize("name", MEASURED)
def test_arena_is_as_small_as_the_page_says(name: str) -> None:
    """Scratch memory of kernels may differ a little between instruction sets.
    What changes it for good is to be measured anew:

    python -m benchmarks.arena --record arena; python -m benchmarks.page
    """
    plan = measure(native("host").command, name, _KEPT["threads"])
    assert plan.ratio <= LIMIT
    assert plan.arena == pytest.approx(_KEPT["networks"][name]["arena"], rel=0.05)
