# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution."""

from __future__ import annotations

from mace.python.tools.importers.base import UnsupportedNodeError
from mace.python.tools.importers.onnx.handlers import volume
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


def _channels_last(constant: Constant) -> Constant:
    """[O, I, H, W] or [O, I, W] as the operator's [O, H, W, I]."""
    out, depth, *kernel = constant.shape
    if len(kernel) == 1:
        return constant.moved(
            lambda a: a[:, :, None, :].transpose(NCHW_TO_NHWC),
            (out, 1, kernel[0], depth),
        )
    return constant.moved(lambda a: a.transpose(NCHW_TO_NHWC), (out, *kernel, depth))
