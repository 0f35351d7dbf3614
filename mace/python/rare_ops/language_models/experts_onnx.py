# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Mixtures of experts as exporters of language models write them (domain
com.microsoft).

All experts compute all tokens; a token adds up the results of the experts that its
router chose. The operators of a graph do not depend on the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mace.python.rare_ops.language_models.few_bits_onnx import BITS, unpacked
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.handlers.activation import activate, swish
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value

_PLAIN = {"relu": "RELU", "gelu": "GELU_TANH"}


@dataclass(frozen=True)
class _Layer:
    """A layer of all experts.

    Attributes:
        weights: [experts, outputs, inputs].
        bias: [experts, outputs].
    """

    weights: Value
    bias: Value | None

    def of(self, node: Node, x: Value) -> Value:
        """[experts, tokens, outputs]."""
        result = node.make("MatMul", [x, self.weights], {"transpose_b": True})
        if self.bias is None:
            return result
        bias = node.expand_dims(self.bias, [1])
        return node.eltwise("ADD", result, bias)


@HANDLERS.register("com.microsoft.MoE")
def _experts(node: Node) -> None:
    def layer(index: int) -> _Layer | None:
        if not node.has_input(index):
            return None
        bias = node.optional(index + 1)
        return _Layer(node.input(index), bias)

    _mix(node, [layer(index) for index in (2, 4, 6)])


@HANDLERS.register("com.microsoft.QMoE")
def _experts_of_few_bits(node: Node) -> None:
    if node.text("quant_type", "int") != "int":
        raise UnsupportedNodeError(f"quant_type is {node.text('quant_type', '')!r}")
    for index in range(14, len(node.inputs)):
        if node.has_input(index):
            raise UnsupportedNodeError(f"it has input {index}")
    _mix(node, [_of_few_bits(node, place) for place in range(3)])


def _of_few_bits(node: Node, place: int) -> _Layer | None:
    index = 2 + 3 * place
    if not node.has_input(index):
        return None
    common = node.integer("expert_weight_bits", 4)
    bits = node.integer(f"fc{place + 1}_expert_weight_bits", common)
    if bits not in BITS:
        raise UnsupportedNodeError(f"{bits} bits")
    packed = np.asarray(node.constant(index, "the weights"), np.uint8)
    numbers = unpacked(packed, bits, packed.shape[-1] * 8 // bits)
    scales = np.asarray(node.constant(index + 1, "the scales"), np.float32)
    scales = scales.reshape(*numbers.shape[:2], -1)
    zeros: Array = np.asarray(float(1 << (bits - 1)))
    if node.has_input(11 + place):
        given = np.asarray(node.constant(11 + place, "the zero points"), np.uint8)
        if node.integer("block_size", 0) > 0:
            zeros = unpacked(given, bits, scales.shape[-1])
        else:
            zeros = unpacked(given, bits, scales.shape[1])[..., None]
    length = numbers.shape[-1]
    block = node.integer("block_size", 0) or length

    def spread(array: Array) -> Array:
        return np.take(array, np.arange(length) // block, 2) if array.ndim else array

    weights = (numbers - spread(zeros)) * spread(scales)
    bias = node.optional(index + 2)
    return _Layer(node.literal(weights), bias)


def _mix(node: Node, layers: list[_Layer | None]) -> None:
    first, second, third = layers
    if first is None or second is None:
        raise UnsupportedNodeError("the weights of a layer are missing")
    x = node.input(0)
    width = node.shape(x)[-1]
    if not isinstance(width, int):
        raise UnsupportedNodeError(f"the width of {x.name} is not known")
    rows = node.reshape(x, [1, -1, width])
    inner = _activated(node, first.of(node, rows), rows, third)
    results = second.of(node, inner)
    shares = node.transpose(_shares(node), [1, 0])
    shares = node.expand_dims(shares, [2])
    parts = node.eltwise("MUL", results, shares)
    total = node.reduce("SUM", parts, [0], keep_dims=False)
    node.set_output(0, node.make("Reshape", [total, node.make("Shape", [x])]))


def _shares(node: Node) -> Value:
    """[tokens, experts]: what each expert's result counts, 0 for one not chosen."""
    if node.flag("use_sparse_mixer", False):
        raise UnsupportedNodeError("use_sparse_mixer is 1")
    scores = node.input(1)
    experts = node.shape(scores)[-1]
    count = node.integer("k", 1)
    if not isinstance(experts, int) or not 1 <= count <= experts:
        raise UnsupportedNodeError(f"{count} of {experts} experts")
    shares = node.make("Softmax", [scores], {"axis": 1})
    chosen = node.make_all("TopK", [shares], {"axis": 1, "k": count}, 2)
    numbers = node.literal(np.arange(experts), DataType.INT32)
    places = node.expand_dims(chosen[1], [2])
    is_chosen = node.eltwise("EQUAL", places, numbers)
    kept = node.expand_dims(chosen[0], [2])
    kept = node.make("Where", [is_chosen, kept, node.literal(0.0)])
    kept = node.reduce("SUM", kept, [1], keep_dims=False)
    # ONNX Runtime's QMoE takes the softmax of the chosen scores alone.
    if node.type == "MoE" and not node.flag("normalize_routing_weights", False):
        return kept
    return node.eltwise("DIV", kept, node.reduce("SUM", kept, [1]))


def _activated(node: Node, inner: Value, rows: Value, third: _Layer | None) -> Value:
    name = node.text("activation_type", "relu")
    if name == "swiglu":
        return _swiglu(node, inner, rows, third)
    if name in _PLAIN:
        inner = activate(node, inner, _PLAIN[name])
    elif name == "silu":
        inner = swish(node, inner)
    elif name != "identity":
        raise UnsupportedNodeError(f"activation_type is {name!r}")
    return inner if third is None else node.eltwise("MUL", inner, third.of(node, rows))


def _swiglu(node: Node, inner: Value, rows: Value, third: _Layer | None) -> Value:
    if node.flag("swiglu_limit_after_activation", False):
        raise UnsupportedNodeError("swiglu_limit_after_activation is 1")
    fusion = node.integer("swiglu_fusion", 0)
    width = node.shape(inner)[-1]
    if fusion == 0 and third is not None:
        gate, other = inner, third.of(node, rows)
    elif fusion == 1 and isinstance(width, int):
        gate, other = (
            node.make(
                "StridedSlice",
                [inner],
                {"axes": [2], "begins": [begin], "ends": [width], "strides": [2]},
            )
            for begin in range(2)
        )
    elif fusion == 2:
        gate, other = node.make_all("Split", [inner], {"axis": 2}, 2)
    else:
        raise UnsupportedNodeError(f"swiglu_fusion is {fusion}")
    if node.has("swiglu_limit"):
        limit = node.scalar(node.real("swiglu_limit", 0.0), inner)
        least = node.scalar(-node.real("swiglu_limit", 0.0), inner)
        gate, other = (node.eltwise("MIN", x, limit) for x in (gate, other))
        other = node.eltwise("MAX", other, least)
    gate = swish(node, gate, node.real("activation_alpha", 1.0))
    beta = node.scalar(node.real("activation_beta", 0.0), inner)
    return node.eltwise("MUL", gate, node.eltwise("ADD", other, beta))
