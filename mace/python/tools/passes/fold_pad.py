# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Moves an explicit Pad into the padding of the operator after it.

Convolution pads with zeros. So does average pooling if it counts the padding.
Maximum pooling pads with minus infinity. That has the same result as padding with
zeros if no element is negative and no window is completely inside the padding.
"""

from __future__ import annotations

from typing import Any

from mace.python.tools.ir import Graph, Op
from mace.python.tools.ir.op_rules.windows import window_axes
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.match import producer

_NOT_NEGATIVE = frozenset({"RELU", "RELUX", "SIGMOID", "HARD_SIGMOID", "SOFTPLUS"})
# Less than any float32 in a real network.
_LOWEST = -3.4e38


class FoldPad(Pass):
    """Pad into Conv2D, DepthwiseConv2d and Pooling."""

    name = "fold_pad"
    requires = ("fuse_activation",)

    def run(self, graph: Graph) -> int:
        count = 0
        for op in graph.ops:
            if op.type in ("Conv2D", "DepthwiseConv2d", "Pooling"):
                count += _rewrite(op)
        return count


def _rewrite(op: Op) -> bool:
    pad = producer(op.input(0), "Pad")
    if pad is None or pad.attr("mode") != "CONSTANT":
        return False
    pads = pad.attr("pads")
    if len(pads) != 8 or any(pads[:2]) or any(pads[6:]):
        return False
    own = _own_pads(op)
    if own is None:
        return False
    # Pad has before and after for each axis; the operator has top, left, bottom, right.
    added = (pads[2], pads[4], pads[3], pads[5])
    total = tuple(a + b for a, b in zip(own, added))
    attrs = _attrs(op, pad, own, total)
    if attrs is None:
        return False
    for name, value in attrs.items():
        op.set_attr(name, value)
    op.set_attr("padding", "EXPLICIT")
    op.set_attr("pads", total)
    op.set_input(0, pad.input(0))
    return True


def _own_pads(op: Op) -> tuple[int, int, int, int] | None:
    shape = op.input(0).shape
    if shape is None:
        return None
    rows, columns = window_axes(op, _kernel(op), shape[1:3])
    if rows is None or columns is None:
        return None
    return rows.before, columns.before, rows.after, columns.after


def _kernel(op: Op) -> tuple[int, int]:
    if op.type == "Pooling":
        return op.attr("kernels")  # type: ignore[no-any-return]
    constant = op.input(1).constant
    assert constant is not None
    first = 1 if op.type == "Conv2D" else 0
    return constant.shape[first], constant.shape[first + 1]


def _attrs(
    op: Op, pad: Op, own: tuple[int, ...], total: tuple[int, ...]
) -> dict[str, Any] | None:
    """Other attributes that change; None if the padding has another meaning."""
    value = pad.attr("value")
    if op.type != "Pooling":
        return {} if value == 0 else None
    if op.attr("ceil_mode"):
        return None
    if op.attr("mode") == "AVG":
        # Padding of the operator that is not counted must remain uncounted.
        counted = op.attr("count_include_pad") or not any(own)
        return {"count_include_pad": True} if value == 0 and counted else None
    extents = [
        (kernel - 1) * dilation + 1
        for kernel, dilation in zip(_kernel(op), op.attr("dilations"))
    ]
    inside = all(pad_ < extents[i % 2] for i, pad_ in enumerate(total))
    if inside and (value <= _LOWEST or (value == 0 and _not_negative(pad))):
        return {}
    return None


def _not_negative(pad: Op) -> bool:
    before = pad.input(0).producer
    return before is not None and before.attrs.get("activation") in _NOT_NEGATIVE
