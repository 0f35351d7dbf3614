# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What a model may become while it is read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import pytest

from mace.python.tools.importers.frame.budget import (
    FLOOR_NODES,
    MOST_INNER_CHOICES,
    TIMES,
    Budget,
    budget,
    bytes_text,
    check_made,
    expanded,
    one_budget,
)
from mace.python.tools.importers.frame.errors import (
    ImportModelError,
    UnsupportedNodeError,
)

_MIB = 1 << 20


def _budget(size: int) -> Budget:
    made = Budget()
    made.hold(Path("m.keras"), size)
    return made


def test_small_files_and_multiples_of_large_ones_fit() -> None:
    _budget(100).unpack(64 * _MIB, "weights")
    _budget(100 * _MIB).unpack(TIMES * 100 * _MIB, "weights")


def test_all_parts_share_one_budget() -> None:
    shared = _budget(1000)
    shared.unpack(40 * _MIB, "config.json")
    with pytest.raises(ImportModelError) as caught:
        shared.unpack(30 * _MIB, "model.weights.h5")
    said = str(caught.value)
    assert said.startswith("model_file_path: m.keras unpacks model.weights.h5 to 31.5")
    # Found, and allowed.
    assert "after 41.9 MB of other parts" in said
    assert "its 1.0 KB may become 67.1 MB in all (16 times" in said


def test_a_file_counts_once() -> None:
    shared = _budget(1000)
    shared.hold(Path("m.keras"), 1000)
    shared.hold(Path("link"), 500, file=(1, 2))
    shared.hold(Path("other_link"), 500, file=(1, 2))
    assert shared.size == 1500


def test_a_plain_text_fits_whatever_its_length() -> None:
    size = 300 * _MIB
    _budget(size).unpack_text(size, "model.json")
    with pytest.raises(ImportModelError, match=r"model.json is a text of 314.6 MB; at"):
        _budget(1000).unpack_text(size, "model.json")


def test_nodes_of_calls_and_loops() -> None:
    shared = Budget(nodes=10)
    shared.check_nodes(FLOOR_NODES + 10 * TIMES, "its loop")
    shared.add_nodes(FLOOR_NODES, "its functions")
    with pytest.raises(UnsupportedNodeError, match="its loop would become 32929 nodes"):
        shared.add_nodes(10 * TIMES + 1, "its loop")
    with pytest.raises(UnsupportedNodeError, match=r"become more than 2\*\*4000 nodes"):
        shared.check_nodes(1 << 4000, "its loop")


def test_the_first_round_tells_what_the_others_cost() -> None:
    shared = Budget()
    shared.add_nodes(5000)
    before = shared.added
    shared.add_nodes(2000)
    shared.check_rest(before, 12)
    with pytest.raises(UnsupportedNodeError, match="13 or more rounds of 2000 nodes"):
        shared.check_rest(before, 13)


def test_choices_of_a_run_in_each_other() -> None:
    shared = Budget()
    for _ in range(MOST_INNER_CHOICES + 1):  # one after another
        with shared.choice("c"):
            pass
    with shared.choice("outer"):
        for _ in range(MOST_INNER_CHOICES):
            with shared.choice("c"):
                pass
        with pytest.raises(UnsupportedNodeError, match=r"its condition \(d\) is"):
            with shared.choice("d"):
                pass


@pytest.mark.parametrize("lengths", [(), (0, 1 << 40), (1 << 13, 1 << 13), (-5, 3)])
def test_constants_of_networks_are_made(lengths: tuple[int, ...]) -> None:
    check_made(*lengths)


@pytest.mark.parametrize(
    "lengths",
    [
        ((1 << 26) + 1,),
        (1 << 14, 1 << 13),
        (math.nan,),
        (math.inf,),
        (1 << 62,) * 100,
    ],
)
def test_constants_that_would_fill_the_memory_are_not(
    lengths: tuple[float, ...],
) -> None:
    with pytest.raises(UnsupportedNodeError, match="elements is too large"):
        check_made(*lengths)


def test_one_element_is_repeated_more_often() -> None:
    check_made(1 << 28, repeated=True)
    with pytest.raises(UnsupportedNodeError, match="too large"):
        check_made((1 << 28) + 1, repeated=True)


def test_constants_of_one_model_count_together() -> None:
    with one_budget():
        for _ in range(4):
            check_made(1 << 26)
        with pytest.raises(UnsupportedNodeError, match="those before it, 268435457"):
            check_made(1)
    with one_budget():
        check_made(1 << 26)


def test_a_model_in_a_model_has_its_own() -> None:
    with one_budget() as outer:
        with one_budget() as inner:
            assert budget() is inner
        assert budget() is outer
    assert budget() is not outer


def test_calls_are_counted_without_making_them() -> None:
    count = 3000
    calls: Mapping[int, tuple[int, Mapping[tuple[int, ...], int]]] = {
        0: (1, {}),
        **{n: (2, {(n - 1,): 2}) for n in range(1, count)},
    }
    assert expanded([3], calls.__getitem__) == 8 + 2 * 7
    assert expanded([3, 1], calls.__getitem__) == 22 + 4
    assert expanded([count - 1], calls.__getitem__) == 3 * 2 ** (count - 1) - 2


def test_of_two_branches_the_smaller_one_counts() -> None:
    calls: Mapping[str, tuple[int, Mapping[tuple[str, ...], int]]] = {
        "either": (1, {("few", "many"): 3}),
        "few": (2, {}),
        "many": (50, {}),
    }
    assert expanded(["either"], calls.__getitem__) == 1 + 3 * 2


def test_a_function_that_calls_itself_ends() -> None:
    calls: Mapping[str, tuple[int, Mapping[tuple[str, ...], int]]] = {
        "a": (1, {("b",): 2}),
        "b": (1, {("a",): 2}),
    }
    assert expanded(["a"], calls.__getitem__) == 3


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1300, "1.3 KB"), (15 << 30, "16.1 GB")],
)
def test_numbers_of_bytes(count: int, text: str) -> None:
    assert bytes_text(count) == text
