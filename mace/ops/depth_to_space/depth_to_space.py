# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The converter's rules for DepthToSpace, SpaceToDepth and ChannelShuffle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.op_rules import OpRules, OutputType
from mace.python.tools.ir.op_rules.axes import of_images
from mace.python.tools.ir.op_rules.images import (
    evaluate_in_nhwc,
    image_dims,
    image_shape,
)
from mace.python.tools.ir.op_rules.movement import divided_dim, multiplied_dims


class DepthToSpace(OpRules):
    keeps_elements = True
    layout_inputs = (0,)

    def infer(self, op: Op) -> list[OutputType]:
        x, block = op.input(0), op.attr("block")
        if x.shape is None:
            return [OutputType(x.dtype, (None,) * 4)]
        n, hw, c = image_dims(op, x.shape)
        depth = divided_dim(c, block * block, "channels")
        size = multiplied_dims(hw, block)
        return [OutputType(x.dtype, image_shape(op, n, size, depth))]

    @evaluate_in_nhwc
    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, block = inputs[0], op.attr("block")
        n, h, w, c = x.shape
        depth = c // (block * block)
        if op.attr("order") == "DCR":
            parts = x.reshape(n, h, w, block, block, depth).transpose(0, 1, 3, 2, 4, 5)
        else:
            parts = x.reshape(n, h, w, depth, block, block).transpose(0, 1, 4, 2, 5, 3)
        return [parts.reshape(n, h * block, w * block, depth)]

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        return of_images(axes)


class SpaceToDepth(OpRules):
    keeps_elements = True
    layout_inputs = (0,)

    def infer(self, op: Op) -> list[OutputType]:
        x, block = op.input(0), op.attr("block")
        if x.shape is None:
            return [OutputType(x.dtype, (None,) * 4)]
        n, (h, w), c = image_dims(op, x.shape)
        size = divided_dim(h, block, "rows"), divided_dim(w, block, "columns")
        (depth,) = multiplied_dims((c,), block * block)
        return [OutputType(x.dtype, image_shape(op, n, size, depth))]

    @evaluate_in_nhwc
    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, block = inputs[0], op.attr("block")
        n, h, w, depth = x.shape
        h, w = h // block, w // block
        parts = x.reshape(n, h, block, w, block, depth)
        perm = (0, 1, 3, 2, 4, 5) if op.attr("order") == "DCR" else (0, 1, 3, 5, 2, 4)
        return [parts.transpose(perm).reshape(n, h, w, depth * block * block)]

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        return of_images(axes)


class ChannelShuffle(OpRules):
    keeps_elements = True
    layout_inputs = (0,)

    def infer(self, op: Op) -> list[OutputType]:
        x = op.input(0)
        if x.shape is not None:
            _, _, c = image_dims(op, x.shape)
            groups = op.attr("groups")
            if isinstance(c, int) and c % groups:
                raise ValueError(f"{c} channels in {groups} groups")
        return [OutputType(x.dtype, x.shape)]

    @evaluate_in_nhwc
    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        x, groups = inputs[0], op.attr("groups")
        split = x.reshape(*x.shape[:-1], groups, x.shape[-1] // groups)
        return [split.swapaxes(-1, -2).reshape(x.shape)]
