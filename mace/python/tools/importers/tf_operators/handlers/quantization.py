# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers that integers stand for.

FakeQuant of quantization-aware training becomes Quantize and Dequantize between
operators; a constant is rounded now, and remembers its integers. Dequantize reads
weights that are stored in 8 bits, as `quantize_weights` writes them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.frame.known import known_elements
from mace.python.tools.importers.tf_operators.context import HANDLERS, Context
from mace.python.tools.importers.tf_operators.node import type_name
from mace.python.tools.ir.constant import Constant, Integers
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value

_EXPORT = "min and max are exchanged: export the model again"
_RETRAIN = "train the model further, so that the range follows its tensor"
# Of a range that makes nothing but zeros: weights of small convolutions have scales
# around this one.
_ANY_SCALE = np.float32(2.0**-10)
_QINT8, _QUINT8 = 11, 12


@dataclass(frozen=True)
class _Levels:
    """The integers of a FakeQuant, and what they stand for.

    Attributes:
        first, last: the least and the largest integer.
        scale: float32, one or one for each index of the innermost axis.
        zero: the integers that stand for 0, of float32, as many.
    """

    first: int
    last: int
    scale: Array
    zero: Array

    @property
    def low(self) -> Array:
        """The least number."""
        return np.asarray((self.first - self.zero) * self.scale, np.float32)

    @property
    def high(self) -> Array:
        """The largest number."""
        return np.asarray((self.last - self.zero) * self.scale, np.float32)

    def steps(self, numbers: Array) -> Array:
        """Integers less the zero, by TensorFlow's formula in float32."""
        inverse = np.float32(1) / self.scale
        zero = np.floor(-self.low * inverse + np.float32(0.5))
        shifted = np.clip(numbers, self.low, self.high) - self.low
        return np.asarray(np.floor(shifted * inverse - zero + np.float32(0.5)))


@HANDLERS.register("FakeQuantWithMinMaxArgs")
def with_arguments(context: Context) -> None:
    """The range is in the attributes."""
    node = context.node
    limits = (node.number("min", -6.0), node.number("max", 6.0))
    _convert(context, *(np.array([limit], np.float32) for limit in limits))


@HANDLERS.register("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel")
def with_variables(context: Context) -> None:
    """The range is in inputs 1 and 2, or one range for each innermost index."""
    low, high = (_limits(context, i, what) for i, what in ((1, "min"), (2, "max")))
    if low.size != high.size:
        raise UnsupportedNodeError(f"{low.size} numbers in min, {high.size} in max")
    _convert(context, low, high)


def _limits(context: Context, index: int, what: str) -> Array:
    if index >= len(context.inputs):
        raise UnsupportedNodeError(f"{what} is missing", "freeze the model again")
    hint = "freeze the model for inference, so that its ranges are constants"
    known = known_elements(context.input(index), what, hint)
    limits = np.asarray(known.numpy(), np.float32).reshape(-1)
    per_channel = context.node.op.endswith("PerChannel")
    wanted = 1
    if per_channel and context.rank(0):
        innermost = (context.input(0).shape or (None,))[-1]
        wanted = innermost if isinstance(innermost, int) else limits.size
    if limits.size != wanted:
        raise UnsupportedNodeError(f"{limits.size} numbers in {what}, not {wanted}")
    return limits


def _convert(context: Context, low: Array, high: Array) -> None:
    bits = context.node.integer("num_bits", 8)
    if not 2 <= bits <= 16:
        raise UnsupportedNodeError(f"num_bits is {bits}", "use 2 to 16, or better 8")
    levels = _levels(context, low, high, bits)
    x = context.input(0)
    if x.constant is not None:
        _round_constant(context, x.constant, levels)
        return
    exact = bits == 8 and levels.first == 0
    if not exact:
        # The type has more integers than the range.
        x = context.eltwise("MAX", x, _limit(context, levels.low))
    if bits > 8:
        # Steps as fine as these are not simulated.
        context.emit_eltwise("MIN", x, _limit(context, levels.high))
        return
    if not exact:
        x = context.eltwise("MIN", x, _limit(context, levels.high))
    axis = context.rank(0) - 1 if levels.scale.size > 1 else 0
    parameters = [
        context.constant(levels.scale, "scale"),
        context.constant(levels.zero.astype(np.uint8), "zero"),
    ]
    q = context.step("Quantize", [x, *parameters], "quantized", to="UINT8", axis=axis)
    context.emit("Dequantize", [q, *parameters], axis=axis)


def _limit(context: Context, numbers: Array) -> Value:
    return context.constant(
        numbers if numbers.size > 1 else numbers.reshape(()), "limit"
    )


