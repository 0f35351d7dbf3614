# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that find, place and reverse elements, as TensorFlow has them."""

from __future__ import annotations

from mace.python.tools.importers.tflite.context import HANDLERS, Context


@HANDLERS.register("TOPK_V2")
def top_k(context: Context) -> None:
    """The largest elements of the last axis, and their places."""
    context.apply("TopKV2")


@HANDLERS.register("SCATTER_ND")
def scatter_nd(context: Context) -> None:
    """Sums of updates in a tensor of zeros."""
    context.apply("ScatterNd")


@HANDLERS.register("REVERSE_SEQUENCE")
def reverse_sequence(context: Context) -> None:
    """Reverses the first elements of each sequence."""
    context.apply(
        "ReverseSequence",
        seq_dim=context.node.integer("seq_dim"),
        batch_dim=context.node.integer("batch_dim"),
    )
