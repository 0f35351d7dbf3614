# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of Keras that a model calls between layers: `x * 2`, `keras.ops.mean`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import HANDLERS, Context
from mace.python.tools.importers.keras.handlers.functions import function
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value

_BINARY = {
    "ops.Add": "ADD",
    "ops.Subtract": "SUB",
    "ops.Multiply": "MUL",
    "ops.Divide": "DIV",
    "ops.TrueDivide": "DIV",
    "ops.Maximum": "MAX",
    "ops.Minimum": "MIN",
    "ops.Power": "POW",
    "ops.Equal": "EQUAL",
    "ops.NotEqual": "NOT_EQUAL",
    "ops.Less": "LESS",
    "ops.LessEqual": "LESS_EQUAL",
    "ops.Greater": "GREATER",
    "ops.GreaterEqual": "GREATER_EQUAL",
}
_UNARY = {
    "ops.Negative": "NEG",
    "ops.Absolute": "ABS",
    "ops.Abs": "ABS",
    "ops.Sqrt": "SQRT",
    "ops.Rsqrt": "RSQRT",
    "ops.Square": "SQUARE",
    "ops.Exp": "EXP",
    "ops.Log": "LOG",
    "ops.Floor": "FLOOR",
    "ops.Ceil": "CEIL",
    "ops.Round": "ROUND",
    "ops.Sign": "SIGN",
    "ops.Reciprocal": "RECIPROCAL",
    "ops.Erf": "ERF",
    "ops.Sin": "SIN",
    "ops.Cos": "COS",
}
_ACTIVATIONS = {
    "ops.Relu": "relu",
    "ops.Relu6": "relu6",
    "ops.Sigmoid": "sigmoid",
    "ops.Tanh": "tanh",
    "ops.Silu": "silu",
    "ops.HardSilu": "hard_silu",
    "ops.HardSigmoid": "hard_sigmoid",
    "ops.Softplus": "softplus",
    "ops.Softsign": "softsign",
    "ops.Selu": "selu",
    "ops.LogSigmoid": "log_sigmoid",
}
_REDUCTIONS = {
    "ops.Mean": "MEAN",
    "ops.Sum": "SUM",
    "ops.Max": "MAX",
    "ops.Min": "MIN",
    "ops.Prod": "PROD",
}
_LOGICAL = {"ops.Any": "MAX", "ops.All": "MIN"}


def _operands(context: Context) -> list[Value]:
    """The first two arguments as tensors of one type."""
    given = [*context.arguments, *context.keywords.values()][:2]
    if len(given) != 2:
        raise UnsupportedNodeError(f"{len(given)} operands")
    values = [item for item in given if isinstance(item, Value)]
    is_integer = values and all(value.dtype is DataType.INT32 for value in values)
    integers = is_integer and context.layer.kind not in ("ops.Divide", "ops.TrueDivide")
    operands = []
    for item in given:
        if isinstance(item, Value):
            operands.append(item if integers else context.as_floats(item))
        else:
            array = array_of(item)
            whole = integers and array.dtype.kind in "iu"
            operands.append(
                context.constant(array.astype(np.int32 if whole else np.float32))
            )
    if integers and any(value.dtype is not DataType.INT32 for value in operands):
        operands = [context.as_floats(value) for value in operands]
    return operands


def array_of(item: Any) -> Array:
    """Numbers that a file has in a call."""
    if isinstance(item, Mapping):
        config = item.get("config")
        item = config.get("value") if isinstance(config, Mapping) else None
    array = np.asarray(item)
    if array.dtype.kind not in "iufb":
        raise UnsupportedNodeError(f"an operand is {item!r}")
    return array


@HANDLERS.register(*_BINARY)
def binary(context: Context) -> None:
    """Two operands that broadcast."""
    context.emit("Eltwise", _operands(context), mode=_BINARY[context.layer.kind])


@HANDLERS.register(*_UNARY)
def unary(context: Context) -> None:
    """One operand."""
    context.emit("Eltwise", [context.floats()], mode=_UNARY[context.layer.kind])


@HANDLERS.register(*_ACTIVATIONS)
def activation(context: Context) -> None:
    """Activations without parameters."""
    name = _ACTIVATIONS[context.layer.kind]
    context.give(function(context, context.floats(), name))


def argument(context: Context, index: int, name: str, default: Any = None) -> Any:
    """A setting: of the function, or of its call."""
    if name in context.keywords:
        return context.keywords[name]
    if index < len(context.arguments):
        return context.arguments[index]
    return context.layer.config.get(name, default)


@HANDLERS.register("ops.Softmax", "ops.LogSoftmax")
def softmax(context: Context) -> None:
    """Over one axis."""
    axis = argument(context, 1, "axis", -1)
    if not isinstance(axis, int):
        raise UnsupportedNodeError(f"axis is {axis!r}")
    is_log = context.layer.kind == "ops.LogSoftmax"
    context.emit("Softmax", [context.floats()], axis=axis, log=is_log)


@HANDLERS.register("ops.Gelu")
def gelu(context: Context) -> None:
    """Approximate unless the call says otherwise."""
    approximate = argument(context, 1, "approximate", True)
    name = "GELU_TANH" if approximate else "GELU"
    context.emit("Activation", [context.floats()], activation=name)


