# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What ONNX Runtime's optimizer makes of several nodes, of diffusion models above all,
and computes on GPUs alone (domain com.microsoft): the nodes again.
"""

from __future__ import annotations

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.handlers.activation import activate, swish
from mace.python.tools.importers.standard.handlers.normalise import (
    in_groups,
    scaled,
    softmax_from,
)
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.graph import Value


@HANDLERS.register("com.microsoft.GroupNorm")
def _group_norm(node: Node) -> None:
    node.set_output(0, _normalised(node, node.input(0)))


@HANDLERS.register("com.microsoft.SkipGroupNorm")
def _skip_group_norm(node: Node) -> None:
    x, skip = node.input(0), node.input(3)
    rank = len(node.shape(x))
    if len(node.shape(skip)) == 2:
        inner = range(1, rank - 1) if _channels_last(node) else range(2, rank)
        skip = node.expand_dims(skip, [*inner])
    total = node.eltwise("ADD", x, skip)
    if node.has_input(4):
        bias = node.input(4)
        if not _channels_last(node):
            bias = node.reshape(bias, [-1, *(1,) * (rank - 2)])
        total = node.eltwise("ADD", total, bias)
    node.set_output(0, _normalised(node, total))
    node.set_output(1, total)


def _channels_last(node: Node) -> bool:
    return node.flag("channels_last", True)


def _normalised(node: Node, x: Value) -> Value:
    """Normalised in groups of channels, with a factor and an offset for each."""
    rank = len(node.shape(x))
    if rank < 3:
        raise UnsupportedNodeError(f"{x.name} has {rank} dimensions")
    if _channels_last(node):
        x = node.transpose(x, [0, rank - 1, *range(1, rank - 1)])
    result = in_groups(node, x, node.integer("groups", 1), node.real("epsilon", 1e-5))
    shape = [-1, *(1,) * (rank - 2)]
    result = scaled(node, result, node.input(1), node.input(2), shape)
    activation = node.integer("activation", 0)
    if activation == 1:
        result = swish(node, result)
    elif activation:
        raise UnsupportedNodeError(f"activation is {activation}; 0 and 1 work")
    if _channels_last(node):
        result = node.transpose(result, [0, *range(2, rank), 1])
    return result


@HANDLERS.register("com.microsoft.BiasAdd")
def _bias_add(node: Node) -> None:
    total = node.eltwise("ADD", node.input(0), node.input(1))
    node.set_output(0, node.eltwise("ADD", total, node.input(2)))


@HANDLERS.register("com.microsoft.BiasSplitGelu")
def _bias_split_gelu(node: Node) -> None:
    total = node.eltwise("ADD", node.input(0), node.input(1))
    axis = len(node.shape(total)) - 1
    left, right = node.make_all("Split", [total], {"axis": axis}, 2)
    bent = activate(node, right, "GELU")
    node.set_output(0, node.eltwise("MUL", left, bent))


@HANDLERS.register("com.microsoft.GemmFastGelu")
def _gemm_fast_gelu(node: Node) -> None:
    result = node.apply("MatMul", node.inputs[:2])
    if node.has_input(2):
        result = node.eltwise("ADD", result, node.input(2))
    node.emit("Activation", [result], {"activation": "GELU_TANH"})


@HANDLERS.register("com.microsoft.BiasSoftmax")
def _bias_softmax(node: Node) -> None:
    """The bias has the rank of the data, with dimensions of 1 where it is the same."""
    total = node.eltwise("ADD", node.input(0), node.input(1))
    axis = node.axis(node.integer("axis", 1), len(node.shape(total)))
    node.set_output(0, softmax_from(node, total, axis))
