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

from mace.python.tools.importers.emit.near_zero import expm1, log1p
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import HANDLERS, Context
from mace.python.tools.importers.keras.handlers.functions import function
from mace.python.tools.importers.keras.network import snake_case
from mace.python.tools.importers.standard.operators import Operators
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import END

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


class _Call(Operators):
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
_Function = Callable[[_Call], Any]


def _unary(op_type: str) -> _Function:
    return lambda c: c.op(op_type, c.floats())


def _eltwise(mode: str) -> _Function:
    return lambda c: c.context.eltwise(mode, c.floats())


def _binary(mode: str, keep_integers: bool = True) -> _Function:
    return lambda c: c.context.eltwise(mode, *c.operands(keep_integers))


def _activation(name: str) -> _Function:
    return lambda c: function(c.context, c.floats(), name)


def _logical(op_type: str) -> _Function:
    return lambda c: c.op(op_type, c.truth(0), c.truth(1))


def _reduced(mode: str) -> _Function:
    return lambda c: _reduction(mode, c, c.floats())


def _reduction(mode: str, c: _Call, x: Value) -> Value:
    axes = c.places(1, "axis", c.rank(x))
    return c.op(f"Reduce{mode}", x, axes, keepdims=c.keeps())


# Functions of several kinds, by what comes first.


def _any(mode: str, c: _Call) -> Value:
    """A reduction of truth values."""
    x = c.cast(c.cast(c.tensor(0), _BOOL), _FLOAT)
    return c.cast(_reduction(mode, c, x), _BOOL)


def _softmax(op_type: str, c: _Call) -> Value:
    return c.op(op_type, c.floats(), axis=c.integers(1, "axis", -1)[0])


def _scaled(op_type: str, before: float, behind: float, c: _Call) -> Value:
    """`op_type` of a multiple of x, times a number."""
    x = c.floats() if before == 1 else c.op("Mul", c.floats(), before)
    y = c.op(op_type, x)
    return y if behind == 1 else c.op("Mul", y, behind)


def _extreme(op_type: str, c: _Call) -> Value:
    """The place of the largest or smallest element."""
    x, keep = c.floats(), c.keeps()
    among, axis = c.along(x)
    if among is not x and keep:
        found = c.op(op_type, among, axis=axis, keepdims=0)
        return c.reshape(found, [1] * c.rank(x))
    return c.op(op_type, among, axis=axis, keepdims=keep)


def _shrunk(is_soft: bool, c: _Call) -> Value:
    least = c.number(1, "threshold", 0.5)
    return c.op("Shrink", c.floats(), lambd=least, bias=least if is_soft else 0.0)


def _triangle(upper: int, c: _Call) -> Value:
    return c.op("Trilu", c.tensor(0), c.constant(int(c.get(1, "k", 0))), upper=upper)


def _filled(number: float | None, c: _Call) -> Value:
    """A tensor like x of one number, or of that of the call."""
    x = c.tensor(0)
    one = c.constant(number, x.dtype) if number is not None else c.tensor(1)
    return c.op("Expand", c.cast(one, x.dtype), c.lengths.listed(c.sizes_of(x)))


def _sorted(index: int, c: _Call) -> Value:
    x, at = c.along(c.floats(), default=-1)
    count = c.lengths.listed([c.size(x, at)])
    return c.op_all("TopK", [x, count], 2, axis=at, largest=0)[index]


def _stacked(axis: int, c: _Call) -> Value:
    parts = c.tensors()
    if any(c.rank(part) < 2 for part in parts):
        raise UnsupportedNodeError("operands with fewer than 2 dimensions")
    return c.op("Concat", *parts, axis=axis)


def _reshaped(c: _Call) -> Value:
    """All dimensions, also that of the batch."""
    shape = c.get(1, "newshape")
    shape = c.get(1, "shape") if shape is None else shape
    if not isinstance(shape, list) or not all(
        isinstance(dim, int) or dim is None for dim in shape
    ):
        raise UnsupportedNodeError(f"the shape is {shape!r}")
    sizes = [-1 if dim is None else dim for dim in shape]
    return c.context.step("Reshape", [c.tensor(0)], shape=sizes)


def _transposed(c: _Call) -> Value:
    """Axes in another order, or the reverse."""
    x, axes = c.tensor(0), c.get(1, "axes")
    rank = c.rank(x)
    perm = list(range(rank))[::-1] if axes is None else [a % rank for a in axes]
    return c.context.step("Transpose", [x], perm=perm)


