# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What ONNX Runtime's optimizer makes of several nodes (domain com.microsoft), except
for attention: the nodes again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

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


@HANDLERS.register("com.microsoft.FusedConv")
def _fused_conv(node: Node) -> None:
    result = node.apply("Conv", node.inputs[:3])
    if node.has_input(3):
        result = node.eltwise("ADD", result, node.input(3))
    node.set_output(0, _activated(node, result))


@HANDLERS.register("com.microsoft.NhwcConv", "com.microsoft.NhwcFusedConv")
def _conv_of_channels_last(node: Node) -> None:
    """A convolution of images with channels last; NhwcConv has filters so, too."""
    x, filters = node.input(0), node.input(1)
    rank = len(node.shape(x))
    first = [0, rank - 1, *range(1, rank - 1)]
    last = [0, *range(2, rank), 1]
    if node.type.endswith("NhwcConv"):
        filters = node.transpose(filters, first)
    x = node.transpose(x, first)
    bias = node.optional(2)
    result = node.apply("Conv", [x, filters, bias])
    result = node.transpose(result, last)
    if node.has_input(3):
        result = node.eltwise("ADD", result, node.input(3))
    if node.has("activation"):
        result = _activated(node, result)
    node.set_output(0, result)


@HANDLERS.register("com.microsoft.CDist")
def _distances(node: Node) -> None:
    """Of each row of A from each row of B."""
    metric = node.text("metric", "sqeuclidean")
    if metric not in ("euclidean", "sqeuclidean"):
        raise UnsupportedNodeError(f"metric is {metric!r}")
    rows = node.expand_dims(node.input(0), [1])
    columns = node.expand_dims(node.input(1), [0])
    gaps = node.eltwise("SUB", rows, columns)
    attrs = {
        "mode": "SUM_SQUARE" if metric == "sqeuclidean" else "L2",
        "axes": [2],
        "keep_dims": False,
    }
    node.emit("Reduce", [gaps], attrs)


@HANDLERS.register("com.microsoft.ExpandDims")
def _expand_dims(node: Node) -> None:
    (axis,) = node.constant_ints(1, "the axis")
    rank = len(node.shape(node.input(0)))
    node.emit("ExpandDims", [node.input(0)], {"axes": [node.axis(axis, rank + 1)]})


@HANDLERS.register("com.microsoft.FusedGemm")
def _fused_gemm(node: Node) -> None:
    node.set_output(0, _activated(node, node.apply("Gemm", node.inputs)))


def _leaky_relu(node: Node, x: Value, numbers: list[float]) -> Value:
    alpha = numbers[0] if numbers else 0.01
    attrs = {"activation": "LEAKY_RELU", "activation_alpha": alpha}
    return node.make("Activation", [x], attrs)


def _hard_sigmoid(node: Node, x: Value, numbers: list[float]) -> Value:
    alpha, beta = numbers if len(numbers) == 2 else (0.2, 0.5)
    attrs = {"activation": "HARD_SIGMOID", "activation_alpha": alpha}
    return node.make("Activation", [x], {**attrs, "activation_beta": beta})


def _clip(node: Node, x: Value, numbers: list[float]) -> Value:
    if len(numbers) != 2:
        raise UnsupportedNodeError(f"Clip has {len(numbers)} limits, not 2")
    x = node.eltwise("MAX", x, node.scalar(numbers[0], x))
    return node.eltwise("MIN", x, node.scalar(numbers[1], x))


def _plain(name: str) -> Callable[[Node, Value, list[float]], Value]:
    def made(node: Node, x: Value, numbers: list[float]) -> Value:
        return node.make("Activation", [x], {"activation": name})

    return made


_ACTIVATIONS: dict[str, Callable[[Node, Value, list[float]], Value]] = {
    "": lambda node, x, numbers: x,
    "Clip": _clip,
    "HardSigmoid": _hard_sigmoid,
    "LeakyRelu": _leaky_relu,
    "Relu": _plain("RELU"),
    "Sigmoid": _plain("SIGMOID"),
    "Tanh": _plain("TANH"),
}


def _activated(node: Node, x: Value) -> Value:
    """The activation that is part of the node."""
    name = node.text("activation", "")
    if name not in _ACTIVATIONS:
        raise UnsupportedNodeError(
            f"activation is {name!r}; {', '.join(filter(None, _ACTIVATIONS))} work"
        )
    numbers: list[float] = []
    if node.has("activation_params"):
        numbers = node.reals("activation_params")
    elif node.has("activation_alpha"):
        names = ("activation_alpha", "activation_beta")
        numbers = [node.real(key, 0.0) for key in names if node.has(key)]
    return _ACTIVATIONS[name](node, x, numbers)
