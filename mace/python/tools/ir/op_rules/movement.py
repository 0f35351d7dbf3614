# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that move elements without computing on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from mace.python.tools.ir.constant import Integers
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.node import Op, Value
from mace.python.tools.ir.op_rules.base import OpRules
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.shapes import Dim, same_shape, static


class MovementRules(OpRules):
    """Every element of the output is an element of an input."""

    def symbolic(self, op: Op, inputs: Sequence[Array | None]) -> Array | None:
        arrays = [array for array in inputs if array is not None]
        if len(arrays) != len(inputs):
            return None
        return self._moved(op, arrays, [])

    def _moved(
        self, op: Op, arrays: Sequence[Array], parameters: Sequence[Array]
    ) -> Array:
        """Finds out where elements go by moving numbers in their place.

        Args:
            op: the operator.
            arrays: its first inputs, whose elements it moves.
            parameters: its other inputs, which say where to.
        """
        pool = np.concatenate([array.reshape(-1) for array in arrays])
        numbers, start = [], 0
        for array in arrays:
            ids = np.arange(start, start + array.size).reshape(array.shape)
            numbers.append(ids)
            start += array.size
        (moved,) = self.evaluate(op, [*numbers, *parameters])
        return np.asarray(pool[np.asarray(moved, np.int64)], object)


class ReshapeRules(MovementRules):
    """The output is the first input with another shape."""

    only_reshapes = True
    keeps_elements = True

    def integers(self, op: Op) -> Integers | None:
        shape = static(op.output.shape)
        if shape is None:
            return None
        return moved_integers(op, lambda array: array.reshape(shape))

    def quantization(self, op: Op) -> list[Quantization | None]:
        given = op.input(0).quantization
        # With several scales, each operator knows where their axis went.
        return [given if given is not None and given.per_tensor else None]

    def is_identity(self, op: Op) -> bool:
        return same_shape(op.input(0).shape, op.output.shape)


def moved_integers(op: Op, function: Callable[[Array], Array]) -> Integers | None:
    """What the output was made of, which `function` makes of input 0 by moving
    elements.
    """
    given, shape = op.input(0).constant, static(op.output.shape)
    if given is None or given.integers is None or shape is None:
        return None
    return given.integers.moved(function, shape)


def symbols(dims: Sequence[Dim]) -> Array:
    """An array of numbers, symbols and None."""
    result = np.empty(len(dims), object)
    result[:] = dims
    return result


def inputs_without_gaps(op: Op) -> list[Value]:
    """The inputs of an operator that takes any number of them, of any types.

    Raises:
        ValueError: there are none or some are left out.
    """
    values = [value for value in op.inputs if value is not None]
    if not values or len(values) != len(op.inputs):
        raise ValueError("needs at least one input and no gaps")
    return values


def check_one_element(value: Value) -> None:
    """
    Raises:
        ValueError: the value is known to have none or more.
    """
    shape = static(value.shape)
    if shape is not None and math.prod(shape) != 1:
        raise ValueError(f"an input has the shape {list(shape)}")


def given_inputs(op: Op) -> list[Value]:
    """The inputs of an operator that takes any number of them, of one type.

    Raises:
        ValueError: there are none or some are left out, or their types differ.
    """
    values = inputs_without_gaps(op)
    types = {value.dtype for value in values}
    if len(types) > 1:
        names = ", ".join(sorted(t.value for t in types))
        raise ValueError(f"element types differ: {names}")
    return values
