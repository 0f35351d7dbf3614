# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Elementwise operators, reductions, softmax and matrix products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import EVALUATORS
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.reference.activation import activate, erf
from mace.python.tools.ir.window import channel_axis

_UNARY: dict[str, Callable[[Array], Array]] = {
    "NEG": np.negative,
    "ABS": np.abs,
    "SQRT": np.sqrt,
    "RSQRT": lambda x: 1 / np.sqrt(x),
    "SQUARE": np.square,
    "EXP": np.exp,
    "LOG": np.log,
    "FLOOR": np.floor,
    "CEIL": np.ceil,
    "ROUND": np.rint,
    "SIGN": np.sign,
    "RECIPROCAL": lambda x: 1 / x,
    "ERF": erf,
    "SIN": np.sin,
    "COS": np.cos,
}
_BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "ADD": np.add,
    "SUB": np.subtract,
    "MUL": np.multiply,
    "MIN": np.minimum,
    "MAX": np.maximum,
    "POW": np.power,
    "SQR_DIFF": lambda a, b: np.square(a - b),
    "FLOOR_DIV": np.floor_divide,
    "FLOOR_MOD": np.mod,
    "EQUAL": np.equal,
    "NOT_EQUAL": np.not_equal,
    "LESS": np.less,
    "LESS_EQUAL": np.less_equal,
    "GREATER": np.greater,
    "GREATER_EQUAL": np.greater_equal,
}


@EVALUATORS.register("Eltwise")
def _eltwise(op: Op, inputs: Sequence[Any]) -> list[Array]:
    mode = op.attr("mode")
    if mode in _UNARY:
        result = _UNARY[mode](inputs[0])
    elif mode == "DIV":
        result = divide(inputs[0], inputs[1])
    else:
        result = _BINARY[mode](inputs[0], inputs[1])
    return [activate(op, result)]


@EVALUATORS.register("Where")
def _where(op: Op, inputs: Sequence[Any]) -> list[Array]:
    return [np.where(*inputs)]


@EVALUATORS.register("OneHot")
def _one_hot(op: Op, inputs: Sequence[Any]) -> list[Array]:
    indices, (off, on) = np.asarray(inputs[0]), inputs[1]
    depth, axis = op.attr("depth"), op.attr("axis")
    if op.attr("wrap"):
        indices = np.where(indices < 0, indices + depth, indices)
    rank = indices.ndim + 1
    places = np.arange(depth).reshape(
        [-1 if i == axis % rank else 1 for i in range(rank)]
    )
    met = np.expand_dims(indices, axis) == places
    return [np.where(met, on, off).astype(np.asarray(inputs[1]).dtype)]


def divide(a: Array, b: Array) -> Array:
    """a / b; integers divide towards zero, as in C++."""
    if np.issubdtype(a.dtype, np.integer):
        quotient = np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))
        return np.asarray(quotient, a.dtype)
    return np.asarray(a / b)


@EVALUATORS.register("BatchNorm")
def _batch_norm(op: Op, inputs: Sequence[Any]) -> list[Array]:
    x, scale, offset = (np.asarray(i, np.float64) for i in inputs)
    return [activate(op, _affine(op, x, scale, offset))]


@EVALUATORS.register("InstanceNorm")
def _instance_norm(op: Op, inputs: Sequence[Any]) -> list[Array]:
    x, scale, offset = (np.asarray(i, np.float64) for i in inputs)
    axes = tuple({*range(1, x.ndim)} - {channel_axis(op, x.ndim)})
    centred = x - x.mean(axis=axes, keepdims=True)
    variance = np.square(centred).mean(axis=axes, keepdims=True)
    normal = centred / np.sqrt(variance + op.attr("epsilon"))
    return [activate(op, _affine(op, normal, scale, offset))]


def _affine(op: Op, x: Array, scale: Array, offset: Array) -> Array:
    """x * scale + offset by channel."""
    after = (1,) * (x.ndim - 1 - channel_axis(op, x.ndim))
    return np.asarray(x * scale.reshape(-1, *after) + offset.reshape(-1, *after))


@EVALUATORS.register("Cast")
def _cast(op: Op, inputs: Sequence[Any]) -> list[Array]:
    return [inputs[0].astype(op.outputs[0].dtype.numpy)]


@EVALUATORS.register("Identity")
def _identity(op: Op, inputs: Sequence[Any]) -> list[Array]:
    return [inputs[0]]


