# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Memory of tensors over time."""

from __future__ import annotations

from mace.python.tools.ir.liveness import live_bytes


def test_tensors_count_from_their_first_step_to_their_last() -> None:
    assert live_bytes(4, [(0, 1, 10), (1, 3, 5), (2, 2, 100)]) == (10, 15, 105, 5)


def test_nothing_runs() -> None:
    assert live_bytes(0, []) == ()
