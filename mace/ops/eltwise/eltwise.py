# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for Eltwise, Bitwise and Where."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir import dims
from mace.python.tools.ir.constant import Constant, Integers
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import (
    NARROW_TYPES,
    WIDE_TYPES,
    Bounds,
    BoundsOf,
    OpRules,
    OutputType,
    Perm,
    SunkTranspose,
    hull,
)
from mace.python.tools.ir.op_rules.activations import activate, check_fused, erf
from mace.python.tools.ir.op_rules.axes import broadcast_axis
from mace.python.tools.ir.op_rules.base import int32_of
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.quantized_ops import (
    has_limits,
    integers_of,
    is_quantized,
    limited,
    requantized,
    rounded,
    scale_of,
    zero_of,
)
from mace.python.tools.ir.shapes import Dim, broadcast

_UNARY: dict[str, Callable[[Array], Array]] = {
    "NEG": np.negative,
    "ABS": np.abs,
    "SQRT": np.sqrt,
    "RSQRT": lambda x: 1 / np.sqrt(x),
    "SQUARE": np.square,
    "EXP": np.exp,
    "LOG": np.log,
    "FLOOR": np.floor,
    "CEIL": np.ceil,
    "ROUND": np.rint,
    "SIGN": np.sign,
    "RECIPROCAL": lambda x: 1 / x,
    "ERF": erf,
    "SIN": np.sin,
    "COS": np.cos,
}
_UNARY_OF_INTEGERS = frozenset(
    {"NEG", "ABS", "SQUARE", "SIGN", "FLOOR", "CEIL", "ROUND"}
)
_COMPARISONS: dict[str, Callable[[Array, Array], Array]] = {
    "EQUAL": np.equal,
    "NOT_EQUAL": np.not_equal,
    "LESS": np.less,
    "LESS_EQUAL": np.less_equal,
    "GREATER": np.greater,
    "GREATER_EQUAL": np.greater_equal,
}
_BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "ADD": np.add,
    "SUB": np.subtract,
    "MUL": np.multiply,
    "DIV": lambda a, b: _divided(a, b),
    "MIN": np.minimum,
    "MAX": np.maximum,
    "POW": np.power,
    "SQR_DIFF": lambda a, b: np.square(a - b),
    "FLOOR_DIV": np.floor_divide,
    "FLOOR_MOD": np.mod,
    **_COMPARISONS,
}
# Their extremes are those of extreme operands.
_BETWEEN_CORNERS = ("ADD", "SUB", "MUL", "MAX", "MIN")
# Of an activation between such extremes.
_SAMPLES = 1025
_CAN_EXCEED = frozenset(
    {"ADD", "SUB", "MUL", "DIV", "POW", "SQR_DIFF", "FLOOR_DIV", "NEG", "ABS", "SQUARE"}
)
# The modes that are used to compute shapes.
_OF_DIMENSIONS: dict[str, Callable[[Dim, Dim], Dim]] = {
    "ADD": dims.add,
    "SUB": dims.subtract,
    "MUL": dims.multiply,
    "MAX": dims.maximum,
    "MIN": dims.minimum,
    "DIV": lambda a, b: _divided_dim(a, b),
    "FLOOR_DIV": dims.floor_divide,
    "FLOOR_MOD": dims.modulo,
    "EQUAL": lambda a, b: _equal(a, b),
    "NOT_EQUAL": lambda a, b: _opposite(_equal(a, b)),
    "LESS": lambda a, b: _less(a, b),
    "LESS_EQUAL": lambda a, b: _opposite(_less(b, a)),
    "GREATER": lambda a, b: _less(b, a),
    "GREATER_EQUAL": lambda a, b: _opposite(_less(a, b)),
}
# Of the factors of quantized sums.
_FACTOR_BITS = 21
_MOST_SHIFT = 30
_INT16_FACTOR_BITS = 31


