# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A model as text, and as an HTML page with its graph, which loads no other files."""

from __future__ import annotations

import colorsys
import functools
import itertools
import json
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from google.protobuf import text_format
from markupsafe import escape

from mace.python.tools.catalogue import default_catalogue
from mace.python.tools.proto import load_proto

# Places the nodes of a directed acyclic graph in layers, top to bottom.
#
# The usual three steps (Sugiyama): longest-path layers, barycentre sweeps against
# crossings, and x positions that move nodes towards their neighbours. An edge that
# passes a layer gets a bend in it, so that it passes beside nodes and not through them.


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
    nearest: dict[int, int] = {}
    for source, target in edges:
        nearest[source] = min(nearest.get(source, layer[target]), layer[target])
    for node, below in nearest.items():
        if node not in has_source:
            layer[node] = below - 1
    return layer


def _mean(values: Sequence[float], points: Sequence[int], default: float) -> float:
    if not points:
        return default
    return sum(values[point] for point in points) / len(points)


# Filled in without a library of templates, whose import and compilation of this page
# took a tenth of the conversion of a small network.
_PAGE = Path(__file__).with_name("graph_page.html")


class _Page(string.Template):
    """The page, with names such as ``@@width`` where something is filled in."""

    delimiter = "@@"


_CHARACTER = 6.6
_LINE = 15.0
# The longest attribute or shape list that a node shows.
_LONGEST_LINE = 44
# Borders of operators, by device: the dark colours of Okabe and Ito, which
# colour-blind people tell apart.
_BORDERS = ("#666666", "#d55e00", "#0072b2", "#009e73", "#cc79a7")


