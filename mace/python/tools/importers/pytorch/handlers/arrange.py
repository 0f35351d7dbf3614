# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that move elements: shapes, orders of dimensions, parts, copies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from mace.python.tools.importers.frame.budget import check_made
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.pytorch.context import (
    HANDLERS,
    Context,
    Function,
    common_type,
)
from mace.python.tools.importers.standard.operators import Size
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import END


@HANDLERS.register("aten.dropout", "aten.native_dropout", "aten.alpha_dropout")
@HANDLERS.register("aten.feature_dropout")
def _dropout(c: Context) -> None:
    share = c.number("p", 0.5)
    if c.flag("train") and share != 0:
        raise UnsupportedNodeError("train is True", "export after model.eval()")
    x = c.value("self" if c.has("self") else "input")  # dropout_ has another name
    c.give(x, *[None] * (c.outputs - 1))


@HANDLERS.register("aten.to", "aten._to_copy", "aten.type_as")
def _to(c: Context) -> None:
    c.raw("other")
    c.give(c.cast(c.value("self"), c.type_of_result()))


def _copy(c: Context, x: Value) -> Value:
    source = c.cast(c.value("src"), x.dtype)
    return source if c.shape(x) == c.shape(source) else _like(c, source, x)


def _like(c: Context, x: Value, other: Value) -> Value:
    return c.expanded(x, c.sizes_of(other))


# Shapes -----------------------------------------------------------------------


@HANDLERS.register("aten.view", "aten.reshape", "aten._unsafe_view")
def _view(c: Context) -> None:
    if c.has("dtype"):
        raise UnsupportedNodeError("reads the bytes as another type")
    c.raw("stride")
    sizes = c.sizes("shape" if c.has("shape") else "size")
    c.give(c.reshape(c.value("self"), sizes))


def _joined(c: Context, x: Value, first: int, last: int) -> Value:
    """A value whose dimensions from first to last are one."""
    shape = c.shape(x)
    if not shape:
        return c.reshape(x, [1])
    dims = [c.dim(x, axis) for axis in range(first)]
    before = [dim if isinstance(dim, int) else 0 for dim in dims]
    after = [c.size(x, axis) for axis in range(last + 1, len(shape))]
    if 0 in shape:
        size = math.prod(c.static_shape(x)[first : last + 1])
        return c.reshape(x, [*before, size, *after])
    # 0 keeps a dimension.
    return c.op("Reshape", x, c.lengths.listed([*before, -1, *after]))


def _flatten(c: Context, x: Value) -> Value:
    rank = c.rank(x)
    first = c.axis(c.integer("start_dim", 0), rank)
    return _joined(c, x, first, c.axis(c.integer("end_dim", -1), rank))


def _unflatten(c: Context, x: Value) -> Value:
    own, axis = c.sizes_of(x), c.axis(c.integer("dim"), c.rank(x))
    return c.reshape(x, [*own[:axis], *c.sizes("sizes"), *own[axis + 1 :]])


def _permute(c: Context, x: Value) -> Value:
    return c.transpose(x, c.axes("dims", c.rank(x)))


@HANDLERS.register("aten.transpose", "aten.swapaxes", "aten.swapdims")
def _transpose(c: Context) -> None:
    names = ("axis0", "axis1") if c.has("axis0") else ("dim0", "dim1")
    (x, a), (_, b) = (c.along(name) for name in names)
    c.give(swapped_axes(c, x, a, b))


def swapped_axes(c: Context, x: Value, a: int, b: int) -> Value:
    """A value with two dimensions in each other's place."""
    order = list(range(c.rank(x)))
    if order:
        order[a], order[b] = order[b], order[a]
    return c.transpose(x, order)


def _matrices_transposed(c: Context, x: Value) -> Value:
    return swapped_axes(c, x, -1, -2) if c.rank(x) > 1 else x


def _movedim(c: Context, x: Value) -> Value:
    rank = c.rank(x)
    source, target = (
        [c.axis(axis, rank) for axis in c.integers(name)]
        for name in ("source", "destination")
    )
    rest = iter(axis for axis in range(rank) if axis not in source)
    moved = dict(zip(target, source))
    order = [moved[axis] if axis in moved else next(rest) for axis in range(rank)]
    return c.transpose(x, order)


