# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Windows, frequencies and other numbers for signals; windows put together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.importers.frame.budget import check_made
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.pytorch.context import HANDLERS, Context
from mace.python.tools.importers.pytorch.handlers.fourier import added
from mace.python.tools.ir.dtypes import Array, DataType

_FLOAT = DataType.FLOAT32


def _generalised(size: int, weights: Sequence[float]) -> Array:
    """The cosines of a window, over a whole period."""
    turns = 2 * np.pi * np.arange(size) / max(size, 1)
    return np.asarray(sum(w * np.cos(k * turns) for k, w in enumerate(weights)))


@HANDLERS.register(
    "aten.hann_window",
    "aten.hamming_window",
    "aten.blackman_window",
    "aten.bartlett_window",
    "aten.kaiser_window",
)
def _window(c: Context) -> None:
    length, periodic = c.integer("window_length"), c.flag("periodic", True)
    check_made(length)
    size = length if periodic else length - 1
    if length <= 1:
        found: Array = np.ones(length)
    elif c.operator == "bartlett_window":
        found = np.bartlett(size + 1)[:length]
    elif c.operator == "kaiser_window":
        found = np.kaiser(size + 1, c.number("beta", 12.0))[:length]
    else:
        alpha = c.number("alpha", 0.54)
        weights = {
            "blackman_window": (0.42, -0.5, 0.08),
            "hamming_window": (alpha, -c.number("beta", 0.46)),
            "hann_window": (0.5, -0.5),
        }[c.operator]
        found = _generalised(size, weights)
        found = np.concatenate([found, found[:1]])[:length]
    c.give(c.constant(found, c.type_of_result()))


@HANDLERS.register("aten.logspace")
def _logspace(c: Context) -> None:
    start, end, steps = c.number("start"), c.number("end"), c.integer("steps")
    base = c.number("base", 10.0)
    check_made(steps)
    powers = base ** np.linspace(start, end, steps)
    c.give(c.constant(powers, c.type_of_result()))


@HANDLERS.register("aten.fft_fftshift", "aten.fft_ifftshift")
def _shift(c: Context) -> None:
    x = c.value("self")
    rank = c.rank(x)
    for axis in c.axes("dim", rank):
        length = c.size(x, axis)
        # The second half first; of an odd length, it is the shorter one.
        half = length if "ifft" in c.operator else c.compute("ADD", length, 1)
        at = c.compute("FLOOR_DIV", half, 2)
        if at in (0, length):
            continue
        parts = [c.slice(x, axis, at), c.slice(x, axis, 0, at)]
        x = c.op("Concat", *parts, axis=axis)
    c.give(x)


@HANDLERS.register("aten.fft_fftfreq", "aten.fft_rfftfreq")
def _frequencies(c: Context) -> None:
    count, step = c.integer("n"), c.number("d", 1.0)
    make: Any = np.fft.fftfreq if c.operator == "fft_fftfreq" else np.fft.rfftfreq
    c.give(c.constant(make(count, step), c.type_of_result()))


@HANDLERS.register("aten.unfold_backward")
def _unfold_backward(c: Context) -> None:
    x = c.value("grad_in")
    sizes = c.integers("input_sizes")
    size, step = c.integer("size"), c.integer("step")
    axis = c.axis(c.integer("dim"), len(sizes))
    if c.length(x, -1) != size:
        raise UnsupportedNodeError(f"windows of {c.length(x, -1)}, not {size}")
    rank = len(sizes)
    order = [*(a for a in range(rank) if a != axis), axis, rank]
    moved = c.transpose(x, order)
    others = [sizes[a] for a in range(rank) if a != axis]
    rows = c.reshape(moved, [math.prod(others), c.length(x, axis), size])
    line = c.reshape(added(c, rows, step, sizes[axis]), [*others, sizes[axis]])
    back = [*range(axis), rank - 1, *range(axis, rank - 1)]
    c.give(c.transpose(line, back))
