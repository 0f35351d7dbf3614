# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Bias and batch normalisation."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import HANDLERS, Context
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Value


@HANDLERS.register("BiasAdd", "BiasAddV1")
def bias_add(context: Context) -> None:
    """Adds a value per channel."""
    bias = context.input(1)
    if context.is_nchw():
        after = context.rank(0) - 2
        if after > 0:
            bias = context.step(
                "ExpandDims", [bias], "bias", axes=list(range(1, after + 1))
            )
    context.emit("Eltwise", [context.input(0), bias], mode="ADD")


@HANDLERS.register("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def fused_batch_norm(context: Context) -> None:
    """The form for inference: inputs 3 and 4 are the moving statistics."""
    if context.node.flag("is_training", True):
        raise UnsupportedNodeError(
            "is_training is set: statistics of the batch are needed",
            "export the model for inference",
        )
    gamma, beta, mean, variance = (
        np.asarray(context.values(i + 1, what), np.float64)
        for i, what in enumerate(("scale", "offset", "mean", "variance"))
    )
    scale = gamma / np.sqrt(variance + context.node.number("epsilon", 1e-4))
    attrs = {"data_format": "NCHW"} if context.is_nchw() else {}
    context.emit(
        "BatchNorm",
        [
            context.input(0),
            _float32(context, scale, "scale"),
            _float32(context, beta - mean * scale, "offset"),
        ],
        **attrs,
    )


def _float32(context: Context, array: Array, suffix: str) -> Value:
    return context.constant(array.astype(np.float32), suffix)
