# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Rewrites that remove, rename or sort nodes and attributes."""

from __future__ import annotations

import logging
from typing import Any

from mace.python.tools.errors import UsageError
from mace.python.tools.importers.tensorflow.node import Tensor
from mace.python.tools.importers.tensorflow.reader import data_types
from mace.python.tools.importers.tf_operators.context import HANDLERS
from mace.python.tools.rewrite.work_graph import (
    FLOAT,
    Arguments,
    TransformError,
    WorkGraph,
    input_text,
    source_of,
    transform,
)

_LOG = logging.getLogger(__name__)


@transform("type", "shape", "name", "type_for_name", "shape_for_name")
def strip_unused_nodes(graph: WorkGraph, arguments: Arguments) -> None:
    """Removes nodes that the outputs do not need; makes inputs placeholders.

    An input that is a placeholder stays as it is. For others, `type` (float, unless it
    is given) and `shape` say what is fed; for single ones `name`, `type_for_name` and
    `shape_for_name` do, which may be repeated.
    """
    types, shapes = _by_name(arguments, "type"), _by_name(arguments, "shape")
    needed = graph.needed()
    for name, output in graph.inputs:
        if name not in needed:
            _LOG.warning("--inputs: the outputs do not need %s: it is removed", name)
            continue
        node = graph.nodes[name]
        if node.op in ("Placeholder", "PlaceholderV2"):
            continue
        if output or any(
            source_of(text)[0] == name and source_of(text)[1] > 0
            for reader in needed
            for text in graph.nodes[reader].input
        ):
            raise TransformError(
                f"input {name} has several outputs; name the nodes that read them"
            )
        new = graph.new_node(name, "Placeholder")
        new.attr["dtype"].type = types.get(name, types.get("", FLOAT))
        shape = shapes.get(name, shapes.get(""))
        if shape is None:
            new.attr["shape"].shape.unknown_rank = True
        else:
            new.attr["shape"].shape.SetInParent()
            for size in shape:
                new.attr["shape"].shape.dim.add(size=size)
        graph.replace(name, new)
    graph.inputs = [tensor for tensor in graph.inputs if tensor[0] in needed]
    graph.nodes = {name: node for name, node in graph.nodes.items() if name in needed}


def _by_name(arguments: Arguments, what: str) -> dict[str, Any]:
    """What is given for nodes by name; '' for all others."""
    parse = _type if what == "type" else _shape
    found: dict[str, Any] = {}
    if arguments.all(what):
        found[""] = parse(arguments.one(what))
    names, values = arguments.all("name"), arguments.all(f"{what}_for_name")
    if values and len(names) != len(values):
        raise UsageError(
            f"--transforms: {arguments.name}: {len(names)} times name, but "
            f"{len(values)} times {what}_for_name"
        )
    for name, value in zip(names, values):
        found[source_of(name)[0]] = parse(value)
    return found


def _type(text: str) -> int:
    types = data_types()
    number = types.get(text.lower())
    if number is None:
        raise UsageError(
            f"--transforms: type: found {text!r}, accepted: {', '.join(types)}"
        )
    return number


def _shape(text: str) -> list[int]:
    try:
        sizes = [int(part) for part in text.split(",") if part.strip()]
        if any(not -1 <= size < 2**31 for size in sizes):
            raise ValueError
    except ValueError:
        raise UsageError(
            f"--transforms: shape: found {text!r}, accepted: sizes like 1,224,224,3, "
            "-1 for those that are not known"
        ) from None
    return sizes


@transform("op")
def remove_nodes(graph: WorkGraph, arguments: Arguments) -> None:
    """Removes nodes of the types `op` that have one input; their readers read it."""
    types = set(arguments.all("op"))
    if not types:
        arguments.one("op")
    kept = graph.kept
    instead: dict[str, Tensor] = {}
    read_further = {node for node, output in graph.readers() if output > 0}
    for name, node in graph.nodes.items():
        # A control input of the node would be lost.
        single = len(node.input) == 1 and source_of(node.input[0])[1] >= 0
        if node.op in types and single and name not in kept | read_further:
            instead[name] = source_of(node.input[0])

    def change(tensor: Tensor) -> Tensor:
        name, output = tensor
        steps = 0
        while name in instead:
            name, further = instead[name]
            output = output if output < 0 else further
            steps += 1
            if steps > len(instead):
                raise TransformError(f"node {name} depends on itself")
        return name, output

    graph.redirect(change)
    for name in instead:
        del graph.nodes[name]