class Eltwise(OpRules):
    elementwise = True
    inputs_share_axes = True
    broadcasts = True

    def computes_in(
        self, attrs: Mapping[str, Any], port: int, dtype: DataType
    ) -> Sequence[DataType]:
        chooses = attrs.get("mode") in ("MAX", "MIN")
        return WIDE_TYPES if chooses and dtype in NARROW_TYPES else ()

    def integers(self, op: Op) -> Integers | None:
        """Of integers times a scale, where that is how a model dequantizes."""
        mode, b = op.attr("mode"), op.get_input(1)
        if b is None or mode not in ("MUL", "SUB") or op.attr("activation") != "NONE":
            return None
        given, other = op.input(0).constant, b.constant
        if mode == "MUL" and given is not None and given.integers is None:
            given, other = other, given
        if given is None or given.integers is None or other is None:
            return None
        if given.shape != op.output.shape or other.integers is not None:
            return None
        if mode == "SUB":
            return given.integers.with_zero(other.numpy())
        # What was dequantized already, somebody multiplied on purpose.
        if (given.integers.scale.numpy() != 1).any():
            return None
        return given.integers.multiplied(other.numpy().astype(np.float64))

    def infer(self, op: Op) -> list[OutputType]:
        mode, a, b = op.attr("mode"), op.input(0), op.get_input(1)
        dtype = DataType.BOOL if mode in _COMPARISONS else a.dtype
        if (b is None) != (mode in _UNARY):
            raise ValueError(f"mode {mode} takes {1 if b else 2} inputs")
        check_fused(op)
        quantized = is_quantized(op)
        floats = dtype is DataType.FLOAT32 or quantized
        if op.attr("activation") != "NONE" and not floats:
            raise ValueError(f"an activation of {dtype.value} results")
        if b is None:
            if not a.dtype.is_float and mode not in _UNARY_OF_INTEGERS:
                raise ValueError(f"mode {mode} does not take {a.dtype.value}")
            return [OutputType(dtype, a.shape)]
        if a.dtype is not b.dtype and not quantized:
            raise ValueError(f"{a.dtype.value} and {b.dtype.value} operands")
        divides = mode in ("DIV", "FLOOR_DIV", "FLOOR_MOD") and not a.dtype.is_float
        if divides and b.is_constant and not b.numpy().all():
            raise ValueError(f"mode {mode} divides an integer by zero")
        if a.shape is None or b.shape is None:
            return [OutputType(dtype, None)]
        return [OutputType(dtype, broadcast(a.shape, b.shape))]

    def can_exceed(self, op: Op) -> bool:
        return op.attr("mode") in _CAN_EXCEED and op.output.dtype is DataType.INT32

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        mode = op.attr("mode")
        if op.output.dtype is DataType.INT32:
            return [self._of_integers(op, [np.asarray(x) for x in inputs])]
        if mode in _UNARY:
            return [activate(op, _UNARY[mode](inputs[0]))]
        return [activate(op, _BINARY[mode](inputs[0], inputs[1]))]

    def bounds(self, op: Op, known: BoundsOf) -> Bounds | None:
        found = super().bounds(op, known)
        if found is not None or op.attr("mode") not in _BETWEEN_CORNERS:
            return found
        a, b = known(op.input(0)), known(op.input(1))
        if a is None or b is None:
            return None
        corners = _BINARY[op.attr("mode")](*np.meshgrid(a, b))
        between = np.linspace(corners.min(), corners.max(), _SAMPLES)
        results = activate(op, between)
        return float(results.min()), float(results.max())

    def _of_integers(self, op: Op, inputs: Sequence[Array]) -> Array:
        mode = op.attr("mode")
        if mode == "POW":
            # Python's integers have no limit.
            function = np.frompyfunc(_power, 2, 1)
            return int32_of(
                op, np.asarray(function(*(x.astype(object) for x in inputs)))
            )
        wide = [x.astype(np.int64) for x in inputs]
        if mode in _UNARY:
            return int32_of(op, _UNARY[mode](wide[0]))
        if mode == "SQR_DIFF":
            wide = [x.astype(object) for x in wide]
        return int32_of(op, _BINARY[mode](*wide))

    def quantized_constants(
        self, op: Op, quantization: Quantization | None
    ) -> Mapping[int, tuple[Constant, Quantization]] | None:
        modes = ("ADD", "SUB", "MUL", "MAX", "MIN")
        if op.attr("mode") not in modes or not has_limits(op):
            return None
        made = {}
        for index, value in enumerate(op.inputs):
            if value is not None and value.is_constant:
                integers = integers_of(value)
                if integers is None:
                    return None
                made[index] = integers
        return made

    def evaluate_quantized(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        a, b = (
            np.asarray(array, np.int64) - zero_of(op.input(index))
            for index, array in enumerate(inputs)
        )
        a_scale, b_scale = (scale_of(op.input(index)) for index in (0, 1))
        scale = scale_of(op.output)
        if op.attr("mode") == "MUL":
            return [requantized(op, a * b, np.asarray(a_scale * b_scale / scale))]
        factors = [float(a_scale / scale), float(b_scale / scale)]
        if op.output.dtype is DataType.INT16:
            return [limited(op, _exact_sum(op, (a, b), factors))]
        shift = min(max(_FACTOR_BITS - math.frexp(max(factors))[1], 0), _MOST_SHIFT)
        largest = 2**_FACTOR_BITS - 1
        a_factor, b_factor = (
            round(min(math.ldexp(factor, shift), largest)) for factor in factors
        )
        half = 2 ** (shift - 1) if shift else 0
        sums = _BINARY[op.attr("mode")](a * a_factor, b * b_factor)
        return [limited(op, (sums + half) >> shift)]

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        return SunkTranspose(perm)

    def symbolic(self, op: Op, inputs: Sequence[Array | None]) -> Array | None:
        function = _OF_DIMENSIONS.get(op.attr("mode"))
        arrays = [array for array in inputs if array is not None]
        if function is None or len(arrays) != len(inputs):
            return None
        if op.attr("activation") != "NONE":
            return None
        return np.asarray(np.frompyfunc(function, 2, 1)(*arrays), object)


def _exact_sum(op: Op, operands: Sequence[Array], factors: Sequence[float]) -> Array:
    """The steps of a sum of int16, or of another mode whose operands have factors."""
    shift = _INT16_FACTOR_BITS - math.frexp(max(factors))[1]
    products = [
        operand * round(math.ldexp(factor, shift))
        for operand, factor in zip(operands, factors)
    ]
    sums = _BINARY[op.attr("mode")](*products)
    return rounded(np.ldexp(sums.astype(np.float64), -shift))


def _power(base: int, exponent: int) -> int:
    if exponent >= 0:
        return int(base**exponent)
    if base in (1, -1):
        return int(base ** (exponent % 2))
    if base == 0:
        raise ZeroDivisionError("0 to a negative power")
    return 0


def _divided_dim(a: Dim, b: Dim) -> Dim:
    """a / b, towards zero."""
    if isinstance(a, int) and isinstance(b, int) and b:
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    signs_known = dims.at_least(a, 0) and dims.at_least(b, 1)
    return dims.floor_divide(a, b) if signs_known else None


def _equal(a: Dim, b: Dim) -> bool | None:
    if a is not None and a == b:
        return True
    return False if dims.never_equal(a, b) else None


def _less(a: Dim, b: Dim) -> bool | None:
    if dims.at_least(a, b):
        return False
    return True if dims.at_least(b, dims.add(a, 1)) else None


def _opposite(known: bool | None) -> bool | None:
    return None if known is None else not known


def _divided(a: Array, b: Array) -> Array:
    """a / b; integers divide towards zero, as in C++."""
    if np.issubdtype(a.dtype, np.integer):
        quotient = np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))
        return np.asarray(quotient, a.dtype)
    return np.asarray(a / b)


