# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions that a model calls between layers: one table from the class of the function
to what computes it, mostly of operators of ONNX. All get the arguments of the call or,
where the file has them there, of the function's configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import HANDLERS, Context
from mace.python.tools.importers.keras.handlers.functions import function
from mace.python.tools.importers.keras.network import snake_case
from mace.python.tools.importers.standard.operators import Operators
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value

_BOOL = DataType.BOOL
_FLOAT = DataType.FLOAT32
_INT = DataType.INT32
_DTYPES = {
    "bool": _BOOL,
    **dict.fromkeys(("float16", "bfloat16", "float32", "float64"), _FLOAT),
    **dict.fromkeys(("int16", "int32", "int64", "uint16", "uint32"), _INT),
    "int8": DataType.INT8,
    "uint8": DataType.UINT8,
}


def _array_of(item: Any) -> Array:
    """Numbers that a file has in a call."""
    if isinstance(item, Mapping):
        config = item.get("config")
        item = config.get("value") if isinstance(config, Mapping) else None
    array = np.asarray(item)
    if array.dtype.kind not in "iufb":
        raise UnsupportedNodeError(f"an operand is {item!r}")
    return array


class Call(Operators):
    """One call of a function."""

    def __init__(self, context: Context) -> None:
        super().__init__(context.builder, context.name)
        self.context = context

    def get(self, index: int, name: str, default: Any = None) -> Any:
        """A setting: of the function, or of its call."""
        context = self.context
        if name in context.keywords:
            return context.keywords[name]
        if index < len(context.arguments):
            return context.arguments[index]
        return context.layer.config.get(name, default)

    def number(self, index: int, name: str, default: float) -> float:
        """A setting that is a number."""
        found = self.get(index, name, default)
        if isinstance(found, bool) or not isinstance(found, (int, float)):
            raise UnsupportedNodeError(f"{name} is {found!r}")
        return float(found)

    def tensor(self, index: int, name: str = "") -> Value:
        """An argument that is a tensor, or an array in the file."""
        found = self.get(index, name)
        return found if isinstance(found, Value) else self.constant(_array_of(found))

    def floats(self, index: int = 0, name: str = "") -> Value:
        """The same as float32."""
        return self.cast(self.tensor(index, name), _FLOAT)

    def truth(self, index: int) -> Value:
        """The same as bool."""
        return self.cast(self.tensor(index), _BOOL)

    def tensors(self) -> list[Value]:
        """All tensors of the call."""
        return self.context.inputs

    def operands(self, keep_integers: bool) -> list[Value]:
        """The first two arguments as tensors of one type: int32 if all are, else
        float32.
        """
        given = [*self.context.arguments, *self.context.keywords.values()][:2]
        if len(given) != 2:
            raise UnsupportedNodeError(f"{len(given)} operands")
        items = [v if isinstance(v, Value) else _array_of(v) for v in given]
        values = [item for item in items if isinstance(item, Value)]
        arrays = [item for item in items if not isinstance(item, Value)]
        whole = values and all(value.dtype is _INT for value in values)
        whole = whole and all(array.dtype.kind in "iu" for array in arrays)
        dtype = _INT if whole and keep_integers else _FLOAT
        return [
            self.cast(item, dtype)
            if isinstance(item, Value)
            else self.constant(item, dtype)
            for item in items
        ]

    def places(self, index: int, name: str, rank: int) -> list[int]:
        """Axes counted from the front; all without any."""
        if self.get(index, name) is None:
            return list(range(rank))
        return [self.axis(axis, rank) for axis in self.integers(index, name)]

    def along(
        self, x: Value, index: int = 1, default: int | None = None
    ) -> tuple[Value, int]:
        """A value and the axis of a function; a flat value where the axis is None."""
        if self.get(index, "axis", default) is None:
            return self.reshape(x, [-1]), 0
        axes = self.integers(index, "axis", default)
        if len(axes) != 1:
            raise UnsupportedNodeError(f"axis is {axes}")
        return x, self.axis(axes[0], self.rank(x))

    def integers(self, index: int, name: str, default: Any = None) -> list[int]:
        """A setting of one or several whole numbers."""
        found = self.get(index, name, default)
        items = found if isinstance(found, (list, tuple)) else [found]
        if not all(isinstance(v, int) and not isinstance(v, bool) for v in items):
            raise UnsupportedNodeError(f"{name} is {found!r}")
        return list(items)

    def keeps(self) -> int:
        """Whether reductions keep the axes."""
        return int(bool(self.get(2, "keepdims", False)))