def _squeezed(c: _Call) -> Value:
    x, axes = c.tensor(0), c.get(1, "axis")
    if axes is None:
        ones = [a for a, dim in enumerate(c.context.fixed(x)) if dim == 1]
        return c.context.step("Squeeze", [x], axes=ones)
    return c.context.step("Squeeze", [x], axes=c.places(1, "axis", c.rank(x)))


def _clipped(c: _Call) -> Value:
    x = c.floats()
    for index, name, mode in ((1, "x_min", "MAX"), (2, "x_max", "MIN")):
        number = c.get(index, name)
        if not isinstance(number, (int, float)):
            raise UnsupportedNodeError(f"a limit is {number!r}")
        x = c.context.eltwise(mode, x, float(number))
    return x


def _item(c: _Call) -> Value:
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


def _variance(c: _Call) -> Value:
    x = c.floats()
    axes = c.places(1, "axis", c.rank(x))
    mean = c.op("ReduceMean", x, axes, keepdims=1)
    far = c.op("Sub", x, mean)
    return c.op("ReduceMean", c.op("Mul", far, far), axes, keepdims=c.keeps())


def _norm(c: _Call) -> Value:
    order = c.get(1, "ord")
    if order not in (None, 2, "fro", "euclidean"):
        raise UnsupportedNodeError(f"ord is {order!r}")
    x = c.floats()
    axes = c.places(2, "axis", c.rank(x))
    if order == 2 and len(axes) != 1:
        raise UnsupportedNodeError("the largest singular value of matrices")
    keep = int(bool(c.get(3, "keepdims", False)))
    return c.op("ReduceL2", x, axes, keepdims=keep)


def _normalized(c: _Call) -> Value:
    x = c.floats()
    if c.number(2, "order", 2) != 2:
        raise UnsupportedNodeError(f"order is {c.get(2, 'order')}")
    axes = [c.axis(a, c.rank(x)) for a in c.integers(1, "axis")]
    least = c.get(3, "epsilon")
    length = c.op("ReduceL2", x, axes, keepdims=1)
    least = 1e-7 if least is None else float(least)
    return c.op("Div", x, c.op("Max", length, least))


def _modulo(c: _Call) -> Value:
    """With the sign of the divisor."""
    a, b = c.floats(0), c.floats(1)
    return c.op("Sub", a, c.op("Mul", c.op("Floor", c.op("Div", a, b)), b))


def _trunc(c: _Call) -> Value:
    x = c.floats()
    return c.op("Mul", c.op("Sign", x), c.op("Floor", c.op("Abs", x)))


def _glu(c: _Call) -> Value:
    x = c.floats()
    axis = c.axis(c.integers(1, "axis")[0], c.rank(x))
    half = c.length(x, axis) // 2
    gate = c.op("Sigmoid", c.slice(x, axis, half))
    return c.op("Mul", c.slice(x, axis, 0, half), gate)


def _threshold(c: _Call) -> Value:
    x = c.floats()
    above = c.op("Greater", x, c.number(1, "threshold", 0))
    return c.op("Where", above, x, c.number(2, "default_value", 0))


def _moved(c: _Call) -> Value:
    x = c.tensor(0)
    rank = c.rank(x)
    source, target = (
        [c.axis(a, rank) for a in c.integers(i, name)]
        for i, name in ((1, "source"), (2, "destination"))
    )
    order = [axis for axis in range(rank) if axis not in source]
    for place, axis in sorted(zip(target, source)):
        order.insert(place, axis)
    return c.transpose(x, order)


def _swapped(c: _Call) -> Value:
    x = c.tensor(0)
    order = list(range(c.rank(x)))
    names = ((1, "axis1"), (2, "axis2"))
    a, b = (c.axis(c.integers(i, name)[0], len(order)) for i, name in names)
    order[a], order[b] = order[b], order[a]
    return c.transpose(x, order)


def _flipped(c: _Call) -> Value:
    x = c.tensor(0)
    axes = c.places(1, "axis", c.rank(x))
    steps = [-1] * len(axes)
    return c.op("Slice", x, steps, [-END - 1] * len(axes), axes, steps)


def _rolled(c: _Call) -> Value:
    x, (shift,) = c.tensor(0), c.integers(1, "shift")
    flat, at = c.along(x, 2)
    cut = -shift % c.length(flat, at)
    rolled = c.concat([c.slice(flat, at, cut), c.slice(flat, at, 0, cut)], at)
    return rolled if flat is x else c.reshape(rolled, c.sizes_of(x))


