# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Pooling."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence

import numpy as np

from mace.python.tools.importers.frame.budget import check_made
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.pytorch.context import HANDLERS, Context
from mace.python.tools.importers.pytorch.handlers.layers import spread
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_FLOAT = DataType.FLOAT32


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
        factor = float(np.prod(kernel)) / divisor
        result = c.op("Mul", result, c.constant(factor, _FLOAT))
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
