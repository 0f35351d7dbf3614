# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolutions, pooling and normalisations."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence

import numpy as np

from mace.python.tools.importers.frame.budget import check_made
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


@HANDLERS.register("aten.conv1d", "aten.conv2d", "aten.conv3d")
@HANDLERS.register("aten.convolution", "aten._convolution", "aten.conv_transpose1d")
@HANDLERS.register("aten.conv_transpose2d", "aten.conv_transpose3d")
def _convolution(c: Context) -> None:
    x, weight, bias = c.value("input"), c.value("weight"), c.optional("bias")
    count = c.rank(weight) - 2
    transposed = "transpose" in c.operator or c.flag("transposed")
    stride, dilation = (
        spread(c.integers(name, [1]), count) for name in ("stride", "dilation")
    )
    pads = _pads(c, weight, dilation)
    extra = spread(c.integers("output_padding", [0]), count)
    batched = c.rank(x) == count + 2
    attributes = {
        "strides": stride,
        "dilations": dilation,
        "pads": pads,
        "group": c.integer("groups", 1),
        "output_padding": extra if transposed else None,
    }
    op_type = "ConvTranspose" if transposed else "Conv"
    x = x if batched else c.unsqueeze(x, 0)
    result = c.op(op_type, x, weight, *_given(bias), **attributes)
    c.give(result if batched else c.squeeze(result, 0))


def _given(*values: Value | None) -> list[Value]:
    return [value for value in values if value is not None]


def _affine(c: Context, shape: Sequence[int]) -> tuple[Value, Value | None]:
    """The factors and offsets of a normalisation; no factors are ones."""
    weight, bias = c.optional("weight"), c.optional("bias")
    ones = np.ones(shape, np.float32)
    return c.constant(ones) if weight is None else weight, bias


