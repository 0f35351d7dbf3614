# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import pytest

from benchmarks.arena import Plan, parse

_LINE = "I engine_run.cc:351] planned {} tensors into {} bytes (lower bound {})\n"


def test_the_last_plan_of_a_log_counts() -> None:
    log = "loaded\n" + _LINE.format(3, 640, 640) + _LINE.format(57, 4821760, 4816896)
    assert parse(log + "ran\n") == Plan(57, 4821760, 4816896)


def test_a_log_without_a_plan_is_an_error() -> None:
    with pytest.raises(ValueError, match="no plan"):
        parse("loaded model\n")
