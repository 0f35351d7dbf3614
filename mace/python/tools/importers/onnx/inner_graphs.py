# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The graphs in nodes: branches, and bodies of loops."""

from __future__ import annotations

from collections.abc import Iterator

import onnx


def graphs_of(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    """The graphs in the attributes of a node, without those that are in these."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def reads(node: onnx.NodeProto) -> list[str]:
    """Every tensor a node reads, those of its graphs included; an input that is left
    out has the name '', which is no tensor's.
    """
    names = [name for name in node.input if name]
    for graph in graphs_of(node):
        own = {name for inner in graph.node for name in inner.output}
        own |= {value.name for value in graph.input}
        own |= {tensor.name for tensor in graph.initializer}
        names += [n for inner in graph.node for n in reads(inner) if n not in own]
        names += [value.name for value in graph.output if value.name not in own]
    return names
