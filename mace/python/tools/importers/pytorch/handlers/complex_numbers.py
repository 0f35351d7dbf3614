# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Complex numbers, each tensor of which is two tensors of real ones.

Operators that move elements, and sums, do the same to both parts: their own handlers
convert each. Products consist of four products of parts.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.pytorch.context import (
    ALIASES,
    HANDLERS,
    Complex,
    Context,
    Handler,
)
from mace.python.tools.importers.pytorch.handlers.elementwise import angle
from mace.python.tools.importers.standard.operators import Operand
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_FLOAT = DataType.FLOAT32
# Arguments of which real tensors and numbers stand for complex ones.
_OPERANDS = frozenset({"self", "other", "tensors", "src", "source", "values", "value"})
_PARTWISE = (
    *("add", "sub", "subtract", "rsub", "neg", "sum", "mean", "cumsum", "diff"),
    *("alias", "clone", "contiguous", "detach", "dropout", "copy", "lift_fresh_copy"),
    *("view", "reshape", "_unsafe_view", "view_as", "reshape_as", "flatten", "ravel"),
    *("unflatten", "permute", "transpose", "swapaxes", "swapdims", "t", "mT"),
    *("movedim", "moveaxis", "numpy_T", "unsqueeze", "squeeze", "expand", "expand_as"),
    *("broadcast_to", "repeat", "tile", "cat", "concat", "concatenate", "stack"),
    *("hstack", "vstack", "dstack", "split", "split_with_sizes", "chunk", "unbind"),
    *("tensor_split", "slice", "narrow", "select", "flip", "roll", "constant_pad_nd"),
    *("pad", "diagonal", "index_select", "gather", "index", "slice_scatter"),
    *("select_scatter", "tril", "triu", "where", "new_zeros", "zeros_like", "zero"),
    *("masked_fill", "unfold", "embedding", "index_put", "fft_fftshift"),
    "fft_ifftshift",
)
# Products, and the names of their operands.
_PRODUCTS = {
    "mul": ("self", "other"),
    "multiply": ("self", "other"),
    "mm": ("self", "mat2"),
    "bmm": ("self", "mat2"),
    "matmul": ("self", "other"),
    "mv": ("self", "vec"),
    "outer": ("self", "vec2"),
    "einsum": ("tensors", "tensors"),
}


# Handlers of operators that are others if an argument or a result is complex.
COMPLEX_HANDLERS: dict[str, Handler] = {}


def _for(*names: str) -> Callable[[Handler], Handler]:
    def add(handler: Handler) -> Handler:
        COMPLEX_HANDLERS.update({f"aten.{name}": handler for name in names})
        return handler

    return add


def _nothing(c: Context, like: Value) -> Value:
    """Zeros in the shape of a value."""
    if like.is_constant:
        return c.constant(np.zeros(like.numpy().shape), _FLOAT)
    return c.op("Sub", like, like)


def _each(function: Callable[[Value], Value], x: Complex) -> Complex:
    return Complex(function(x.real), function(x.imag))


def _scaled(c: Context, op_type: str, x: Complex, number: Operand) -> Complex:
    """Products with, or quotients by, real numbers."""
    return _each(lambda part: c.op(op_type, part, number), x)


def _self(c: Context) -> Complex:
    return as_complex(c, c.raw("self"))


def as_complex(c: Context, item: Any) -> Complex:
    """A tensor or a number as a complex one."""
    if isinstance(item, Complex):
        return item
    if isinstance(item, (int, float, complex)):
        number = complex(item)
        return Complex(c.constant(number.real, _FLOAT), c.constant(number.imag, _FLOAT))
    if not isinstance(item, Value):
        raise UnsupportedNodeError(f"an operand is {item!r:.40}")
    real = c.cast(item, _FLOAT)
    return Complex(real, _nothing(c, real))


def _run(c: Context, arguments: dict[str, Any], of_floats: bool = True) -> list[Any]:
    """The results of the operator's handler for real numbers."""
    types = [_FLOAT if of_floats and t is None else t for t in c.types]
    inner = c.with_arguments(arguments, types)
    handler = HANDLERS.find(f"aten.{c.operator}")
    assert handler is not None, c.operator
    handler(inner)
    unread = inner.unread()
    if unread:
        raise UnsupportedNodeError(f"{', '.join(unread)} with complex numbers")
    return inner.results


def _part(c: Context, name: str, argument: Any, index: int) -> Any:
    if isinstance(argument, list):
        return [_part(c, name, item, index) for item in argument]
    if isinstance(argument, (complex, Complex)):
        return (argument.real, argument.imag)[index]
    if index and name in _OPERANDS:
        if isinstance(argument, (int, float)):
            return 0.0
        if isinstance(argument, Value) and argument.dtype.is_float:
            return _nothing(c, argument)
    return argument