def _squeeze(c: Context, x: Value) -> Value:
    shape = c.shape(x)
    axes = c.axes("dim", len(shape)) if c.has("dim") else list(range(len(shape)))
    ones = [axis for axis in axes if shape and shape[axis] == 1]
    # Of open lengths, the program may know that they are 1.
    unknown = [axis for axis in axes if shape and not isinstance(shape[axis], int)]
    stated = c.stated[0] if c.stated else None
    if stated is not None and len(shape) - len(ones) - len(unknown) == len(stated):
        ones += unknown
    return c.squeeze(x, *ones)


def _expand(c: Context, x: Value) -> Value:
    return c.expanded(x, [1 if size == -1 else size for size in c.sizes("size")])


def _repeat(c: Context, x: Value) -> Value:
    given = c.sizes("repeats" if c.has("repeats") else "dims")
    more = len(given) - c.rank(x)
    if more > 0:
        x = c.unsqueeze(x, *range(more))
    return c.op("Tile", x, c.lengths.listed([*([1] * -more), *given]))


@HANDLERS.register("aten.repeat_interleave")
def _repeat_interleave(c: Context) -> None:
    x = c.value("self" if c.has("self") else "repeats")
    c.raw("output_size")
    if c.node.target.endswith((".Tensor", ".self_Tensor")):
        _repeat_each(c, x if c.has("self") else None)
        return
    (times,) = c.sizes("repeats")
    rank = c.rank(x)
    if not c.has("dim"):
        x, rank = c.reshape(x, [-1]), 1
    axis = c.axis(c.integer("dim", 0), rank)
    wide = c.unsqueeze(x, axis + 1)
    copies: list[Size] = [1] * (rank + 1)
    copies[axis + 1] = times
    c.give(_joined(c, c.op("Tile", wide, c.lengths.listed(copies)), axis, axis + 1))


def _repeat_each(c: Context, x: Value | None) -> None:
    """As many copies of each element as a tensor tells."""
    times = c.known("repeats").reshape(-1)
    # Not by NumPy, whose sum may overflow.
    check_made(sum(map(int, times)))
    if x is None:
        c.give(c.constant(np.repeat(np.arange(len(times)), times)))
        return
    if not c.has("dim"):
        x = c.reshape(x, [-1])
    axis = c.axis(c.integer("dim", 0), c.rank(x))
    length = c.length(x, axis)
    places = np.repeat(np.arange(length), times)
    c.give(c.op("Gather", x, c.constant(places), axis=axis))


# Joining and dividing ---------------------------------------------------------


@HANDLERS.register("aten.cat")
def _cat(c: Context) -> None:
    # An old rule lets empty tensors of rank 1 join any others.
    values = [v for v in c.values("tensors") if c.shape(v) != (0,)]
    values = values or c.values("tensors")
    dtype = common_type(c.values("tensors"))
    axis = c.axis(c.integer("dim", 0), c.rank(values[0]))
    c.give(c.concat([c.cast(value, dtype) for value in values], axis))


@HANDLERS.register("aten.stack")
def _stack(c: Context) -> None:
    values = c.values("tensors")
    dtype = common_type(values)
    axis = c.axis(c.integer("dim", 0), c.rank(values[0]) + 1)
    parts = [c.unsqueeze(c.cast(value, dtype), axis) for value in values]
    c.give(c.concat(parts, axis))


@HANDLERS.register("aten.hstack", "aten.vstack", "aten.dstack")
def _hstack(c: Context) -> None:
    values = c.values("tensors")
    rank = c.rank(values[0])
    least, axis = {"hstack": (1, 1), "vstack": (2, 0), "dstack": (3, 2)}[c.operator]
    if rank < least:
        raise UnsupportedNodeError(f"joins tensors of rank {rank}")
    axis = 0 if rank == 1 else axis
    c.give(c.op("Concat", *values, axis=axis))


def _parts(c: Context, x: Value, axis: int, sizes: Sequence[int]) -> None:
    if len(sizes) == 1:
        c.give(x)
        return
    c.give(*c.op_all("Split", [x, list(sizes)], len(sizes), axis=axis))


