# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A page that draws a model's graph; it loads nothing from anywhere."""

from __future__ import annotations

import colorsys
import functools
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from mace.python.tools.catalogue import default_catalogue
from mace.python.tools.export.graph_layout import lay_out
from mace.python.tools.proto import load_proto

_TEMPLATE = "graph_page.html.jinja2"
_CHARACTER = 6.6
_LINE = 15.0
# What a node may show of a long attribute or shape list.
_LONGEST_LINE = 44


@dataclass(frozen=True)
class _Node:
    """A box of the drawing: an operator, or an input or output."""

    title: str
    lines: tuple[str, ...]
    kind: str
    # Of the outputs.
    shape: str
    details: dict[str, Any]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height."""
        longest = max(len(line) for line in (self.title, *self.lines))
        return longest * _CHARACTER + 20, (len(self.lines) + 1) * _LINE + 10


def graph_page(model: Any) -> str:
    """The page for a message `mace.Model`."""
    nodes, edges = _graph(model)
    drawing = lay_out([node.size for node in nodes], edges)
    boxes = [
        {
            "x": round(box.x - box.width / 2, 1),
            "y": round(box.y - box.height / 2, 1),
            "w": round(box.width, 1),
            "h": round(box.height, 1),
            "colour": _colour(node.kind),
            "node": node,
        }
        for node, box in zip(nodes, drawing.boxes)
    ]
    counts = Counter(op.type for op in model.operators)
    template = _environment().get_template(_TEMPLATE)
    return template.render(
        model=model,
        boxes=boxes,
        paths=[_path(route) for route in drawing.routes],
        width=round(drawing.width),
        height=round(drawing.height),
        counts=counts.most_common(),
        colour=_colour,
        # Within a script element only '</' could end it early.
        details=json.dumps([node.details for node in nodes]).replace("</", "<\\/"),
    )


def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )


def _graph(model: Any) -> tuple[list[_Node], list[tuple[int, int]]]:
    constants = {constant.name: constant for constant in model.constants}
    nodes: list[_Node] = []
    edges: list[tuple[int, int]] = []
    maker: dict[str, int] = {}
    for value in model.inputs:
        maker[value.name] = len(nodes)
        nodes.append(_border("Input", value))
    for op in model.operators:
        own = len(nodes)
        nodes.append(_operator(op, constants))
        edges += [(maker[name], own) for name in op.inputs if name in maker]
        maker.update(dict.fromkeys(op.outputs, own))
    for value in model.outputs:
        edges += [(maker[value.name], len(nodes))] if value.name in maker else []
        nodes.append(_border("Output", value))
    return nodes, edges


def _border(kind: str, value: Any) -> _Node:
    shape = f"{_dims(value.shape)} {_enum('DataFormat', value.data_format)[3:]}"
    details = {
        "name": value.name,
        "type": kind,
        "shape": shape,
        "element type": _element(value.data_type),
        "alias": value.alias,
    }
    return _Node(_shorten(value.name), (shape,), kind, _dims(value.shape), details)


def _operator(op: Any, constants: dict[str, Any]) -> _Node:
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
    details = {
        "name": op.name,
        "type": op.type,
        "inputs": [name for name in op.inputs if name not in constants],
        "outputs": list(op.outputs),
        "output shapes": shapes,
        "constants": weights,
        "attributes": attributes,
        "source": list(op.source_outputs),
    }
    return _Node(title, tuple(lines), op.type, ", ".join(shapes), details)


def _path(route: Sequence[tuple[float, float]]) -> str:
    """A curve through the points that leaves and arrives upright."""
    x, y = route[0]
    parts = [f"M{x:.1f},{y:.1f}"]
    for to_x, to_y in route[1:]:
        middle = (y + to_y) / 2
        parts.append(
            f"C{x:.1f},{middle:.1f} {to_x:.1f},{middle:.1f} {to_x:.1f},{to_y:.1f}"
        )
        x, y = to_x, to_y
    return "".join(parts)


def _colour(kind: str) -> str:
    """A pale colour that depends on the type alone."""
    if kind in ("Input", "Output"):
        return "#ffffff"
    # Steps of the golden angle set any few neighbouring numbers far apart.
    number = sorted(default_catalogue().ops).index(kind)
    hue = number * 137.508 % 360 / 360
    rgb = colorsys.hls_to_rgb(hue, 0.86, 0.65)
    return "#" + "".join(f"{round(part * 255):02x}" for part in rgb)


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
