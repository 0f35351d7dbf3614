# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors made of numbers, the numbers of shapes, and functions of numbers: all that
PyTorch knows of symbolic ones.

Sums, products and quotients of integers are lengths, of which the graph knows what is
equal. Everything else is computed as PyTorch does it, in double precision: by one
operator, whatever the way from the lengths to the number.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mace.python.tools.importers.frame.budget import check_made
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.pytorch.context import HANDLERS, Context
from mace.python.tools.importers.standard.operators import Size
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value

_INTEGER, _FLOAT, _BOOLEAN = DataType.INT32, DataType.FLOAT32, DataType.BOOL
# Larger tensors of one number are made at run time.
_LARGEST = 1 << 20


def _as(c: Context, number: Any, dtype: DataType) -> Value:
    """A number, or a tensor, in a type."""
    known = isinstance(number, Value)
    return c.cast(number, dtype) if known else c.constant(number, dtype)


def _filled(c: Context, sizes: Sequence[Size], number: Any, dtype: DataType) -> Value:
    filler = _as(c, number, dtype)
    known = [size for size in sizes if isinstance(size, int)]
    if not sizes:
        return filler
    if len(known) == len(sizes) and math.prod(known) <= _LARGEST and filler.is_constant:
        return c.constant(np.full(known, filler.numpy(), dtype.numpy), dtype)
    return c.expanded(filler, sizes)


@HANDLERS.register("aten.full", "aten.zeros", "aten.ones", "aten.empty")
@HANDLERS.register("aten.new_full", "aten.new_zeros", "aten.new_ones", "aten.new_empty")
@HANDLERS.register("aten.full_like", "aten.zeros_like", "aten.ones_like")
@HANDLERS.register("aten.empty_like", "aten.empty_permuted")
def _full(c: Context) -> None:
    name = c.operator.removeprefix("new_").removesuffix("_like")
    number = c.raw("fill_value") if name == "full" else int(name == "ones")
    like = c.value("self") if c.has("self") else None
    if like is not None and c.operator.endswith("_like"):
        sizes = c.sizes_of(like)
    else:
        sizes = c.sizes("size")
    c.give(_filled(c, sizes, number, c.type_of_result()))


@HANDLERS.register("aten.fill", "aten.zero")
def _fill(c: Context) -> None:
    x = c.value("self")
    number = c.raw("value") if c.operator == "fill" else 0
    c.give(_filled(c, c.sizes_of(x), number, x.dtype))


@HANDLERS.register("aten.scalar_tensor")
def _scalar_tensor(c: Context) -> None:
    c.give(c.cast(c.value("s"), c.type_of_result()))


@HANDLERS.register("aten.arange")
def _arange(c: Context) -> None:
    bounds = [c.raw("start", 0), c.raw("end"), c.raw("step", 1)]
    dtype = c.type_of_result()
    if any(isinstance(bound, Value) for bound in bounds):
        c.give(c.op("Range", *(_as(c, bound, dtype) for bound in bounds)))
        return
    start, end, step = bounds
    if not step:
        raise UnsupportedNodeError(f"from {start} to {end} in steps of {step}")
    check_made((end - start) / step)
    count = max(math.ceil((end - start) / step), 0)
    c.give(c.constant(start + np.arange(count) * step, dtype))


@HANDLERS.register("aten.linspace")
def _linspace(c: Context) -> None:
    bounds, steps = (c.raw("start"), c.raw("end")), c.integer("steps")
    check_made(steps)
    if any(isinstance(bound, Value) for bound in bounds):
        c.give(c.cast(_spaced(c, *bounds, steps), c.type_of_result()))
        return
    numbers = np.linspace(c.number("start"), c.number("end"), steps)
    c.give(c.constant(numbers, c.type_of_result()))


