# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Inlines the functions that a model defines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import onnx
import onnx.inliner
from mace.python.tools.importers.frame.budget import budget, expanded
from mace.python.tools.importers.frame.errors import (
    ImportModelError,
    UnsupportedNodeError,
)
from mace.python.tools.importers.onnx.inner_graphs import graphs_of
from mace.python.tools.importers.onnx.mapped_file import MappedModel


def inline_functions(model: MappedModel) -> onnx.ModelProto:
    """The model, with calls of its own functions replaced by their nodes.

    Raises:
        ImportModelError: the functions contradict each other, or become too many nodes.
    """
    proto = model.proto
    budget().nodes += sum(1 for _ in all_nodes(proto.graph.node))
    if not proto.functions:
        return proto
    try:
        _take_calls(proto)
        return onnx.inliner.inline_local_functions(model.proto)
    except (
        ImportModelError,
        RuntimeError,
        UnsupportedNodeError,
        ValueError,
        onnx.checker.ValidationError,
    ) as error:
        reason = str(error).strip().splitlines()[0] if str(error) else "unknown"
        raise ImportModelError(
            f"{model.path}: its functions cannot be put in place: {reason}"
        ) from error


_Name = tuple[str, str, str]


def _take_calls(proto: onnx.ModelProto) -> None:
    """Takes the nodes of all calls from the budget before there are any: they can be
    exponential in the number of functions.
    """
    called: dict[_Name, Counter[_Name]] = {}
    for function in proto.functions:
        name = (function.domain, function.name, _overload(function))
        called[name] = Counter(map(_called, all_nodes(function.node)))
    bodies: dict[_Name, tuple[int, dict[tuple[_Name, ...], int]]] = {}
    for name, calls in called.items():
        count = sum(calls.values())
        budget().nodes += count
        known: dict[tuple[_Name, ...], int] = {
            (other,): c for other, c in calls.items() if other in called
        }
        bodies[name] = (count, known)
    nodes = map(_called, all_nodes(proto.graph.node))
    roots = [name for name in nodes if name in bodies]
    budget().add_nodes(expanded(roots, bodies.__getitem__), "they")


def _called(node: onnx.NodeProto) -> _Name:
    return node.domain, node.op_type, _overload(node)


def _overload(message: onnx.NodeProto | onnx.FunctionProto) -> str:
    return str(getattr(message, "overload", ""))  # not in older versions of onnx


def all_nodes(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    """Nodes, and those of the graphs in their attributes."""
    waiting = [*nodes]
    while waiting:
        node = waiting.pop()
        yield node
        for graph in graphs_of(node):
            waiting += graph.node
