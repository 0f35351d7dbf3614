# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms: of whole dimensions, and of parts of signals (STFT)."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Union

import numpy as np

from mace.python.tools.importers.frame.budget import check_made
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.pytorch.context import HANDLERS, Complex, Context
from mace.python.tools.importers.pytorch.handlers.complex_numbers import (
    as_complex,
    conjugate,
    from_last,
    to_last,
)
from mace.python.tools.importers.standard.operators import Size
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value

_FLOAT = DataType.FLOAT32
# Parts in which a frame is added to its neighbours.
_MOST_BLOCKS = 64

Signal = Union[Value, Complex]


def _transformed(
    c: Context, x: Signal, axis: int, length: Size, inverse: bool, onesided: bool
) -> Signal:
    """The transform along one axis; the inverse one is divided by the length.

    Of real numbers, a onesided transform has only the first half of the results; the
    inverse onesided transform gives real numbers.
    """
    if isinstance(x, Complex):
        both = to_last(c, x)
    else:
        x = c.cast(x, _FLOAT)
        both = c.unsqueeze(x, c.rank(x))
    numbers = c.lengths.scalar(length), c.constant(axis)
    found = c.op("DFT", both, *numbers, inverse=int(inverse), onesided=int(onesided))
    if inverse and onesided:
        return c.squeeze(found, c.rank(found) - 1)
    return from_last(c, found)


def _scaled(c: Context, x: Signal, factor: float | Value) -> Signal:
    if not isinstance(factor, Value) and factor == 1:
        return x
    return _parts(x, lambda part: c.op("Mul", part, factor))


def _parts(x: Signal, function: Callable[[Value], Value]) -> Signal:
    """A function of real numbers, of both parts of complex ones."""
    if isinstance(x, Complex):
        return Complex(function(x.real), function(x.imag))
    return function(x)


def _factor(c: Context, norm: str, count: Size, inverse: bool) -> float | Value:
    """What follows a transform, of which the inverse one is divided by the length."""
    powers = {"backward": 0.0, "forward": 1.0, "ortho": 0.5}
    if norm not in powers:
        raise UnsupportedNodeError(f"norm is {norm!r}")
    power = powers[norm] if inverse else -powers[norm]
    if not power:
        return 1.0
    if isinstance(count, int):
        return math.pow(count, power)
    return c.op("Pow", c.cast(count, _FLOAT), c.constant(power, _FLOAT))


def _real(x: Signal) -> Value:
    """Something of the same shape."""
    return x.real if isinstance(x, Complex) else x


def _signal(c: Context, name: str = "self") -> Signal:
    x = c.raw(name)
    return x if isinstance(x, Complex) else c.value(name)


# Functions of torch.fft: whether they are inverse, and whether one half is left out.
_ONE = {
    "fft_fft": (False, False),
    "fft_ifft": (True, False),
    "fft_rfft": (False, True),
    "fft_irfft": (True, True),
    "fft_hfft": (True, True),
    "fft_ihfft": (False, True),
}
_MORE = {
    f"{name}{suffix}": kind
    for name, kind in list(_ONE.items())[:4]
    for suffix in ("2", "n")
}


@HANDLERS.register(*(f"aten.{name}" for name in _ONE))
def _one_axis(c: Context) -> None:
    inverse, onesided = _ONE[c.operator]
    x = _signal(c)
    axis = c.axis(c.integer("dim", -1), c.rank(_real(x)))
    given = c.sizes("n") if c.has("n") else None
    norm = c.text("norm", "backward")
    hermitian = "hfft" in c.operator
    if hermitian:
        # The transform and its inverse are conjugates of each other.
        norm = {"backward": "forward", "forward": "backward"}.get(norm, norm)
    if c.operator == "fft_hfft":
        x = conjugate(c, as_complex(c, x))
    result = _along(c, x, [axis], given, (inverse, onesided), norm)
    if c.operator == "fft_ihfft":
        assert isinstance(result, Complex)
        result = conjugate(c, result)
    c.give(result)


@HANDLERS.register(*(f"aten.{name}" for name in _MORE))
def _more_axes(c: Context) -> None:
    x = _signal(c)
    rank = c.rank(_real(x))
    given = c.sizes("s") if c.has("s") else None
    if c.has("dim"):
        axes = [c.axis(axis, rank) for axis in c.integers("dim")]
    elif c.operator.endswith("2"):
        axes = [rank - 2, rank - 1]
    else:
        axes = list(range(rank))[-len(given) if given else 0 :]
    kind = _MORE[c.operator]
    c.give(_along(c, x, axes, given, kind, c.text("norm", "backward")))


