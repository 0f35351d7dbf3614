# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The nodes of an ONNX model and of the graphs inside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


def all_nodes(nodes: Iterable[Any]) -> Iterator[Any]:
    """These nodes, each followed by those of its sub-graphs."""
    for node in nodes:
        yield node
        for attribute in node.attribute:
            for graph in [attribute.g, *attribute.graphs]:
                yield from all_nodes(graph.node)


def reads(node: Any) -> Iterator[str]:
    """Names a node reads, those of its sub-graphs included."""
    for inner in all_nodes([node]):
        yield from filter(None, inner.input)
