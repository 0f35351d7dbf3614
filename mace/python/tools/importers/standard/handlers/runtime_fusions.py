# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What ONNX Runtime's optimizer makes of several nodes of transformers (domain
com.microsoft), except for attention: the nodes again.
"""

from __future__ import annotations

from collections.abc import Mapping

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.handlers.activation import swish
from mace.python.tools.importers.standard.handlers.normalise import moments
from mace.python.tools.importers.standard.lengths import NodeLengths
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_EPSILON = 1e-12


@HANDLERS.register("com.microsoft.Gelu", "com.microsoft.BiasGelu")
def _gelu(node: Node) -> None:
    node.emit("Activation", [_with_bias(node)], {"activation": "GELU"})


@HANDLERS.register("com.microsoft.FastGelu")
def _fast_gelu(node: Node) -> None:
    node.emit("Activation", [_with_bias(node)], {"activation": "GELU_TANH"})


def _with_bias(node: Node) -> Value:
    x = node.input(0)
    return node.eltwise("ADD", x, node.input(1)) if node.has_input(1) else x


@HANDLERS.register("com.microsoft.QuickGelu")
def _quick_gelu(node: Node) -> None:
    node.set_output(0, swish(node, node.input(0), node.real("alpha", 1.702)))


@HANDLERS.register("com.microsoft.SkipLayerNormalization")
def _skip_layer_normalization(node: Node) -> None:
    total = _skipped(node, 4)
    found = _normalised(node, total, node.real("epsilon", _EPSILON))
    result = node.eltwise("MUL", found, node.input(2))
    if node.has_input(3):
        result = node.eltwise("ADD", result, node.input(3))
    node.set_output(0, result)
    _refuse_moments(node)
    node.set_output(3, total)


@HANDLERS.register("com.microsoft.SkipSimplifiedLayerNormalization")
def _skip_simplified_layer_normalization(node: Node) -> None:
    total = _skipped(node, 3)
    node.set_output(0, _by_squares(node, total, node.input(2), _EPSILON))
    _refuse_moments(node)
    node.set_output(3, total)


@HANDLERS.register("SimplifiedLayerNormalization")
def _simplified_layer_normalization(node: Node) -> None:
    x = node.input(0)
    rank = len(node.shape(x))
    if node.axis(node.integer("axis", -1), rank) != rank - 1:
        raise UnsupportedNodeError("axis is not the last one")
    node.refuse_output(1, "the inverse deviation")
    node.set_output(0, _by_squares(node, x, node.input(1), 1e-5))


def _skipped(node: Node, bias: int) -> Value:
    """The sum of an input, the skip, and a bias."""
    total = node.eltwise("ADD", node.input(0), node.input(1))
    return (
        node.eltwise("ADD", total, node.input(bias)) if node.has_input(bias) else total
    )


def _refuse_moments(node: Node) -> None:
    node.refuse_output(1, "the mean")
    node.refuse_output(2, "the inverse deviation")


def _normalised(node: Node, x: Value, epsilon: float) -> Value:
    last = len(node.shape(x)) - 1
    return moments(node, x, [last], epsilon).result(node)


def _by_squares(node: Node, x: Value, scale: Value, epsilon: float) -> Value:
    """Divided by the root of the mean square."""
    square = node.reduce("MEAN", node.eltwise("SQUARE", x), [len(node.shape(x)) - 1])
    least = node.scalar(node.real("epsilon", epsilon), x)
    below = node.eltwise("RSQRT", node.eltwise("ADD", square, least))
    return node.eltwise("MUL", node.eltwise("MUL", x, below), scale)


@HANDLERS.register("com.microsoft.EmbedLayerNormalization")
def _embed_layer_normalization(node: Node) -> None:
    """The first layer of BERT: words, positions and kinds of sentences."""
    given = filter(node.has_input, range(2, 7))
    embed(node, {place: node.input(place) for place in given})


def embed(node: Node, tables: Mapping[int, Value]) -> None:
    """The same with the tables, factors and biases at their places in floats."""
    words = node.input(0)
    total = node.make("Gather", [tables[2], words])
    if node.type == "EmbedLayerNormalization" and node.has_input(8):
        places = node.input(8)
    else:
        lengths = NodeLengths(node)
        places = lengths.positions(lengths.of_axis(words, 1))
    total = node.eltwise("ADD", total, node.make("Gather", [tables[3], places]))
    if node.has_input(1) and 4 in tables:
        kinds = node.make("Gather", [tables[4], node.input(1)])
        total = node.eltwise("ADD", total, kinds)
    found = _normalised(node, total, node.real("epsilon", _EPSILON))
    scaled = node.eltwise("MUL", found, tables[5])
    node.set_output(0, node.eltwise("ADD", scaled, tables[6]))
    if node.is_used(1):
        node.set_output(1, _words_under_mask(node, words))
    node.set_output(2, total)


def _words_under_mask(node: Node, words: Value) -> Value:
    """How many words the mask of each sequence leaves."""
    if not node.has_input(7):
        lengths = NodeLengths(node)
        zero = node.literal([0], DataType.INT32)
        return lengths.filled(zero, lengths.listed([lengths.of_axis(words, 0)]))
    numbers = node.cast(node.input(7), DataType.FLOAT32)
    total = node.reduce("SUM", numbers, [1], keep_dims=False)
    return node.cast(total, DataType.INT32)


@HANDLERS.register("com.microsoft.FusedMatMul", "com.microsoft.TransposeMatMul")
def _fused_matmul(node: Node) -> None:
    inputs = []
    for index, name in enumerate("AB"):
        x = node.input(index)
        rank = len(node.shape(x))
        order = [*range(rank)]
        if node.flag(f"transBatch{name}", False):
            # The first axis comes behind those of the batch.
            order = [*order[1:-1], 0, rank - 1]
        if node.flag(f"trans{name}", False) and rank > 1:
            order[-2:] = order[:-3:-1]
        if order != sorted(order):
            x = node.transpose(x, order)
        inputs.append(x)
    result = node.apply("MatMul", inputs)
    alpha = node.real("alpha", 1.0)
    if alpha != 1:
        result = node.eltwise("MUL", result, node.scalar(alpha, result))
    node.set_output(0, result)
