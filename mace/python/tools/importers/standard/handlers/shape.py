# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that read, change or compute shapes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mace.python.tools.importers.emit.lengths import Count, Length
from mace.python.tools.importers.frame.budget import check_made
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.counts import Counts
from mace.python.tools.importers.standard.lengths import is_open, scalar_of
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.importers.standard.window import NCHW
from mace.python.tools.ir.dims import divide_exactly, product_of
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import END, static

# An expansion at run time stores this many ones in the model; a larger one repeats
# elements.
_LARGEST_ONES = 1 << 22


@HANDLERS.register("Reshape")
def _reshape(node: Node) -> None:
    x, lengths = node.input(0), Counts(node)
    allow_zero = node.flag("allowzero", False)
    if lengths.of(x) is not None and node.opset >= 5:
        numbers = lengths.numbers(node.input(1))
        if numbers is not None and not (allow_zero and 0 in numbers):
            node.set_output(0, _to_counts(lengths, x, numbers, allow_zero))
            return
    if node.opset < 5:
        shape = node.integers("shape")
    elif node.input(1).is_constant:
        shape = node.constant_ints(1, "shape")
    else:
        node.require_shape_only(node.input(1), "shape")
        node.emit("Reshape", [x, node.input(1)], {"allow_zero": allow_zero})
        return
    if any(dim < -1 for dim in shape):
        raise UnsupportedNodeError(f"shape {shape} has a negative dimension")
    node.emit("Reshape", [x], {"shape": shape, "allow_zero": allow_zero})


def _to_counts(
    lengths: Counts, x: Value, numbers: Sequence[Length], allow_zero: bool = False
) -> Value:
    """A tensor of which only some elements count in another shape."""
    node, counted, dims = lengths.node, lengths.of(x), lengths.node.shape(x)
    assert counted is not None
    own = lengths.of_axis(x, counted.axis)
    assert isinstance(own, Count)
    with node.builder.counted.suspended():
        largest = [x, lengths.largest(numbers)]
        result = node.make("Reshape", largest, {"allow_zero": allow_zero})
    after = node.shape(result)
    outer, length = product_of(dims[: counted.axis]), dims[counted.axis]
    found: list[tuple[int, Count]] = []
    for place, number in enumerate(numbers):
        if isinstance(number, Value) or (isinstance(number, int) and number > 0):
            continue
        if product_of(after[:place]) != outer or 0 in (length, after[place]):
            continue
        count: Length | None = None
        more, fewer = (
            divide_exactly(a, b)
            for a, b in ((after[place], length), (length, after[place]))
        )
        if isinstance(more, int):
            count = lengths.compute("MUL", own, more)
        elif isinstance(fewer, int):
            count = lengths.divided(own, fewer)
        if isinstance(count, Count) and (
            isinstance(number, int) or number.value is count.value
        ):
            found.append((place, count))
    if len(found) != 1:
        shown = [lengths.dim(lengths.most(number)) for number in numbers]
        raise UnsupportedNodeError(
            f"the run determines how many elements {x.name} has along axis "
            f"{counted.axis}, and not where these are in the shape {shown}"
        )
    return lengths.limited(result, found[0][1], found[0][0])


@HANDLERS.register("Flatten")
def _flatten(node: Node) -> None:
    x, lengths = node.input(0), Counts(node)
    dims, counted = node.shape(x), lengths.of(x)
    axis = node.integer("axis", 1)
    if not -len(dims) <= axis <= len(dims):
        raise UnsupportedNodeError(f"axis {axis} is outside a rank of {len(dims)}")
    axis += len(dims) if axis < 0 else 0
    if counted is not None and counted.axis < axis and 0 not in dims[axis:]:
        within = [lengths.of_axis(x, i) for i in range(axis, len(dims))]
        node.set_output(0, _to_counts(lengths, x, [-1, lengths.product(within)]))
        return
    inner = dims[axis:]
    if all(isinstance(dim, int) for dim in inner):
        below = math.prod(d for d in inner if isinstance(d, int))
        if below:
            node.emit("Reshape", [x], {"shape": [-1, below]})
            return
    if axis == 1:
        shape = [0, -1]
    elif static(dims) is None:
        sizes = [lengths.of_axis(x, i) for i in range(len(dims))]
        sides = [lengths.product(part) for part in (sizes[:axis], sizes[axis:])]
        node.emit("Reshape", [x, lengths.listed(sides)], {"allow_zero": True})
        return
    else:
        shape = [math.prod(node.static_shape(x)[:axis]), -1]
        if 0 in node.static_shape(x):
            shape[1] = math.prod(node.static_shape(x)[axis:])
    node.emit("Reshape", [x], {"shape": shape, "allow_zero": axis != 1})


@HANDLERS.register("Squeeze")
def _squeeze(node: Node) -> None:
    x, axes = node.input(0), node.integers_of("axes", 1, since=13, default=[])
    if not axes and node.builder.counted.get(x) is not None:
        # Its dimension is that of memory.
        node.static_shape(x)
    if not axes:
        # An open dimension stays, also in a run where it is 1: what comes behind counts
        # on the same number of dimensions in every run.
        axes = [axis for axis, dim in enumerate(node.shape(x)) if dim == 1]
        if not axes:
            node.set_output(0, x)
            return
    node.emit("Squeeze", [x], {"axes": axes})


@HANDLERS.register("Unsqueeze")
def _unsqueeze(node: Node) -> None:
    axes = node.integers_of("axes", 1, since=13)
    if axes is None:
        raise UnsupportedNodeError("axes are missing")
    node.emit("ExpandDims", [node.input(0)], {"axes": axes})