@_for(*_PARTWISE)
def _partwise(c: Context) -> None:
    given = c.arguments()
    # A condition or an index is the same for both parts.
    real, imag = (
        _run(c, {k: _part(c, k, v, index) for k, v in given.items() if k != "dtype"})
        for index in range(2)
    )
    c.give(*(Complex(a, b) for a, b in zip(real, imag)))


@_for(*_PRODUCTS)
def _product(c: Context) -> None:
    given = c.arguments()
    first, second = _PRODUCTS[c.operator]
    if first == second:
        operands = given[first]
        if len(operands) != 2:
            raise UnsupportedNodeError(f"{len(operands)} complex operands")
    else:
        operands = [given[first], given[second]]

    def product(a: Operand, b: Operand) -> Value:
        pair = {first: [a, b]} if first == second else {first: a, second: b}
        (result,) = _run(c, {**given, **pair})
        assert isinstance(result, Value)
        return result

    a: Any
    b: Any
    a, b = (as_complex(c, v) if isinstance(v, complex) else v for v in operands)
    if isinstance(a, Complex) and isinstance(b, Complex):
        c.give(multiplied(c, a, b, product))
    elif isinstance(a, Complex):
        c.give(_each(lambda part: product(part, b), a))
    else:
        c.give(_each(lambda part: product(a, part), b))


@_for("div", "divide", "true_divide")
def _quotient(c: Context) -> None:
    if c.has("rounding_mode"):
        raise UnsupportedNodeError("rounding_mode with complex numbers")
    a, b = _self(c), c.raw("other")
    if not isinstance(b, (complex, Complex)):
        c.give(_scaled(c, "Div", a, c.floats("other")))
        return
    b = as_complex(c, b)
    real = c.op("Add", c.op("Mul", a.real, b.real), c.op("Mul", a.imag, b.imag))
    imag = c.op("Sub", c.op("Mul", a.imag, b.real), c.op("Mul", a.real, b.imag))
    c.give(_scaled(c, "Div", Complex(real, imag), _squares(c, b)))


@_for("mH", "adjoint", "matrix_H")
def _adjoint(c: Context) -> None:
    x = _self(c)
    (real,), (imag,) = (_run(c, {"self": part}) for part in (x.real, x.imag))
    c.give(conjugate(c, Complex(real, imag)))


@_for("eq", "ne")
def _equal(c: Context) -> None:
    a, b = (as_complex(c, c.raw(name)) for name in ("self", "other"))
    same = c.op("And", c.op("Equal", a.real, b.real), c.op("Equal", a.imag, b.imag))
    c.give(same if c.operator == "eq" else c.op("Not", same))


def multiplied(
    c: Context,
    a: Complex,
    b: Complex,
    product: Callable[[Value, Value], Value] | None = None,
) -> Complex:
    """The products of elements, or what another product of real numbers makes."""
    by = product or functools.partial(c.op, "Mul")
    real = c.op("Sub", by(a.real, b.real), by(a.imag, b.imag))
    return Complex(real, c.op("Add", by(a.real, b.imag), by(a.imag, b.real)))


def conjugate(c: Context, x: Complex) -> Complex:
    """The numbers with the other sign of their imaginary parts."""
    return Complex(x.real, c.op("Neg", x.imag))


def absolute(c: Context, x: Complex) -> Value:
    """The distances from 0."""
    return c.op("Sqrt", _squares(c, x))


def _squares(c: Context, x: Complex) -> Value:
    return c.op("Add", *(c.op("Mul", part, part) for part in (x.real, x.imag)))


def _direction(c: Context, x: Complex) -> Complex:
    """At the distance 1 from 0; 0 remains."""
    size = absolute(c, x)
    return _scaled(c, "Div", x, c.op("Where", c.op("Equal", size, 0.0), 1.0, size))


def _sqrt(c: Context, x: Complex) -> Complex:
    size = c.op("Sqrt", absolute(c, x))
    return _polar(c, size, c.op("Mul", angle(c, x.imag, x.real), 0.5))


def _polar(c: Context, size: Value, turn: Value) -> Complex:
    along, across = c.op("Cos", turn), c.op("Sin", turn)
    return _scaled(c, "Mul", Complex(along, across), size)


_FUNCTIONS: Mapping[str, Callable[[Context, Complex], Complex | Value]] = {
    "abs": absolute,
    "exp": lambda c, x: _polar(c, c.op("Exp", x.real), x.imag),
    "log": lambda c, x: Complex(c.op("Log", absolute(c, x)), angle(c, x.imag, x.real)),
    "reciprocal": lambda c, x: _scaled(c, "Div", conjugate(c, x), _squares(c, x)),
    "sign": _direction,
    "sqrt": _sqrt,
    "square": lambda c, x: multiplied(c, x, x),
}


