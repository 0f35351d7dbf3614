# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds activations that frameworks express as arithmetic operators.

x * sigmoid(x)                          > SWISH
relu6(x + 3) / 6                        > HARD_SIGMOID, alpha 1/6, beta 1/2
x * hard_sigmoid(x)                     > HARD_SWISH
x * relu6(x + 3) / 6                    > HARD_SWISH
x * 0.5 * (1 + erf(x / sqrt(2)))        > GELU
x * 0.5 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))
                                        > GELU_TANH
x / (1 + abs(x))                        > SOFTSIGN
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from mace.python.tools.ir import Graph, Op, Value
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.clip_to_relux import shifted_relu6
from mace.python.tools.passes.match import eltwise, producer, scalar, with_scalar

_CLOSE = 1e-5


class RecogniseActivations(Pass):
    """Arithmetic to Activation."""

    name = "recognise_activations"
    requires = (
        "clip_to_relux",
        "remove_neutral",
        "simplify_powers",
        "sink_transposes",
    )

    def run(self, graph: Graph) -> int:
        count = 0
        for op in graph.ops:
            if op.type != "Eltwise" or eltwise(op.output, op.attr("mode")) is not op:
                continue
            found = (
                _swish(op)
                or _hard_swish(op)
                or _hard_sigmoid(op)
                or _gelu(op)
                or _softsign(op)
            )
            if found is None:
                continue
            value, attrs = found
            # Not a match if a constant widened the result.
            if value.rank != op.output.rank:
                continue
            graph.replace_op(op, "Activation", [value], attrs)
            count += 1
        return count


_Found = tuple[Value, dict[str, Any]]


def _operands(op: Op | None) -> Iterator[tuple[Value, Value]]:
    """The operands of a binary operator, in both orders."""
    if op is not None and op.get_input(1) is not None:
        yield op.input(0), op.input(1)
        yield op.input(1), op.input(0)


def _product(value: Value | None) -> Op | None:
    return eltwise(value, "MUL")


def _swish(op: Op) -> _Found | None:
    for x, gate in _operands(_product(op.output)):
        sigmoid = producer(gate, "Activation")
        if sigmoid is None or sigmoid.input(0) is not x:
            continue
        if sigmoid.attr("activation") == "SIGMOID":
            return x, {"activation": "SWISH"}
        alpha = sigmoid.attr("activation_alpha")
        beta = sigmoid.attr("activation_beta")
        if (
            sigmoid.attr("activation") == "HARD_SIGMOID"
            and math.isclose(alpha, 1 / 6, rel_tol=_CLOSE)
            and math.isclose(beta, 0.5, rel_tol=_CLOSE)
        ):
            return x, {"activation": "HARD_SWISH"}
    return None


def _sixth(value: Value) -> Value | None:
    """y if `value` is y / 6 or y * (1 / 6)."""
    return _by_constant(value, 1 / 6)


def _by_constant(value: Value | None, factor: float) -> Value | None:
    """y if `value` is y times `factor`, or y divided by its inverse."""
    times, over = eltwise(value, "MUL"), eltwise(value, "DIV")
    found = _with_close(times, factor)
    if found is None and over is not None:
        divisor = scalar(over.get_input(1))
        if divisor and math.isclose(1 / divisor, factor, rel_tol=_CLOSE):
            found = over.input(0)
    return found


def _with_close(op: Op | None, number: float) -> Value | None:
    if op is None:
        return None
    for x, other in _operands(op):
        found = scalar(other)
        if found is not None and math.isclose(found, number, rel_tol=_CLOSE):
            return x
    return None


def _hard_sigmoid(op: Op) -> _Found | None:
    x = shifted_relu6(_sixth(op.output))
    if x is None:
        return None
    attrs = {
        "activation": "HARD_SIGMOID",
        "activation_alpha": 1 / 6,
        "activation_beta": 0.5,
    }
    return x, attrs


def _hard_swish(op: Op) -> _Found | None:
    # (x * relu6(x + 3)) / 6; the other order is a hard sigmoid first.
    inner = _sixth(op.output)
    for x, gate in _operands(_product(inner)):
        if shifted_relu6(gate) is x:
            return x, {"activation": "HARD_SWISH"}
    # (x / 6) * relu6(x + 3)
    for part, gate in _operands(_product(op.output)):
        x_or_none = _sixth(part)
        if x_or_none is not None and shifted_relu6(gate) is x_or_none:
            return x_or_none, {"activation": "HARD_SWISH"}
    return None


def _gelu(op: Op) -> _Found | None:
    # Any of the three factors may be the one with 0.5.
    for a, b in _operands(_product(op.output)):
        found = _gelu_gate(b)
        if found is not None and _by_constant(a, 0.5) is found[0]:
            return found
        found = _gelu_gate(_by_constant(b, 0.5))
        if found is not None and found[0] is a:
            return found
    whole = _by_constant(op.output, 0.5)
    for a, b in _operands(_product(whole)):
        found = _gelu_gate(b)
        if found is not None and found[0] is a:
            return found
    return None


def _gelu_gate(value: Value | None) -> _Found | None:
    """x and the activation if `value` is the gate of a GELU, times 2."""
    gate = with_scalar(eltwise(value, "ADD"), 1)
    erf, tanh = eltwise(gate, "ERF"), producer(gate, "Activation")
    if erf is not None:
        x = _by_constant(erf.input(0), 1 / math.sqrt(2))
        return None if x is None else (x, {"activation": "GELU"})
    if tanh is None or tanh.attr("activation") != "TANH":
        return None
    inner = _by_constant(tanh.input(0), math.sqrt(2 / math.pi))
    x = _plus_cube(inner)
    return None if x is None else (x, {"activation": "GELU_TANH"})


def _plus_cube(value: Value | None) -> Value | None:
    """x if `value` is x + 0.044715 x^3, or x * (1 + 0.044715 x^2)."""
    for x, cube in _operands(eltwise(value, "ADD")):
        if _power(_by_constant(cube, 0.044715), 3) is x:
            return x
        # The factor may also be inside the product.
        for a, b in _operands(_product(cube)):
            if a is x and _power(_by_constant(b, 0.044715), 2) is x:
                return x
            if _by_constant(a, 0.044715) is x and _power(b, 2) is x:
                return x
    for x, factor in _operands(_product(value)):
        square = _by_constant(with_scalar(eltwise(factor, "ADD"), 1), 0.044715)
        if _power(square, 2) is x:
            return x
    return None


def _power(value: Value | None, exponent: int) -> Value | None:
    """x if `value` is x^2 or x^3, in the form that simplify_powers produces."""
    if exponent == 2:
        op = eltwise(value, "SQUARE")
        return None if op is None else op.input(0)
    for x, square in _operands(_product(value)):
        if _power(square, 2) is x:
            return x
    return None


def _softsign(op: Op) -> _Found | None:
    quotient = eltwise(op.output, "DIV")
    if quotient is None:
        return None
    x, below = quotient.input(0), quotient.get_input(1)
    size = eltwise(_with_close(eltwise(below, "ADD"), 1.0), "ABS")
    if size is None or size.input(0) is not x or x.dtype is not DataType.FLOAT32:
        return None
    return x, {"activation": "SOFTSIGN"}
