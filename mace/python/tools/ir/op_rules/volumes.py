# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Windows over volumes, [N, D, H, W, C], by operators on images."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.op_rules.base import Make
from mace.python.tools.ir.op_rules.windows import Axis

RANK = 5
# A dimension of another shape: the product of the lengths of these axes.
Product = Sequence["tuple[Value, int]"]


def pooled(
    make: Make, x: Value, mode: str, window: Sequence[Axis], attrs: Mapping[str, Any]
) -> Value:
    """The largest elements or means of windows; `attrs`: of the operator Pooling."""
    along, down, across = window
    images = make(
        "Pooling", [images_of(make, x)], {**_pool_attrs(mode, down, across), **attrs}
    )
    pixels: Product = [(images, 1), (images, 2)]
    lines = reshaped(make, images, [[(x, 0)], [(x, 1)], pixels, [(images, 3)]])
    lines = make("Pooling", [lines], {**_pool_attrs(mode, along, Axis(1)), **attrs})
    rest: list[Product] = [[(images, axis)] for axis in (1, 2, 3)]
    return reshaped(make, lines, [[(x, 0)], [(lines, 1)], *rest])


def pooled_in_order(
    make: Make, x: Value, mode: str, window: Sequence[Axis], attrs: Mapping[str, Any]
) -> Value:
    """The same of [N, C, D, H, W], where all but N is known: a window over depth and
    height, for which the width takes the place of the channels, then one over the
    width. Only the results of the first one are transposed, which are often much
    smaller than the input.
    """
    sizes = [_length(x, axis) for axis in range(1, RANK)]
    images = make("Reshape", [x], {"shape": [-1, *sizes[1:]]})
    images = make("Pooling", [images], {**_pool_attrs(mode, *window[:2]), **attrs})
    sizes[1:3] = _length(images, 1), _length(images, 2)
    rows = make("Reshape", [images], {"shape": [-1, sizes[3]]})
    columns = make("Transpose", [rows], {"perm": [1, 0]})
    columns = make("Reshape", [columns], {"shape": [1, sizes[3], 1, -1]})
    pooling = {**_pool_attrs(mode, window[2], Axis(1)), **attrs}
    columns = make("Pooling", [columns], pooling)
    sizes[3] = _length(columns, 1)
    columns = make("Reshape", [columns], {"shape": [sizes[3], -1]})
    rows = make("Transpose", [columns], {"perm": [1, 0]})
    return make("Reshape", [rows], {"shape": [-1, *sizes]})


def _length(value: Value, axis: int) -> int:
    length = (value.shape or (None,) * (axis + 1))[axis]
    assert isinstance(length, int)
    return length


def _pool_attrs(mode: str, down: Axis, across: Axis) -> dict[str, Any]:
    return {
        "mode": mode,
        "kernels": [down.kernel, across.kernel],
        "strides": [down.stride, across.stride],
        "dilations": [down.dilation, across.dilation],
        "padding": "EXPLICIT",
        "pads": [down.before, across.before, down.after, across.after],
    }


def images_of(make: Make, x: Value) -> Value:
    """The slices of volumes, one after the other."""
    rest: list[Product] = [[(x, axis)] for axis in (2, 3, 4)]
    return reshaped(make, x, [[(x, 0), (x, 1)], *rest])


def reshaped(make: Make, x: Value, lengths: Sequence[Product]) -> Value:
    """A value in another shape. What is open is computed, unless it is what is left."""

    def known(product: Product) -> int:
        dims = [(value.shape or (None,) * (axis + 1))[axis] for value, axis in product]
        fixed = [dim for dim in dims if isinstance(dim, int)]
        return math.prod(fixed) if len(fixed) == len(dims) else -1

    def computed(value: Value, axis: int) -> Value:
        cut = {"axes": [0], "begins": [axis], "ends": [axis + 1], "strides": [1]}
        return make("StridedSlice", [make("Shape", [value], {})], cut)

    shape = [known(product) for product in lengths]
    if min(shape) > 0:
        shape[0] = -1  # as many as a run has
    if -1 not in shape or (shape.count(-1) == 1 and 0 not in shape):
        return make("Reshape", [x], {"shape": shape})
    parts = []
    for product in lengths:
        factors = [computed(value, axis) for value, axis in product]
        multiply = {"mode": "MUL"}
        parts.append(
            functools.reduce(lambda a, b: make("Eltwise", [a, b], multiply), factors)
        )
    return make("Reshape", [x, make("Concat", parts, {"axis": 0})], {})
