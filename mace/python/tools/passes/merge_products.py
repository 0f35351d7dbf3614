# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Merges two consecutive products with constant matrices into one.

`(x W1 + b1) W2 + b2` is `x (W1 W2) + (b1 W2 + b2)`. The pass does so if the product
with `W1 W2` takes fewer multiply-adds than the two; a bottleneck, whose narrow middle
saves them, stays as it is. 1x1 convolutions are such products too, and a Reshape of
the leading dimensions may be between the two.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mace.python.tools.ir import Constant, Graph, Op, Value
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.op_rules.reshapes import reshape_attribute
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.match import (
    RESIDUAL,
    has_activation,
    is_pointwise,
    only_reader,
    producer,
)

# Numbers of a matrix that are in float64 at one time.
_PART = 1 << 20


class MergeProducts(Pass):
    """FullyConnected or 1x1 Conv2D after another to a single one."""

    name = "merge_products"
    requires = ("sink_resizes",)

    def run(self, graph: Graph) -> int:
        return sum(_rewrite(graph, op) for op in graph.ops if _is_product(op))


def _is_product(op: Op) -> bool:
    if op.type == "Conv2D":
        return is_pointwise(op)
    return op.type == "FullyConnected"


def _rewrite(graph: Graph, second: Op) -> bool:
    between = second.input(0)
    reshape = producer(between, "Reshape")
    if reshape is not None:
        if not _keeps_channels(reshape) or only_reader(graph, between) is None:
            return False
        between = reshape.input(0)
    first = between.producer
    if first is None or not _is_product(first) or only_reader(graph, between) is None:
        return False
    if has_activation(first) or first.get_input(RESIDUAL) is not None:
        return False
    weights = [op.input(1).constant for op in (first, second)]
    if weights[0] is None or weights[1] is None:
        return False
    (middle, inner), outer = _matrix_shape(weights[0]), weights[1].shape[0]
    if inner * outer >= middle * (inner + outer):
        return False
    source = first.input(0)
    if reshape is not None:
        reshaped = _reshaped(graph, reshape, source, inner)
        if reshaped is None:
            return False
        source = reshaped
    bias = _bias(first, second, weights[1])
    if bias is not None:
        second.set_input(2, graph.add_constant(f"{second.name}/bias", bias))
    merged = _merged(weights[0], weights[1])
    second.set_input(1, graph.add_constant(f"{second.input(1).name}/merged", merged))
    second.set_input(0, source)
    return True


def _keeps_channels(reshape: Op) -> bool:
    before, after = reshape.input(0).shape, reshape.output.shape
    return bool(before and after and before[-1] == after[-1])


def _matrix_shape(weights: Constant) -> tuple[int, int]:
    """[outputs, inputs] of a matrix or a 1x1 filter."""
    return weights.shape[0], weights.shape[-1]


def _reshaped(graph: Graph, reshape: Op, source: Value, channels: int) -> Value | None:
    """`source` with the leading dimensions of the output of `reshape`."""
    assert reshape.output.shape is not None
    shape = (*reshape.output.shape[:-1], channels)
    wanted = reshape_attribute(source.shape, shape)
    if wanted is None:
        return None
    name = graph.unique_name(f"{reshape.output.name}/before")
    made = graph.add_value(name, source.dtype, shape)
    graph.add_op("Reshape", [source], [made], {"shape": wanted}, name)
    return made


def _merged(first: Constant, second: Constant) -> Constant:
    def multiply(weights: Array) -> Array:
        left = weights.reshape(_matrix_shape(second))
        right = first.numpy().reshape(_matrix_shape(first))
        return (
            _product(left, right).astype(second.dtype.numpy, copy=False).reshape(shape)
        )

    shape = (*second.shape[:-1], first.shape[-1])
    return second.map(multiply, shape)


def _bias(first: Op, second: Op, weights: Constant) -> Array | None:
    """The bias of the merged product; None if that of the second one remains."""
    before, after = first.get_input(2), second.get_input(2)
    if before is None:
        return None
    matrix = weights.numpy().reshape(_matrix_shape(weights))
    added = _product(matrix, before.numpy().reshape(-1, 1), np.float64)[:, 0]
    if after is not None:
        added = added + after.numpy()
    return np.asarray(added, np.float32)


def _product(left: Array, right: Array, dtype: type = np.float32) -> Array:
    """A product that is computed in float64, of which little is in memory at once."""
    result = np.empty((left.shape[0], right.shape[1]), dtype)
    for columns in _parts(right.shape[1], right.shape[0]):
        part = right[:, columns].astype(np.float64)
        for rows in _parts(*left.shape):
            result[rows, columns] = left[rows].astype(np.float64) @ part
    return result


def _parts(count: int, size: int) -> Iterator[slice]:
    """Parts of so many rows or columns of that size."""
    step = max(1, _PART // max(size, 1))
    for begin in range(0, count, step):
        yield slice(begin, begin + step)
