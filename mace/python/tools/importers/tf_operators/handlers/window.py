# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Attributes that convolution and pooling share."""

from __future__ import annotations

from typing import Any

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import Context


def spatial(context: Context, name: str) -> list[int]:
    """Height and width of a list attribute in the node's data format."""
    values = context.node.ints(name) or (1, 1, 1, 1)
    if len(values) != 4:
        raise UnsupportedNodeError(f"{name} has {len(values)} values, not 4")
    h, w, others = (2, 3, (0, 1)) if context.is_nchw() else (1, 2, (0, 3))
    if any(values[axis] != 1 for axis in others):
        raise UnsupportedNodeError(f"{name} {list(values)} over batch or channels")
    return [values[h], values[w]]


def window_attrs(context: Context) -> dict[str, Any]:
    """Padding and strides, and the data format if it is NCHW."""
    attrs: dict[str, Any] = {"strides": spatial(context, "strides")}
    padding = context.node.string("padding", "VALID")
    if padding in ("SAME", "VALID"):
        attrs["padding"] = padding
    elif padding == "EXPLICIT":
        pads = context.node.ints("explicit_paddings")
        if len(pads) != 8:
            raise UnsupportedNodeError(f"explicit_paddings has {len(pads)} values")
        h, w = (4, 6) if context.is_nchw() else (2, 4)
        attrs["padding"] = "EXPLICIT"
        attrs["pads"] = [pads[h], pads[w], pads[h + 1], pads[w + 1]]
    else:
        raise UnsupportedNodeError(f"padding is {padding!r}")
    if context.is_nchw():
        attrs["data_format"] = "NCHW"
    return attrs