@HANDLERS.register("ops.Any", "ops.All", *_REDUCTIONS)
def reduction(context: Context) -> None:
    """Over some axes, or all."""
    x, axes = context.floats(), argument(context, 1, "axis")
    kind = context.layer.kind
    if kind in _LOGICAL:
        truth = context.step(
            "Eltwise", [x, context.scalar(0.0)], "truth", mode="NOT_EQUAL"
        )
        x = context.step("Cast", [truth], "numbers", to="FLOAT32")
    axes = [axes] if isinstance(axes, int) else axes
    if axes is None:
        axes = list(range(context.rank(x)))
    attrs = {
        "mode": _LOGICAL.get(kind) or _REDUCTIONS[kind],
        "axes": [context.axis(axis, x) for axis in axes],
        "keep_dims": bool(argument(context, 2, "keepdims", False)),
    }
    if kind in _LOGICAL:
        found = context.step("Reduce", [x], "found", **attrs)
        context.emit("Cast", [found], to="BOOL")
        return
    context.emit("Reduce", [x], **attrs)


@HANDLERS.register("ops.Reshape")
def reshape(context: Context) -> None:
    """All dimensions, also that of the batch."""
    x, shape = context.input(), argument(context, 1, "newshape")
    shape = argument(context, 1, "shape") if shape is None else shape
    if not isinstance(shape, list) or not all(
        isinstance(dim, int) or dim is None for dim in shape
    ):
        raise UnsupportedNodeError(f"the shape is {shape!r}")
    context.emit("Reshape", [x], shape=[-1 if dim is None else dim for dim in shape])


@HANDLERS.register("ops.Transpose")
def transpose(context: Context) -> None:
    """Axes in another order, or the reverse."""
    x, axes = context.input(), argument(context, 1, "axes")
    rank = context.rank(x)
    perm = list(range(rank))[::-1] if axes is None else [a % rank for a in axes]
    context.emit("Transpose", [x], perm=perm)


@HANDLERS.register("ops.ExpandDims")
def expand_dims(context: Context) -> None:
    """New axes of length 1."""
    axes = argument(context, 1, "axis")
    context.emit(
        "ExpandDims",
        [context.input()],
        axes=[axes] if isinstance(axes, int) else list(axes),
    )


@HANDLERS.register("ops.Squeeze")
def squeeze(context: Context) -> None:
    """Without axes of length 1."""
    x, axes = context.input(), argument(context, 1, "axis")
    if axes is None:
        axes = [a for a, dim in enumerate(context.fixed(x)) if dim == 1]
    axes = [axes] if isinstance(axes, int) else axes
    context.emit("Squeeze", [x], axes=[context.axis(axis, x) for axis in axes])


@HANDLERS.register("ops.Concatenate", "ops.Stack")
def joined(context: Context) -> None:
    """Along an axis that is there, or a new one."""
    values = context.inputs
    is_stack = context.layer.kind == "ops.Stack"
    axis = argument(context, 1, "axis", 0)
    context.emit("Stack" if is_stack else "Concat", values, axis=axis)


@HANDLERS.register("ops.Matmul")
def matmul(context: Context) -> None:
    """A product of matrices."""
    context.emit("MatMul", _operands(context))


@HANDLERS.register("ops.Clip")
def clip(context: Context) -> None:
    """Between two numbers."""
    low, high = (argument(context, i + 1, n) for i, n in enumerate(("x_min", "x_max")))
    x = context.floats()
    for number, mode in ((low, "MAX"), (high, "MIN")):
        if not isinstance(number, (int, float)):
            raise UnsupportedNodeError(f"a limit is {number!r}")
        limit = context.scalar(float(number))
        x = context.step("Eltwise", [x, limit], mode.lower(), mode=mode)
    context.give(x)


@HANDLERS.register("ops.GetItem")
def get_item(context: Context) -> None:
    """Slices, as `x[:, 1:]` writes them."""
    x, key = context.input(), argument(context, 1, "key")
    parts = key if isinstance(key, list) else [key]
    rank = context.rank(x)
    axes: list[int] = []
    begins: list[int] = []
    ends: list[int] = []
    strides: list[int] = []
    dropped: list[int] = []
    axis = 0
    for number, part in enumerate(parts):
        if _kind(part) == "__ellipsis__":
            axis = rank - (len(parts) - number - 1)
            continue
        if isinstance(part, int) and not isinstance(part, bool):
            begin, end, stride = part, part + 1 if part != -1 else 2**31 - 1, 1
            dropped.append(axis)
        elif _kind(part) == "slice":
            begin, end, stride = _slice(part)
        else:
            raise UnsupportedNodeError(f"an index is {part!r}")
        axes.append(axis)
        begins.append(begin)
        ends.append(end)
        strides.append(stride)
        axis += 1
    if axis > rank or not axes:
        raise UnsupportedNodeError(f"{len(parts)} indices of {rank} dimensions")
    context.emit(
        "StridedSlice",
        [x],
        axes=axes,
        begins=begins,
        ends=ends,
        strides=strides,
        shrink_axes=dropped,
    )


def _kind(part: Any) -> str:
    kind = part.get("class_name") if isinstance(part, Mapping) else None
    return kind.strip("_") if kind == "__slice__" else str(kind or "")


def _slice(part: Mapping[str, Any]) -> tuple[int, int, int]:
    config = part.get("config")
    config = config if isinstance(config, Mapping) else {}
    begin, end, step = (config.get(key) for key in ("start", "stop", "step"))
    stride = 1 if step is None else step
    backward = isinstance(stride, int) and stride < 0
    begin = (-1 if backward else 0) if begin is None else begin
    end = (-(2**31) if backward else 2**31 - 1) if end is None else end
    if not all(isinstance(v, int) for v in (begin, end, stride)) or not stride:
        raise UnsupportedNodeError(f"a slice of {begin}, {end}, {stride}")
    return begin, end, stride
