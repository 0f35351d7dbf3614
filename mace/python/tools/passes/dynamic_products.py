# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Turns a product whose operand the run quantizes into one operator.

What ONNX Runtime's `quantize_dynamic` writes for a MatMul by a constant:

    q, s, z = DynamicQuantizeLinear(x)
    y = Cast(MatMulInteger(q, W, z, zw)) * (s * sw) + bias

The importer expresses DynamicQuantizeLinear by operators on the extremes of x.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mace.python.tools.ir import Constant, Graph, Op, Value
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.match import (
    eltwise,
    is_scalar,
    only_reader,
    other_operand,
    per_channel,
    producer,
)

_LEVELS = 255
_BIAS = 4


class DynamicProducts(Pass):
    """MatMulInteger of a tensor that the run quantizes, its scales and its bias, to
    DynamicQuantizeMatMul.
    """

    name = "dynamic_products"
    requires = ("fold_constants",)

    def run(self, graph: Graph) -> int:
        return sum(
            _rewrite(graph, op) or _add_bias(graph, op)
            for op in graph.ops
            if op in graph and op.type == "Eltwise"
        )


@dataclass(frozen=True)
class _Product:
    """A product of integers by a constant.

    Attributes:
        x: what is quantized.
        scale: its scale.
        weights: int8 [K, N].
        zeros: those of the weights, [1] or [N]; None: 0.
    """

    x: Value
    scale: Value
    weights: Constant
    zeros: Array | None


def _rewrite(graph: Graph, op: Op) -> bool:
    """Where the sums become floats."""
    if eltwise(op.output, "MUL") is not op:
        return False
    for index in (0, 1):
        found = _product(graph, op.input(index))
        if found is None:
            continue
        columns = found.weights.shape[1]
        scales = _weight_scales(op.input(1 - index), found.scale, columns)
        if scales is None:
            continue
        name = op.name
        inputs = [
            found.x,
            graph.add_constant(f"{name}/weights", found.weights),
            graph.add_constant(f"{name}/scales", scales),
        ]
        if found.zeros is not None:
            inputs.append(graph.add_constant(f"{name}/zeros", found.zeros))
        graph.replace_op(op, "DynamicQuantizeMatMul", inputs, {"range": "TENSOR"})
        return True
    return False


def _product(graph: Graph, value: Value) -> _Product | None:
    """The product whose sums become `value`."""
    cast = producer(value, "Cast")
    if cast is None or only_reader(graph, value) is None:
        return None
    op = producer(cast.input(0), "MatMulInteger")
    if op is None or only_reader(graph, cast.input(0)) is None:
        return None
    if cast.output.dtype is not DataType.FLOAT32:
        return None
    quantized = _quantized(op.input(0), op.get_input(2))
    weights = op.input(1).constant
    if quantized is None or weights is None:
        return None
    if len(weights.shape) != 2 or 0 in weights.shape:
        return None
    zeros = op.get_input(3)
    if zeros is None:
        return _Product(*quantized, *_signed(weights, None))
    if zeros.constant is None or zeros.constant.size not in (1, weights.shape[1]):
        return None
    return _Product(*quantized, *_signed(weights, zeros.numpy().reshape(-1)))


def _signed(weights: Constant, zeros: Array | None) -> tuple[Constant, Array | None]:
    """The same numbers as int8."""
    if weights.dtype is DataType.UINT8:
        weights = weights.map(
            lambda w: (w ^ np.uint8(0x80)).view(np.int8), dtype=DataType.INT8
        )
        zeros = np.zeros(1, np.uint8) if zeros is None else zeros
        zeros = (zeros ^ np.uint8(0x80)).view(np.int8)
    return weights, zeros if zeros is not None and zeros.any() else None


