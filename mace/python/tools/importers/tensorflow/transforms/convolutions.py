# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Dilated convolutions that were written as convolutions of blocks of pixels."""

from __future__ import annotations

from typing import Any

from mace.python.tools.importers.tensorflow.transforms.table import (
    Arguments,
    transform,
)
from mace.python.tools.importers.tensorflow.transforms.work_graph import (
    WorkGraph,
    data_inputs,
    integers,
    string,
)


@transform()
def flatten_atrous_conv(graph: WorkGraph, arguments: Arguments) -> None:
    """Replaces SpaceToBatchND, a convolution and BatchToSpaceND by a convolution with
    dilations.
    """
    for node in list(graph.nodes.values()):
        if node.op == "BatchToSpaceND":
            _flatten(graph, node)


def _flatten(graph: WorkGraph, last: Any) -> None:
    conv = _before(graph, last, ("Conv2D", "DepthwiseConv2dNative"))
    first = None if conv is None else _before(graph, conv, ("SpaceToBatchND",))
    if conv is None or first is None or not _is_plain(conv):
        return
    blocks, pads = (_ints(graph, first, index) for index in (1, 2))
    same_blocks, crops = (_ints(graph, last, index) for index in (1, 2))
    inputs = data_inputs(conv)
    filters = graph.nodes[inputs[1][0]] if len(inputs) == 2 else None
    weights = None if filters is None else graph.constant(inputs[1])
    if weights is None or weights.ndim != 4 or len(blocks) != 2 or len(pads) != 4:
        return
    if blocks != same_blocks or len(crops) != 4:
        return
    padding = _padding(weights.shape[:2], blocks, pads, crops)
    if not padding:
        return
    new = graph.new_node(last.name, conv.op)
    new.CopyFrom(conv)
    new.name = last.name
    new.input[0] = first.input[0]
    for old in (first, last):
        new.input.extend(t for t in old.input if t.startswith("^"))
    new.attr["padding"].s = padding.encode()
    dilations = new.attr["dilations"].list.i
    del dilations[:]
    dilations.extend([1, *blocks, 1])
    graph.replace(last.name, new)
    graph.drop_unread([conv.name, *(name for name, _ in data_inputs(last)[1:])])


def _before(graph: WorkGraph, node: Any, types: tuple[str, ...]) -> Any:
    """The node whose result input 0 is, if it is of the types and nobody else reads
    it.
    """
    inputs = data_inputs(node)
    found = graph.nodes[inputs[0][0]] if inputs else None
    if found is None or found.op not in types or found.name in graph.kept:
        return None
    count = sum(
        len(nodes) for tensor, nodes in graph.readers().items() if tensor == inputs[0]
    )
    controls = graph.readers().get((found.name, -1))
    return found if count == 1 and not controls else None


def _is_plain(conv: Any) -> bool:
    return (
        string(conv, "padding") == "VALID"
        and string(conv, "data_format", "NHWC") == "NHWC"
        and set(integers(conv, "strides")) == {1}
        and set(integers(conv, "dilations")) <= {1}
    )


def _ints(graph: WorkGraph, node: Any, index: int) -> list[int]:
    inputs = data_inputs(node)
    array = graph.constant(inputs[index]) if index < len(inputs) else None
    return [] if array is None else [int(number) for number in array.flat]


def _padding(
    size: tuple[int, ...], blocks: list[int], pads: list[int], crops: list[int]
) -> str:
    """The padding of the convolution with dilations; '' if it has no name."""
    names: set[str] = set()
    for axis in (0, 1):
        before = pads[2 * axis]
        after = pads[2 * axis + 1] - crops[2 * axis + 1]
        missing = (size[axis] - 1) * blocks[axis]
        found: set[str] = set()
        if crops[2 * axis] == 0 and (before, after) == (0, 0):
            found.add("VALID")
        whole = (missing // 2, missing - missing // 2)
        if crops[2 * axis] == 0 and (before, after) == whole:
            found.add("SAME")
        names = found if axis == 0 else names & found
    return min(names, default="")
