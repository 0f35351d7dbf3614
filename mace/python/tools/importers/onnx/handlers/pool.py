# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Pooling over windows and over whole images."""

from __future__ import annotations

from mace.python.tools.importers.base import UnsupportedNodeError
from mace.python.tools.importers.onnx.handlers import volume
from mace.python.tools.importers.onnx.node import HANDLERS, Node
from mace.python.tools.importers.onnx.window import emit_image_op, read_window


@HANDLERS.register("MaxPool", "AveragePool")
def _pool(node: Node) -> None:
    x = node.input(0)
    kernel = node.integers("kernel_shape")
    node.refuse_output(1, "indices of the maxima")
    average = node.type == "AveragePool"
    mode = "AVG" if average else "MAX"
    attrs = {"ceil_mode": node.flag("ceil_mode", False)}
    if average:
        attrs["count_include_pad"] = node.flag("count_include_pad", False)
    if len(node.shape(x)) == volume.RANK:
        volume.pool(node, mode, attrs)
        return
    window = read_window(node, len(node.shape(x)), kernel)
    emit_image_op(
        node,
        "Pooling",
        x,
        window,
        {**attrs, "mode": mode, "kernels": window.kernel},
    )


@HANDLERS.register("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def _global_pool(node: Node) -> None:
    rank = len(node.shape(node.input(0)))
    modes = {"GlobalAveragePool": "MEAN", "GlobalMaxPool": "MAX", "GlobalLpPool": "L2"}
    if node.type == "GlobalLpPool":
        # In operator set 1, this is a float.
        power = node.real("p", 2.0) if node.opset < 2 else node.integer("p", 2)
        if power != 2:
            raise UnsupportedNodeError(f"p is {power}; 2 is supported")
    if rank < 3:
        raise UnsupportedNodeError(f"an input of {rank} dimensions is no image")
    node.emit(
        "Reduce",
        [node.input(0)],
        {"mode": modes[node.type], "axes": range(2, rank), "keep_dims": True},
    )
