# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Replaces arithmetic that normalises the innermost dimension by LayerNorm.

c = x - mean(x), v = mean(c^2)
c / sqrt(v + epsilon)                           > LayerNorm
x / sqrt(mean(x^2) + epsilon)                   > LayerNorm without the mean
x * f + (offset - mean(x) * f), f = scale / sqrt(v + epsilon)
                                                > LayerNorm, scale, offset
LayerNorm * scale + offset                      > LayerNorm, scale, offset

Frameworks express the reciprocal square root and the mean of squares in several ways;
TensorFlow uses the third form.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from mace.python.tools.ir import Graph, Op, Value
from mace.python.tools.ir.shapes import normalize_axis
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.match import (
    eltwise,
    is_scalar,
    only_reader,
    other_operand,
    producer,
    scalar,
)


class RecogniseLayerNorm(Pass):
    """Converts arithmetic to LayerNorm."""

    name = "recognise_layer_norm"
    # Must run before transposes move past these operators and make another dimension
    # the innermost one.
    requires = ("simplify_powers", "symbolic_shapes")

    def run(self, graph: Graph) -> int:
        count = 0
        for op in graph.ops:
            if op in graph and op.type == "Eltwise":
                count += _normalisation(graph, op) or _affine(graph, op)
        return count


@dataclass(frozen=True)
class _Inverse:
    """1 / sqrt(mean(squared^2) + epsilon).

    Attributes:
        squared: the value whose squares are averaged.
        mean: the mean that is subtracted before squaring; None if there is none.
        scale: a factor that follows; None if there is none.
    """

    squared: Value
    mean: Value | None
    epsilon: float
    scale: Value | None = None


def _normalisation(graph: Graph, op: Op) -> bool:
    for value, inverse in _normalised(op):
        x = _centred(value, inverse)
        if x is not None:
            _replace(graph, op, x, inverse, None)
            return True
    found = _tensorflow(op)
    if found is None:
        return False
    x, inverse, offset = found
    _replace(graph, op, x, inverse, offset)
    return True


def _replace(
    graph: Graph, op: Op, x: Value, inverse: _Inverse, offset: Value | None
) -> None:
    attrs = {
        "epsilon": inverse.epsilon,
        "subtract_mean": inverse.mean is not None or inverse.squared is not x,
    }
    rows = [_row(graph, value, x) for value in (inverse.scale, offset)]
    graph.replace_op(op, "LayerNorm", [x, *rows], attrs)


def _row(graph: Graph, value: Value | None, x: Value) -> Value | None:
    """The constant with the shape of the innermost dimension of x."""
    if value is None or value.constant is None:
        return None
    assert x.shape is not None
    array = value.numpy().reshape(-1)
    if value.shape == (array.size,):
        return value
    return graph.add_constant(f"{value.name}/row", array)


def _fits(value: Value | None, x: Value) -> bool:
    """Whether a constant has one value per element of the innermost dimension."""
    if value is None or value.constant is None or not value.dtype.is_float:
        return False
    shape = value.constant.shape
    return (
        x.shape is not None
        and 0 < len(shape) <= len(x.shape)
        and shape[-1] == x.shape[-1]
        and all(dim == 1 for dim in shape[:-1])
    )


def _pairs(op: Op | None) -> Iterator[tuple[Value, Value]]:
    if op is not None and op.get_input(1) is not None:
        yield op.input(0), op.input(1)
        yield op.input(1), op.input(0)


def _normalised(op: Op) -> Iterator[tuple[Value, _Inverse]]:
    """Values that `op` multiplies by an inverse, or divides by its reciprocal."""
    if eltwise(op.output, "MUL") is op:
        for value, factor in _pairs(op):
            inverse = _inverse(factor, value)
            if inverse is not None:
                yield value, inverse
    if eltwise(op.output, "DIV") is op:
        root = eltwise(op.input(1), "SQRT")
        inverse = None if root is None else _over(root.input(0))
        if inverse is not None:
            yield op.input(0), inverse


def _inverse(value: Value, x: Value) -> _Inverse | None:
    """The reciprocal square root, with or without a scale for rows of x."""
    plain = eltwise(value, "RSQRT")
    if plain is not None:
        return _over(plain.input(0))
    root = eltwise(value, "RECIPROCAL")
    if root is not None:
        below: Value | None = root.input(0)
    else:
        quotient = eltwise(value, "DIV")
        one = quotient is not None and is_scalar(quotient.input(0), 1.0)
        below = quotient.get_input(1) if quotient is not None and one else None
    square_root = eltwise(below, "SQRT")
    if square_root is not None:
        return _over(square_root.input(0))
    for factor, scale in _pairs(eltwise(value, "MUL")):
        if _fits(scale, x):
            found = _inverse(factor, x)
            if found is not None and found.scale is None:
                return _Inverse(found.squared, found.mean, found.epsilon, scale)
    return None


