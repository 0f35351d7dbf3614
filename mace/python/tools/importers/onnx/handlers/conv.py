# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution."""

from __future__ import annotations

from mace.python.tools.importers.base import UnsupportedNodeError
from mace.python.tools.importers.onnx.handlers import volume
from mace.python.tools.importers.onnx.handlers.taps import (
    extent,
    in_pairs,
    pads,
    stride,
    under_taps,
)
from mace.python.tools.importers.onnx.node import HANDLERS, STATIC_HINT, Node
from mace.python.tools.importers.onnx.window import (
    NCHW,
    emit_image_op,
    read_filter,
    read_window,
)
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.layout import NCHW_TO_NHWC


@HANDLERS.register("Conv")
def _conv(node: Node) -> None:
    if not node.input(1).is_constant:
        _by_computed_filter(node)
        return
    x, constant = node.input(0), read_filter(node)
    if len(constant.shape) == volume.RANK:
        volume.convolve(node, constant)
        return
    window = read_window(node, len(constant.shape), constant.shape[2:])
    filters = node.lazy(_channels_last(constant), "filter")
    attrs = {"groups": node.integer("group", 1)}
    bias = node.input(2) if node.has_input(2) else None
    if bias is None or bias.is_constant:
        more = [filters] if bias is None else [filters, bias]
        emit_image_op(node, "Conv2D", x, window, attrs, *more)
        return
    # The operator takes constants only.
    if window.is_line:
        raise UnsupportedNodeError(
            f"the bias ({bias.name}) is computed at run time", STATIC_HINT
        )
    result = node.make("Conv2D", [x, filters], {**NCHW, **window.attrs, **attrs})
    lined_up = node.make("Reshape", [bias], {"shape": [-1, 1, 1]})
    node.emit("Eltwise", [result, lined_up], {"mode": "ADD"})


def _by_computed_filter(node: Node) -> None:
    """The product of the filter [groups, O / groups, C / groups * taps] and of the
    elements under each tap [N, groups, C / groups * taps, Y * X].
    """
    x, filters = node.input(0), node.input(1)
    out, depth, *kernel = node.static_shape(filters)
    if len(kernel) not in (1, 2):
        raise UnsupportedNodeError(
            f"the filter ({filters.name}) is computed at run time, and has "
            f"{len(kernel)} spatial dimensions; 1 and 2 are supported"
        )
    window = read_window(node, len(kernel) + 2, kernel)
    groups = node.integer("group", 1)
    batch, channels, *sides = node.static_shape(x)
    if groups < 1 or out % groups or channels != depth * groups:
        raise UnsupportedNodeError(
            f"{channels} input channels, a filter of {[out, depth, *kernel]} and "
            f"{groups} groups"
        )
    if window.is_line:
        x, sides = node.make("ExpandDims", [x], {"axes": [2]}), [1, *sides]
    befores, afters = pads(window, sides)
    if any((*befores, *afters)):
        around = in_pairs([0, 0, *befores, 0, 0, *afters])
        x = node.make("Pad", [x], {"pads": around})
    counts = [
        (side + before + after - extent(window, i)) // stride(window, i) + 1
        for i, (side, before, after) in enumerate(zip(sides, befores, afters))
    ]
    if min(counts) < 1:
        raise UnsupportedNodeError(f"a window larger than the input {sides}")
    taps = window.kernel[0] * window.kernel[1]
    rows = under_taps(node, x, window, (batch, groups, depth), counts)
    shape = [1, groups, out // groups, depth * taps]
    matrix = node.make("Reshape", [filters], {"shape": shape})
    result = node.make("MatMul", [matrix, rows])
    shape = [batch, out, *(counts[1:] if window.is_line else counts)]
    if not node.has_input(2):
        node.emit("Reshape", [result], {"shape": shape})
        return
    result = node.make("Reshape", [result], {"shape": shape})
    lined_up = node.make(
        "Reshape", [node.input(2)], {"shape": [-1, *[1] * len(shape[2:])]}
    )
    node.emit("Eltwise", [result, lined_up], {"mode": "ADD"})


def _channels_last(constant: Constant) -> Constant:
    """[O, I, H, W] or [O, I, W] as the operator's [O, H, W, I]."""
    out, depth, *kernel = constant.shape
    if len(kernel) == 1:
        return constant.moved(
            lambda a: a[:, :, None, :].transpose(NCHW_TO_NHWC),
            (out, 1, kernel[0], depth),
        )
    return constant.moved(lambda a: a.transpose(NCHW_TO_NHWC), (out, *kernel, depth))
