# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Pooling and local response normalisation."""

from __future__ import annotations

from mace.python.tools.importers.tf_operators.context import HANDLERS, Context
from mace.python.tools.importers.tf_operators.handlers.window import (
    spatial,
    window_attrs,
)


@HANDLERS.register("MaxPool", "AvgPool")
def pool(context: Context) -> None:
    """Averages do not count padding, like those of MACE by default."""
    context.emit(
        "Pooling",
        [context.input(0)],
        mode="MAX" if context.node.op == "MaxPool" else "AVG",
        kernels=spatial(context, "ksize"),
        **window_attrs(context),
    )


@HANDLERS.register("LRN")
def local_response_norm(context: Context) -> None:
    """TensorFlow's alpha multiplies the plain sum, as in MACE."""
    radius = context.node.integer("depth_radius", 5)
    context.emit(
        "LocalResponseNorm",
        [context.input(0)],
        before=radius,
        after=radius,
        alpha=context.node.number("alpha", 1.0),
        beta=context.node.number("beta", 0.5),
        bias=context.node.number("bias", 1.0),
    )