def _over(value: Value) -> _Inverse | None:
    """The variance, or mean of squares, and the epsilon that is added to it."""
    for variance, added in _pairs(eltwise(value, "ADD")):
        epsilon = scalar(added)
        if epsilon is None:
            continue
        squares = _mean(variance)
        square = eltwise(squares, "SQUARE")
        if square is not None:
            return _Inverse(square.input(0), None, epsilon)
        distance = eltwise(squares, "SQR_DIFF")
        for x, mean in _pairs(distance):
            if _mean(mean) is x:
                return _Inverse(x, mean, epsilon)
        squared = _mean_of_squares(variance)
        if squared is not None:
            return _Inverse(squared, None, epsilon)
    return None


def _reduced(value: Value | None, mode: str) -> Value | None:
    """The value that is reduced over the innermost dimension, keeping it as 1."""
    op = producer(value, "Reduce")
    if op is None or op.attr("mode") != mode or not op.attr("keep_dims"):
        return None
    rank = op.input(0).rank
    axes = op.attr("axes")
    if rank is None or len(axes) != 1 or normalize_axis(axes[0], rank) != rank - 1:
        return None
    return op.input(0)


def _mean(value: Value | None) -> Value | None:
    return _reduced(value, "MEAN")


def _mean_of_squares(value: Value) -> Value | None:
    """x if `value` is the sum of squares of x divided by their number."""
    quotient, product = eltwise(value, "DIV"), eltwise(value, "MUL")
    if quotient is not None:
        pairs = [(quotient.input(0), quotient.get_input(1))]
    else:
        pairs = list(_pairs(product))
    for total, number in pairs:
        x, count = _reduced(total, "SUM_SQUARE"), scalar(number)
        if x is None or not count or x.shape is None:
            continue
        wanted = x.shape[-1]
        found = count if quotient is not None else 1 / count
        if isinstance(wanted, int) and math.isclose(found, wanted, rel_tol=1e-6):
            return x
    return None


def _centred(value: Value, inverse: _Inverse) -> Value | None:
    """x if `value` times the inverse is LayerNorm of x."""
    difference = eltwise(value, "SUB")
    own_mean = difference is not None and _mean(difference.get_input(1))
    if difference is not None and own_mean is difference.input(0):
        x = difference.input(0)
        of_itself = inverse.squared is value and inverse.mean is None
        return x if of_itself or (inverse.squared is x and inverse.mean) else None
    return value if inverse.squared is value and inverse.mean is None else None


def _tensorflow(op: Op) -> tuple[Value, _Inverse, Value | None] | None:
    """x * f + (offset - mean * f), where f is an inverse with or without a scale."""
    for product, rest in _pairs(eltwise(op.output, "ADD")):
        difference = eltwise(rest, "SUB")
        if difference is None:
            continue
        for x, factor in _pairs(eltwise(product, "MUL")):
            shift = eltwise(difference.get_input(1), "MUL")
            mean = None if shift is None else other_operand(shift, factor)
            inverse = _inverse(factor, x) if mean is not None else None
            if inverse is None or _mean(mean) is not x:
                continue
            of_x = inverse.squared is x and inverse.mean is not None
            if (of_x or _is_centred(inverse, x)) and _fits(difference.input(0), x):
                return (
                    x,
                    _Inverse(x, mean, inverse.epsilon, inverse.scale),
                    (difference.input(0)),
                )
    return None


def _is_centred(inverse: _Inverse, x: Value) -> bool:
    difference = eltwise(inverse.squared, "SUB")
    return (
        difference is not None
        and difference.input(0) is x
        and _mean(difference.get_input(1)) is x
    )


def _affine(graph: Graph, op: Op) -> bool:
    """Moves a scale or an offset into the LayerNorm before it."""
    mode = op.attr("mode")
    port = {"MUL": 1, "ADD": 2}.get(mode)
    if port is None or eltwise(op.output, mode) is not op:
        return False
    for value, row in _pairs(op):
        norm = producer(value, "LayerNorm")
        if norm is None or only_reader(graph, value) is not op:
            continue
        # A scale after an offset is a different formula.
        free = norm.get_input(port) is None and norm.get_input(2) is None
        if free and _fits(row, value):
            norm.set_input(port, _row(graph, row, value))
            graph.merge_into(norm, op)
            return True
    return False
