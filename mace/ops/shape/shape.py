# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Shape, SizeExpression and Range."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dims import (
    Dim,
    add,
    ceil_divide,
    computed,
    maximum,
    multiply,
    subtract,
)
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op, Value
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.op_rules.movement import (
    check_one_element,
    inputs_without_gaps,
    symbols,
)
from mace.python.tools.ir.shapes import static


class Shape(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        return [OutputType(DataType.INT32, (op.input(0).rank,))]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        return [np.array(inputs[0].shape, np.int32)]

    def known_outputs(self, op: Op) -> list[Constant] | None:
        shape = static(op.input(0).shape)
        return None if shape is None else [Constant.of(np.array(shape, np.int32))]

    def symbolic(self, op: Op, inputs: Sequence[Array | None]) -> Array | None:
        shape = op.input(0).shape
        return None if shape is None else symbols(shape)


# The native operator has as many.
_MOST_NUMBERS = 32


def _power(a: float, b: float) -> float:
    try:
        return math.pow(a, b)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan


def _square_root(a: float) -> float:
    return math.sqrt(a) if a >= 0 else math.nan


def _whole(function: Callable[[float], int]) -> Callable[[float], float]:
    return lambda a: float(function(a)) if math.isfinite(a) else a


def _divided(function: Callable[[float, float], float]) -> Any:
    def of(a: float, b: float) -> float:
        return function(a, b) if b != 0 and math.isfinite(a) else math.nan

    return of


_FUNCTIONS: dict[str, tuple[int, Callable[..., float]]] = {
    "add": (2, operator.add),
    "sub": (2, operator.sub),
    "mul": (2, operator.mul),
    "truediv": (2, _divided(operator.truediv)),
    "floordiv": (2, _divided(operator.floordiv)),
    "mod": (2, _divided(operator.mod)),
    "pow": (2, _power),
    "max": (2, lambda a, b: b if b > a else a),
    "min": (2, lambda a, b: b if b < a else a),
    "lt": (2, operator.lt),
    "le": (2, operator.le),
    "gt": (2, operator.gt),
    "ge": (2, operator.ge),
    "eq": (2, operator.eq),
    "ne": (2, operator.ne),
    "and": (2, lambda a, b: a != 0 and b != 0),
    "or": (2, lambda a, b: a != 0 or b != 0),
    "neg": (1, operator.neg),
    "trunc": (1, _whole(math.trunc)),
    "floor": (1, _whole(math.floor)),
    "ceil": (1, _whole(math.ceil)),
    "round": (1, _whole(round)),
    "sqrt": (1, _square_root),
    "not": (1, operator.not_),
    "ite": (3, lambda a, b, c: b if a != 0 else c),
}
_NUMBER = re.compile(r"(-?\d{1,18})(?:p(-?\d{1,4}))?", re.ASCII)
_INPUT = re.compile(r"\$(\d{1,4})", re.ASCII)


def _value(expression: str, inputs: Sequence[float]) -> float:
    """
    Raises:
        ValueError: the text is no expression of these inputs.
    """
    stack: list[float] = []
    for word in expression.split(" "):
        number, place = _NUMBER.fullmatch(word), _INPUT.fullmatch(word)
        if number is not None:
            stack.append(math.ldexp(int(number[1]), int(number[2] or 0)))
        elif place is not None and int(place[1]) < len(inputs):
            stack.append(inputs[int(place[1])])
        else:
            count, function = _FUNCTIONS.get(word, (0, None))
            if function is None or len(stack) < count:
                raise ValueError(f"expression has the word {word!r}")
            operands = stack[len(stack) - count :]
            stack[len(stack) - count :] = [float(function(*operands))]
        if len(stack) > _MOST_NUMBERS:
            raise ValueError(f"expression has more than {_MOST_NUMBERS} open numbers")
    if len(stack) != 1:
        raise ValueError(f"expression leaves {len(stack)} numbers")
    return stack[0]


class SizeExpression(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        values = inputs_without_gaps(op)
        for value in values:
            check_one_element(value)
        _value(op.attr("expression"), [1.0] * len(values))
        whole = op.attr("whole")
        return [OutputType(DataType.INT32 if whole else DataType.FLOAT32, ())]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        numbers = [float(np.asarray(x).reshape(())) for x in inputs]
        found = _value(op.attr("expression"), numbers)
        if not op.attr("whole"):
            return [np.asarray(found)]
        if not (-(2**31) <= found < 2**31 and found == math.floor(found)):
            raise ValueError(f"the result is {found}, no integer of 32 bits")
        return [np.asarray(int(found))]

    def symbolic(self, op: Op, inputs: Sequence[Array | None]) -> Array | None:
        if not op.attr("whole"):
            return None
        found: list[Dim] = []
        for dims in inputs:
            if dims is None:
                return None
            found.append(dims.reshape(-1)[0])
        numbers = [dim for dim in found if isinstance(dim, int)]
        if len(numbers) == len(found):
            return self.evaluate(op, numbers)[0].astype(object)
        text = op.attr("expression").replace(" ", "_")
        return symbols([computed(text, found)]).reshape(())


class Range(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        values = [op.input(i) for i in range(3)]
        dtype = values[0].dtype
        for value in values:
            if value.dtype is not dtype:
                raise ValueError(f"{dtype.value} and {value.dtype.value} inputs")
            check_one_element(value)
        if not all(value.is_constant for value in values):
            return [OutputType(dtype, (_open_count(values),))]
        count = _count(*(value.numpy().reshape(()) for value in values))
        return [OutputType(dtype, (count,))]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        start, limit, delta = (np.asarray(x).reshape(()) for x in inputs)
        steps = np.arange(_count(start, limit, delta))
        wide = np.float64 if start.dtype.kind == "f" else np.int64
        return [wide(start) + steps * wide(delta)]

    def symbolic(self, op: Op, inputs: Sequence[Array | None]) -> Array | None:
        count = static(op.output.shape)
        start, delta = inputs[0], inputs[2]
        if count is None or start is None or delta is None:
            return None
        numbers = [
            add(start.reshape(-1)[0], multiply(i, delta.reshape(-1)[0]))
            for i in range(count[0])
        ]
        return symbols(numbers)


def _open_count(values: Sequence[Value]) -> Dim:
    """How many numbers there are, if they start, end and step at dimensions."""
    if values[0].dtype is not DataType.INT32:
        return None
    start, limit, delta = (
        value.numpy().reshape(-1).tolist()[0]
        if value.is_constant
        else None
        if value.dims is None
        else value.dims.reshape(-1)[0]
        for value in values
    )
    if not isinstance(delta, int) or delta <= 0:
        return None
    return ceil_divide(maximum(subtract(limit, start), 0), delta)


def _count(start: Array, limit: Array, delta: Array) -> int:
    if delta == 0:
        raise ValueError("delta is 0")
    count = math.nan
    with np.errstate(all="ignore"):
        if start.dtype.kind == "f":
            count = float(np.ceil(np.float64(limit - start) / np.float64(delta)))
        else:
            count = -((int(start) - int(limit)) // int(delta))
    if not abs(count) < 2**31:
        raise ValueError(f"from {start} to {limit} there are no {count} elements")
    return max(int(count), 0)
