# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution and pooling of volumes, [N, C, D, H, W]; see ../../emit/volumes.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mace.python.tools.importers.emit.volumes import (
    Axis,
    apart_filter,
    are_apart,
    convolved,
    convolved_apart,
    convolved_back,
    image_filter,
    sizes_of,
)
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.node import Node
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.op_rules.volumes import RANK, pooled
from mace.python.tools.ir.shapes import to_channels_first, to_channels_last

# Operators between a convolution and its pooling: a sum, an activation, ...
_MOST_STEPS = 8
_SPATIAL = RANK - 2


def convolve(node: Node, constant: Constant) -> None:
    """Emits Conv with a filter [O, C / groups, KD, KH, KW]."""
    x = _channels_last(node)
    kernel = _window(node, constant.shape[2:])
    is_same = node.text("auto_pad", "NOTSET").startswith("SAME")
    window = _padded(node, kernel, sizes_of(x)[:3] if is_same else ())
    filters = node.lazy(image_filter(constant), "filter")
    groups = node.integer("group", 1)
    result = convolved(node.make, x, filters, _bias(node), window, groups)
    _emit(node, result)


def convolve_back(node: Node, constant: Constant, groups: int) -> None:
    """Emits ConvTranspose with a filter [C, O / groups, KD, KH, KW]."""
    x = _channels_last(node)
    window = _window(node, constant.shape[2:])
    added = _list(node, "output_padding", 0)
    window = [replace(axis, added=a) for axis, a in zip(window, added)]
    auto = node.text("auto_pad", "NOTSET") or "NOTSET"
    wanted: Sequence[int | None] = node.integers("output_shape", []) or [None] * 3
    if None not in wanted or auto.startswith("SAME"):
        if len(wanted) != _SPATIAL:
            raise UnsupportedNodeError(f"output_shape {list(wanted)} has no 3 elements")
        window = [
            _dropped(axis, size, length, auto == "SAME_UPPER")
            for axis, size, length in zip(window, wanted, sizes_of(x))
        ]
    elif auto == "NOTSET":
        window = _explicit(node, window)
    elif auto != "VALID":
        raise UnsupportedNodeError(f"auto_pad is {auto!r}")
    constant = _outputs_first(constant, groups)
    if are_apart(window, groups):
        filters = node.lazy(apart_filter(constant), "filter")
        bias = _repeated(node, _bias(node), constant.shape[2])
        _emit(node, convolved_apart(node.make, x, filters, bias, window))
        return
    filters = node.lazy(image_filter(constant), "filter")
    result = convolved_back(node.make, x, filters, _bias(node), window, groups)
    _emit(node, result)


def pool(node: Node, x: Value, mode: str, attrs: dict[str, bool]) -> Value:
    """MaxPool or AveragePool of a value; `attrs`: of the operator Pooling."""
    window = windows(node, x)
    if not _comes_channels_last(x):
        lists = {
            "kernels": [axis.kernel for axis in window],
            "strides": [axis.stride for axis in window],
            "dilations": [axis.dilation for axis in window],
            "pads": [*(a.before for a in window), *(a.after for a in window)],
        }
        return node.make("VolumePooling", [x], {"mode": mode, **lists, **attrs})
    turned = node.transpose(x, to_channels_last(RANK))
    result = pooled(node.make, turned, mode, window, attrs)
    return node.transpose(result, to_channels_first(RANK))


def windows(node: Node, x: Value) -> Sequence[Axis]:
    """Those of a node of pooling, with their padding."""
    window = _window(node, node.integers("kernel_shape"))
    if (node.text("auto_pad", "NOTSET") or "NOTSET") in ("NOTSET", "VALID"):
        return _padded(node, window, ())
    return _padded(node, window, node.static_shape(x)[2:])


