# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that move elements without computing on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import EVALUATORS
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.inference.arrangement import (
    reshaped,
    strided_slices,
)
from mace.python.tools.ir.shapes import normalize_axis, to_ints


@EVALUATORS.register("Reshape")
def _reshape(op: Op, inputs: Sequence[Any]) -> list[Array]:
    x = inputs[0]
    wanted = inputs[1].tolist() if len(inputs) > 1 else op.attr("shape")
    shape = reshaped(x.shape, wanted, op.attr("allow_zero"))
    return [x.reshape(to_ints(shape))]


@EVALUATORS.register("Transpose")
def _transpose(op: Op, inputs: Sequence[Any]) -> list[Array]:
    return [inputs[0].transpose(op.attr("perm"))]


@EVALUATORS.register("ExpandDims")
def _expand_dims(op: Op, inputs: Sequence[Any]) -> list[Array]:
    return [np.expand_dims(inputs[0], tuple(op.attr("axes")))]


@EVALUATORS.register("Squeeze")
def _squeeze(op: Op, inputs: Sequence[Any]) -> list[Array]:
    return [np.squeeze(inputs[0], tuple(op.attr("axes")) or None)]


@EVALUATORS.register("Concat")
def _concat(op: Op, inputs: Sequence[Any]) -> list[Array]:
    return [np.concatenate(inputs, op.attr("axis"))]


@EVALUATORS.register("Stack")
def _stack(op: Op, inputs: Sequence[Any]) -> list[Array]:
    return [np.stack(inputs, op.attr("axis"))]


@EVALUATORS.register("Split")
def _split(op: Op, inputs: Sequence[Any]) -> list[Array]:
    x, axis, sizes = inputs[0], op.attr("axis"), op.attr("sizes")
    if not sizes:
        return list(np.split(x, len(op.outputs), axis))
    return list(np.split(x, np.cumsum(sizes)[:-1], axis))


@EVALUATORS.register("StridedSlice")
def _strided_slice(op: Op, inputs: Sequence[Any]) -> list[Array]:
    x = inputs[0]
    cuts = strided_slices(op, x.ndim)
    result = x[tuple(cuts.get(i, slice(None)) for i in range(x.ndim))]
    shrink = tuple(normalize_axis(a, x.ndim) for a in op.attr("shrink_axes"))
    return [np.squeeze(result, shrink) if shrink else result]


@EVALUATORS.register("Gather")
def _gather(op: Op, inputs: Sequence[Any]) -> list[Array]:
    return [np.take(inputs[0], inputs[1], op.attr("axis"))]


@EVALUATORS.register("Pad")
def _pad(op: Op, inputs: Sequence[Any]) -> list[Array]:
    widths = np.reshape(op.attr("pads"), (-1, 2))
    mode = op.attr("mode")
    if mode == "CONSTANT":
        return [np.pad(inputs[0], widths, constant_values=op.attr("value"))]
    names = {"REFLECT": "reflect", "SYMMETRIC": "symmetric", "EDGE": "edge"}
    return [np.pad(inputs[0], widths, mode=names[mode])]  # type: ignore[call-overload]


@EVALUATORS.register("Shape")
def _shape(op: Op, inputs: Sequence[Any]) -> list[Array]:
    return [np.array(inputs[0].shape, np.int32)]