@transform()
def remove_control_dependencies(graph: WorkGraph, arguments: Arguments) -> None:
    """Removes the inputs that only order nodes."""
    graph.redirect(lambda tensor: tensor if tensor[1] >= 0 else None)


@transform()
def remove_device(graph: WorkGraph, arguments: Arguments) -> None:
    """Removes the device from all nodes."""
    for node in graph.nodes.values():
        node.device = ""


@transform("device", "if_default")
def set_device(graph: WorkGraph, arguments: Arguments) -> None:
    """Sets the device of all nodes; with `if_default`, of those without one."""
    device, if_default = arguments.one("device"), arguments.flag("if_default")
    for node in graph.nodes.values():
        if not (if_default and node.device):
            node.device = device


@transform("attribute_name", "op_name")
def remove_attribute(graph: WorkGraph, arguments: Arguments) -> None:
    """Removes an attribute from all nodes, or from those of the type `op_name`."""
    name, op = arguments.one("attribute_name"), arguments.one("op_name", "")
    for node in graph.nodes.values():
        if op in ("", node.op) and name in node.attr:
            del node.attr[name]


@transform("old_attribute_name", "new_attribute_name", "op_name")
def rename_attribute(graph: WorkGraph, arguments: Arguments) -> None:
    """Renames an attribute of all nodes, or of those of the type `op_name`."""
    old, new = arguments.one("old_attribute_name"), arguments.one("new_attribute_name")
    op = arguments.one("op_name", "")
    for node in graph.nodes.values():
        if op in ("", node.op) and old in node.attr and old != new:
            node.attr[new].CopyFrom(node.attr[old])
            del node.attr[old]


@transform("old_op_name", "new_op_name")
def rename_op(graph: WorkGraph, arguments: Arguments) -> None:
    """Changes the type of nodes."""
    old, new = arguments.one("old_op_name"), arguments.one("new_op_name")
    for node in graph.nodes.values():
        if node.op == old:
            node.op = new


@transform()
def obfuscate_names(graph: WorkGraph, arguments: Arguments) -> None:
    """Gives short names to all nodes but inputs and outputs."""
    names = {name: name for name in graph.kept}
    number = 0
    for name in graph.nodes:
        if name in names:
            continue
        while f"n{number}" in graph.kept:
            number += 1
        names[name] = f"n{number}"
        number += 1
    graph.redirect(lambda tensor: (names[tensor[0]], tensor[1]))
    for name, node in graph.nodes.items():
        node.name = names[name]
    graph.nodes = {names[name]: node for name, node in graph.nodes.items()}


@transform()
def backport_concatv2(graph: WorkGraph, arguments: Arguments) -> None:
    """Replaces ConcatV2 by the older Concat, whose axis is its first input."""
    for node in graph.nodes.values():
        if node.op != "ConcatV2":
            continue
        data = [text for text in node.input if not text.startswith("^")]
        if len(data) < 2:
            raise TransformError(f"node {node.name} has {len(data)} inputs")
        if "Tidx" in node.attr and node.attr["Tidx"].type != data_types()["int32"]:
            raise TransformError(f"the axis of node {node.name} is not of int32")
        rest = [text for text in node.input if text.startswith("^")]
        node.op = "Concat"
        del node.input[:]
        node.input.extend([data[-1], *data[:-1], *rest])
        if "Tidx" in node.attr:
            del node.attr["Tidx"]


@transform()
def merge_duplicate_nodes(graph: WorkGraph, arguments: Arguments) -> None:
    """Merges equal constants, and nodes with equal inputs and attributes."""
    kept = graph.kept
    # Only nodes that compute the same in each run: a handler's do.
    pure = set(HANDLERS.types())
    first: dict[tuple[Any, ...], str] = {}
    instead: dict[str, str] = {}
    for node in list(graph.ordered()):
        texts = [source_of(text) for text in node.input]
        inputs = tuple(input_text((instead.get(n, n), out)) for n, out in texts)
        attrs = tuple(
            (key, node.attr[key].SerializeToString(deterministic=True))
            for key in sorted(node.attr)
        )
        place = first.setdefault((node.op, inputs, node.device, attrs), node.name)
        if place != node.name and node.name not in kept and node.op in pure:
            instead[node.name] = place
    graph.redirect(lambda tensor: (instead.get(tensor[0], tensor[0]), tensor[1]))
    for name in instead:
        del graph.nodes[name]


@transform()
def sort_by_execution_order(graph: WorkGraph, arguments: Arguments) -> None:
    """Sorts nodes so that each one follows those that it reads."""
    graph.nodes = {node.name: node for node in list(graph.ordered())}
