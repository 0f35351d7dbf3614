# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution and pooling of volumes; see importers/volumes.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mace.python.tools.importers.base import UnsupportedNodeError
from mace.python.tools.importers.tensorflow.context import HANDLERS, Context
from mace.python.tools.importers.volumes import (
    Axis,
    Make,
    convolved,
    image_filter,
    pooled,
    sizes_of,
)
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.layout import to_channels_first, to_channels_last

_RANK = 5


@HANDLERS.register("Conv3D")
def conv3d(context: Context) -> None:
    """[KD, KH, KW, I, O] filters."""
    value = context.input(1)
    if value.constant is None or len(value.constant.shape) != _RANK:
        raise UnsupportedNodeError(
            f"filter {value.name} is computed at run time, or has no 5 dimensions",
            "freeze the model, so that its filters are constants",
        )
    x = _channels_last(context)
    shape = value.constant.shape
    perm = (4, 3, 0, 1, 2)
    turned = value.constant.moved(
        lambda a: a.transpose(perm), tuple(shape[i] for i in perm)
    )
    filters = context.builder.graph.add_constant(
        f"{context.node.name}/filter", image_filter(turned)
    )
    channels = sizes_of(x)[3]
    if not shape[3] or channels % shape[3]:
        raise UnsupportedNodeError(
            f"{channels} channels do not fit a filter of {shape[3]}"
        )
    window = _padded(context, _window(context, shape[:3], "dilations"), x)
    result = convolved(_maker(context), x, filters, None, window, channels // shape[3])
    _emit(context, result)


@HANDLERS.register("MaxPool3D", "AvgPool3D")
def pool3d(context: Context) -> None:
    """Averages do not count padding."""
    x = _channels_last(context)
    window = _padded(context, _window(context, _three(context, "ksize"), ""), x)
    mode = "MAX" if context.node.op == "MaxPool3D" else "AVG"
    _emit(context, pooled(_maker(context), x, mode, window, {}))


def _maker(context: Context) -> Make:
    def make(
        op_type: str, inputs: Sequence[Value | None], attrs: Mapping[str, Any]
    ) -> Value:
        return context.step(op_type, inputs, op_type, **attrs)

    return make


def _is_first(context: Context) -> bool:
    wanted = context.node.string("data_format", "NDHWC")
    if wanted not in ("NDHWC", "NCDHW"):
        raise UnsupportedNodeError(f"data_format is {wanted}")
    return wanted == "NCDHW"


def _channels_last(context: Context) -> Value:
    x = context.input(0)
    if not _is_first(context):
        return x
    return context.step("Transpose", [x], "channels_last", perm=to_channels_last(_RANK))


def _emit(context: Context, result: Value) -> None:
    if _is_first(context):
        context.emit("Transpose", [result], perm=to_channels_first(_RANK))
    else:
        context.results[0] = context.builder.alias(result, context.output_name())


def _three(context: Context, name: str) -> list[int]:
    values = list(context.node.ints(name)) or [1] * _RANK
    if len(values) != _RANK:
        raise UnsupportedNodeError(f"{name} has {len(values)} values, not 5")
    channels = 1 if _is_first(context) else 4
    if values[0] != 1 or values[channels] != 1:
        raise UnsupportedNodeError(f"{name} {values} over batch or channels")
    del values[channels]
    return values[1:]


def _window(context: Context, kernel: Sequence[int], dilations: str) -> list[Axis]:
    apart = _three(context, dilations) if dilations else [1] * 3
    return [Axis(*values) for values in zip(kernel, _three(context, "strides"), apart)]


def _padded(context: Context, window: Sequence[Axis], x: Value) -> Sequence[Axis]:
    padding = context.node.string("padding", "VALID")
    if padding == "SAME":
        return [a.padded_same(size, True) for a, size in zip(window, sizes_of(x))]
    if padding != "VALID":
        raise UnsupportedNodeError(f"padding is {padding!r}")
    return window