def _spaced(c: Context, start: Any, end: Any, steps: int) -> Value:
    """As PyTorch has them in floats: from both ends to the middle."""
    first, last = (_as(c, bound, _FLOAT) for bound in (start, end))
    rest = max(steps - 1, 1)
    step = c.op("Div", c.op("Sub", last, first), float(rest))
    after = np.arange(steps)
    return c.op(
        "Where",
        c.constant(after < max(steps // 2, 1)),
        c.op("Add", first, c.op("Mul", step, c.constant(after, _FLOAT))),
        c.op("Sub", last, c.op("Mul", step, c.constant(rest - after, _FLOAT))),
    )


@HANDLERS.register("aten.eye")
def _eye(c: Context) -> None:
    (rows,) = c.sizes("n")
    columns = c.sizes("m")[0] if c.has("m") else rows
    if isinstance(rows, int) and isinstance(columns, int):
        check_made(rows, columns)
        c.give(c.constant(np.eye(rows, columns), c.type_of_result()))
        return
    own = c.unsqueeze(c.positions(rows), 1)
    on = c.op("Equal", own, c.positions(columns))
    c.give(c.cast(on, c.type_of_result()))


@HANDLERS.register("aten.tril", "aten.triu")
def _triangle(c: Context) -> None:
    x = c.value("self")
    k = c.constant(c.integer("diagonal", 0))
    c.give(c.op("Trilu", x, k, upper=int(c.operator == "triu")))


@HANDLERS.register("aten.item", "aten._local_scalar_dense")
def _item(c: Context) -> None:
    x = c.value("self")
    count = math.prod(c.static_shape(x))
    if count != 1:
        raise UnsupportedNodeError(f"a number of a tensor of {count}")
    if x.is_constant:
        c.give(x.numpy().reshape(()).item())
    else:
        c.give(c.reshape(x, []))


@HANDLERS.register("aten.sym_size")
def _sym_size(c: Context) -> None:
    x, axis = c.along()
    c.give(c.sizes_of(x)[axis])


@HANDLERS.register("aten.sym_numel")
def _sym_numel(c: Context) -> None:
    count: Size = 1
    for size in c.sizes_of(c.value("self")):
        count = c.compute("MUL", count, size)
    c.give(count)


# Functions ------------------------------------------------------------------------

# Of what is longer, a float of 32 bits is taken.
_LONGEST = 500


@dataclass(frozen=True)
class _Function:
    """
    Attributes:
        compute: of numbers of Python.
        words: of the operator SizeExpression, behind the operands.
        result: its type; None: an integer if all operands are.
        arithmetic: what computes it of integers alone, the mode of `Lengths.compute`.
    """

    compute: Callable[..., Any]
    words: str
    result: DataType | None = None
    arithmetic: str = ""


def _if_else(condition: bool, yes: Any, no: Any) -> Any:
    return yes if condition else no


_FUNCTIONS = {
    "_operator.add": _Function(operator.add, "add", None, "ADD"),
    "_operator.and_": _Function(operator.and_, "and", _BOOLEAN),
    "_operator.eq": _Function(operator.eq, "eq", _BOOLEAN),
    "_operator.floordiv": _Function(operator.floordiv, "floordiv", None, "FLOOR_DIV"),
    "_operator.ge": _Function(operator.ge, "ge", _BOOLEAN),
    "_operator.gt": _Function(operator.gt, "gt", _BOOLEAN),
    "_operator.le": _Function(operator.le, "le", _BOOLEAN),
    "_operator.lshift": _Function(operator.lshift, "2 {1} pow mul", _INTEGER),
    "_operator.lt": _Function(operator.lt, "lt", _BOOLEAN),
    "_operator.mod": _Function(operator.mod, "mod", None, "FLOOR_MOD"),
    "_operator.mul": _Function(operator.mul, "mul", None, "MUL"),
    "_operator.ne": _Function(operator.ne, "ne", _BOOLEAN),
    "_operator.neg": _Function(operator.neg, "neg"),
    "_operator.or_": _Function(operator.or_, "or", _BOOLEAN),
    "_operator.pos": _Function(operator.pos, ""),
    "_operator.pow": _Function(operator.pow, "pow"),
    "_operator.rshift": _Function(operator.rshift, "2 {1} pow floordiv", _INTEGER),
    "_operator.sub": _Function(operator.sub, "sub", None, "SUB"),
    "_operator.truediv": _Function(operator.truediv, "truediv", _FLOAT),
    "math.trunc": _Function(math.trunc, "trunc", _INTEGER),
    "torch._sym_sqrt": _Function(math.sqrt, "sqrt", _FLOAT),
    "torch.sym_float": _Function(float, "", _FLOAT),
    "torch.sym_int": _Function(int, "trunc", _INTEGER),
    "torch.sym_ite": _Function(_if_else, "ite"),
    "torch.sym_max": _Function(max, "max", None, "MAX"),
    "torch.sym_min": _Function(min, "min", None, "MIN"),
    "torch.sym_not": _Function(operator.not_, "not", _BOOLEAN),
}


@HANDLERS.register(*_FUNCTIONS)
def _function_of_numbers(c: Context) -> None:
    function = _FUNCTIONS[c.node.target]
    operands = [c.raw(name) for name in c.node.arguments]
    if any(not isinstance(v, (bool, int, float, Value)) for v in operands):
        raise UnsupportedNodeError("an operand is no number")
    if not any(isinstance(operand, Value) for operand in operands):
        try:
            c.give(function.compute(*operands))
        except (ArithmeticError, TypeError, ValueError) as error:
            raise UnsupportedNodeError(f"of these numbers: {error}") from error
        return
    integers = [operand for operand in operands if _is_integer(operand)]
    if len(integers) == len(operands):
        found = _of_integers(c, function, integers)
        if found is not None:
            c.give(found)
            return
    c.give(_computed(c, function, operands))


def _is_integer(operand: Any) -> bool:
    if isinstance(operand, Value):
        return operand.dtype is _INTEGER
    return isinstance(operand, int) and not isinstance(operand, bool)


def _of_integers(c: Context, function: _Function, operands: list[Size]) -> Size | None:
    """A length made of others; None if it is not one of those that are followed."""
    if function.arithmetic:
        a, b = operands
        return c.compute(function.arithmetic, a, b)
    if function.words == "neg":
        return c.compute("MUL", operands[0], -1)
    if function.words in ("", "trunc"):
        return None if function.result is _FLOAT else operands[0]
    if function.words == "pow" and isinstance(operands[1], int):
        if not 0 <= operands[1] <= 8:
            return None
        result: Size = 1
        for _ in range(operands[1]):
            result = c.compute("MUL", result, operands[0])
        return result
    return None


def _computed(c: Context, function: _Function, operands: list[Any]) -> Value:
    """By the operator for all functions, in one step from where its operands come
    from.
    """
    if function.words in ("and", "or", "not") and any(map(_is_integer, operands)):
        raise UnsupportedNodeError("bits of integers")
    texts: list[str] = []
    inputs: list[Value] = []
    for operand in operands:
        text, of = _expression(c, operand)
        places = []
        for value in of:
            if value not in inputs:
                inputs.append(value)
            places.append(f"${inputs.index(value)}")
        texts.append(_with_inputs(text, places))
    if "{1}" in function.words:  # words behind the first operand
        words = f"{texts[0]} {function.words.format(*texts)}"
    else:
        words = " ".join(filter(None, (*texts, function.words)))
    result = function.result
    if result is None:
        # A power of integers is one if the exponent is not negative.
        whole = all(_is_integer(operand) for operand in operands[-2:])
        if function.words == "pow" and isinstance(operands[1], int):
            whole = whole and operands[1] >= 0
        result = _INTEGER if whole else _FLOAT
    name = c.builder.graph.unique_name(f"{c.label}/size_expression")
    attributes = {"expression": words, "whole": result is not _FLOAT}
    found = c.builder.one("SizeExpression", inputs, name, attributes, name)
    if result is _BOOLEAN:
        found = c.cast(found, _BOOLEAN)
    if len(words) <= _LONGEST:
        c.expressions[found] = (words, tuple(inputs))
    return found


def _with_inputs(text: str, places: list[str]) -> str:
    """The expression with the places of its inputs in another list."""
    words = text.split(" ")
    return " ".join(places[int(w[1:])] if w.startswith("$") else w for w in words)


def _expression(c: Context, operand: Any) -> tuple[str, tuple[Value, ...]]:
    if not isinstance(operand, Value):
        return _literal(float(operand)), ()
    while operand.producer is not None and operand.producer.type == "Identity":
        operand = operand.producer.input(0)
    known = c.expressions.get(operand)
    if known is not None:
        return known
    if operand.dtype is _BOOLEAN:
        operand = c.cast(operand, _INTEGER)
    return "$0", (operand,)


def _literal(number: float) -> str:
    """A number in the operator's words; exact."""
    if not math.isfinite(number):
        raise UnsupportedNodeError(f"computes with {number}")
    if number == int(number) and abs(number) < 1e15:
        return str(int(number))
    mantissa, exponent = math.frexp(number)
    return f"{int(math.ldexp(mantissa, 53))}p{exponent - 53}"
