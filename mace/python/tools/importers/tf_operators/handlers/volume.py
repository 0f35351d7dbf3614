# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution and pooling of volumes; see importers/emit/volumes.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from mace.python.tools.importers.emit.volumes import (
    Axis,
    convolved,
    convolved_back,
    image_filter,
    sizes_of,
)
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import HANDLERS, Context
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.op_rules import Make
from mace.python.tools.ir.op_rules.volumes import pooled
from mace.python.tools.ir.shapes import to_channels_first, to_channels_last

_RANK = 5


@HANDLERS.register("Conv3D")
def conv3d(context: Context) -> None:
    """[KD, KH, KW, I, O] filters."""
    _emit(context, convolved_volume(context))


@HANDLERS.register("Conv3DBackpropInputV2")
def conv3d_backprop(context: Context) -> None:
    """The output's shape, a filter [KD, KH, KW, O, I], and the volume."""
    _emit(context, convolved_back_volume(context))


def convolved_volume(context: Context, bias: Value | None = None) -> Value:
    """A convolution, with channels last."""
    shape = _filter(context).shape
    x = _channels_last(context, 0)
    channels = sizes_of(x)[3]
    if not shape[3] or channels % shape[3]:
        raise UnsupportedNodeError(
            f"{channels} channels do not fit a filter of {shape[3]}"
        )
    window = _padded(context, _window(context, shape[:3], "dilations"), x)
    filters = _image_filter(context, (4, 3, 0, 1, 2))
    groups = channels // shape[3]
    return convolved(_maker(context), x, filters, bias, window, groups)


def convolved_back_volume(context: Context, bias: Value | None = None) -> Value:
    """A transposed convolution, with channels last."""
    shape = _filter(context).shape
    x = _channels_last(context, 2)
    wanted = context.ints(0, "the output's shape")
    sizes = sizes_of(x)
    if len(wanted) == _RANK:
        wanted = wanted[2:] if _is_first(context) else wanted[1:4]
    if len(wanted) != 3 or shape[4] != sizes[3]:
        raise UnsupportedNodeError(
            f"an output of {wanted} and {sizes[3]} channels for a filter of "
            f"{list(shape)}"
        )
    window = []
    for axis, size, length in zip(
        _window(context, shape[:3], "dilations"), wanted, sizes
    ):
        if context.node.string("padding", "VALID") == "SAME":
            axis = axis.padded_same(size, True)
        reach = axis.stride * (length - 1) + axis.extent
        added = size - reach + axis.before + axis.after
        if not 0 <= added < max(axis.stride, 2):
            raise UnsupportedNodeError(
                f"an output of {size} does not follow from an input of {length}"
            )
        window.append(replace(axis, added=added))
    filters = _image_filter(context, (3, 4, 0, 1, 2))
    return convolved_back(_maker(context), x, filters, bias, window, 1)


def _filter(context: Context) -> Constant:
    value = context.input(1)
    if value.constant is None or len(value.constant.shape) != _RANK:
        raise UnsupportedNodeError(
            f"filter {value.name} is computed at run time, or has no 5 dimensions",
            "freeze the model, so that its filters are constants",
        )
    return value.constant


def _image_filter(context: Context, perm: tuple[int, ...]) -> Value:
    """The filter as convolutions of images have it, by its order [O, C, D, H, W]."""
    constant = _filter(context)
    turned = constant.moved(
        lambda a: a.transpose(perm), tuple(constant.shape[i] for i in perm)
    )
    name = context.builder.graph.unique_name(f"{context.node.name}/filter")
    return context.builder.graph.add_constant(name, image_filter(turned))


@HANDLERS.register("MaxPool3D", "AvgPool3D")
def pool3d(context: Context) -> None:
    """Averages do not count padding."""
    x = _channels_last(context, 0)
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


def _channels_last(context: Context, index: int) -> Value:
    x = context.input(index)
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