@dataclass(frozen=True)
class OperatorPlace:
    """Where an operator runs.

    Attributes:
        time: of one run, as its box shows it.
        details: what else is shown of it once it is selected.
    """

    device: str
    time: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class GraphPlaces:
    """Where the operators of a graph run.

    Attributes:
        operators: by name and type. A device adds operators of its own, which may
            have the name of another.
        copies: bytes of each tensor that is copied, by its name and the two
            devices, from and to.
    """

    operators: Mapping[tuple[str, str], OperatorPlace] = field(default_factory=dict)
    copies: Mapping[tuple[str, str, str], int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Node:
    """A box of the drawing: an operator, or an input or output."""

    title: str
    lines: tuple[str, ...]
    kind: str
    # The shapes of the outputs.
    shape: str
    details: dict[str, Any]
    # '' if it is not an operator, or if the device is unknown.
    device: str = ""

    @property
    def size(self) -> tuple[float, float]:
        """Width and height."""
        longest = max(len(line) for line in (self.title, *self.lines))
        return longest * _CHARACTER + 20, (len(self.lines) + 1) * _LINE + 10


@dataclass(frozen=True)
class _Edge:
    """An edge: a tensor between two nodes.

    Attributes:
        copy: what to say of it where it is copied between devices.
    """

    source: int
    target: int
    copy: str = ""


def graph_page(model: Any, places: GraphPlaces | None = None) -> str:
    """The page for a message `mace.Model`.

    Args:
        places: where its operators run, if that is known.
    """
    places = places or GraphPlaces()
    nodes, edges = _graph(model, places)
    drawing = lay_out(
        [node.size for node in nodes], [(edge.source, edge.target) for edge in edges]
    )
    devices = Counter(node.device for node in nodes if node.device)
    borders = dict(zip(devices, itertools.cycle(_BORDERS)))
    shown = borders if len(devices) > 1 else {}
    colours = _colours()
    routes = zip(drawing.routes, edges)
    boxes = enumerate(zip(nodes, drawing.boxes))
    counts = Counter(op.type for op in model.operators).most_common()
    _, _, page = _PAGE.read_text(encoding="utf-8").split("\n", 2)  # without the licence
    return _Page(page.rstrip("\n")).substitute(
        name=escape(model.name),
        producer=escape(model.producer),
        width=round(drawing.width),
        height=round(drawing.height),
        operators=len(model.operators),
        constants=len(model.constants),
        megabytes=f"{model.data_size / 1e6:.2f}",
        paths="".join(_edge_html(_path(route), edge.copy) for route, edge in routes),
        boxes="".join(
            _box_html(i, node, box, colours[node.kind], shown.get(node.device))
            for i, (node, box) in boxes
        ),
        legend="".join(_legend_html(kind, n, colours[kind]) for kind, n in counts),
        devices=_devices_html(devices, borders),
        rows="".join(_row_html(i, node) for i, node in enumerate(nodes)),
        details=_script_json([node.details for node in nodes]),
        quoted_name=_script_json(model.name),
    )


def _edge_html(line: str, copy: str) -> str:
    """An edge; `copy`: what to say of a tensor that is copied."""
    title = f"<title>{escape(copy)}</title>" if copy else ""
    return (
        f'<path class="edge{" copy" if copy else ""}" d="{line}" '
        f'marker-end="url(#arrow)">{title}</path>\n'
    )


def _box_html(
    index: int, node: _Node, box: Box, colour: str, border: str | None
) -> str:
    """The box of a node; `border`: the colour of its device, where that is shown."""
    width = round(box.width, 1)
    left, top = round(box.x - box.width / 2, 1), round(box.y - box.height / 2, 1)
    style = f' style="stroke: {border}; stroke-width: 3"' if border else ""
    lines = "".join(
        f'<text x="{width / 2}" y="{round(16 + _LINE * line)}">{escape(text)}</text>\n'
        for line, text in enumerate(node.lines, 1)
    )
    return (
        f'<g class="node" data-i="{index}" transform="translate({left},{top})">\n'
        f"<title>{escape(node.details['name'])}</title>\n"
        f'<rect rx="5" width="{width}" height="{round(box.height, 1)}" '
        f'fill="{colour}"{style}/>\n'
        f'<text class="title" x="{width / 2}" y="16">{escape(node.title)}</text>\n'
        f"{lines}</g>\n"
    )


def _legend_html(kind: str, count: int, colour: str) -> str:
    name = escape(kind)
    return (
        f'<button style="background: {colour}" data-kind="{name}">'
        f"{name} {count}</button>\n"
    )


def _devices_html(counts: Mapping[str, int], borders: Mapping[str, str]) -> str:
    """How many operators each device runs; nothing where that is unknown."""
    buttons = "".join(
        f'<button style="border-color: {borders[device]}" '
        f'data-device="{escape(device)}">{count} on {escape(device)}</button>\n'
        for device, count in counts.items()
    )
    return f'<div id="devices">\n{buttons}</div>\n' if buttons else ""


def _row_html(index: int, node: _Node) -> str:
    """The row of a node in the list."""
    name = node.details["name"]
    return (
        f'<tr data-i="{index}"><td>{escape(node.details["type"])}</td>'
        f'<td title="{escape(name)}">{escape(_shorten(name))}</td>'
        f"<td>{escape(node.shape)}</td></tr>\n"
    )


def _script_json(value: Any) -> str:
    """JSON that may stand in a page's script: no text of it ends the script."""
    text = json.dumps(value, sort_keys=True)
    for character in "<>&'":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _graph(model: Any, places: GraphPlaces) -> tuple[list[_Node], list[_Edge]]:
    constants = {constant.name: constant for constant in model.constants}
    nodes: list[_Node] = []
    edges: list[_Edge] = []
    maker: dict[str, int] = {}
    becomes = {state.input: state.output for state in model.states}
    for value in model.inputs:
        maker[value.name] = len(nodes)
        nodes.append(_border("Input", value, becomes.get(value.name, "")))
    for op in model.operators:
        own = len(nodes)
        nodes.append(_operator(op, constants, places.operators.get((op.name, op.type))))
        for name in op.inputs:
            if name in maker:
                copy = _copy(places, name, nodes[maker[name]], nodes[own])
                edges.append(_Edge(maker[name], own, copy))
        maker.update(dict.fromkeys(op.outputs, own))
    for value in model.outputs:
        if value.name in maker:
            edges.append(_Edge(maker[value.name], len(nodes)))
        nodes.append(_border("Output", value))
    return nodes, edges


def _copy(places: GraphPlaces, tensor: str, source: _Node, target: _Node) -> str:
    size = places.copies.get((tensor, source.device, target.device))
    if size is None:
        return ""
    return f"{tensor}: {size} bytes are copied, {source.device} to {target.device}"


def _border(kind: str, value: Any, becomes: str = "") -> _Node:
    """An input or output; `becomes`: for a state, the name of its next value."""
    shape = f"{_dims(value.shape)} {_enum('DataFormat', value.data_format)[3:]}"
    details = {
        "name": value.name,
        "type": kind,
        "shape": shape,
        "element type": _element(value.data_type),
        "alias": value.alias,
        "state": f"becomes {becomes} after each run" if becomes else "",
    }
    lines = (shape, "state") if becomes else (shape,)
    return _Node(_shorten(value.name), lines, kind, _dims(value.shape), details)


def _operator(op: Any, constants: dict[str, Any], place: OperatorPlace | None) -> _Node:
    attributes = {attr.name: _attribute(attr) for attr in op.attributes}
    weights = {
        name: f"{_dims(constants[name].dims)} {_element(constants[name].data_type)}"
        for name in op.inputs
        if name in constants
    }
    shapes = [_dims(shape.dims) for shape in op.output_shapes]
    lines = []
    activation = attributes.get("activation", "NONE")
    title = op.type if activation == "NONE" else f"{op.type} + {activation}"
    if weights:
        lines.append("w " + _dims(constants[next(iter(weights))].dims))
    if shapes:
        lines.append(_shorten(", ".join(shapes)))
    if place is not None:
        lines.append(" ".join(filter(None, (place.device, place.time))))
    details = {
        "name": op.name,
        "type": op.type,
        **({"device": place.device, **place.details} if place else {}),
        "inputs": [name for name in op.inputs if name not in constants],
        "outputs": list(op.outputs),
        "output shapes": shapes,
        "constants": weights,
        "attributes": attributes,
        "source": list(op.source_outputs),
    }
    device = place.device if place else ""
    return _Node(title, tuple(lines), op.type, ", ".join(shapes), details, device)


def _path(route: Sequence[tuple[float, float]]) -> str:
    """A curve through the points, vertical at both ends."""
    x, y = route[0]
    parts = [f"M{x:.1f},{y:.1f}"]
    for to_x, to_y in route[1:]:
        middle = (y + to_y) / 2
        parts.append(
            f"C{x:.1f},{middle:.1f} {to_x:.1f},{middle:.1f} {to_x:.1f},{to_y:.1f}"
        )
        x, y = to_x, to_y
    return "".join(parts)


def _colours() -> dict[str, str]:
    """A pale colour for each type of box, which depends only on the type."""
    colours = {"Input": "#ffffff", "Output": "#ffffff"}
    for number, kind in enumerate(sorted(default_catalogue().ops)):
        # With steps of the golden angle, consecutive numbers have very different ones.
        rgb = colorsys.hls_to_rgb(number * 137.508 % 360 / 360, 0.86, 0.65)
        colours[kind] = "#" + "".join(f"{round(part * 255):02x}" for part in rgb)
    return colours


def _attribute(attr: Any) -> Any:
    kind = attr.WhichOneof("value")
    value = getattr(attr, kind)
    if kind in ("ints", "floats"):
        return list(value.values)
    return value


@functools.cache
def _enum_table(name: str) -> dict[int, str]:
    return load_proto("mace/proto/mace.proto").enum_names(name)


def _enum(name: str, number: int) -> str:
    return _enum_table(name).get(number, str(number))


def _element(number: int) -> str:
    return _enum("DataType", number)[3:].lower()


def _dims(dims: Sequence[int]) -> str:
    return "x".join("?" if dim < 0 else str(dim) for dim in dims) or "scalar"


def _shorten(text: str) -> str:
    if len(text) <= _LONGEST_LINE:
        return text
    return "\u2026" + text[-_LONGEST_LINE + 1 :]


def graph_text(model: Any) -> str:
    """The message `mace.Model` in protobuf's text format."""
    header = (
        "# proto-file: mace/proto/mace.proto\n"
        "# proto-message: mace.Model\n"
        "# Written for reading; the model itself is the binary file.\n"
    )
    return header + text_format.MessageToString(model, as_utf8=True)