@_for("sgn", *_FUNCTIONS)
def _function(c: Context) -> None:
    c.give(_FUNCTIONS[c.operator](c, _self(c)))


@_for("pow")
def _power(c: Context) -> None:
    x, times = _self(c), c.raw("exponent")
    if not isinstance(times, int) or not 1 <= times <= 64:
        raise UnsupportedNodeError(f"complex numbers to the power of {times!r:.40}")
    result: Complex | None = None
    while times:
        if times % 2:
            result = x if result is None else multiplied(c, result, x)
        times //= 2
        x = multiplied(c, x, x) if times else x
    c.give(result)


@_for("zeros", "full", "ones", "empty", "new_full", "full_like", "ones_like")
def _filled(c: Context) -> None:
    given = {k: v for k, v in c.arguments().items() if k != "dtype"}
    parts = []
    for index in range(2):
        own = {k: _part(c, k, v, index) for k, v in given.items()}
        number = complex(given.get("fill_value", 1 if "ones" in c.operator else 0))
        if "fill_value" in own:
            own["fill_value"] = (number.real, number.imag)[index]
        (part,) = _run(c, own)
        parts.append(part if index == 0 or "fill_value" in own else _nothing(c, part))
    c.give(Complex(*parts))


@_for("scalar_tensor")
def _number(c: Context) -> None:
    c.raw("dtype")
    c.give(as_complex(c, c.raw("s")))


@_for("to", "_to_copy", "type_as")
def _to(c: Context) -> None:
    x = c.raw("self")
    c.arguments()
    if c.types[0] is not None:
        c.give(c.cast(as_complex(c, x).real, c.types[0]))
    else:
        c.give(as_complex(c, x))


@HANDLERS.register("aten.complex")
def _complex(c: Context) -> None:
    c.give(Complex(*_same_shape(c, c.value("real"), c.value("imag"))))


def _same_shape(c: Context, a: Value, b: Value) -> tuple[Value, Value]:
    if c.shape(a) == c.shape(b):
        return a, b
    return c.op("Add", a, _nothing(c, b)), c.op("Add", b, _nothing(c, a))


@HANDLERS.register("aten.polar")
def _of_angle(c: Context) -> None:
    c.give(_polar(c, c.value("abs"), c.value("angle")))


@HANDLERS.register("aten.view_as_complex")
def _view_as_complex(c: Context) -> None:
    c.give(from_last(c, c.value("self")))


def from_last(c: Context, x: Value) -> Complex:
    """The two numbers of the last dimension as one."""
    last = c.rank(x) - 1
    parts = c.op_all("Split", [x, [1, 1]], 2, axis=last)
    return Complex(*(c.squeeze(part, last) for part in parts))


def to_last(c: Context, x: Complex) -> Value:
    """The parts as the two numbers of one more dimension."""
    rank = c.rank(x.real)
    parts = [c.unsqueeze(part, rank) for part in (x.real, x.imag)]
    return c.op("Concat", *parts, axis=rank)


@HANDLERS.register("aten.view_as_real")
def _view_as_real(c: Context) -> None:
    c.give(to_last(c, _self(c)))


@HANDLERS.register("aten.real", "aten.imag")
def _real(c: Context) -> None:
    x = c.raw("self")
    if c.operator == "real" and isinstance(x, Value):
        c.give(x)
        return
    both = as_complex(c, x)
    c.give(both.real if c.operator == "real" else both.imag)


@HANDLERS.register("aten.angle")
def _angle(c: Context) -> None:
    x = c.raw("self")
    if isinstance(x, Complex):
        c.give(angle(c, x.imag, x.real))
        return
    x = c.floats()
    turned = c.op("Where", c.op("Less", x, 0.0), c.constant(np.float32(np.pi)), 0.0)
    c.give(c.op("Where", c.op("IsNaN", x), x, turned))


@HANDLERS.register("aten._conj", "aten.conj_physical", "aten._conj_physical")
@HANDLERS.register("aten.resolve_conj", "aten.resolve_neg")
def _conj(c: Context) -> None:
    x = c.raw("self")
    if isinstance(x, Complex) and "conj" in c.operator and "resolve" not in c.operator:
        c.give(conjugate(c, x))
    else:
        c.give(x)


COMPLEX_HANDLERS.update(
    {
        f"aten.{alias}": COMPLEX_HANDLERS[f"aten.{name}"]
        for alias, name in ALIASES.items()
        if f"aten.{name}" in COMPLEX_HANDLERS
        and f"aten.{alias}" not in COMPLEX_HANDLERS
    }
)