def _along(
    c: Context,
    x: Signal,
    axes: Sequence[int],
    given: Sequence[Size] | None,
    kind: tuple[bool, bool],
    norm: str,
) -> Signal:
    """The transform along several axes, with these lengths."""
    inverse, onesided = kind
    lengths = []
    for place, axis in enumerate(axes):
        length: Size = -1 if given is None else given[place]
        if length == -1:
            length = c.size(_real(x), axis)
            if inverse and onesided and place == len(axes) - 1:
                length = c.compute("MUL", c.compute("SUB", length, 1), 2)
        lengths.append(length)
    if onesided and not inverse and isinstance(x, Complex):
        raise UnsupportedNodeError("the input has complex numbers")
    if inverse and onesided:
        x = as_complex(c, x)
    # The half that is left out is one of the last axis.
    steps = list(zip(axes, lengths, [False] * (len(axes) - 1) + [onesided]))
    for axis, length, half in steps if inverse else reversed(steps):
        x = _transformed(c, x, axis, length, inverse, half)
    total = functools.reduce(lambda a, b: c.compute("MUL", a, b), lengths)
    return _scaled(c, x, _factor(c, norm, total, inverse))


@HANDLERS.register("aten._fft_r2c", "aten._fft_c2c", "aten._fft_c2r")
def _transform(c: Context) -> None:
    x = _signal(c)
    axes = [c.axis(axis, c.rank(_real(x))) for axis in c.integers("dim")]
    code = c.integer("normalization")
    inverse = c.operator == "_fft_c2r"
    half = inverse or (c.operator == "_fft_r2c" and c.flag("onesided"))
    lengths = [c.size(_real(x), axis) for axis in axes]
    if inverse:
        lengths[-1:] = c.sizes("last_dim_size")
        x = as_complex(c, x)
    elif c.operator == "_fft_c2c":
        inverse = not c.flag("forward")
    # Unlike here, the inverse transform is not divided by the length.
    norms = ("forward", "ortho", "backward")
    norm = norms[code] if inverse else norms[2 - code]
    c.give(_along(c, x, axes, lengths, (inverse, half), norm))


# Short-time transforms ---------------------------------------------------------------


def _window(c: Context, size: int) -> Array:
    """The window, in the middle of a frame."""
    length = c.integer("win_length", size)
    if c.has("window"):
        window = np.asarray(c.known("window"), np.float64)
    else:
        window = np.ones(length)
    before = (size - length) // 2
    return np.pad(window, (before, size - length - before))