def _comes_channels_last(x: Value) -> bool:
    """Whether a transpose before the value moves channels to the front, so that one to
    the back costs nothing.
    """
    value: Value | None = x
    for _ in range(_MOST_STEPS):
        op = None if value is None else value.producer
        if op is None:
            return False
        if op.type == "Transpose":
            return tuple(op.attr("perm")) == tuple(to_channels_first(RANK))
        if not rules_of(op.type).elementwise and op.type != "Concat":
            return False
        value = op.get_input(0)
    return False


def _channels_last(node: Node) -> Value:
    return node.transpose(node.input(0), to_channels_last(RANK))


def _emit(node: Node, result: Value) -> None:
    node.emit("Transpose", [result], {"perm": to_channels_first(RANK)})


def _bias(node: Node) -> Value | None:
    bias = node.optional(2)
    if bias is not None:
        node.elements(2, "the bias")
    return bias


def _repeated(node: Node, bias: Value | None, count: int) -> Value | None:
    if bias is None or bias.constant is None:
        return bias
    shape = (count * bias.constant.shape[0],)
    repeated = bias.constant.moved(lambda a: np.tile(a, count), shape)
    return node.lazy(repeated, "bias")


def _list(node: Node, name: str, default: int) -> list[int]:
    values = node.integers(name, [default] * _SPATIAL)
    if len(values) != _SPATIAL:
        raise UnsupportedNodeError(f"{name} {values} does not have 3 elements")
    return values


def _window(node: Node, kernel: Sequence[int]) -> list[Axis]:
    if len(kernel) != _SPATIAL:
        raise UnsupportedNodeError(f"kernel_shape {list(kernel)} has no 3 elements")
    lists = zip(kernel, _list(node, "strides", 1), _list(node, "dilations", 1))
    window = [Axis(*values) for values in lists]
    for axis in window:
        if min(axis.kernel, axis.stride, axis.dilation) < 1:
            raise UnsupportedNodeError("kernel, strides or dilations below 1")
    return window


def _explicit(node: Node, window: Sequence[Axis]) -> list[Axis]:
    pads = node.integers("pads", [0] * 2 * _SPATIAL)
    if len(pads) != 2 * _SPATIAL:
        raise UnsupportedNodeError(f"pads {pads} do not have 6 elements")
    if min(pads) < 0:
        raise UnsupportedNodeError(f"negative pads {pads}", "slice the input instead")
    return [
        replace(axis, before=before, after=after)
        for axis, before, after in zip(window, pads, pads[_SPATIAL:])
    ]


def _padded(
    node: Node, window: Sequence[Axis], lengths: Sequence[int]
) -> Sequence[Axis]:
    """With the padding of a node, for which SAME needs the lengths."""
    auto = node.text("auto_pad", "NOTSET") or "NOTSET"
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        upper = auto == "SAME_UPPER"
        return [a.padded_same(length, upper) for a, length in zip(window, lengths)]
    if auto == "VALID":
        return window
    if auto != "NOTSET":
        raise UnsupportedNodeError(f"auto_pad is {auto!r}")
    return _explicit(node, window)


def _dropped(axis: Axis, wanted: int | None, length: int, upper: bool) -> Axis:
    """The outputs to drop, and to add, for an output of a wanted length."""
    if wanted is None:
        wanted = length * axis.stride
        past = axis.extent - axis.stride
        total = max(past + axis.added, 0)
        added = axis.added
    else:
        past = axis.stride * (length - 1) + axis.extent - wanted
        total = max(past + axis.added, 0)
        added = total - past
    # As for images (conv.py).
    before = total // 2 if upper else total - total // 2
    return replace(axis, before=before, after=total - before, added=added)


def _outputs_first(constant: Constant, groups: int) -> Constant:
    """[C, O / groups, ...] as [O, C / groups, ...]."""
    channels, outs, *kernel = constant.shape
    depth = channels // groups
    shape = (groups * outs, depth, *kernel)
    return constant.moved(
        lambda a: a.reshape(groups, depth, outs, *kernel).swapaxes(1, 2).reshape(shape),
        shape,
    )
