# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Products with matrices, and tables of vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.importers.emit.einsum import einsum
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import (
    HANDLERS,
    Context,
    has_variables,
    trainable,
)
from mace.python.tools.importers.keras.handlers.functions import activated
from mace.python.tools.importers.keras.layer import Layer
from mace.python.tools.importers.keras.masks import differs
from mace.python.tools.ir.dtypes import Array, DataType
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
    bias = (
        context.variable(1, kernel.shape[1:]) if layer.flag("use_bias", True) else None
    )
    context.give(activated(context, product(context, x, kernel, bias, "product")))


@has_variables("Dense")
def _dense_variables(layer: Layer) -> list[tuple[str, bool]]:
    return trainable(2 if layer.flag("use_bias", True) else 1)


@HANDLERS.register("EinsumDense")
def einsum_dense(context: Context) -> None:
    """A product by an equation."""
    layer, x = context.layer, context.floats()

    def make(
        op_type: str, inputs: Sequence[Value | None], attrs: Mapping[str, Any]
    ) -> Value:
        return context.step(op_type, inputs, op_type.lower(), **attrs)

    kernel = context.constant(context.variable(0), "kernel")
    y = einsum(make, layer.text("equation"), [x, kernel])
    if layer.has("bias_axes"):
        bias = context.constant(context.variable(1), "bias")
        y = context.step("Eltwise", [y, bias], "sum", mode="ADD")
    context.give(activated(context, y))


@has_variables("EinsumDense")
def _einsum_variables(layer: Layer) -> list[tuple[str, bool]]:
    return trainable(2 if layer.has("bias_axes") else 1)


@HANDLERS.register("Embedding")
def embedding(context: Context) -> None:
    """Rows of a table."""
    layer, indices = context.layer, context.input()
    if indices.dtype is not DataType.INT32:
        indices = context.step("Cast", [indices], "indices", to="INT32")
    table = context.variable(
        0, [layer.integer("input_dim"), layer.integer("output_dim")]
    )
    context.emit("Gather", [context.constant(table, "table"), indices], axis=0)
    if layer.flag("mask_zero"):
        context.gives_mask = differs(context, indices, 0)


@has_variables("Embedding")
def _embedding_variables(layer: Layer) -> list[tuple[str, bool]]:
    del layer
    return trainable(1)


@HANDLERS.register("ReversibleEmbedding")
def reversible(context: Context) -> None:
    """Rows of a table, or the products with all of them."""
    layer = context.layer
    if context.keywords.get("reverse") is not True:
        embedding(context)
        return
    if layer.flag("tie_weights", True):
        kernel = context.variable(0).T
    else:
        kernel = context.variable(1)
    y = product(context, context.floats(), kernel, None, "logits")
    if layer.has("logit_soft_cap"):
        bound = context.scalar(layer.number("logit_soft_cap"), "bound")
        y = context.step("Eltwise", [y, bound], "small", mode="DIV")
        y = context.step("Activation", [y], "capped", activation="TANH")
        y = context.step("Eltwise", [y, bound], "large", mode="MUL")
    context.gives_mask = False
    context.give(y)


@has_variables("ReversibleEmbedding")
def _reversible_variables(layer: Layer) -> list[tuple[str, bool]]:
    return trainable(1 if layer.flag("tie_weights", True) else 2)


@HANDLERS.register("LayerScale")
def layer_scale(context: Context) -> None:
    """A factor for each channel, in ConvNeXt of Keras' applications."""
    gamma = context.constant(context.variable(0, [None]), "gamma")
    context.emit("Eltwise", [context.floats(), gamma], mode="MUL")


@HANDLERS.register("CustomScaleLayer")
def scaled_sum(context: Context) -> None:
    """a + b * scale, in InceptionResNetV2 of Keras' applications."""
    scale = context.scalar(context.layer.number("scale"), "scale")
    scaled = context.step("Eltwise", [context.floats(1), scale], "scaled", mode="MUL")
    context.emit("Eltwise", [context.floats(0), scaled], mode="ADD")


@has_variables("LayerScale")
def _scale_variables(layer: Layer) -> list[tuple[str, bool]]:
    del layer
    return trainable(1)


@HANDLERS.register("Rescaling")
def rescaling(context: Context) -> None:
    """x * scale + offset."""
    x, layer = context.floats(), context.layer
    scale, offset = (
        _numbers(layer.config.get(key), key, default)
        for key, default in (("scale", 1.0), ("offset", 0.0))
    )
    x = context.step("Eltwise", [x, context.constant(scale)], "scaled", mode="MUL")
    if offset.any():
        number = context.constant(offset)
        x = context.step("Eltwise", [x, number], "moved", mode="ADD")
    context.give(x)


def _numbers(value: Any, key: str, default: float) -> Array:
    if isinstance(value, dict):  # a NumPy array of Keras 3
        config = value.get("config")
        value = config.get("value") if isinstance(config, dict) else None
    try:
        return np.asarray(default if value is None else value, np.float32)
    except (TypeError, ValueError):
        raise UnsupportedNodeError(f"{key} is {value!r}, not numbers") from None


@HANDLERS.register("Normalization")
def normalization(context: Context) -> None:
    """(x - mean) / deviation, with those of the data that the layer was shown."""
    x, layer = context.floats(), context.layer
    rank = context.rank(x)
    if layer.has("mean"):
        mean = _numbers(layer.config["mean"], "mean", 0.0)
        variance = _numbers(layer.config.get("variance"), "variance", 1.0)
    else:
        mean, variance = context.variable(0), context.variable(1)
        if mean.ndim:
            axes = sorted(context.axis(axis, x) for axis in layer.axes("axis"))
            dims = context.shape(x)
            shape = [dims[a] if a in axes else 1 for a in range(rank)]
            if mean.size != np.prod([d for d in shape if isinstance(d, int)]):
                raise UnsupportedNodeError(f"its mean has the shape {list(mean.shape)}")
            shape = [d if isinstance(d, int) else -1 for d in shape]
            mean, variance = mean.reshape(shape), variance.reshape(shape)
    # As Keras: no deviation is less than this.
    deviation = np.maximum(np.sqrt(variance), np.float32(1e-7))
    mean, deviation = (_leading(a, rank) for a in (mean, deviation))
    if layer.flag("invert"):
        y = context.step("Eltwise", [x, context.constant(deviation)], "y", mode="MUL")
        context.emit("Eltwise", [y, context.constant(mean)], mode="ADD")
        return
    y = context.step("Eltwise", [x, context.constant(mean)], "y", mode="SUB")
    context.emit("Eltwise", [y, context.constant(deviation)], mode="DIV")


def _leading(array: Array, rank: int) -> Array:
    """Without axes of length 1 that the input does not have."""
    while array.ndim > rank and array.shape[0] == 1:
        array = array[0]
    return array


@has_variables("Normalization")
def _normalization_variables(layer: Layer) -> list[tuple[str, bool]]:
    if layer.has("mean"):
        return []
    return [(f"vars/{index}", False) for index in range(3)]