def _amount(b: Array, most: int) -> Array:
    """Shifts by all bits where the number of bits is outside of 0 to 31."""
    wide = b.astype(np.int64)
    return np.where((wide < 0) | (wide > 31), most, wide)


_BITWISE: dict[str, Callable[[Array, Array], Array]] = {
    "AND": np.bitwise_and,
    "OR": np.bitwise_or,
    "XOR": np.bitwise_xor,
    "SHIFT_LEFT": lambda a, b: np.left_shift(a.astype(np.int64), _amount(b, 32)),
    "SHIFT_RIGHT": lambda a, b: np.right_shift(a.astype(np.int64), _amount(b, 31)),
}


class Bitwise(OpRules):
    inputs_share_axes = True
    broadcasts = True

    def infer(self, op: Op) -> list[OutputType]:
        a, b = op.input(0), op.get_input(1)
        if (b is None) != (op.attr("mode") == "NOT"):
            raise ValueError(f"mode {op.attr('mode')} takes {1 if b else 2} inputs")
        if b is None:
            return [OutputType(a.dtype, a.shape)]
        if a.shape is None or b.shape is None:
            return [OutputType(a.dtype, None)]
        return [OutputType(a.dtype, broadcast(a.shape, b.shape))]

    def can_exceed(self, op: Op) -> bool:
        return bool(op.attr("mode") == "SHIFT_LEFT")

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        if op.attr("mode") == "NOT":
            return [np.invert(inputs[0])]
        wide = _BITWISE[op.attr("mode")](np.asarray(inputs[0]), np.asarray(inputs[1]))
        return [int32_of(op, wide)]


class Where(OpRules):
    def computes_in(
        self, attrs: Mapping[str, Any], port: int, dtype: DataType
    ) -> Sequence[DataType]:
        return WIDE_TYPES if dtype in NARROW_TYPES else ()

    def infer(self, op: Op) -> list[OutputType]:
        condition, a, b = (op.input(i) for i in range(3))
        if a.dtype is not b.dtype:
            raise ValueError(f"{a.dtype.value} and {b.dtype.value} operands")
        if condition.shape is None or a.shape is None or b.shape is None:
            return [OutputType(a.dtype, None)]
        shape = broadcast(condition.shape, broadcast(a.shape, b.shape))
        return [OutputType(a.dtype, shape)]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        return [np.where(*inputs)]

    def bounds(self, op: Op, known: BoundsOf) -> Bounds | None:
        return hull((known(op.input(1)), known(op.input(2))))

    def symbolic(self, op: Op, inputs: Sequence[Array | None]) -> Array | None:
        condition, a, b = inputs
        if condition is None or a is None or b is None:
            return None

        def chosen(yes: bool | None, one: Dim, other: Dim) -> Dim:
            if one == other:
                return one
            return None if yes is None else one if yes else other

        return np.asarray(np.frompyfunc(chosen, 3, 1)(condition, a, b), object)

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        return broadcast_axis(op, axes)