def _levels(context: Context, low: Array, high: Array, bits: int) -> _Levels:
    """Moves each range so that 0 is one of its numbers, as TensorFlow does.

    Raises:
        UnsupportedNodeError: a range that has no numbers.
    """
    first = 1 if context.node.flag("narrow_range") else 0
    last = 2**bits - 1
    zeros = (low == 0) & (high == 0)
    scale = (high - low) / np.float32(last - first)
    wrong = ~(np.isfinite(low) & np.isfinite(high) & np.isfinite(scale))
    # Below, 1 / scale is infinite.
    wrong |= ~zeros & ~(scale >= np.finfo(np.float32).tiny)
    wrong |= zeros & ~_is_zero(context, zeros)
    if wrong.any():
        index = int(np.argmax(wrong))
        raise UnsupportedNodeError(
            f"the range{f' of channel {index}' if low.size > 1 else ''} is "
            f"{low[index]:g} to {high[index]:g}",
            _EXPORT if low[index] > high[index] else _RETRAIN,
        )
    used = scale[~zeros]
    scale = np.where(zeros, used.min() if used.size else _ANY_SCALE, scale)
    zero = first - low / scale
    # std::round, which rounds away from 0, of numbers from 0.
    zero = np.floor(np.clip(zero, first, last) + np.float32(0.5))
    return _Levels(first, last, scale.astype(np.float32), zero.astype(np.float32))


def _is_zero(context: Context, channels: Array) -> Array:
    """Whether the tensor is a constant of zeros, of each or of all channels. Such
    channels do not need a range: training has removed them.
    """
    x = context.input(0)
    if not x.is_constant:
        return np.zeros(channels.shape, bool)
    numbers = x.numpy()
    if channels.size == 1:
        return np.array([not np.any(numbers)])
    return np.asarray(~np.any(numbers.reshape(-1, channels.size), axis=0))


def _round_constant(context: Context, constant: Constant, levels: _Levels) -> None:
    """Makes the rounded constant the result."""
    if constant.dtype is not DataType.FLOAT32:
        raise UnsupportedNodeError(f"a constant of {constant.dtype.value}")
    rounded = constant.map(lambda array: levels.steps(array) * levels.scale)
    if levels.last <= np.iinfo(np.uint8).max:

        def spread(array: Array) -> Constant:
            return Constant.of(np.broadcast_to(array, constant.shape))

        numbers = constant.map(
            lambda array: (levels.steps(array) + levels.zero).astype(np.uint8),
            dtype=DataType.UINT8,
        )
        parts = (spread(levels.scale), spread(levels.zero.astype(np.uint8)))
        integers = Integers(numbers, *parts, simulated=True)
        rounded = replace(rounded, integers=integers)
    _keep(context, rounded)


def _keep(context: Context, constant: Constant | Array) -> None:
    """Makes a constant the result, with the name that it has in TensorFlow."""
    value = context.builder.graph.add_constant(context.output_name(), constant)
    value.source = context.output_name()
    context.results[0] = value


@HANDLERS.register("Dequantize")
def dequantize(context: Context) -> None:
    """A constant of 8 bits becomes the floats that it stands for."""
    node = context.node
    kind = node.integer("T")
    if kind not in (_QINT8, _QUINT8):
        raise UnsupportedNodeError(f"integers of {type_name(kind)}")
    if node.integer("axis", -1) != -1:
        raise UnsupportedNodeError("one range for each index of an axis")
    if not context.input(0).is_constant:
        raise UnsupportedNodeError(
            f"{context.input(0).name} is computed in TensorFlow's eight bits",
            "convert the float model (without quantize_nodes) and say quantize: 1",
        )
    if context.input(0).dtype not in (DataType.INT8, DataType.UINT8):
        raise UnsupportedNodeError(f"integers of {context.input(0).dtype.value}")
    codes = np.asarray(context.values(0, "input"), np.float64)
    low, high = (
        np.asarray(context.values(index, what), np.float64).reshape(-1)
        for index, what in ((1, "min_range"), (2, "max_range"))
    )
    if low.size != 1 or high.size != 1:
        raise UnsupportedNodeError(f"a range of {low.size} and {high.size} numbers")
    mode = node.string("mode", "MIN_COMBINED")
    _keep(context, _floats(codes, low.item(), high.item(), kind, mode))


def _floats(codes: Array, low: float, high: float, kind: int, mode: str) -> Array:
    if not (np.isfinite(low) and np.isfinite(high) and low <= high):
        raise UnsupportedNodeError(f"the range is {low:g} to {high:g}")
    least = -128.0 if kind == _QINT8 else 0.0
    scale = (high - low) / 255.0
    if mode == "SCALED":
        factor = max(high / (least + 255.0), low / least if least else 0.0)
        result = codes * factor
    elif mode == "MIN_FIRST":
        first = np.rint(low / scale) * scale if scale else low
        result = first + (codes - least) * scale
    elif mode == "MIN_COMBINED":
        result = low + (codes - least) * scale
    else:
        raise UnsupportedNodeError(f"mode is {mode}")
    return np.asarray(result, np.float32)
