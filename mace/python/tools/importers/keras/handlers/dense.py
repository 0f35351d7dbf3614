# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Products with matrices, and tables of vectors."""

from __future__ import annotations

from mace.python.tools.importers.emit.einsum import einsum
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import (
    HANDLERS,
    Context,
    count_variables,
    with_bias,
)
from mace.python.tools.importers.keras.handlers.functions import activated
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Value


def product(
    context: Context, x: Value, kernel: Array, bias: Array | None, suffix: str
) -> Value:
    """x [..., K] times kernel [K, O], plus bias."""
    inputs = [x, context.constant(kernel.T, f"{suffix}_weights")]
    if bias is not None:
        inputs.append(context.constant(bias, f"{suffix}_bias"))
    return context.step("FullyConnected", inputs, suffix)


@HANDLERS.register("Dense")
def dense(context: Context) -> None:
    """Of the last axis."""
    layer, x = context.layer, context.floats()
    if layer.has("lora_rank"):
        raise UnsupportedNodeError("it has a LoRA adapter", "merge it and save again")
    kernel = context.variable(0, [None, layer.integer("units")])
    has_bias = layer.flag("use_bias", True)
    bias = context.variable(1, kernel.shape[1:]) if has_bias else None
    context.give(activated(context, product(context, x, kernel, bias, "product")))


@HANDLERS.register("EinsumDense")
def einsum_dense(context: Context) -> None:
    """A product by an equation."""
    layer, x = context.layer, context.floats()
    kernel = context.constant(context.variable(0), "kernel")
    y = einsum(context.make, layer.text("equation"), [x, kernel])
    if layer.has("bias_axes"):
        y = context.eltwise("ADD", y, context.variable(1))
    context.give(activated(context, y))


@HANDLERS.register("Embedding")
def embedding(context: Context) -> None:
    """Rows of a table."""
    layer, indices = context.layer, context.as_integers(context.input())
    shape = [layer.integer("input_dim"), layer.integer("output_dim")]
    table = context.constant(context.variable(0, shape), "table")
    context.emit("Gather", [table, indices], axis=0)
    if layer.flag("mask_zero"):
        context.gives_mask = context.differs(indices, 0)


@HANDLERS.register("ReversibleEmbedding")
def reversible(context: Context) -> None:
    """Rows of a table, or the products with all of them."""
    layer = context.layer
    if context.keywords.get("reverse") is not True:
        embedding(context)
        return
    is_tied = layer.flag("tie_weights", True)
    kernel = context.variable(0).T if is_tied else context.variable(1)
    y = product(context, context.floats(), kernel, None, "logits")
    if layer.has("logit_soft_cap"):
        bound = layer.number("logit_soft_cap")
        y = context.eltwise("DIV", y, bound)
        y = context.step("Activation", [y], "capped", activation="TANH")
        y = context.eltwise("MUL", y, bound)
    context.gives_mask = False
    context.give(y)


@HANDLERS.register("LayerScale")
def layer_scale(context: Context) -> None:
    """A factor for each channel, in ConvNeXt of Keras' applications."""
    context.emit_eltwise("MUL", context.floats(), context.variable(0, [None]))


@HANDLERS.register("CustomScaleLayer")
def scaled_sum(context: Context) -> None:
    """a + b * scale, in InceptionResNetV2 of Keras' applications."""
    scaled = context.eltwise("MUL", context.floats(1), context.layer.number("scale"))
    context.emit_eltwise("ADD", context.floats(0), scaled)


count_variables("Dense", count=with_bias(1))
count_variables("EinsumDense", count=lambda layer: 1 + layer.has("bias_axes"))
count_variables("Embedding", "LayerScale", count=1)
count_variables(
    "ReversibleEmbedding", count=lambda layer: 2 - layer.flag("tie_weights", True)
)
