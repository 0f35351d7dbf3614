# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms: DFT and STFT, as products with constant matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mace.python.tools.importers.emit.lengths import Length
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.lengths import NodeLengths, is_open
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.dims import Dim
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value

# Numbers of a matrix: 16 MB in the model, for 1024 complex numbers.
_LARGEST_MATRIX = 1 << 22


@HANDLERS.register("DFT")
def _dft(node: Node) -> None:
    x = node.input(0)
    shape = node.shape(x)
    inverse, onesided = node.flag("inverse", False), node.flag("onesided", False)
    if node.opset < 20:
        axis = node.integer("axis", 1)
    else:
        axis = node.constant_number(2, "axis") if node.has_input(2) else -2
    axis = node.axis(axis, len(shape))
    parts, count = shape[-1], shape[axis]
    length: Dim = None
    if parts not in (1, 2) or axis == len(shape) - 1:
        raise UnsupportedNodeError(
            f"axis {axis} of {x.name}, whose last dimension must hold 1 or 2 numbers"
        )
    assert isinstance(parts, int)
    if node.has_input(1):
        if not is_open(node.input(1)):
            length = node.constant_number(1, "dft_length")
    elif isinstance(count, int):
        length = 2 * (count - 1) if inverse and onesided else count
    if not isinstance(count, int) or not isinstance(length, int):
        _open_dft(node, axis, inverse, onesided)
        return
    if length < 1:
        raise UnsupportedNodeError(f"dft_length is {length}")
    perm = [i for i in range(len(shape) - 1) if i != axis] + [axis, len(shape) - 1]
    outer = [dim if isinstance(dim, int) else -1 for dim in (shape[i] for i in perm)]
    if outer[:-2].count(-1) > 1:
        _open_dft(node, axis, inverse, onesided)
        return
    moved = node.transpose(x, perm)
    half = length // 2 + 1
    is_whole = count == (half if inverse and onesided else length)
    if 2 * count * parts * length > _LARGEST_MATRIX and is_whole and _factor(length):
        values = _in_two(node, moved, outer[:-2], length, inverse, onesided)
    else:
        matrix = _matrix(node, count, parts, length, inverse, onesided)
        rows = node.reshape(moved, [*outer[:-2], count * parts])
        product = node.make("MatMul", [rows, node.literal(matrix)])
        results = 1 if inverse and onesided else 2
        split = [*outer[:-2], matrix.shape[1] // results, results]
        values = node.reshape(product, split)
    back = [perm.index(i) for i in range(len(perm))]
    node.emit("Transpose", [values], {"perm": back})


def _open_dft(node: Node, axis: int, inverse: bool, onesided: bool) -> None:
    """With a length that the run knows: products with matrices that it makes."""
    x, lengths = node.input(0), NodeLengths(node)
    rank = len(node.shape(x))
    samples = lengths.of_axis(x, axis)
    length = samples
    if node.has_input(1):
        length = lengths.element(node.input(1), 0)
    elif inverse and onesided:
        length = lengths.compute("MUL", lengths.compute("SUB", samples, 1), 2)
    half = lengths.compute("ADD", lengths.compute("FLOOR_DIV", length, 2), 1)
    # What is missing is 0, and what is too much is left out.
    used = lengths.compute("MIN", samples, half if inverse and onesided else length)
    x = lengths.sliced(x, axis, 0, used)
    results = half if onesided and not inverse else length
    perm = [*(i for i in range(rank - 1) if i != axis), axis, rank - 1]
    cosines, sines = _open_matrices(node, (used, results, length), inverse, onesided)
    x = node.transpose(x, perm)
    parts = [x]
    if node.shape(x)[-1] == 2:
        parts = node.make_all("Split", [x], {"axis": rank - 1}, 2)
    # A line of one signal is a matrix, too.
    lead = [0] if rank == 2 else []
    for index, part in enumerate(parts):
        part = node.squeeze(part, [rank - 1])
        parts[index] = node.expand_dims(part, lead) if lead else part
    real = node.make("MatMul", [parts[0], cosines])
    imag = node.make("MatMul", [parts[0], sines])
    imag = imag if inverse else node.eltwise("NEG", imag)
    if len(parts) == 2:
        across = node.make("MatMul", [parts[1], sines])
        real = node.eltwise("SUB" if inverse else "ADD", real, across)
        imag = node.eltwise("ADD", imag, node.make("MatMul", [parts[1], cosines]))
    found = [real] if inverse and onesided else [real, imag]
    if lead:
        found = [node.squeeze(part, lead) for part in found]
    both = node.make("Stack", found, {"axis": rank - 1})
    node.emit("Transpose", [both], {"perm": [perm.index(i) for i in range(rank)]})


def _open_matrices(
    node: Node,
    lengths: tuple[Length, Length, Length],
    inverse: bool,
    onesided: bool,
) -> tuple[Value, Value]:
    """[samples, results]: cosines and sines of a transform.

    Args:
        lengths: samples, results, and how many of either are a whole turn.
    """
    made = NodeLengths(node)
    samples, results, length = *lengths[:2], made.value(lengths[2])
    rows = node.reshape(made.positions(samples), [-1, 1])
    turns = node.eltwise("MUL", rows, made.positions(results))
    turns = node.eltwise("FLOOR_MOD", turns, length)
    turns, of = (node.cast(v, DataType.FLOAT32) for v in (turns, length))
    angles = node.eltwise("MUL", turns, node.literal(2 * math.pi))
    angles = node.eltwise("DIV", angles, of)
    pair = [node.eltwise(mode, angles) for mode in ("COS", "SIN")]
    if inverse:
        share = node.eltwise("RECIPROCAL", of)
        if onesided:
            # The half that is left out adds the same, but for two of its numbers.
            double = node.eltwise("MUL", rows, made.value(2))
            rest = node.eltwise("FLOOR_MOD", double, length)
            alone = node.eltwise("EQUAL", rest, made.value(0))
            times = node.make("Where", [alone, *map(node.literal, ([1.0], [2.0]))])
            share = node.eltwise("MUL", share, times)
        pair = [node.eltwise("MUL", matrix, share) for matrix in pair]
    return pair[0], pair[1]


def _factor(length: int) -> int:
    """The smaller one of two factors for which there are matrices; 0 if none are."""
    small = next(n for n in range(math.isqrt(length), 0, -1) if length % n == 0)
    return small if 8 * (length // small) ** 2 <= _LARGEST_MATRIX else 0


def _in_two(
    node: Node,
    x: Value,
    lead: list[int],
    length: int,
    inverse: bool,
    onesided: bool,
) -> Value:
    """The transform of a long line [..., length, parts] as two of short ones.

    With length a b, sample b i + j and result k + a l: a transform of the samples i for
    each j, a turn by j k / length of the circle, and a transform of the j for each k.
    """
    rank = len(lead) + 2
    if inverse and onesided:
        x = _other_half(node, x, length)
    small = _factor(length)
    large = length // small
    turned = [*range(len(lead)), rank - 1, rank - 2, rank]

    def transformed(value: Value, count: int, rows: int) -> Value:
        """[..., rows, count, 2] of [..., count, rows, parts]."""
        value = node.transpose(value, turned)
        parts = node.shape(value)[-1]
        assert isinstance(parts, int)
        matrix = _matrix(node, count, parts, count, inverse, False)
        shape = [*lead, rows, count * parts]
        value = node.reshape(value, shape)
        value = node.make("MatMul", [value, node.literal(matrix)])
        return node.reshape(value, [*lead, rows, count, 2])

    last = node.shape(x)[-1]
    assert isinstance(last, int)
    grid = node.reshape(x, [*lead, small, large, last])
    first = transformed(grid, small, large)
    angles = np.outer(np.arange(large), np.arange(small)) * (2 * np.pi / length)
    sines = np.sin(angles) if inverse else -np.sin(angles)
    swapped = node.make(
        "Gather", [first, node.literal([1, 0], DataType.INT32)], {"axis": rank}
    )
    along = node.literal(np.cos(angles)[:, :, None])
    across = node.literal(np.stack([-sines, sines], -1))
    terms = [node.eltwise("MUL", *pair) for pair in ([first, along], [swapped, across])]
    second = transformed(node.eltwise("ADD", *terms), large, small)
    order = node.transpose(second, turned)
    whole = node.reshape(order, [*lead, length, 2])
    if not onesided:
        return whole
    axis, end = (rank - 1, 1) if inverse else (rank - 2, length // 2 + 1)
    return node.slice(whole, axis, 0, end)


def _other_half(node: Node, x: Value, length: int) -> Value:
    """A spectrum of real numbers with its second half, whose sines are negative."""
    axis = len(node.shape(x)) - 2
    places = np.arange(length - length // 2 - 1, 0, -1)
    mirrored = node.make(
        "Gather", [x, node.literal(places, DataType.INT32)], {"axis": axis}
    )
    signs = node.literal([1, -1] if node.shape(x)[-1] == 2 else [1])
    mirrored = node.eltwise("MUL", mirrored, signs)
    return node.make("Concat", [x, mirrored], {"axis": axis})


@HANDLERS.register("STFT")
def _stft(node: Node) -> None:
    x, step = node.input(0), node.constant_number(1, "frame_step")
    shape = node.shape(x)
    parts = shape[2] if len(shape) == 3 else 1
    if len(shape) not in (2, 3) or parts not in (1, 2):
        raise UnsupportedNodeError(
            f"signals {x.name} of {len(shape)} dimensions, {parts} numbers per sample"
        )
    assert isinstance(parts, int)
    window = None
    if node.has_input(2):
        window = np.asarray(node.constant(2, "window"), np.float64).reshape(-1)
    if node.has_input(3):
        length = node.constant_number(3, "frame_length")
    elif window is not None:
        length = window.size
    else:
        raise UnsupportedNodeError("neither window nor frame_length is given")
    if window is not None and window.size != length:
        raise UnsupportedNodeError(
            f"a window of {window.size} for frames of {length} samples"
        )
    count = shape[1]
    if step < 1 or length < 1 or (isinstance(count, int) and count < length):
        raise UnsupportedNodeError(
            f"frames of {length} samples, {step} apart, of a signal of {count}"
        )
    matrix = _matrix(node, length, parts, length, False, node.flag("onesided", True))
    if window is not None:
        matrix = matrix * np.repeat(window, parts)[:, None]
    # A frame is the window of a convolution, and each result one of its outputs.
    filters = matrix.transpose().reshape(-1, 1, length, parts)
    line = node.expand_dims(x, [1] if len(shape) == 3 else [1, 3])
    frames = node.make("Conv2D", [line, node.literal(filters)], {"strides": [1, step]})
    frames = node.squeeze(frames, [1])
    node.emit("Reshape", [frames], {"shape": [0, 0, matrix.shape[1] // 2, 2]})


def _matrix(
    node: Node, count: int, parts: int, length: int, inverse: bool, onesided: bool
) -> Array:
    """[count * parts, results]: what each number adds to each result."""
    if 2 * count * parts * length > _LARGEST_MATRIX:
        raise UnsupportedNodeError(
            f"a transform of {count} samples to {length}; the product of the two is "
            f"limited to {_LARGEST_MATRIX // (2 * parts)}",
            "compute it in the application",
        )
    units: Array = np.eye(count, dtype=np.complex128)
    if parts == 2:
        units = np.stack([units, 1j * units], 1).reshape(-1, count)
    if inverse and onesided:
        return np.asarray(np.fft.irfft(units, length, axis=1))
    transform: Any = np.fft.ifft if inverse else np.fft.fft
    results = transform(units, length, axis=1)
    if onesided:
        results = results[:, : length // 2 + 1]
    return np.stack([results.real, results.imag], -1).reshape(len(units), -1)