def _cut_at(c: Context, x: Value, axis: int, begins: Sequence[Size]) -> None:
    """Parts that begin at these places."""
    bounds = [*begins, c.size(x, axis)]
    known = [bound for bound in bounds if isinstance(bound, int)]
    if len(known) == len(bounds):
        _parts(c, x, axis, [end - begin for begin, end in zip(known, known[1:])])
        return
    pairs = zip(begins, [*begins[1:], None])
    c.give(*(c.slice(x, axis, begin, end) for begin, end in pairs))


@HANDLERS.register("aten.split", "aten.split_with_sizes")
def _split(c: Context) -> None:
    x, axis = c.along("dim", 0)
    name = "split_sizes" if c.has("split_sizes") else "split_size"
    sizes = c.sizes(name)
    known = [size for size in sizes if isinstance(size, int)]
    begins: list[Size] = [0]
    if not isinstance(c.raw(name), list):
        if known and known[0] < 1:
            raise UnsupportedNodeError(f"parts of {known[0]}")
        begins = [c.compute("MUL", sizes[0], index) for index in range(c.outputs)]
    elif len(known) == len(sizes):
        _parts(c, x, axis, known)
        return
    else:
        for size in sizes[:-1]:
            begins.append(c.compute("ADD", begins[-1], size))
    _cut_at(c, x, axis, begins)


@HANDLERS.register("aten.chunk")
def _chunk(c: Context) -> None:
    x, axis = c.along("dim", 0)
    length, count = c.size(x, axis), max(c.integer("chunks"), 1)
    size = c.compute("FLOOR_DIV", c.compute("ADD", length, count - 1), count)
    _cut_at(c, x, axis, [c.compute("MUL", size, index) for index in range(c.outputs)])


@HANDLERS.register("aten.tensor_split", "aten.hsplit", "aten.vsplit", "aten.dsplit")
def _tensor_split(c: Context) -> None:
    own = {"hsplit": 1, "dsplit": 2}.get(c.operator, 0)
    x, axis = c.along("dim", own if c.rank(c.value("self")) > 1 else 0)
    if c.has("indices"):
        _split_before(c, x, axis, c.sizes("indices"))
    else:
        _split_evenly(c, x, axis, c.integer("sections"))


def _split_before(c: Context, x: Value, axis: int, places: Sequence[Size]) -> None:
    """Parts that end before places, which count from the end if negative."""
    length = c.dim(x, axis)
    if not isinstance(length, int) or not all(isinstance(p, int) for p in places):
        _cut_at(c, x, axis, [0, *places])
        return
    bounds = [0, *(p for p in places if isinstance(p, int)), length]
    bounds = [min(b if b >= 0 else max(b + length, 0), length) for b in bounds]
    sizes = [max(end - begin, 0) for begin, end in zip(bounds, bounds[1:])]
    _parts(c, x, axis, sizes)


def _split_evenly(c: Context, x: Value, axis: int, count: int) -> None:
    """Parts of equal lengths, of which the first ones take what is left over."""
    length = c.size(x, axis)
    if count < 1:
        raise UnsupportedNodeError(f"{count} sections")
    each, rest = (c.compute(mode, length, count) for mode in ("FLOOR_DIV", "FLOOR_MOD"))
    begins = [
        c.compute("ADD", c.compute("MUL", each, index), c.compute("MIN", rest, index))
        for index in range(count)
    ]
    _cut_at(c, x, axis, begins)


@HANDLERS.register("aten.unbind")
def _unbind(c: Context) -> None:
    x, axis = c.along("dim", 0)
    length = c.dim(x, axis)
    if not isinstance(length, int):
        length = c.outputs  # so many the program has
    parts = [x]
    if length != 1:
        parts = c.op_all("Split", [x, [1] * length], length, axis=axis)
    c.give(*(c.squeeze(part, axis) for part in parts))


@HANDLERS.register("aten.slice")
def _slice(c: Context) -> None:
    x, axis = c.along("dim", 0)
    (step,) = c.integers("step", [1])
    (begin,), (end,) = c.sizes("start", [0]), c.sizes("end", [END])
    end = min(end, END) if isinstance(end, int) else end
    if step == 1 and begin == 0 and end in (END, c.shape(x)[axis]):
        c.give(x)
        return
    bounds = [c.lengths.listed([bound]) for bound in (begin, end)]
    c.give(c.op("Slice", x, *bounds, [axis], [step]))