@HANDLERS.register("Transpose")
def _transpose(node: Node) -> None:
    x = node.input(0)
    rank = len(node.shape(x))
    perm = node.integers("perm", list(reversed(range(rank))))
    perm = [node.axis(axis, rank) for axis in perm]
    if sorted(perm) != list(range(rank)):
        raise UnsupportedNodeError(f"perm {perm} is no permutation of {rank} axes")
    if rank == 0:
        node.set_output(0, x)
        return
    node.emit("Transpose", [x], {"perm": perm})


@HANDLERS.register("Shape")
def _shape(node: Node) -> None:
    x, lengths = node.input(0), Counts(node)
    rank = len(node.shape(x))
    start, end, _ = slice(
        node.integer("start", 0), node.integer("end", END) if node.has("end") else None
    ).indices(rank)
    if (start, end) == (0, rank) and lengths.of(x) is None:
        node.emit("Shape", [x])
        return
    # Only the requested dimensions must be known.
    parts = [lengths.of_axis(x, axis) for axis in range(start, end)]
    node.set_output(0, lengths.listed(parts))


@HANDLERS.register("Size")
def _size(node: Node) -> None:
    x, lengths = node.input(0), Counts(node)
    parts = [lengths.of_axis(x, axis) for axis in range(len(node.shape(x)))]
    node.set_output(0, lengths.scalar(lengths.product(parts)))


@HANDLERS.register("Expand")
def _expand(node: Node) -> None:
    x, shape, lengths = node.input(0), node.input(1), Counts(node)
    found, counted = lengths.one_count(shape), lengths.of(x)
    if found is not None:
        (numbers, place, count), rank = found, len(node.shape(x))
        axis = place + max(rank - len(numbers), 0)
        own = axis - max(len(numbers) - rank, 0)
        if counted is None or (counted.axis, counted.count) == (own, count.value):
            with node.builder.counted.suspended():
                result = _expanded(lengths, x, lengths.largest(numbers))
            node.set_output(0, lengths.limited(result, count, axis))
            return
    node.set_output(0, _expanded(lengths, x, shape))


def _expanded(lengths: Counts, x: Value, shape: Value) -> Value:
    node, dims = lengths.node, lengths.node.shape(x)
    if is_open(shape):
        return lengths.expanded(x, shape)
    wanted = [int(v) for v in shape.numpy().reshape(-1)]
    rank = max(len(dims), len(wanted))
    padded = (1,) * (rank - len(dims)) + tuple(dims)
    target = [1] * (rank - len(wanted)) + wanted
    # Multiplying by ones broadcasts; only dimensions that grow matter.
    ones = [
        new if old == 1 or not isinstance(old, int) else 1
        for old, new in zip(padded, target)
    ]
    if all(one == 1 for one in ones) and rank == len(dims):
        return x
    if math.prod(ones) > _LARGEST_ONES:
        # Elements that the run repeats.
        return lengths.expanded(x, shape)
    kept = x.dtype
    if kept not in (DataType.FLOAT32, DataType.INT32):
        x = node.cast(x, DataType.INT32)
    filled = node.literal(np.broadcast_to(1, ones), x.dtype)
    whole = node.eltwise("MUL", x, filled)
    if x.dtype is kept:
        return whole
    return node.cast(whole, kept)


@HANDLERS.register("ConstantOfShape")
def _constant_of_shape(node: Node) -> None:
    lengths = Counts(node)
    found = lengths.one_count(node.input(0))
    if found is None:
        node.set_output(0, _filled(lengths, node.input(0)))
        return
    numbers, place, count = found
    filled = _filled(lengths, lengths.largest(numbers))
    node.set_output(0, lengths.limited(filled, count, place))


def _filled(lengths: Counts, sizes: Value) -> Value:
    node = lengths.node
    fill = node.attribute_tensor("value").numpy() if node.has("value") else None
    if is_open(sizes):
        return lengths.filled(scalar_of(node, fill), sizes)
    shape = [int(v) for v in sizes.numpy().reshape(-1)]
    scalar = np.zeros((), np.float32) if fill is None else fill.reshape(-1)[0]
    if any(dim < 0 for dim in shape):
        raise UnsupportedNodeError(f"shape {shape} has a negative dimension")
    check_made(*shape, repeated=True)
    # One element, repeated by a view.
    view = np.broadcast_to(np.asarray(scalar), shape)
    return node.builder.constant(f"{node.label}/filled", view)


@HANDLERS.register("DepthToSpace", "SpaceToDepth")
def _depth_space(node: Node) -> None:
    x = node.input(0)
    block = node.integer("blocksize", 0)
    dims = node.shape(x)
    if len(dims) != 4:
        raise UnsupportedNodeError(f"an input of {len(dims)} dimensions")
    if block < 1:
        raise UnsupportedNodeError(f"blocksize is {block}")
    order = node.text("mode", "DCR")
    node.emit(node.type, [x], {**NCHW, "block": block, "order": order})


# Numbers -----------------------------------------------------------------------------


@HANDLERS.register("Range")
def _range(node: Node) -> None:
    inputs, lengths = [node.input(i) for i in range(3)], Counts(node)
    limit = lengths.one_count(inputs[1])
    if limit is not None and [lengths.numbers(x) for x in inputs[::2]] == [[0], [1]]:
        node.set_output(0, lengths.positions(limit[2]))
        return
    if all(value.is_constant for value in inputs):
        # Folding computes the numbers.
        raise UnsupportedNodeError("the numbers are too many to store them in a model")
    for value, what in zip(inputs, ("start", "limit", "delta")):
        node.require_shape_only(value, what)
    node.emit("Range", inputs)