def _pads(c: Context, weight: Value, dilation: list[int]) -> list[int]:
    count = len(dilation)
    if not isinstance(c.raw("padding"), str):
        pads = spread(c.integers("padding", [0]), count)
        return [*pads, *pads]
    if c.text("padding", "valid") == "valid":
        return [0] * (2 * count)
    sizes = [c.length(weight, axis) for axis in range(2, count + 2)]
    totals = [step * (size - 1) for size, step in zip(sizes, dilation)]
    begins = [total // 2 for total in totals]
    return [*begins, *(total - begin for total, begin in zip(totals, begins))]


@HANDLERS.register("aten.batch_norm", "aten._native_batch_norm_legit_no_training")
@HANDLERS.register("aten._native_batch_norm_legit", "aten.instance_norm")
def _batch_norm(c: Context) -> None:
    x = c.value("input")
    mean, variance = c.optional("running_mean"), c.optional("running_var")
    epsilon = c.number("eps", 1e-5)
    of_instance = c.operator == "instance_norm"
    from_input = c.flag("use_input_stats" if of_instance else "training", of_instance)
    weight, bias = _by_channel(c, x)
    if from_input:
        if not of_instance and (mean is not None or c.length(x, 0) != 1):
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


def _by_channel(c: Context, x: Value) -> tuple[Value, Value]:
    """A factor and an offset for each channel."""
    channels = c.length(x, 1)
    weight, bias = _affine(c, [channels])
    zeros = np.zeros(channels, np.float32)
    return weight, c.constant(zeros) if bias is None else bias


@HANDLERS.register("aten.layer_norm", "aten.native_layer_norm")
def _layer_norm(c: Context) -> None:
    x = c.value("input")
    shape = c.integers("normalized_shape")
    weight, bias = _affine(c, shape)
    inputs = [x, weight, *_given(bias)]
    numbers = {"axis": c.rank(x) - len(shape), "epsilon": c.number("eps", 1e-5)}
    c.give(*c.op_all("LayerNormalization", inputs, c.outputs, **numbers))


@HANDLERS.register("aten.rms_norm")
def _rms_norm(c: Context) -> None:
    x = c.value("input")
    shape = c.integers("normalized_shape")
    weight, _ = _affine(c, shape)
    epsilon = c.number("eps", float(np.finfo(np.float32).eps))
    # ONNX has the operator since set 23; this is its definition.
    axes = list(range(c.rank(x) - len(shape), c.rank(x)))
    square = c.op("ReduceMean", c.op("Mul", x, x), axes, keepdims=1)
    root = c.op("Sqrt", c.op("Add", square, epsilon))
    scaled = c.op("Mul", x, c.op("Reciprocal", root))
    c.give(c.op("Mul", scaled, weight), *[None] * (c.outputs - 1))


@HANDLERS.register("aten.group_norm", "aten.native_group_norm")
def _group_norm(c: Context) -> None:
    x = c.value("input")
    native = "native" in c.operator
    groups = c.integer("group" if native else "num_groups")
    weight, bias = _by_channel(c, x)
    numbers = {"num_groups": groups, "epsilon": c.number("eps", 1e-5)}
    result = c.op("GroupNormalization", x, weight, bias, **numbers)
    c.give(result, *[None] * (c.outputs - 1))


@HANDLERS.register("aten.cosine_similarity")
def _cosine_similarity(c: Context) -> None:
    a, b = c.value("x1"), c.value("x2")
    axis = [c.axis(c.integer("dim", 1), c.rank(a))]
    epsilon = c.number("eps", 1e-8)

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


# Pooling -----------------------------------------------------------------------


def _spatial(c: Context) -> int:
    """The number of spatial dimensions, which the operator's name ends with."""
    return int(c.operator.partition("d_with_indices")[0].removesuffix("d")[-1])


def _batched(c: Context, count: int) -> tuple[Value, bool]:
    x = c.value("self")
    if c.rank(x) == count + 2:
        return x, True
    return c.unsqueeze(x, 0), False


@HANDLERS.register(
    *(f"aten.max_pool{n}d" for n in (1, 2, 3)),
    *(f"aten.max_pool{n}d_with_indices" for n in (1, 2, 3)),
    *(f"aten.avg_pool{n}d" for n in (1, 2, 3)),
)
def _pool(c: Context) -> None:
    count = _spatial(c)
    x, batched = _batched(c, count)
    kernel = spread(c.integers("kernel_size"), count)
    stride = c.integers("stride", []) if c.has("stride") else []
    pads = spread(c.integers("padding", [0]), count)
    common = {
        "kernel_shape": kernel,
        "strides": spread(stride or kernel, count),
        "pads": [*pads, *pads],
        "ceil_mode": int(c.flag("ceil_mode")),
    }
    if c.operator.startswith("max"):
        dilation = spread(c.integers("dilation", [1]), count)
        # The operator of PyTorch that has indices has them even if nobody reads them.
        if c.is_read(1):
            result, places = c.op_all("MaxPool", [x], 2, dilations=dilation, **common)
            # ONNX counts from the first element of all, PyTorch from that of a plane.
            plane = c.constant(math.prod(c.static_shape(x)[2:]))
            results = [result, c.op("Mod", places, plane)]
        else:
            results = [c.op("MaxPool", x, dilations=dilation, **common)]
        results = [r if batched else c.squeeze(r, 0) for r in results]
        c.give(*results, *[None] * (c.outputs - len(results)))
        return
    include = c.flag("count_include_pad", True)
    result = c.op("AveragePool", x, count_include_pad=int(include), **common)
    if c.has("divisor_override"):
        divisor = c.integer("divisor_override")
        if common["ceil_mode"] or (not include and any(pads)):
            raise UnsupportedNodeError("divisor_override with windows of several sizes")
        result = c.op("Mul", result, math.prod(kernel) / divisor)
    c.give(result if batched else c.squeeze(result, 0))


@HANDLERS.register(
    *(f"aten.adaptive_avg_pool{n}d" for n in (1, 2, 3)),
    *(f"aten._adaptive_avg_pool{n}d" for n in (2, 3)),
    *(f"aten.adaptive_max_pool{n}d" for n in (1, 2, 3)),
)
def _adaptive(c: Context) -> None:
    count = _spatial(c)
    x, batched = _batched(c, count)
    maximum = "max" in c.operator
    sizes = spread(c.integers("output_size"), count)
    result = adaptive(c, x, sizes, maximum)
    c.give(result if batched else c.squeeze(result, 0), *[None] * (c.outputs - 1))


def adaptive(c: Context, x: Value, sizes: Sequence[int], maximum: bool) -> Value:
    """Windows of such sizes that there are as many results as asked for."""
    if all(size == 1 for size in sizes):
        return c.op("GlobalMaxPool" if maximum else "GlobalAveragePool", x)
    lengths = c.sizes_of(x)[2:]
    known = [length for length in lengths if isinstance(length, int)]
    if len(known) == len(sizes) and not any(map(operator.mod, known, sizes)):
        kernel = list(map(operator.floordiv, known, sizes))
        if all(step == 1 for step in kernel):
            return x
        op_type = "MaxPool" if maximum else "AveragePool"
        return c.op(op_type, x, kernel_shape=kernel, strides=kernel)
    # One axis after the other: windows of unequal sizes.
    for axis, size in enumerate(sizes, 2):
        if c.dim(x, axis) != size:
            x = (_largest if maximum else _mean)(c, x, axis, size)
    return x


def _largest(c: Context, x: Value, axis: int, count: int) -> Value:
    """The largest element of each window."""
    check_made(count)
    length = c.size(x, axis)
    parts = []
    for index in range(count):
        begin = c.compute("FLOOR_DIV", c.compute("MUL", length, index), count)
        whole = c.compute("ADD", c.compute("MUL", length, index + 1), count - 1)
        part = c.slice(x, axis, begin, c.compute("FLOOR_DIV", whole, count))
        parts.append(c.op("ReduceMax", part, [axis], keepdims=1))
    return c.concat(parts, axis)


def _mean(c: Context, x: Value, axis: int, count: int) -> Value:
    """The mean of each window: a product with a matrix that says what is in which."""
    length, rank = c.size(x, axis), c.rank(x)
    if isinstance(length, int):
        check_made(length, count)
    numbers = c.constant(np.arange(count))
    total = c.lengths.scalar(length)
    begins = c.floor_divided(c.op("Mul", numbers, total), c.constant(count))
    ahead = c.op("Add", c.op("Mul", c.constant(np.arange(count) + 1), total), count - 1)
    ends = c.floor_divided(ahead, c.constant(count))
    places = c.unsqueeze(c.positions(length), 1)
    behind, before = (c.op("Less", places, bound) for bound in (begins, ends))
    inside = c.op("Sub", c.cast(before, _FLOAT), c.cast(behind, _FLOAT))
    weights = c.op("Div", inside, c.cast(c.op("Sub", ends, begins), _FLOAT))
    order = list(range(rank))
    order[axis], order[-1] = order[-1], order[axis]
    product = c.op("MatMul", c.transpose(x, order), weights)
    return c.transpose(product, order)