@HANDLERS.register("aten.stft")
def _stft(c: Context) -> None:
    x = c.value("self")
    size = c.integer("n_fft")
    step = c.integer("hop_length", size // 4)
    if c.flag("align_to_window"):
        raise UnsupportedNodeError("align_to_window is True")
    window = _window(c, size)
    batched = c.rank(x) == 2
    if not batched:
        x = c.unsqueeze(x, 0)
    if c.has("center") and c.flag("center"):
        mode = {"reflect": "reflect", "constant": "constant", "replicate": "edge"}
        pads = np.array([0, size // 2, 0, size // 2])
        x = c.op("Pad", x, pads, mode=mode[c.text("pad_mode", "reflect")])
    c.raw("pad_mode")
    frames = _frames(c, x, size, step)
    frames = c.op("Mul", frames, c.constant(window, _FLOAT))
    onesided = c.flag("onesided", True)
    result = _transformed(c, frames, 2, size, False, onesided)
    if c.flag("normalized"):
        result = _scaled(c, result, 1 / math.sqrt(size))
    turned = _parts(result, lambda part: c.transpose(part, [0, 2, 1]))
    if not batched:
        turned = _parts(turned, lambda part: c.squeeze(part, 0))
    assert isinstance(turned, Complex)
    c.give(turned if c.flag("return_complex") else to_last(c, turned))


def _frames(c: Context, x: Value, size: int, step: int) -> Value:
    """[batch, frames, size] of a signal."""
    length = c.size(x, 1)
    count = c.compute(
        "ADD", c.compute("FLOOR_DIV", c.compute("SUB", length, size), step), 1
    )
    if isinstance(count, int) and count < 1:
        raise UnsupportedNodeError(f"frames of {size} samples of a signal of {length}")
    blocks = -(-size // step)
    if blocks <= _MOST_BLOCKS:
        # Blocks as long as a step, of which each frame has the next few.
        rows = c.compute("ADD", count, blocks - 1)
        whole = c.compute("MUL", rows, step)
        missing = c.compute("SUB", whole, length)
        more = missing if isinstance(missing, int) else blocks * step
        if more > 0:
            x = c.op("Pad", x, np.array([0, 0, 0, more]))
        lines = c.reshape(c.slice(x, 1, 0, whole), [c.size(x, 0), rows, step])
        parts = [
            c.slice(lines, 1, k, c.compute("ADD", count, k)) for k in range(blocks)
        ]
        joined = c.op("Concat", *parts, axis=2)
        return c.slice(joined, 2, 0, size) if blocks * step > size else joined
    begins = c.op("Mul", c.positions(count), c.constant(step))
    places = c.op("Add", c.unsqueeze(begins, 1), c.positions(size))
    return c.op("Gather", x, places, axis=1)


@HANDLERS.register("aten.istft")
def _istft(c: Context) -> None:
    x = as_complex(c, c.raw("self"))
    size = c.integer("n_fft")
    step = c.integer("hop_length", size // 4)
    window = _window(c, size)
    if c.flag("return_complex"):
        raise UnsupportedNodeError("return_complex is True")
    batched = c.rank(x.real) == 3
    turned: Signal = x
    if not batched:
        turned = _parts(turned, lambda part: c.unsqueeze(part, 0))
    onesided = c.flag("onesided", True)
    turned = _parts(turned, lambda part: c.transpose(part, [0, 2, 1]))
    frames = _transformed(c, turned, 2, size, True, onesided)
    if c.flag("normalized"):
        frames = _scaled(c, frames, math.sqrt(size))
    real = c.op("Mul", _real(frames), c.constant(window, _FLOAT))
    count = c.size(real, 1)
    if isinstance(count, int):
        check_made(count, size)
    total = c.compute("ADD", c.compute("MUL", c.compute("SUB", count, 1), step), size)
    begin = size // 2 if c.flag("center", True) else 0
    end = c.compute("SUB", total, begin)
    wanted = c.compute("SUB", end, begin)
    if c.has("length"):
        (wanted,) = c.sizes("length")
        end = c.compute("MIN", c.compute("ADD", wanted, begin), total)
    squares = c.constant((window**2)[None, None], _FLOAT)
    squares = c.op("Expand", squares, c.lengths.listed([1, count, 1]))
    weights = c.slice(added(c, squares, step, total), 1, begin, end)
    if weights.is_constant and np.abs(weights.numpy()).min() < 1e-11:
        raise UnsupportedNodeError("the windows leave samples out")
    signal = c.slice(added(c, real, step, total), 1, begin, end)
    signal = c.op("Div", signal, weights)
    missing = c.compute("SUB", wanted, c.compute("SUB", end, begin))
    if c.has("length") and missing != 0:
        signal = c.op("Pad", signal, c.lengths.listed([0, 0, 0, missing]))
    c.give(signal if batched else c.squeeze(signal, 0))


def added(c: Context, frames: Value, step: int, total: Size) -> Value:
    """[rows, total]: the sum of frames [rows, frames, size], each a step further on."""
    rows, count = c.size(frames, 0), c.size(frames, 1)
    size = c.length(frames, 2)
    blocks = -(-size // step)
    if blocks > _MOST_BLOCKS:
        raise UnsupportedNodeError(f"frames of {size} samples, {step} apart")
    if blocks * step > size:
        pads = np.array([0, 0, 0, 0, 0, blocks * step - size])
        frames = c.op("Pad", frames, pads)
    parts = []
    for k in range(blocks):
        part = c.slice(frames, 2, k * step, (k + 1) * step)
        parts.append(c.op("Pad", part, np.array([0, k, 0, 0, blocks - 1 - k, 0])))
    added = functools.reduce(lambda a, b: c.op("Add", a, b), parts)
    length = c.compute("MUL", c.compute("ADD", count, blocks - 1), step)
    line = c.reshape(added, [rows, length])
    if isinstance(length, int) and isinstance(total, int) and length < total:
        return c.op("Pad", line, np.array([0, 0, 0, total - length]))
    return c.slice(line, 1, 0, total)
