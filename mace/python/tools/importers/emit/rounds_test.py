# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Loops whose rounds are counted before they are converted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from mace.python.tools.importers.emit.rounds import LoopsAhead, Part, count_rounds
from mace.python.tools.importers.frame import budget
from mace.python.tools.importers.frame.budget import one_budget


def _part(makers: Mapping[str, Any], *results: str) -> Part:
    known = {
        name: np.asarray(maker) if isinstance(maker, float) else maker
        for name, maker in makers.items()
    }
    return Part(lambda tensor: known.get(str(tensor)), results)


def _up_to(limit: float) -> Part:
    return _part({"i": 0, "n": limit, "c": ("Less", ["i", "n"])}, "c")


def _step(by: float) -> Part:
    # The second state is one that the condition does not need, and nobody knows.
    return _part({"i": 0, "s": by, "next": ("AddV2", ["i", "s"])}, "next", "unknown")


@pytest.mark.parametrize(
    ("limit", "by", "rounds"),
    [(5.0, 1.0, 5), (0.0, 1.0, 0), (5.0, 2.0, 3), (5.0, 0.0, 1001), (1e9, 1.0, 1001)],
)
def test_counters(limit: float, by: float, rounds: int) -> None:
    state = [np.asarray(0.0), None]
    assert count_rounds(_up_to(limit), _step(by), state.__getitem__, 1000) == rounds


def test_a_counter_that_doubles() -> None:
    body = _part({"i": 0, "two": 2.0, "next": ("MUL", ["i", "two"])}, "next")
    assert count_rounds(_up_to(1e6), body, lambda _: np.asarray(1.0), 1000) == 20


def test_a_condition_on_several_states() -> None:
    condition = _part(
        {
            "i": 0,
            "j": 1,
            "limit": 9.0,
            "a": ("LESS", ["i", "limit"]),
            "b": ("GREATER_EQUAL", ["j", "limit"]),
            "c": ("LOGICAL_AND", ["a", "b"]),
        },
        "c",
    )
    body = _part(
        {
            "i": 0,
            "j": 1,
            "one": 1.0,
            "up": ("ADD", ["i", "one"]),
            "down": ("SUB", ["j", "i"]),
        },
        *("up", "down"),
    )
    state = [np.asarray(0.0), np.asarray(15.0)]
    # 15, 15, 14, 12, 9, 5
    assert count_rounds(condition, body, state.__getitem__, 1000) == 5


@pytest.mark.parametrize(
    ("condition", "body", "state"),
    [
        (_part({"i": 0, "c": ("ReduceSum", ["i"])}, "c"), _step(1.0), [np.zeros(())]),
        (_up_to(5.0), _part({}, "unknown"), [np.zeros(())]),
        (_up_to(5.0), _step(1.0), [None]),
        (_up_to(5.0), _step(1.0), [np.zeros(1000)]),
        (_up_to(5.0), _part({"next": ("AddV2", ["next", "next"])}, "next"), [None]),
        (_up_to(5.0), _step(1.0), []),
        (_part({}), _step(1.0), [np.zeros(())]),
    ],
)
def test_what_cannot_be_told(condition: Part, body: Part, state: list[Any]) -> None:
    assert count_rounds(condition, body, state.__getitem__, 1000) is None


def test_loops_ahead_are_counted_no_further_than_the_budget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However many loops a file has, refusing it takes the time of one."""
    monkeypatch.setattr(budget, "FLOOR_NODES", 100)
    ahead = LoopsAhead()
    parts = ("condition", _up_to(1000.0)), ("body", _step(1.0))
    with one_budget():
        calls = [ahead.calls(*parts, lambda _: np.asarray(0.0)) for _ in range(3)]
    assert [each[("body",)] for each in calls] == [101, 1, 1]
