# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Where elements along an axis come."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.shapes import normalize_axis


def of_first(axes: Mapping[int, int]) -> int | None:
    """The axis, if it is one of the first input alone."""
    return axes.get(0) if len(axes) == 1 else None


def broadcast_axis(op: Op, axes: Mapping[int, int]) -> int | None:
    """Of an operator whose inputs broadcast to the output."""
    shape = op.outputs[0].shape
    if shape is None:
        return None
    # Broadcasting aligns the last axes.
    places = {len(shape) - len(op.input(i).shape or ()) + a for i, a in axes.items()}
    if len(places) != 1:
        return None
    place = places.pop()
    for index, value in enumerate(op.inputs):
        if value is None or index in axes:
            continue
        if value.shape is None:
            return None
        axis = place - len(shape) + len(value.shape)
        if axis >= 0 and value.shape[axis] != 1:
            return None
    return place


def of_images(axes: Mapping[int, int]) -> int | None:
    """Of an operator by which each image has its own result."""
    return 0 if of_first(axes) == 0 else None


def beside(op: Op, axes: Mapping[int, int]) -> int | None:
    """Of an operator in which elements along its attribute `axis` meet, no others."""
    axis, shape = of_first(axes), op.input(0).shape
    if axis is None or shape is None:
        return None
    return None if axis == normalize_axis(op.attr("axis"), len(shape)) else axis


def beside_last(op: Op, axes: Mapping[int, int]) -> int | None:
    """Of an operator in which elements along the last axis meet, no others."""
    axis, shape = of_first(axes), op.input(0).shape
    return None if axis is None or shape is None or axis == len(shape) - 1 else axis


def without(removed: Collection[int], axis: int) -> int | None:
    """Where an axis comes if others are removed; None if it is itself."""
    return None if axis in removed else axis - sum(r < axis for r in removed)


def of_all(op: Op, axes: Mapping[int, int]) -> int | None:
    """The axis, if it is the same one of all inputs."""
    found = set(axes.values())
    return found.pop() if len(found) == 1 and len(axes) == len(op.inputs) else None
