# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Transposed convolution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.handlers import volume
from mace.python.tools.importers.standard.node import HANDLERS, STATIC_HINT, Node
from mace.python.tools.importers.standard.window import (
    Window,
    emit_image_op,
    read_filter,
    read_window,
)
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.op_rules.volumes import RANK as VOLUME_RANK


@HANDLERS.register("ConvTranspose")
def _conv_transpose(node: Node) -> None:
    x, constant = node.input(0), read_filter(node)
    groups = node.integer("group", 1)
    if groups < 1 or constant.shape[0] % groups:
        raise UnsupportedNodeError(
            f"{constant.shape[0]} input channels in {groups} groups"
        )
    channels = None if x.shape is None else x.shape[1]
    if isinstance(channels, int) and channels != constant.shape[0]:
        raise UnsupportedNodeError(
            f"{channels} input channels, a filter of {list(constant.shape)}"
        )
    if len(constant.shape) == VOLUME_RANK:
        volume.convolve_back(node, constant, groups)
        return
    more = [node.lazy(_outputs_first(constant, groups), "filter")]
    if node.has_input(2):
        bias = node.input(2)
        if not bias.is_constant:
            raise UnsupportedNodeError(
                f"the bias ({bias.name}) is computed at run time", STATIC_HINT
            )
        more.append(bias)
    window = read_window(node, len(constant.shape), constant.shape[2:])
    attrs = {
        "strides": window.attrs["strides"],
        "dilations": window.attrs["dilations"],
        **_borders(node, x, window),
    }
    placed = Window(window.is_line, window.kernel, attrs)
    emit_image_op(node, "Deconv2D", x, placed, {"groups": groups}, *more)


def _borders(node: Node, x: Value, window: Window) -> dict[str, Any]:
    """The attributes pads and output_padding."""
    spatial = 1 if window.is_line else 2
    added = _two(node, "output_padding", spatial, 0)
    if any(a < 0 for a in added):
        raise UnsupportedNodeError(f"negative output_padding {added}")
    auto = node.text("auto_pad", "NOTSET") or "NOTSET"
    size = node.integers("output_shape", [])
    if not size and auto in ("NOTSET", "VALID"):
        return {
            "pads": window.attrs.get("pads", [0] * 4),
            "output_padding": added,
        }
    wanted: list[int | None] = [None, None]
    if size:
        wanted = list(_two(node, "output_shape", spatial, 1))
    pads = [0] * 4
    for axis in range(2):
        if window.is_line and axis == 0:
            continue
        past = _past(x, window, axis, wanted[axis])
        total = max(past + added[axis], 0)
        if wanted[axis] is not None:
            added[axis] = total - past
        # Without output_shape, a kernel shorter than the stride makes the output
        # shorter than stride times the input, as in ONNX Runtime. The specification
        # treats SAME_UPPER specially; all other values are like SAME_LOWER.
        before = total // 2 if auto == "SAME_UPPER" else total - total // 2
        pads[axis], pads[axis + 2] = before, total - before
    return {"pads": pads, "output_padding": added}


def _past(x: Value, window: Window, axis: int, wanted: int | None) -> int:
    """How much longer an output without padding is than the wanted one."""
    stride: int = window.attrs["strides"][axis]
    extent: int = (window.kernel[axis] - 1) * window.attrs["dilations"][axis] + 1
    if wanted is None:  # stride times the input's size
        return extent - stride
    size = None if x.shape is None else x.shape[axis + (1 if window.is_line else 2)]
    if not isinstance(size, int):
        raise UnsupportedNodeError(
            f"attribute output_shape with an input ({x.name}) whose size is open",
            "give fixed input_shapes",
        )
    return int(stride * (size - 1) + extent - wanted)


def _two(node: Node, name: str, spatial: int, other: int) -> list[int]:
    """A list attribute for height and width; `other` for a line's height."""
    values: Sequence[int] = node.integers(name, [0] * spatial)
    if len(values) != spatial:
        raise UnsupportedNodeError(
            f"{name} {list(values)} does not have {spatial} spatial dimensions"
        )
    return [other, *values] if spatial == 1 else list(values)


def _outputs_first(constant: Constant, groups: int) -> Constant:
    """[C, O / groups, H, W] or [.., W] as the operator's [O, H, W, C / groups]."""
    channels, outs, *kernel = constant.shape
    kh, kw = kernel if len(kernel) == 2 else (1, *kernel)
    depth = channels // groups
    return constant.moved(
        lambda a: (
            a.reshape(groups, depth, outs, kh, kw)
            .transpose(0, 2, 3, 4, 1)
            .reshape(groups * outs, kh, kw, depth)
        ),
        (groups * outs, kh, kw, depth),
    )
