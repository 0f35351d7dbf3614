# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Scale and offset for each channel: the normalisations."""

from __future__ import annotations

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.node import Op
from mace.python.tools.ir.op_rules.base import OutputType
from mace.python.tools.ir.op_rules.images import channel_axis
from mace.python.tools.ir.shapes import compatible


def infer_by_channel(op: Op) -> list[OutputType]:
    """The type of an operator whose inputs 1 and 2 have one number per channel."""
    x = op.input(0)
    if x.shape is not None:
        if not x.shape:
            raise ValueError("a scalar has no channels")
        channels = x.shape[channel_axis(op, len(x.shape))]
        for port in (1, 2):
            if not compatible(op.input(port).shape, (channels,)):
                raise ValueError(f"input {port} must be [{channels}]")
    return [OutputType(x.dtype, x.shape)]


def affine(op: Op, x: Array, scale: Array, offset: Array) -> Array:
    """x * scale + offset by channel."""
    after = (1,) * (x.ndim - 1 - channel_axis(op, x.ndim))
    return np.asarray(x * scale.reshape(-1, *after) + offset.reshape(-1, *after))