@HANDLERS.register("aten.narrow")
def _narrow(c: Context) -> None:
    x, axis = c.along()
    ((begin,), (length,)) = c.sizes("start"), c.sizes("length")
    if isinstance(begin, int) and begin < 0:
        begin = c.compute("ADD", c.size(x, axis), begin)
    c.give(c.slice(x, axis, begin, c.compute("ADD", begin, length)))


@HANDLERS.register("aten.select")
def _select(c: Context) -> None:
    x, axis = c.along()
    (index,) = c.sizes("index")
    if isinstance(index, Value):
        c.give(c.op("Gather", x, index, axis=axis))
        return
    end = index + 1 if index != -1 else END
    c.give(c.squeeze(c.slice(x, axis, index, end), axis))


def flipped(c: Context, x: Value, *axes: int) -> Value:
    """A value with its elements in the opposite order along axes."""
    count = len(axes)
    return c.op("Slice", x, [-1] * count, [-END] * count, list(axes), [-1] * count)


def _roll(c: Context, x: Value) -> Value:
    shifts, axes = c.sizes("shifts"), c.integers("dims", [])
    if not axes:
        rolled = _rolled(c, c.reshape(x, [-1]), 0, shifts[0])
        return c.reshape(rolled, c.sizes_of(x))
    for axis, shift in zip(axes, shifts):
        x = _rolled(c, x, c.axis(axis, c.rank(x)), shift)
    return x


def _rolled(c: Context, x: Value, axis: int, shift: Size) -> Value:
    length = c.size(x, axis)
    if shift == 0 or length in (0, 1):
        return x
    at = c.compute("FLOOR_MOD", c.compute("MUL", shift, -1), length)
    return c.concat([c.slice(x, axis, at), c.slice(x, axis, 0, at)], axis)


# Images -----------------------------------------------------------------------


def _pixel_shuffle(c: Context, x: Value) -> Value:
    return c.op("DepthToSpace", x, blocksize=c.integer("upscale_factor"), mode="CRD")


def _pixel_unshuffle(c: Context, x: Value) -> Value:
    size = c.integer("downscale_factor")
    n, channels, *lengths = c.sizes_of(x)
    small = [c.compute("FLOOR_DIV", length, size) for length in lengths]
    split = c.reshape(x, [n, channels, small[0], size, small[1], size])
    turned = c.transpose(split, [0, 1, 3, 5, 2, 4])
    return c.reshape(turned, [n, c.compute("MUL", channels, size * size), *small])


def _channel_shuffle(c: Context, x: Value) -> Value:
    groups, sizes = c.integer("groups"), c.sizes_of(x)
    n, channels, *rest = sizes
    split = c.reshape(x, [n, groups, c.compute("FLOOR_DIV", channels, groups), *rest])
    order = [0, 2, 1, *range(3, len(sizes) + 1)]
    return c.reshape(c.transpose(split, order), sizes)


_PAD_MODES = {
    "constant": "constant",
    "reflect": "reflect",
    "replicate": "edge",
    "circular": "wrap",
}
_PADS = {
    **{f"aten.reflection_pad{n}d": "reflect" for n in (1, 2, 3)},
    **{f"aten.replication_pad{n}d": "replicate" for n in (1, 2, 3)},
    "aten.constant_pad_nd": "constant",
    "aten.pad": "",
}


