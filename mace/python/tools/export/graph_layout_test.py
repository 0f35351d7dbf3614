# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A drawing must be readable: nothing overlaps, edges lead down."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from mace.python.tools.export.graph_page import lay_out

_COUNT = 14


@st.composite
def _graphs(draw: st.DrawFn) -> list[tuple[int, int]]:
    edges = []
    for target in range(1, _COUNT):
        sources = draw(st.sets(st.integers(0, target - 1), max_size=3))
        edges += [(source, target) for source in sorted(sources)]
    return edges


@settings(max_examples=60)
@given(_graphs(), st.lists(st.integers(20, 200), min_size=_COUNT, max_size=_COUNT))
def test_boxes_do_not_overlap_and_edges_lead_down(
    edges: list[tuple[int, int]], widths: list[int]
) -> None:
    drawing = lay_out([(float(w), 30.0) for w in widths], edges)
    for a, b in combinations(drawing.boxes, 2):
        apart_x = abs(a.x - b.x) >= (a.width + b.width) / 2 - 1e-6
        apart_y = abs(a.y - b.y) >= (a.height + b.height) / 2 - 1e-6
        assert apart_x or apart_y
    for route in drawing.routes:
        heights = [y for _, y in route]
        assert heights == sorted(heights)
        assert heights[0] < heights[-1]
    for box in drawing.boxes:
        assert box.x - box.width / 2 >= 0
        assert box.x + box.width / 2 <= drawing.width
        assert box.y + box.height / 2 <= drawing.height


def test_long_edge_passes_beside_the_nodes_between() -> None:
    edges = [(0, 1), (1, 2), (2, 3), (0, 3)]
    drawing = lay_out([(100.0, 30.0)] * 4, edges)
    middle = drawing.routes[3][1:-1]
    assert len(middle) == 4
    for x, _ in middle:
        assert all(abs(x - drawing.boxes[i].x) > 50 for i in (1, 2))


def test_nothing_to_draw() -> None:
    assert lay_out([], []).boxes == []
