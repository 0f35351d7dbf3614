# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for SizeExpression."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dims import Dim, computed
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.op_rules.movement import (
    check_one_element,
    inputs_without_gaps,
    symbols,
)

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