@HANDLERS.register(*_PADS)
def _pad(c: Context) -> None:
    x = c.value("self")
    pads = c.sizes("pad" if c.has("pad") else "padding")
    mode = _PADS[f"aten.{c.operator}"] or c.text("mode", "constant")
    rank = c.rank(x)
    if mode not in _PAD_MODES or len(pads) % 2 or len(pads) > 2 * rank:
        raise UnsupportedNodeError(f"mode {mode!r} with {len(pads)} pads")
    begins: list[Size] = [0] * rank
    ends: list[Size] = [0] * rank
    for index in range(len(pads) // 2):
        # The last axis comes first.
        axis = rank - 1 - index
        begins[axis], ends[axis] = pads[2 * index : 2 * index + 2]
    value = c.number("value", 0.0) if mode == "constant" else 0.0
    filler = c.constant(value, x.dtype) if mode == "constant" else None
    amounts = c.lengths.listed([*begins, *ends])
    c.give(c.op("Pad", x, amounts, filler, mode=_PAD_MODES[mode]))


@HANDLERS.register("aten.unfold")
def _unfold(c: Context) -> None:
    x, axis = c.along("dimension")
    size, step = c.integer("size"), c.integer("step")
    length = c.size(x, axis)
    if isinstance(length, int):
        count = (length - size) // step + 1
        check_made(max(count, 0), size)
        steps = np.arange(count)[:, None] * step
        indices = c.constant(steps + np.arange(size))
    else:
        # All places at which a window may begin, of which each step-th is taken.
        last = c.compute("SUB", length, size - 1)
        begins = c.op("Range", c.constant(0), last, c.constant(step))
        indices = c.op("Add", c.unsqueeze(begins, 1), c.positions(size))
    windows = c.op("Gather", x, indices, axis=axis)
    order = [a for a in range(c.rank(windows)) if a != axis + 1] + [axis + 1]
    c.give(c.transpose(windows, order))


@HANDLERS.register("aten.meshgrid")
def _meshgrid(c: Context) -> None:
    values = c.values("tensors")
    lengths = [c.size(value, 0) if c.rank(value) else 1 for value in values]
    count = len(values)
    order = list(range(count))
    if c.text("indexing", "ij") == "xy" and count > 1:
        order[:2] = [1, 0]
    shape = [lengths[index] for index in order]
    results = []
    for index, value in enumerate(values):
        place = order.index(index)
        own = [-1 if axis == place else 1 for axis in range(count)]
        results.append(c.expanded(c.reshape(value, own), shape))
    c.give(*results)


@HANDLERS.register("aten.broadcast_tensors")
def _broadcast_tensors(c: Context) -> None:
    values = c.values("tensors")
    sizes = c.broadcast(values)
    c.give(*(c.expanded(value, sizes) for value in values))


# Operators of one tensor.
_FUNCTIONS: Mapping[str, Function] = {
    "aten.channel_shuffle": _channel_shuffle,
    "aten.copy": _copy,
    "aten.expand": _expand,
    "aten.expand_as": lambda c, x: _like(c, x, c.value("other")),
    "aten.flatten": _flatten,
    "aten.flip": lambda c, x: flipped(c, x, *c.axes("dims", c.rank(x))),
    "aten.fliplr": lambda c, x: flipped(c, x, 1),
    "aten.flipud": lambda c, x: flipped(c, x, 0),
    "aten.mT": _matrices_transposed,
    "aten.movedim": _movedim,
    "aten.numpy_T": lambda c, x: c.transpose(x, range(c.rank(x))[::-1]),
    "aten.permute": _permute,
    "aten.pixel_shuffle": _pixel_shuffle,
    "aten.pixel_unshuffle": _pixel_unshuffle,
    "aten.ravel": _flatten,
    "aten.repeat": _repeat,
    "aten.roll": _roll,
    "aten.squeeze": _squeeze,
    "aten.t": lambda c, x: c.transpose(x, range(c.rank(x))[::-1]),
    "aten.tile": _repeat,
    "aten.unflatten": _unflatten,
    "aten.unsqueeze": lambda c, x: c.unsqueeze(
        x, c.axis(c.integer("dim"), c.rank(x) + 1)
    ),
    "aten.view_as": lambda c, x: c.op("Reshape", x, c.op("Shape", c.value("other"))),
    # The same elements in the same shape.
    "aten.alias": lambda c, x: x,
    "aten.clone": lambda c, x: x,
    "aten.contiguous": lambda c, x: x,
    "aten.detach": lambda c, x: x,
    "aten.lift_fresh_copy": lambda c, x: x,
}


@HANDLERS.register(*_FUNCTIONS)
def _function(c: Context) -> None:
    c.give(_FUNCTIONS[f"aten.{c.operator}"](c, c.value("self")))