# Gives a value or several.
Function = Callable[[Call], Any]


def _eltwise(mode: str) -> Function:
    return lambda c: c.context.eltwise(mode, c.floats())


def _binary(mode: str, keep_integers: bool = True) -> Function:
    return lambda c: c.context.eltwise(mode, *c.operands(keep_integers))


def _activation(name: str) -> Function:
    return lambda c: function(c.context, c.floats(), name)


def _logical(op_type: str) -> Function:
    return lambda c: c.op(op_type, c.truth(0), c.truth(1))


def _reduced(mode: str) -> Function:
    return lambda c: _reduction(mode, c, c.floats())


def _reduction(mode: str, c: Call, x: Value) -> Value:
    axes = c.places(1, "axis", c.rank(x))
    return c.op(f"Reduce{mode}", x, axes, keepdims=c.keeps())


# Functions of several kinds, by what comes first.


def _any(mode: str, c: Call) -> Value:
    """A reduction of truth values."""
    x = c.cast(c.cast(c.tensor(0), _BOOL), _FLOAT)
    return c.cast(_reduction(mode, c, x), _BOOL)


def _softmax(op_type: str, c: Call) -> Value:
    return c.op(op_type, c.floats(), axis=c.integers(1, "axis", -1)[0])


def _extreme(op_type: str, c: Call) -> Value:
    """The place of the largest or smallest element."""
    x, keep = c.floats(), c.keeps()
    among, axis = c.along(x)
    if among is not x and keep:
        found = c.op(op_type, among, axis=axis, keepdims=0)
        return c.reshape(found, [1] * c.rank(x))
    return c.op(op_type, among, axis=axis, keepdims=keep)


def _filled(number: float | None, c: Call) -> Value:
    """A tensor like x of one number, or of that of the call."""
    x = c.tensor(0)
    one = c.constant(number, x.dtype) if number is not None else c.tensor(1)
    return c.op("Expand", c.cast(one, x.dtype), c.lengths.listed(c.sizes_of(x)))


def _reshaped(c: Call) -> Value:
    """All dimensions, also that of the batch."""
    shape = c.get(1, "newshape")
    shape = c.get(1, "shape") if shape is None else shape
    if not isinstance(shape, list) or not all(
        isinstance(dim, int) or dim is None for dim in shape
    ):
        raise UnsupportedNodeError(f"the shape is {shape!r}")
    sizes = [-1 if dim is None else dim for dim in shape]
    return c.context.step("Reshape", [c.tensor(0)], shape=sizes)


def _transposed(c: Call) -> Value:
    """Axes in another order, or the reverse."""
    x, axes = c.tensor(0), c.get(1, "axes")
    rank = c.rank(x)
    perm = list(range(rank))[::-1] if axes is None else [a % rank for a in axes]
    return c.context.step("Transpose", [x], perm=perm)


def _squeezed(c: Call) -> Value:
    x, axes = c.tensor(0), c.get(1, "axis")
    if axes is None:
        ones = [a for a, dim in enumerate(c.context.fixed(x)) if dim == 1]
        return c.context.step("Squeeze", [x], axes=ones)
    return c.context.step("Squeeze", [x], axes=c.places(1, "axis", c.rank(x)))


def _clipped(c: Call) -> Value:
    x = c.floats()
    for index, name, mode in ((1, "x_min", "MAX"), (2, "x_max", "MIN")):
        number = c.get(index, name)
        if not isinstance(number, (int, float)):
            raise UnsupportedNodeError(f"a limit is {number!r}")
        x = c.context.eltwise(mode, x, float(number))
    return x


def _item(c: Call) -> Value:
    """Slices, as `x[:, 1:]` writes them."""
    x, key = c.tensor(0), c.get(1, "key")
    parts = key if isinstance(key, list) else [key]
    rank = c.rank(x)
    slices: list[tuple[int, int, int, int]] = []
    dropped: list[int] = []
    axis = 0
    for number, part in enumerate(parts):
        if _kind(part) == "__ellipsis__":
            axis = rank - (len(parts) - number - 1)
            continue
        if isinstance(part, int) and not isinstance(part, bool):
            slices.append((axis, part, part + 1 if part != -1 else 2**31 - 1, 1))
            dropped.append(axis)
        elif _kind(part) == "slice":
            slices.append((axis, *_slice(part)))
        else:
            raise UnsupportedNodeError(f"an index is {part!r}")
        axis += 1
    if axis > rank or not slices:
        raise UnsupportedNodeError(f"{len(parts)} indices of {rank} dimensions")
    axes, begins, ends, strides = map(list, zip(*slices))
    attrs: dict[str, Any] = {"axes": axes, "begins": begins, "ends": ends}
    attrs |= {"strides": strides, "shrink_axes": dropped}
    return c.context.step("StridedSlice", [x], **attrs)


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