@EVALUATORS.register("Softmax")
def _softmax(op: Op, inputs: Sequence[Any]) -> list[Array]:
    x, axis = inputs[0].astype(np.float64), op.attr("axis")
    x = x - x.max(axis, keepdims=True)
    total = np.exp(x).sum(axis, keepdims=True)
    return [x - np.log(total) if op.attr("log") else np.exp(x) / total]


@EVALUATORS.register("Reduce")
def _reduce(op: Op, inputs: Sequence[Any]) -> list[Array]:
    functions: dict[str, Callable[..., Array]] = {
        "MEAN": np.mean,
        "SUM": np.sum,
        "MAX": np.max,
        "MIN": np.min,
        "PROD": np.prod,
        "SUM_SQUARE": lambda x, **kw: np.sum(np.square(x), **kw),
        "L2": lambda x, **kw: np.sqrt(np.sum(np.square(x), **kw)),
    }
    x = inputs[0].astype(np.float64)
    axes = op.attr("axes") or tuple(range(x.ndim))
    function = functions[op.attr("mode")]
    return [function(x, axis=tuple(axes), keepdims=op.attr("keep_dims"))]


@EVALUATORS.register("ArgMax")
def _arg_max(op: Op, inputs: Sequence[Any]) -> list[Array]:
    x, axis = inputs[0], op.attr("axis")
    find = np.argmax if op.attr("mode") == "MAX" else np.argmin
    if not op.attr("last"):
        return [np.asarray(find(x, axis, keepdims=True))]
    from_behind = find(np.flip(x, axis), axis, keepdims=True)
    return [np.asarray(x.shape[axis] - 1 - from_behind)]


@EVALUATORS.register("FullyConnected")
def _fully_connected(op: Op, inputs: Sequence[Any]) -> list[Array]:
    x, weights = (np.asarray(i, np.float64) for i in inputs[:2])
    result = x @ weights.T
    if len(inputs) > 2:
        result = result + inputs[2]
    return [activate(op, result)]


@EVALUATORS.register("Quantize")
def _quantize(op: Op, inputs: Sequence[Any]) -> list[Array]:
    scale, zero = _quantization(op, inputs)
    bounds = np.iinfo(op.attr("to").lower())
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.nan_to_num(np.rint(inputs[0] / scale), posinf=np.inf, neginf=-np.inf)
    steps = steps + zero.astype(np.float32)
    return [np.clip(steps, bounds.min, bounds.max).astype(bounds.dtype)]


@EVALUATORS.register("Dequantize")
def _dequantize(op: Op, inputs: Sequence[Any]) -> list[Array]:
    scale, zero = _quantization(op, inputs)
    steps = np.asarray(inputs[0]).astype(np.int32) - zero.astype(np.int32)
    return [steps.astype(np.float32) * scale]


def _quantization(op: Op, inputs: Sequence[Any]) -> tuple[Array, Array]:
    """Scale and zero point, shaped to broadcast."""
    rank = np.ndim(inputs[0])
    scale = np.asarray(inputs[1])
    absent = len(inputs) < 3 or inputs[2] is None
    zero = np.zeros(scale.shape, np.int32) if absent else np.asarray(inputs[2])
    dims = [1] * rank
    if scale.size != 1:
        dims[op.attr("axis")] = -1
    return scale.reshape(dims), zero.reshape(dims)


@EVALUATORS.register("MatMulInteger")
def _matmul_integer(op: Op, inputs: Sequence[Any]) -> list[Array]:
    a, b = (np.asarray(i, np.int64) for i in inputs[:2])
    if len(inputs) > 2 and inputs[2] is not None:
        zero = np.asarray(inputs[2], np.int64)
        a = a - (zero.reshape(-1, 1) if zero.ndim else zero)
    if len(inputs) > 3 and inputs[3] is not None:
        b = b - np.asarray(inputs[3], np.int64)
    return [(a @ b).astype(np.int32)]


@EVALUATORS.register("MatMul")
def _matmul(op: Op, inputs: Sequence[Any]) -> list[Array]:
    a, b = (np.asarray(i, np.float64) for i in inputs[:2])
    if op.attr("transpose_a"):
        a = a.swapaxes(-1, -2)
    if op.attr("transpose_b"):
        b = b.swapaxes(-1, -2)
    return [a @ b]