def _weight_scales(value: Value, scale: Value, columns: int) -> Array | None:
    """The other factor of the product of `scale` and a constant: one number, or one for
    each column.
    """
    both = eltwise(value, "MUL")
    factor = None if both is None else other_operand(both, scale)
    if factor is None or factor.constant is None:
        return None
    if factor.dtype is not DataType.FLOAT32:
        return None
    found = factor.numpy().reshape(-1)
    fits = found.size == 1 or factor.constant.shape[-1:] == (columns,) == found.shape
    return np.asarray(found, np.float32) if fits else None


def _quantized(value: Value, zero: Value | None) -> tuple[Value, Value] | None:
    """What `value` quantizes, and its scale, where these are those of
    DynamicQuantizeLinear.
    """
    op = producer(value, "Quantize")
    if op is None or op.output.dtype is not DataType.UINT8 or len(op.inputs) < 3:
        return None
    x, scale = op.input(0), op.input(1)
    if zero is None or op.get_input(2) is not zero:
        return None
    return (x, scale) if _is_scale(scale, x) and _is_zero(zero, scale, x) else None


def _is_scale(value: Value, x: Value) -> bool:
    """1 if all of x are 0, otherwise (high - low) / 255."""
    where = producer(value, "Where")
    if where is None or not is_scalar(where.input(1), 1):
        return False
    step = eltwise(where.input(2), "DIV")
    if step is None or not is_scalar(step.input(1), _LEVELS):
        return False
    span = step.input(0)
    empty = eltwise(where.input(0), "EQUAL")
    if empty is None or empty.input(0) is not span or not is_scalar(empty.input(1), 0):
        return False
    difference = eltwise(span, "SUB")
    return (
        difference is not None
        and _is_extreme(difference.input(0), x, "MAX")
        and _is_extreme(difference.input(1), x, "MIN")
    )


def _is_zero(value: Value, scale: Value, x: Value) -> bool:
    """round((0 - low) / scale)."""
    cast = producer(value, "Cast")
    rounded = None if cast is None else eltwise(cast.input(0), "ROUND")
    quotient = None if rounded is None else eltwise(rounded.input(0), "DIV")
    if quotient is None or quotient.input(1) is not scale:
        return False
    return _is_minus(quotient.input(0), lambda low: _is_extreme(low, x, "MIN"))


def _is_minus(value: Value, check: Callable[[Value], bool]) -> bool:
    negated = eltwise(value, "NEG")
    if negated is not None:
        return check(negated.input(0))
    difference = eltwise(value, "SUB")
    return (
        difference is not None
        and is_scalar(difference.input(0), 0)
        and check(difference.input(1))
    )


def _is_extreme(value: Value, x: Value, mode: str) -> bool:
    """The least or the greatest of x and 0."""
    bounded = eltwise(value, mode)
    relu = producer(value, "Activation")
    if bounded is not None and is_scalar(bounded.input(1), 0):
        inner = bounded.input(0)
    elif mode == "MAX" and relu is not None and relu.attr("activation") == "RELU":
        inner = relu.input(0)
    else:
        return False
    reduce = producer(inner, "Reduce")
    return (
        reduce is not None
        and reduce.input(0) is x
        and reduce.attr("mode") == mode
        and not reduce.attr("axes")
    )


def _add_bias(graph: Graph, op: Op) -> bool:
    if eltwise(op.output, "ADD") is not op:
        return False
    for index in (0, 1):
        product = producer(op.input(index), "DynamicQuantizeMatMul")
        if product is None or only_reader(graph, product.output) is not op:
            continue
        if len(product.inputs) > _BIAS:
            continue
        columns = product.input(1).shape
        assert columns is not None and isinstance(columns[1], int)
        bias = per_channel(op.input(1 - index), columns[1])
        if bias is None or op.output.rank != product.output.rank:
            continue
        graph.merge_into(product, op)
        product.set_input(
            _BIAS,
            graph.add_constant(f"{product.name}/bias", bias.astype(np.float32)),
        )
        return True
    return False
