# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for BatchNorm, InstanceNorm, LayerNorm, LocalResponseNorm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType, Perm, SunkTranspose
from mace.python.tools.ir.op_rules.activations import activate, check_fused
from mace.python.tools.ir.op_rules.axes import beside_last, of_images
from mace.python.tools.ir.op_rules.images import (
    channel_axis,
    evaluate_in_nhwc,
    image_dims,
)
from mace.python.tools.ir.shapes import compatible


class BatchNorm(OpRules):
    elementwise = True
    layout_inputs = (0,)

    def infer(self, op: Op) -> list[OutputType]:
        check_fused(op)
        return _infer_by_channel(op)

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, scale, offset = (np.asarray(i, np.float64) for i in inputs)
        return [activate(op, _affine(op, x, scale, offset))]

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        return of_images(axes)


class InstanceNorm(OpRules):
    layout_inputs = (0,)

    def infer(self, op: Op) -> list[OutputType]:
        check_fused(op)
        if op.input(0).rank in (0, 1, 2):
            raise ValueError(f"needs 3 dimensions or more, not {op.input(0).rank}")
        return _infer_by_channel(op)

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, scale, offset = (np.asarray(i, np.float64) for i in inputs)
        if not x.size:
            return [x]
        axes = tuple({*range(1, x.ndim)} - {channel_axis(op, x.ndim)})
        centred = x - x.mean(axis=axes, keepdims=True)
        variance = np.square(centred).mean(axis=axes, keepdims=True)
        normal = centred / np.sqrt(variance + op.attr("epsilon"))
        return [activate(op, _affine(op, normal, scale, offset))]

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        return of_images(axes)


class LayerNorm(OpRules):
    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        if x.shape is not None:
            if not x.shape:
                raise ValueError("a scalar has no dimension to normalise over")
            for port in (1, 2):
                value = op.get_input(port)
                if value is not None and not compatible(value.shape, (x.shape[-1],)):
                    raise ValueError(f"input {port} must be [{x.shape[-1]}]")
        return [OutputType(x.dtype, x.shape)]

    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, scale, offset = (
            None if i is None else np.asarray(i, np.float64)
            for i in (*inputs, None, None)[:3]
        )
        assert x is not None
        if not x.size:
            return [x]
        if op.attr("subtract_mean"):
            x = x - x.mean(-1, keepdims=True)
        y = x / np.sqrt(np.square(x).mean(-1, keepdims=True) + op.attr("epsilon"))
        y = y if scale is None else y * scale
        return [y if offset is None else y + offset]

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        # Only if the transpose does not move the innermost dimension.
        return SunkTranspose(perm, {}) if perm[-1] == len(perm) - 1 else None

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        return beside_last(op, axes)


class LocalResponseNorm(OpRules):
    layout_inputs = (0,)

    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        if x.shape is not None:
            image_dims(op, x.shape)
        return [OutputType(x.dtype, x.shape)]

    @evaluate_in_nhwc
    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x = np.asarray(inputs[0], np.float64)
        before, after = op.attr("before"), op.attr("after")
        channels = x.shape[-1]
        squares, sums = np.square(x), np.zeros_like(x)
        for c in range(channels):
            sums[..., c] = squares[..., max(c - before, 0) : c + after + 1].sum(-1)
        scale = op.attr("bias") + op.attr("alpha") * sums
        return [x / scale ** op.attr("beta")]

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        return of_images(axes)


def _infer_by_channel(op: Op) -> list[OutputType]:
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


def _affine(op: Op, x: Array, scale: Array, offset: Array) -> Array:
    """x * scale + offset by channel."""
    after = (1,) * (x.ndim - 1 - channel_axis(op, x.ndim))
    return np.asarray(x * scale.reshape(-1, *after) + offset.reshape(-1, *after))
