# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Pooling and normalisation over windows and channels."""

from __future__ import annotations

from typing import Any

import numpy as np

from mace.python.tools.importers.tflite.context import HANDLERS, Context

# The least length by which a vector is divided.
_LEAST_LENGTH = 1e-6


def _window(context: Context) -> dict[str, Any]:
    node = context.node
    return {
        "kernels": [node.integer("height"), node.integer("width")],
        "strides": context.strides(),
        "padding": context.padding(),
    }


@HANDLERS.register("AVERAGE_POOL_2D", "MAX_POOL_2D")
def pool(context: Context) -> None:
    """Averages do not count padding, like those of MACE by default."""
    mode = "MAX" if context.operator.type == "MAX_POOL_2D" else "AVG"
    context.emit("Pooling", [context.input(0)], mode=mode, **_window(context))


@HANDLERS.register("L2_POOL_2D")
def l2_pool(context: Context) -> None:
    """The square root of the mean of the squares."""
    squares = context.step("Eltwise", [context.input(0)], "squares", mode="SQUARE")
    means = context.step("Pooling", [squares], "means", mode="AVG", **_window(context))
    context.emit("Eltwise", [means], mode="SQRT")


@HANDLERS.register("L2_NORMALIZATION")
def l2_normalization(context: Context) -> None:
    """Each innermost vector, divided by its length."""
    x = context.input(0)
    length = context.step("Reduce", [x], "length", mode="L2", axes=[-1])
    least = context.constant(np.array(_LEAST_LENGTH, np.float32), "least")
    length = context.step("Eltwise", [length, least], "divisor", mode="MAX")
    context.emit("Eltwise", [x, length], mode="DIV")


@HANDLERS.register("LOCAL_RESPONSE_NORMALIZATION")
def local_response_norm(context: Context) -> None:
    """Over neighbouring channels."""
    node = context.node
    context.apply(
        "LRN",
        depth_radius=node.integer("radius"),
        bias=node.number("bias"),
        alpha=node.number("alpha"),
        beta=node.number("beta"),
    )
