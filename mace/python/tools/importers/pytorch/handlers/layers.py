# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolutions and normalisations."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.pytorch.context import HANDLERS, Context
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_FLOAT = DataType.FLOAT32
_TRAINING_HINT = "export after model.eval()"


def spread(numbers: list[int], count: int) -> list[int]:
    """One number stands for all spatial dimensions."""
    if len(numbers) == count:
        return numbers
    if len(numbers) == 1:
        return numbers * count
    raise UnsupportedNodeError(f"{numbers} for {count} spatial dimensions")


@HANDLERS.register(
    "aten.conv1d",
    "aten.conv2d",
    "aten.conv3d",
    "aten.convolution",
    "aten._convolution",
    "aten.conv_transpose1d",
    "aten.conv_transpose2d",
    "aten.conv_transpose3d",
)
def _convolution(c: Context) -> None:
    x, weight, bias = c.value("input"), c.value("weight"), c.optional("bias")
    count = c.rank(weight) - 2
    transposed = "transpose" in c.operator or c.flag("transposed")
    stride, dilation = (
        spread(c.integers(name, [1]), count) for name in ("stride", "dilation")
    )
    kernel = c.static_shape(weight)[2:]
    pads = _pads(c, list(kernel), dilation)
    extra = spread(c.integers("output_padding", [0]), count)
    batched = c.rank(x) == count + 2
    if not batched:
        x = c.unsqueeze(x, 0)
    common = {
        "kernel_shape": list(kernel),
        "strides": stride,
        "dilations": dilation,
        "pads": pads,
        "group": c.integer("groups", 1),
    }
    inputs = [x, weight] if bias is None else [x, weight, bias]
    if transposed:
        result = c.op("ConvTranspose", *inputs, output_padding=extra, **common)
    else:
        result = c.op("Conv", *inputs, **common)
    c.give(result if batched else c.squeeze(result, 0))


def _pads(c: Context, kernel: list[int], dilation: list[int]) -> list[int]:
    count = len(kernel)
    if not isinstance(c.raw("padding"), str):
        pads = spread(c.integers("padding", [0]), count)
        return [*pads, *pads]
    if c.text("padding", "valid") == "valid":
        return [0] * (2 * count)
    totals = [step * (size - 1) for size, step in zip(kernel, dilation)]
    begins = [total // 2 for total in totals]
    return [*begins, *(total - begin for total, begin in zip(totals, begins))]


@HANDLERS.register(
    "aten.batch_norm",
    "aten._native_batch_norm_legit_no_training",
    "aten._native_batch_norm_legit",
    "aten.instance_norm",
)
def _batch_norm(c: Context) -> None:
    x = c.value("input")
    mean, variance = c.optional("running_mean"), c.optional("running_var")
    epsilon = c.number("eps", 1e-5)
    if c.operator == "instance_norm":
        from_input = c.flag("use_input_stats", True)
    else:
        from_input = c.flag("training")
    channels = c.length(x, 1)
    weight = c.optional("weight")
    bias = c.optional("bias")
    weight = c.constant(np.ones(channels, np.float32)) if weight is None else weight
    bias = c.constant(np.zeros(channels, np.float32)) if bias is None else bias
    if from_input:
        if c.operator != "instance_norm" and (mean is not None or c.length(x, 0) != 1):
            raise UnsupportedNodeError("training is True", _TRAINING_HINT)
        # The statistics of a batch of one are those of the instance.
        result = c.op("InstanceNormalization", x, weight, bias, epsilon=epsilon)
        c.give(result, *[None] * (c.outputs - 1))
        return
    if mean is None or variance is None:
        raise UnsupportedNodeError("there are no running statistics", _TRAINING_HINT)
    inputs = [x, weight, bias, mean, variance]
    result = c.op("BatchNormalization", *inputs, epsilon=epsilon)
    empty = c.constant(np.zeros(0, np.float32))
    c.give(result, *[empty] * (c.outputs - 1))


@HANDLERS.register("aten.layer_norm", "aten.native_layer_norm")
def _layer_norm(c: Context) -> None:
    x = c.value("input")
    shape = c.integers("normalized_shape")
    weight, bias = c.optional("weight"), c.optional("bias")
    if weight is None:
        weight = c.constant(np.ones(shape, np.float32))
    axis = c.rank(x) - len(shape)
    epsilon = c.number("eps", 1e-5)
    inputs = [x, weight] if bias is None else [x, weight, bias]
    c.give(
        *c.op_all("LayerNormalization", inputs, c.outputs, axis=axis, epsilon=epsilon)
    )


@HANDLERS.register("aten.rms_norm")
def _rms_norm(c: Context) -> None:
    x = c.value("input")
    shape = c.integers("normalized_shape")
    weight = c.optional("weight")
    if weight is None:
        weight = c.constant(np.ones(shape, np.float32))
    epsilon = c.number("eps", float(np.finfo(np.float32).eps))
    # ONNX has the operator since set 23; this is its definition.
    axes = list(range(c.rank(x) - len(shape), c.rank(x)))
    square = c.op("ReduceMean", c.op("Mul", x, x), axes, keepdims=1)
    root = c.op("Sqrt", c.op("Add", square, c.constant(epsilon, _FLOAT)))
    scaled = c.op("Mul", x, c.op("Reciprocal", root))
    c.give(c.op("Mul", scaled, weight), *[None] * (c.outputs - 1))


@HANDLERS.register("aten.group_norm", "aten.native_group_norm")
def _group_norm(c: Context) -> None:
    x = c.value("input")
    native = "native" in c.operator
    groups = c.integer("group" if native else "num_groups")
    channels = c.length(x, 1)
    weight, bias = c.optional("weight"), c.optional("bias")
    weight = c.constant(np.ones(channels, np.float32)) if weight is None else weight
    bias = c.constant(np.zeros(channels, np.float32)) if bias is None else bias
    epsilon = c.number("eps", 1e-5)
    result = c.op(
        "GroupNormalization", x, weight, bias, num_groups=groups, epsilon=epsilon
    )
    c.give(result, *[None] * (c.outputs - 1))


@HANDLERS.register("aten.cosine_similarity")
def _cosine_similarity(c: Context) -> None:
    a, b = c.value("x1"), c.value("x2")
    axis = [c.axis(c.integer("dim", 1), c.rank(a))]
    epsilon = c.constant(c.number("eps", 1e-8), _FLOAT)

    def norm(value: Value) -> Value:
        return c.op("Max", c.op("ReduceL2", value, axis, keepdims=0), epsilon)

    dot = c.op("ReduceSum", c.op("Mul", a, b), axis, keepdims=0)
    c.give(c.op("Div", dot, c.op("Mul", norm(a), norm(b))))


@HANDLERS.register("aten._weight_norm")
def _weight_norm(c: Context) -> None:
    v, g = c.value("v"), c.value("g")
    rank = c.rank(v)
    kept = c.axis(c.integer("dim", 0), rank)
    axes = [axis for axis in range(rank) if axis != kept]
    norm = c.op("ReduceL2", v, axes, keepdims=1)
    c.give(c.op("Mul", v, c.op("Div", g, norm)))
