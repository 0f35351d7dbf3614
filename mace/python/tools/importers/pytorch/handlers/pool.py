# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Pooling."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

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
    count = len(sizes)
    if all(size == 1 for size in sizes):
        return c.op("GlobalMaxPool" if maximum else "GlobalAveragePool", x)
    lengths = c.static_shape(x)[2:]
    if all(length % size == 0 for length, size in zip(lengths, sizes)):
        kernel = [length // size for length, size in zip(lengths, sizes)]
        if all(step == 1 for step in kernel):
            return x
        op_type = "MaxPool" if maximum else "AveragePool"
        return c.op(op_type, x, kernel_shape=kernel, strides=kernel)
    # One axis after the other: windows of unequal sizes.
    for axis, (length, size) in enumerate(zip(lengths, sizes), 2):
        begins = [index * length // size for index in range(size)]
        ends = [-(-(index + 1) * length // size) for index in range(size)]
        if maximum:
            parts = [
                c.op("ReduceMax", c.slice(x, axis, b, e), [axis], keepdims=1)
                for b, e in zip(begins, ends)
            ]
            x = c.concat(parts, axis)
            continue
        weights = np.zeros((length, size), np.float32)
        for index, (b, e) in enumerate(zip(begins, ends)):
            weights[b:e, index] = 1 / (e - b)
        order = list(range(count + 2))
        order[axis], order[-1] = order[-1], order[axis]
        product = c.op("MatMul", c.transpose(x, order), c.constant(weights))
        x = c.transpose(product, order)
    return x