def _variance(c: Call) -> Value:
    x = c.floats()
    axes = c.places(1, "axis", c.rank(x))
    mean = c.op("ReduceMean", x, axes, keepdims=1)
    far = c.op("Sub", x, mean)
    return c.op("ReduceMean", c.op("Mul", far, far), axes, keepdims=c.keeps())


def _normalized(c: Call) -> Value:
    x = c.floats()
    if c.number(2, "order", 2) != 2:
        raise UnsupportedNodeError(f"order is {c.get(2, 'order')}")
    axes = [c.axis(a, c.rank(x)) for a in c.integers(1, "axis")]
    least = c.get(3, "epsilon")
    length = c.op("ReduceL2", x, axes, keepdims=1)
    least = 1e-7 if least is None else float(least)
    return c.op("Div", x, c.op("Max", length, least))


def _tiled(c: Call) -> Value:
    x, times = c.tensor(0), c.integers(1, "repeats")
    more = len(times) - c.rank(x)
    x = c.unsqueeze(x, *range(more)) if more > 0 else x
    return c.op("Tile", x, [1] * -more + times)


def _padded(c: Call) -> Value:
    x, mode = c.tensor(0), c.get(2, "mode", "constant")
    given, rank = c.get(1, "pad_width"), c.rank(x)
    pairs = np.asarray(given)
    if pairs.dtype.kind not in "iu" or pairs.size not in (1, 2, 2 * rank):
        raise UnsupportedNodeError(f"pad_width is {given!r}")
    if mode not in ("constant", "reflect"):
        raise UnsupportedNodeError(f"mode is {mode!r}")
    pairs = np.broadcast_to(pairs.reshape(-1, min(pairs.size, 2)), (rank, 2))
    number = c.get(3, "constant_values")
    filler = None
    if mode == "constant":
        filler = c.constant(_array_of(0 if number is None else number), x.dtype)
    return c.op("Pad", x, pairs.T.reshape(-1), filler, mode=mode)


def _taken(c: Call) -> Value:
    x, axis = c.along(c.tensor(0), 2)
    return c.op("Gather", x, c.cast(c.tensor(1, "indices"), _INT), axis=axis)


def _one_hot(c: Call) -> Value:
    places, (count,) = c.cast(c.tensor(0), _INT), c.integers(1, "num_classes")
    axis = c.get(2, "axis", -1)
    hot = c.op("OneHot", places, count, np.array([0, 1], np.float32), axis=axis)
    return c.cast(hot, _dtype(c, 3, "float32"))


def _dtype(c: Call, index: int, default: str) -> DataType:
    name = c.get(index, "dtype") or default
    if name not in _DTYPES:
        raise UnsupportedNodeError(f"dtype is {name!r}")
    return _DTYPES[name]


