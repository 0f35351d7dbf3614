# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution."""

from __future__ import annotations

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.handlers import volume
from mace.python.tools.importers.standard.handlers.taps import (
    by_matrices,
    check_channels,
)
from mace.python.tools.importers.standard.node import HANDLERS, STATIC_HINT, Node
from mace.python.tools.importers.standard.window import (
    NCHW,
    emit_image_op,
    read_filter,
    read_window,
)
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.op_rules.volumes import RANK as VOLUME_RANK
from mace.python.tools.ir.shapes import NCHW_TO_NHWC


@HANDLERS.register("Conv")
def _conv(node: Node) -> None:
    if not node.input(1).is_constant:
        _by_computed_filter(node)
        return
    x, constant = node.input(0), read_filter(node)
    if len(constant.shape) == VOLUME_RANK:
        volume.convolve(node, constant)
        return
    window = read_window(node, len(constant.shape), constant.shape[2:])
    filters = node.transposed(_image_filter(constant), NCHW_TO_NHWC, "filter")
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
    """The product of the elements under each window and of the filter."""
    filters = node.input(1)
    out, depth, *kernel = node.static_shape(filters)
    if len(kernel) not in (1, 2):
        raise UnsupportedNodeError(
            f"the filter ({filters.name}) is computed at run time, and has "
            f"{len(kernel)} spatial dimensions; 1 and 2 are supported"
        )
    window = read_window(node, len(kernel) + 2, kernel)
    groups = node.integer("group", 1)
    check_channels(node, (out, depth, *kernel), groups)
    taps = window.kernel[0] * window.kernel[1]
    # Taps before channels, as the elements under a window are.
    perm = [0, *range(2, len(kernel) + 2), 1]
    parts = node.make("Transpose", [filters], {"perm": perm})
    shape = [out, taps * depth]
    if groups > 1:
        shape = [groups, 1, out // groups, taps * depth]
    matrix = node.make("Reshape", [parts], {"shape": shape})
    result = by_matrices(
        node,
        window,
        groups,
        None,
        lambda rows: node.make("MatMul", [rows, matrix], {"transpose_b": True}),
    )
    if not node.has_input(2):
        node.set_output(0, result)
        return
    lined_up = node.make(
        "Reshape", [node.input(2)], {"shape": [-1, *[1] * len(kernel)]}
    )
    node.emit("Eltwise", [result, lined_up], {"mode": "ADD"})


def _image_filter(constant: Constant) -> Constant:
    """[O, I, W] as [O, I, 1, W]; [O, I, H, W] as it is."""
    if len(constant.shape) == 4:
        return constant
    out, depth, width = constant.shape
    return constant.moved(lambda a: a[:, :, None, :], (out, depth, 1, width))