def _tiled(c: _Call) -> Value:
    x, times = c.tensor(0), c.integers(1, "repeats")
    more = len(times) - c.rank(x)
    x = c.unsqueeze(x, *range(more)) if more > 0 else x
    return c.op("Tile", x, [1] * -more + times)


def _repeated(c: _Call) -> Value:
    times = c.integers(1, "repeats")
    if len(times) != 1:
        raise UnsupportedNodeError(f"repeats is {times}")
    x, at = c.along(c.tensor(0), 2)
    sizes = c.sizes_of(x)
    copies = [1] * (len(sizes) + 1)
    copies[at + 1] = times[0]
    sizes[at] = c.compute("MUL", sizes[at], times[0])
    return c.reshape(c.op("Tile", c.unsqueeze(x, at + 1), copies), sizes)


def _padded(c: _Call) -> Value:
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


def _taken(c: _Call) -> Value:
    x, axis = c.along(c.tensor(0), 2)
    return c.op("Gather", x, c.cast(c.tensor(1, "indices"), _INT), axis=axis)


def _taken_along(c: _Call) -> Value:
    x, places = c.tensor(0), c.cast(c.tensor(1, "indices"), _INT)
    axis = c.get(2, "axis")
    if axis is None:
        raise UnsupportedNodeError("axis is None")
    return c.op("GatherElements", x, places, axis=axis)


def _one_hot(c: _Call) -> Value:
    places, (count,) = c.cast(c.tensor(0), _INT), c.integers(1, "num_classes")
    axis = c.get(2, "axis", -1)
    hot = c.op("OneHot", places, count, np.array([0, 1], np.float32), axis=axis)
    return c.cast(hot, _dtype(c, 3, "float32"))


def _dtype(c: _Call, index: int, default: str) -> DataType:
    name = c.get(index, "dtype") or default
    if name not in _DTYPES:
        raise UnsupportedNodeError(f"dtype is {name!r}")
    return _DTYPES[name]


