# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution of volumes, whose filters have the order of TensorFlow."""

from __future__ import annotations

from mace.python.tools.importers.tf_operators.handlers.volume import (
    convolved_back_volume,
    convolved_volume,
)
from mace.python.tools.importers.tflite.context import HANDLERS, Context


@HANDLERS.register("CONV_3D")
def conv3d(context: Context) -> None:
    """[KD, KH, KW, I, O] filters, and a bias."""
    context.pass_on(convolved_volume(_window(context), context.optional(2)))


@HANDLERS.register("CONV_3D_TRANSPOSE")
def conv3d_transpose(context: Context) -> None:
    """The output's shape first, then the filter and the volume."""
    context.pass_on(convolved_back_volume(_window(context), context.optional(3)))


def _window(context: Context) -> Context:
    """With the attributes that TensorFlow would have."""

    def three(name: str) -> tuple[int, ...]:
        return (1, *(context.node.integer(f"{name}_{axis}") for axis in "dhw"), 1)

    return context.like(
        "Conv3D",
        padding=context.padding(),
        strides=three("stride"),
        dilations=three("dilation"),
    )
