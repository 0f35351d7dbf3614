# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""MMCVCornerPool, which MMCV exports for the corner pooling of CornerNet."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.node import HANDLERS, Node

# What `mode` says: the axis of [N, C, H, W], and whether it is followed from its end.
_MODES = {
    0: (2, True),  # top: the largest value from here down
    1: (2, False),  # bottom: from here up
    2: (3, True),  # left: from here to the right
    3: (3, False),  # right: from here to the left
}


@HANDLERS.register("mmcv.MMCVCornerPool")
def _corner_pool(node: Node) -> None:
    mode = node.integer("mode", -1)
    if mode not in _MODES:
        raise UnsupportedNodeError(f"mode is {mode}; it is one of 0, 1, 2 and 3")
    axis, reverse = _MODES[mode]
    node.emit("CornerPool", [node.input(0)], {"axis": axis, "reverse": reverse})


class MMCVCornerPool(OpRun):
    """What the node computes, for `run --validate`: ONNX Runtime does not know it.
    Written from MMCV's description, as loops, and not with the rules of the room.
    """

    op_domain = "mmcv"

    def _run(self, x: Any, mode: int = 0) -> tuple[Any]:
        y = np.array(x)
        height, width = y.shape[2:]
        if mode == 0:
            for row in reversed(range(height - 1)):
                y[:, :, row] = np.maximum(y[:, :, row], y[:, :, row + 1])
        elif mode == 1:
            for row in range(1, height):
                y[:, :, row] = np.maximum(y[:, :, row], y[:, :, row - 1])
        elif mode == 2:
            for column in reversed(range(width - 1)):
                y[..., column] = np.maximum(y[..., column], y[..., column + 1])
        else:
            for column in range(1, width):
                y[..., column] = np.maximum(y[..., column], y[..., column - 1])
        return (y,)