def _split(c: _Call) -> list[Value]:
    x, axis = c.along(c.tensor(0), 2, 0)
    length, given = c.length(x, axis), c.get(1, "indices_or_sections")
    if isinstance(given, int):
        if length % given:
            raise UnsupportedNodeError(f"{length} elements in {given} parts")
        given = list(range(length // given, length, length // given))
    ends = [0, *given, length]
    return [c.slice(x, axis, a, b) for a, b in zip(ends, ends[1:])]


def _unstacked(c: _Call) -> list[Value]:
    x, axis = c.along(c.tensor(0), 2, 0)
    count = c.length(x, axis)
    return [c.squeeze(c.slice(x, axis, i, i + 1), axis) for i in range(count)]


def _largest(c: _Call) -> list[Value]:
    return c.op_all("TopK", [c.floats(), c.integers(1, "k")], 2, axis=-1)


def _einsum(c: _Call) -> Value:
    # The call has only operands.
    return c.op("Einsum", *c.tensors(), equation=c.get(len(c.tensors()), "subscripts"))


def _outer(c: _Call) -> Value:
    a, b = (c.reshape(c.floats(i), [-1]) for i in (0, 1))
    return c.op("Mul", c.unsqueeze(a, 1), c.unsqueeze(b, 0))


def _dot(c: _Call) -> Value:
    a, b = c.floats(0), c.floats(1)
    if c.rank(b) > 2:
        raise UnsupportedNodeError("the second operand has more than 2 dimensions")
    return c.op("MatMul", a, b)


def _normal_rows(c: _Call) -> Value:
    """What Keras calls rms_normalization."""
    x = c.floats()
    axes = [c.axis(a, c.rank(x)) for a in c.integers(2, "axis")]
    least = c.get(3, "epsilon")
    least = 1e-7 if least is None else float(least)
    squares = c.op("ReduceMean", c.op("Mul", x, x), axes, keepdims=1)
    y = c.op("Div", x, c.op("Sqrt", c.op("Add", squares, least)))
    return y if c.get(1, "scale") is None else c.op("Mul", y, c.floats(1, "scale"))


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
_FUNCTIONS: dict[str, _Function] = {
    # Of each element.
    **{name: _eltwise(name.upper()) for name in _ELEMENTWISE},
    "Negative": _eltwise("NEG"),
    **dict.fromkeys(("Abs", "Absolute", "Fabs"), _eltwise("ABS")),
    **{
        f"Arc{name}": _unary(f"A{name}")
        for name in ("cos", "cosh", "sin", "sinh", "tan", "tanh")
    },
    "Cosh": _unary("Cosh"),
    "Sinh": _unary("Sinh"),
    "Tan": _unary("Tan"),
    "Isnan": _unary("IsNaN"),
    "Isinf": _unary("IsInf"),
    "Expm1": lambda c: expm1(c.builder, c.floats(), c.label),
    "Log1p": lambda c: log1p(c.builder, c.floats(), c.label),
    "Exp2": partial(_scaled, "Exp", float(np.log(2)), 1),
    "Log2": partial(_scaled, "Log", 1, float(1 / np.log(2))),
    "Log10": partial(_scaled, "Log", 1, float(1 / np.log(10))),
    "Deg2rad": partial(_scaled, "Identity", float(np.pi / 180), 1),
    "Rad2deg": partial(_scaled, "Identity", float(180 / np.pi), 1),
    **{name: _activation(snake_case(name)) for name in _ACTIVATIONS},
    # Approximate unless the call says otherwise.
    "Gelu": lambda c: c.context.step(
        "Activation",
        [c.floats()],
        activation="GELU_TANH" if c.get(1, "approximate", True) else "GELU",
    ),
    "Clip": _clipped,
    "Erfc": lambda c: c.op("Sub", 1.0, c.op("Erf", c.floats())),
    "Trunc": _trunc,
    "LeakyRelu": lambda c: c.op(
        "LeakyRelu", c.floats(), alpha=c.number(1, "negative_slope", 0.2)
    ),
    "Elu": lambda c: c.op("Elu", c.floats(), alpha=c.number(1, "alpha", 1)),
    "Celu": lambda c: c.op("Celu", c.floats(), alpha=c.number(1, "alpha", 1)),
    "HardTanh": lambda c: c.op("Clip", c.floats(), -1.0, 1.0),
    "TanhShrink": lambda c: c.op("Sub", c.floats(), c.op("Tanh", c.floats())),
    "HardShrink": partial(_shrunk, False),
    "SoftShrink": partial(_shrunk, True),
    "Threshold": _threshold,
    "Glu": _glu,
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
    "Mod": _modulo,
    "LogicalAnd": _logical("And"),
    "LogicalOr": _logical("Or"),
    "LogicalXor": _logical("Xor"),
    "LogicalNot": lambda c: c.op("Not", c.truth(0)),
    "Where": lambda c: c.op("Where", c.truth(0), c.floats(1, "x1"), c.floats(2, "x2")),
    "Outer": _outer,
    "Dot": _dot,
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
    "Norm": _norm,
    "Normalize": _normalized,
    "RMSNorm": _normal_rows,
    "Argmax": partial(_extreme, "ArgMax"),
    "Argmin": partial(_extreme, "ArgMin"),
    "Cumsum": lambda c: c.op("CumSum", *c.along(c.floats())),
    "TopK": _largest,
    "Sort": partial(_sorted, 0),
    "Argsort": partial(_sorted, 1),
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
    "Moveaxis": _moved,
    "Swapaxes": _swapped,
    "Flip": _flipped,
    "Roll": _rolled,
    "Tile": _tiled,
    "Repeat": _repeated,
    "Pad": _padded,
    "Take": _taken,
    "TakeAlongAxis": _taken_along,
    "Tril": partial(_triangle, 0),
    "Triu": partial(_triangle, 1),
    "Ravel": lambda c: c.reshape(c.tensor(0), [-1]),
    "Split": _split,
    "Unstack": _unstacked,
    "Hstack": partial(_stacked, 1),
    "Vstack": partial(_stacked, 0),
    "BroadcastTo": lambda c: c.op("Expand", c.tensor(0), c.integers(1, "shape")),
    # Made of others.
    "OneHot": _one_hot,
    "OnesLike": partial(_filled, 1),
    "ZerosLike": partial(_filled, 0),
    "FullLike": partial(_filled, None),
    "Cast": lambda c: c.cast(c.tensor(0), _dtype(c, 1, "float32")),
    "Copy": lambda c: c.tensor(0),
    "StopGradient": lambda c: c.tensor(0),
}


@HANDLERS.register(*(f"ops.{name}" for name in _FUNCTIONS))
def convert(context: Context) -> None:
    """A function of the table."""
    found = _FUNCTIONS[context.layer.kind.removeprefix("ops.")](_Call(context))
    results: Sequence[Value] = found if isinstance(found, list) else [found]
    given = {id(value) for value in context.inputs}
    context.has_made([value for value in results if id(value) not in given])
    for index, value in enumerate(results):
        context.give(value, index)