def _split(c: Call) -> list[Value]:
    x, axis = c.along(c.tensor(0), 2, 0)
    length, given = c.length(x, axis), c.get(1, "indices_or_sections")
    if isinstance(given, int):
        if length % given:
            raise UnsupportedNodeError(f"{length} elements in {given} parts")
        given = list(range(length // given, length, length // given))
    ends = [0, *given, length]
    return [c.slice(x, axis, a, b) for a, b in zip(ends, ends[1:])]


def _largest(c: Call) -> list[Value]:
    return c.op_all("TopK", [c.floats(), c.integers(1, "k")], 2, axis=-1)


def _einsum(c: Call) -> Value:
    # The call has only operands.
    return c.op("Einsum", *c.tensors(), equation=c.get(len(c.tensors()), "subscripts"))


# Functions of each element, as modes of Eltwise and as names of activations.
_ELEMENTWISE = (
    *("Sqrt", "Rsqrt", "Square", "Exp", "Log", "Floor", "Ceil", "Round", "Sign"),
    *("Reciprocal", "Erf", "Sin", "Cos"),
)
_ACTIVATIONS = (
    *("Relu", "Relu6", "Sigmoid", "Tanh", "Silu", "Softplus", "Softsign", "Selu"),
    *("HardSilu", "HardSigmoid", "LogSigmoid"),
)
_COMPARISONS = ("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual")
_FUNCTIONS: dict[str, Function] = {
    # Of each element.
    **{name: _eltwise(name.upper()) for name in _ELEMENTWISE},
    "Negative": _eltwise("NEG"),
    **dict.fromkeys(("Abs", "Absolute", "Fabs"), _eltwise("ABS")),
    **{name: _activation(snake_case(name)) for name in _ACTIVATIONS},
    # Approximate unless the call says otherwise.
    "Gelu": lambda c: c.context.step(
        "Activation",
        [c.floats()],
        activation="GELU_TANH" if c.get(1, "approximate", True) else "GELU",
    ),
    "Clip": _clipped,
    "LeakyRelu": lambda c: c.op(
        "LeakyRelu", c.floats(), alpha=c.number(1, "negative_slope", 0.2)
    ),
    "Elu": lambda c: c.op("Elu", c.floats(), alpha=c.number(1, "alpha", 1)),
    # Of two tensors.
    "Add": _binary("ADD"),
    "Subtract": _binary("SUB"),
    "Multiply": _binary("MUL"),
    "Maximum": _binary("MAX"),
    "Minimum": _binary("MIN"),
    "Power": _binary("POW"),
    **{name: _binary(snake_case(name).upper()) for name in _COMPARISONS},
    **dict.fromkeys(("Divide", "TrueDivide"), _binary("DIV", False)),
    "Matmul": lambda c: c.context.step("MatMul", c.operands(True)),
    "FloorDivide": lambda c: c.op("Floor", c.op("Div", c.floats(0), c.floats(1))),
    "LogicalAnd": _logical("And"),
    "LogicalOr": _logical("Or"),
    "LogicalXor": _logical("Xor"),
    "LogicalNot": lambda c: c.op("Not", c.truth(0)),
    "Where": lambda c: c.op("Where", c.truth(0), c.floats(1, "x1"), c.floats(2, "x2")),
    "Einsum": _einsum,
    # Along axes.
    **{name: _reduced(name) for name in ("Max", "Mean", "Min", "Prod", "Sum")},
    "Any": partial(_any, "Max"),
    "All": partial(_any, "Min"),
    "Softmax": partial(_softmax, "Softmax"),
    "LogSoftmax": partial(_softmax, "LogSoftmax"),
    "Amax": _reduced("Max"),
    "Amin": _reduced("Min"),
    "Logsumexp": _reduced("LogSumExp"),
    "Var": _variance,
    "Std": lambda c: c.op("Sqrt", _variance(c)),
    "Normalize": _normalized,
    "Argmax": partial(_extreme, "ArgMax"),
    "Argmin": partial(_extreme, "ArgMin"),
    "Cumsum": lambda c: c.op("CumSum", *c.along(c.floats())),
    "TopK": _largest,
    # In another order or shape, or a part.
    "Reshape": _reshaped,
    "Transpose": _transposed,
    "ExpandDims": lambda c: c.context.step(
        "ExpandDims", [c.tensor(0)], axes=c.integers(1, "axis")
    ),
    "Squeeze": _squeezed,
    "Concatenate": lambda c: c.context.step(
        "Concat", c.tensors(), axis=c.get(1, "axis", 0)
    ),
    "Stack": lambda c: c.context.step("Stack", c.tensors(), axis=c.get(1, "axis", 0)),
    "GetItem": _item,
    "Tile": _tiled,
    "Pad": _padded,
    "Take": _taken,
    "Split": _split,
    # Made of others.
    "OneHot": _one_hot,
    "OnesLike": partial(_filled, 1),
    "ZerosLike": partial(_filled, 0),
    "FullLike": partial(_filled, None),
    "Cast": lambda c: c.cast(c.tensor(0), _dtype(c, 1, "float32")),
    "Copy": lambda c: c.tensor(0),
    "StopGradient": lambda c: c.tensor(0),
}


def give_results(call: Call, function: Function) -> None:
    """Makes what a function computes of its call the results of the layer."""
    context, found = call.context, function(call)
    results: Sequence[Value] = found if isinstance(found, list) else [found]
    given = {id(value) for value in context.inputs}
    context.has_made([value for value in results if id(value) not in given])
    for index, value in enumerate(results):
        context.give(value, index)


@HANDLERS.register(*(f"ops.{name}" for name in _FUNCTIONS))
def convert(context: Context) -> None:
    """A function of the table."""
    name = context.layer.kind.removeprefix("ops.")
    give_results(Call(context), _FUNCTIONS[name])
