# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Places the nodes of a directed acyclic graph in layers, top to bottom.

The usual three steps (Sugiyama): longest-path layers, barycentre sweeps against
crossings, and x positions that move nodes towards their neighbours. An edge that passes
a layer gets a bend in it, so that it passes beside nodes and not through them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# With more sweeps, nothing moved in the networks of the conformance tests.
_SWEEPS = 8
_GAP_X = 24.0
_GAP_Y = 44.0
# The width reserved for the bend of a passing edge.
_BEND = 12.0


@dataclass(frozen=True)
class Box:
    """A node's place; x, y is its centre."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Drawing:
    """Places of nodes and bends of edges.

    Attributes:
        boxes: by node number.
        routes: by edge number: points from the source's lower border to the
            target's upper one.
        width, height: of the whole.
    """

    boxes: list[Box]
    routes: list[list[tuple[float, float]]]
    width: float
    height: float


def lay_out(
    sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]
) -> Drawing:
    """Lays out nodes of the given (width, height).

    Args:
        sizes: of the nodes, numbered so that edges lead to higher numbers.
        edges: (source, target).
    """
    layout = _Layout(sizes, edges)
    layout.sweep()
    layout.place()
    return layout.drawing()


class _Layout:
    """Nodes and bends ("points") by layer."""

    def __init__(
        self, sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]
    ) -> None:
        self._sizes = sizes
        self._edges = edges
        layer = _layers(len(sizes), edges)
        self._layer = list(layer)
        self._width = [width for width, _ in sizes]
        self._above: list[list[int]] = [[] for _ in sizes]
        self._below: list[list[int]] = [[] for _ in sizes]
        self._chains = [self._chain(source, target) for source, target in edges]
        self._rows: list[list[int]] = [[] for _ in range(max(layer, default=0) + 1)]
        for point, row in enumerate(self._layer):
            self._rows[row].append(point)
        self._x = [0.0] * len(self._layer)

    def _chain(self, source: int, target: int) -> list[int]:
        """The points of an edge, source and target included."""
        chain = [source]
        for row in range(self._layer[source] + 1, self._layer[target]):
            point = len(self._layer)
            self._layer.append(row)
            self._width.append(_BEND)
            self._above.append([])
            self._below.append([])
            chain.append(point)
        chain.append(target)
        for a, b in zip(chain, chain[1:]):
            self._below[a].append(b)
            self._above[b].append(a)
        return chain

    def sweep(self) -> None:
        """Orders each layer by the mean place of its neighbours."""
        position = [0.0] * len(self._layer)
        for row in self._rows:
            for index, point in enumerate(row):
                position[point] = index / max(len(row) - 1, 1)
        for step in range(_SWEEPS):
            down = step % 2 == 0
            neighbours = self._above if down else self._below
            for row in self._rows if down else reversed(self._rows):
                row.sort(key=lambda p: _mean(position, neighbours[p], position[p]))
                for index, point in enumerate(row):
                    position[point] = index / max(len(row) - 1, 1)

    def place(self) -> None:
        """Gives every point an x, layer by layer, towards its neighbours."""
        for row in self._rows:
            self._spread(row, [0.0] * len(row))
        for step in range(2 * _SWEEPS):
            down = step % 2 == 0
            neighbours = self._above if down else self._below
            for row in self._rows if down else reversed(self._rows):
                wanted = [_mean(self._x, neighbours[p], self._x[p]) for p in row]
                self._spread(row, wanted)

    def _spread(self, row: Sequence[int], wanted: Sequence[float]) -> None:
        """Keeps the order and the distances, and stays near `wanted`. The mean of a
        placement pushed from the left and one pushed from the right keeps the
        distances, because both do.
        """
        left, right = list(wanted), list(wanted)
        for i in range(1, len(row)):
            left[i] = max(left[i], left[i - 1] + self._distance(row[i - 1], row[i]))
        for i in range(len(row) - 2, -1, -1):
            right[i] = min(right[i], right[i + 1] - self._distance(row[i], row[i + 1]))
        for point, a, b in zip(row, left, right):
            self._x[point] = (a + b) / 2

    def _distance(self, a: int, b: int) -> float:
        return (self._width[a] + self._width[b]) / 2 + _GAP_X

    def drawing(self) -> Drawing:
        """The result, moved so that it starts at 0, 0."""
        count = len(self._sizes)
        heights = [
            max([self._sizes[p][1] for p in row if p < count], default=0)
            for row in self._rows
        ]
        tops, y = [], _GAP_Y / 2
        for height in heights:
            tops.append(y)
            y += height + _GAP_Y
        lefts = [x - w / 2 for x, w in zip(self._x, self._width)]
        shift = _GAP_X - min(lefts, default=0)
        boxes = []
        for node, (width, height) in enumerate(self._sizes):
            row = self._layer[node]
            middle = tops[row] + heights[row] / 2
            boxes.append(Box(self._x[node] + shift, middle, width, height))
        routes = [
            self._route(chain, boxes, tops, heights, shift) for chain in self._chains
        ]
        right = max((x + w / 2 for x, w in zip(self._x, self._width)), default=0)
        return Drawing(boxes, routes, right + shift + _GAP_X, y)

    def _route(
        self,
        chain: Sequence[int],
        boxes: Sequence[Box],
        tops: Sequence[float],
        heights: Sequence[float],
        shift: float,
    ) -> list[tuple[float, float]]:
        source, target = boxes[chain[0]], boxes[chain[-1]]
        points = [(source.x, source.y + source.height / 2)]
        for bend in chain[1:-1]:
            row, x = self._layer[bend], self._x[bend] + shift
            # Vertical past the nodes of that layer.
            points += [(x, tops[row]), (x, tops[row] + heights[row])]
        return [*points, (target.x, target.y - target.height / 2)]


def _layers(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """The longest path to each node, then sources moved down to their use."""
    layer = [0] * count
    by_target = sorted(edges, key=lambda edge: edge[1])
    for source, target in by_target:
        layer[target] = max(layer[target], layer[source] + 1)
    has_source = {target for _, target in edges}
    for node in range(count):
        below = [layer[target] for source, target in edges if source == node]
        if node not in has_source and below:
            layer[node] = min(below) - 1
    return layer


def _mean(values: Sequence[float], points: Sequence[int], default: float) -> float:
    if not points:
        return default
    return sum(values[point] for point in points) / len(points)
