# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Shapes of elementwise operators, reductions and matrix products."""

from __future__ import annotations

from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.infer import INFERENCE, OutputType
from mace.python.tools.ir.shapes import (
    Dim,
    Shape,
    broadcast,
    compatible,
    format_shape,
    normalize_axis,
)
from mace.python.tools.ir.window import channel_axis

COMPARISONS = frozenset(
    {"EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"}
)
UNARY = frozenset(
    [
        "NEG",
        "ABS",
        "SQRT",
        "RSQRT",
        "SQUARE",
        "EXP",
        "LOG",
        "FLOOR",
        "CEIL",
        "ROUND",
        "SIGN",
        "RECIPROCAL",
        "ERF",
        "SIN",
        "COS",
    ]
)


@INFERENCE.register("Activation", "Identity")
def _same(op: Op) -> list[OutputType]:
    x = op.input(0)
    if op.type == "Activation" and op.attr("activation") == "PRELU":
        slope = op.input(1)
        channels = x.shape[channel_axis(op, len(x.shape))] if x.shape else None
        if slope.shape != (1,) and not compatible(slope.shape, (channels,)):
            raise ValueError(f"the slope must be [{channels}] or [1]")
    return [OutputType(x.dtype, x.shape)]


@INFERENCE.register("Softmax")
def _softmax(op: Op) -> list[OutputType]:
    x = op.input(0)
    if x.shape is not None:
        normalize_axis(op.attr("axis"), len(x.shape))
    return [OutputType(x.dtype, x.shape)]


@INFERENCE.register("Cast")
def _cast(op: Op) -> list[OutputType]:
    return [OutputType(DataType(op.attr("to").lower()), op.input(0).shape)]


@INFERENCE.register("Eltwise")
def _eltwise(op: Op) -> list[OutputType]:
    mode, a, b = op.attr("mode"), op.input(0), op.get_input(1)
    dtype = DataType.BOOL if mode in COMPARISONS else a.dtype
    if (b is None) != (mode in UNARY):
        raise ValueError(f"mode {mode} takes {1 if b else 2} inputs")
    if b is None:
        return [OutputType(dtype, a.shape)]
    if a.dtype is not b.dtype:
        raise ValueError(f"{a.dtype.value} and {b.dtype.value} operands")
    if a.shape is None or b.shape is None:
        return [OutputType(dtype, None)]
    return [OutputType(dtype, broadcast(a.shape, b.shape))]


@INFERENCE.register("Where")
def _where(op: Op) -> list[OutputType]:
    condition, a, b = (op.input(i) for i in range(3))
    if a.dtype is not b.dtype:
        raise ValueError(f"{a.dtype.value} and {b.dtype.value} operands")
    if condition.shape is None or a.shape is None or b.shape is None:
        return [OutputType(a.dtype, None)]
    return [
        OutputType(a.dtype, broadcast(condition.shape, broadcast(a.shape, b.shape)))
    ]


@INFERENCE.register("OneHot")
def _one_hot(op: Op) -> list[OutputType]:
    indices, values = op.input(0), op.input(1)
    if not compatible(values.shape, (2,)):
        raise ValueError(f"the values must be [2], not {format_shape(values.shape)}")
    if indices.shape is None:
        return [OutputType(values.dtype, None)]
    axis = normalize_axis(op.attr("axis"), len(indices.shape) + 1)
    dims = list(indices.shape)
    dims.insert(axis, op.attr("depth"))
    return [OutputType(values.dtype, tuple(dims))]


@INFERENCE.register("Reduce")
def _reduce(op: Op) -> list[OutputType]:
    x = op.input(0)
    if x.shape is None:
        return [OutputType(x.dtype, None)]
    rank = len(x.shape)
    axes = {normalize_axis(a, rank) for a in op.attr("axes")}
    axes = axes or set(range(rank))
    keep = op.attr("keep_dims")
    dims: list[Dim] = []
    for axis, dim in enumerate(x.shape):
        if axis not in axes:
            dims.append(dim)
        elif keep:
            dims.append(1)
    return [OutputType(x.dtype, tuple(dims))]


@INFERENCE.register("ArgMax")
def _arg_max(op: Op) -> list[OutputType]:
    x = op.input(0)
    if x.shape is None:
        return [OutputType(DataType.INT32, None)]
    axis = normalize_axis(op.attr("axis"), len(x.shape))
    if x.shape[axis] == 0:
        raise ValueError(f"axis {axis} of {format_shape(x.shape)} has length 0")
    return [OutputType(DataType.INT32, (*x.shape[:axis], 1, *x.shape[axis + 1 :]))]


@INFERENCE.register("FullyConnected")
def _fully_connected(op: Op) -> list[OutputType]:
    x, weights = op.input(0), op.input(1)
    if weights.shape is None or len(weights.shape) != 2:
        raise ValueError("the weights must have 2 dimensions")
    out, depth = weights.shape
    bias = op.get_input(2)
    if bias is not None and not compatible(bias.shape, (out,)):
        raise ValueError(f"the bias must be [{out}]")
    if x.shape is None:
        return [OutputType(x.dtype, None)]
    if not x.shape or not compatible(x.shape[-1:], (depth,)):
        raise ValueError(f"the innermost dimension must be {depth}")
    return [OutputType(x.dtype, (*x.shape[:-1], out))]


@INFERENCE.register("Quantize")
def _quantize(op: Op) -> list[OutputType]:
    return [OutputType(DataType(op.attr("to").lower()), _quantized(op))]


@INFERENCE.register("Dequantize")
def _dequantize(op: Op) -> list[OutputType]:
    return [OutputType(DataType.FLOAT32, _quantized(op))]


def _quantized(op: Op) -> Shape | None:
    """The shape of what has that scale."""
    shape, scale = op.input(0).shape, op.input(1).shape
    if shape is not None and scale not in (None, (), (1,)):
        length = shape[normalize_axis(op.attr("axis"), len(shape))]
        if not compatible(scale, (length,)):
            raise ValueError(f"the scale must be [{length}] or [1]")
    return shape


@INFERENCE.register("MatMul", "MatMulInteger")
def _matmul(op: Op) -> list[OutputType]:
    a, b = op.input(0), op.input(1)
    integers = op.type == "MatMulInteger"
    dtype = DataType.INT32 if integers else a.dtype
    if a.shape is None or b.shape is None:
        return [OutputType(dtype, None)]
    if len(a.shape) < 2 or len(b.shape) < 2:
        raise ValueError("both operands need 2 dimensions or more")
    (m, k), (k2, n) = a.shape[-2:], b.shape[-2:]
    if not integers and op.attr("transpose_a"):
        m, k = k, m
    if not integers and op.attr("transpose_b"):
        k2, n = n, k2
    if not compatible((k,), (k2,)):
        raise ValueError(
            f"{format_shape(a.shape)} and {format_shape(b.shape)} do not chain"
        )
    batch = broadcast(a.shape[:-2], b.shape[:-2])
    return [OutputType(dtype, (*batch, m, n))]
