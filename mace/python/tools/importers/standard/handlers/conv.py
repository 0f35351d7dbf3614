# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolutions and transposed convolutions.

Those with a filter that the run computes, and of integers, are products of matrices:
the elements under each window, and the filter. Sizes of images may be open: the windows
are those of an operator, not of slices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mace.python.tools.importers.emit.einsum import einsum
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.handlers import volume
from mace.python.tools.importers.standard.lengths import NodeLengths
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.importers.standard.window import (
    NCHW,
    Window,
    emit_image_op,
    read_filter,
    read_steps,
    read_window,
)
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dims import Dim, multiply, never_equal
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.op_rules.volumes import RANK as VOLUME_RANK
from mace.python.tools.ir.shapes import NCHW_TO_NHWC, format_shape, static

# The product of rows [..., K] and a filter that belongs to them.
Product = Callable[[Value], Value]


def check_channels(node: Node, filters: Sequence[Dim], groups: int) -> None:
    """Refuses a filter [O, C / groups, ...] that does not fit the input."""
    channels, (outs, depth) = node.shape(node.input(0))[1], filters[:2]
    fits = not never_equal(channels, multiply(depth, max(groups, 1)))
    if groups < 1 or (isinstance(outs, int) and outs % groups) or not fits:
        raise UnsupportedNodeError(
            f"{channels} input channels, a filter of {format_shape(tuple(filters))} "
            f"and {groups} groups"
        )


def by_matrices(
    node: Node,
    window: Window,
    groups: int,
    outside: Value | None,
    product: Product,
) -> Value:
    """A convolution of input 0, in ONNX's order.

    Args:
        window: of the filter.
        groups: of channels.
        outside: what padding adds; None: 0.
        product: of the elements under each window, taps before channels: of
            [N, Y, X, K], or of [N, groups, Y, X, K], a result with the outputs of the
            filter in the place of K.
    """
    x = node.input(0)
    if window.is_line:
        x = node.expand_dims(x, [2])
    attrs = {**NCHW, **window.attrs, "kernels": list(window.kernel)}
    inputs = [x] if outside is None else [x, outside]
    rows = node.make("Im2Col", inputs, attrs)
    rows = node.transpose(rows, [0, 2, 3, 1])
    if groups == 1:
        result = product(rows)
    else:
        taps = window.kernel[0] * window.kernel[1]
        depth = node.shape(rows)[3]
        if not isinstance(depth, int):
            raise UnsupportedNodeError(f"the channels of {x.name} are not known")
        parts = [0, 0, 0, taps, groups, depth // taps // groups]
        rows = node.reshape(rows, parts)
        rows = node.transpose(rows, [0, 4, 1, 2, 3, 5])
        shape = [0, 0, 0, 0, depth // groups]
        result = product(node.reshape(rows, shape))
        result = node.transpose(result, [0, 2, 3, 1, 4])
        result = node.reshape(result, [0, 0, 0, -1])
    result = node.transpose(result, [0, 3, 1, 2])
    return node.squeeze(result, [2]) if window.is_line else result


@HANDLERS.register("Conv")
def _conv(node: Node) -> None:
    if not node.input(1).is_constant:
        _by_computed_filter(node)
        return
    x, constant = node.input(0), read_filter(node)
    if len(constant.shape) == VOLUME_RANK:
        volume.convolve(node, constant)
        return
    window = read_window(node, len(constant.shape), constant.shape[2:])
    filters = node.transposed(_image_filter(constant), NCHW_TO_NHWC, "filter")
    attrs = {"groups": node.integer("group", 1)}
    bias = node.optional(2)
    if bias is None or bias.is_constant:
        more = [filters] if bias is None else [filters, bias]
        emit_image_op(node, "Conv2D", x, window, attrs, *more)
        return
    # The operator takes constants only.
    if window.is_line:
        node.elements(2, "the bias")
    result = node.make("Conv2D", [x, filters], {**NCHW, **window.attrs, **attrs})
    lined_up = node.reshape(bias, [-1, 1, 1])
    node.emit("Eltwise", [result, lined_up], {"mode": "ADD"})


def _by_computed_filter(node: Node) -> None:
    """The product of the elements under each window and of the filter."""
    filters, groups = node.input(1), node.integer("group", 1)
    shape = node.shape(filters)
    check_channels(node, shape, groups)
    known = static(shape)
    if known is None or len(shape) == VOLUME_RANK:
        result = _by_gathered_windows(node, groups)
    else:
        result = _by_computed_matrix(node, known, groups)
    if not node.has_input(2):
        node.set_output(0, result)
        return
    lined_up = node.reshape(node.input(2), [-1, *[1] * (len(shape) - 2)])
    node.emit("Eltwise", [result, lined_up], {"mode": "ADD"})


def _by_computed_matrix(node: Node, shape: Sequence[int], groups: int) -> Value:
    """By a filter of which only the numbers are computed at run time."""
    out, depth, *kernel = shape
    window = read_window(node, len(kernel) + 2, kernel)
    taps = window.kernel[0] * window.kernel[1]
    # Taps before channels, as the elements under a window are.
    perm = [0, *range(2, len(kernel) + 2), 1]
    parts = node.transpose(node.input(1), perm)
    sizes = [out, taps * depth]
    if groups > 1:
        sizes = [groups, 1, out // groups, taps * depth]
    matrix = node.reshape(parts, sizes)
    return by_matrices(
        node,
        window,
        groups,
        None,
        lambda rows: node.make("MatMul", [rows, matrix], {"transpose_b": True}),
    )


def _by_gathered_windows(node: Node, groups: int) -> Value:
    """By a filter whose lengths are computed at run time, too, and by one of a volume:
    the elements under each window are gathered along one axis after the other.
    """
    x, filters, lengths = node.input(0), node.input(1), NodeLengths(node)
    spatial = len(node.shape(filters)) - 2
    strides, dilations, pads = read_steps(
        node, spatial, [1] * spatial, "the filter's size"
    )
    auto = node.text("auto_pad", "NOTSET") or "NOTSET"
    if not 1 <= spatial <= 3 or auto not in ("NOTSET", "VALID"):
        raise UnsupportedNodeError(
            f"the filter ({filters.name}) is computed at run time: 1 to 3 spatial "
            f"dimensions without auto_pad are supported, not {spatial} with {auto!r}"
        )
    if any(pads) and auto == "NOTSET":
        amounts = [0, 0, *pads[:spatial], 0, 0, *pads[spatial:]]
        x = node.apply("Pad", [x, node.literal(amounts, DataType.INT32)])
    x, filters = (
        lengths.parted(value, axis, groups) if groups > 1 else value
        for value, axis in ((x, 1), (filters, 0))
    )
    lead = len(node.shape(x)) - spatial
    for place, (stride, dilation) in enumerate(zip(strides, dilations)):
        axis = lead + place
        kernel = lengths.of_axis(filters, axis)
        reach = lengths.compute("MUL", lengths.compute("SUB", kernel, 1), dilation)
        last = lengths.compute("SUB", lengths.of_axis(x, axis), reach)
        # Of an axis that is too short, Gather says so.
        end = lengths.compute("MAX", last, 1)
        begins = node.reshape(lengths.counted_up(0, end, stride), [-1, 1])
        taps = node.eltwise("MUL", lengths.positions(kernel), lengths.value(dilation))
        places = node.eltwise("ADD", begins, taps)
        x = node.make("Gather", [x, places], {"axis": axis})
        if place < spatial - 1:
            # The taps are further channels: a tensor has at most 8 dimensions.
            others = [*range(lead, axis + 1), *range(axis + 2, lead + spatial + 1)]
            x = node.transpose(x, [*range(lead), axis + 1, *others])
            x = lengths.merged(x, lead - 1, 2)
    filters = lengths.merged(filters, lead - 1, spatial)
    rows = "xyz"[:spatial]
    if groups == 1:
        return einsum(node.make, f"nc{rows}k,ock->no{rows}", [x, filters])
    result = einsum(node.make, f"ngc{rows}k,gock->ngo{rows}", [x, filters])
    return lengths.merged(result, 1, 2)


def _image_filter(constant: Constant) -> Constant:
    """[O, I, W] as [O, I, 1, W]; [O, I, H, W] as it is."""
    if len(constant.shape) == 4:
        return constant
    out, depth, width = constant.shape
    return constant.moved(lambda a: a[:, :, None, :], (out, depth, 1, width))


# Transposed convolutions -------------------------------------------------------------


@HANDLERS.register("ConvTranspose")
def _conv_transpose(node: Node) -> None:
    x, constant = node.input(0), read_filter(node)
    groups = node.integer("group", 1)
    if groups < 1 or constant.shape[0] % groups:
        raise UnsupportedNodeError(
            f"{constant.shape[0]} input channels in {groups} groups"
        )
    channels = None if x.shape is None else x.shape[1]
    if isinstance(channels, int) and channels != constant.shape[0]:
        raise UnsupportedNodeError(
            f"{channels} input channels, a filter of {list(constant.shape)}"
        )
    if len(constant.shape) == VOLUME_RANK:
        volume.convolve_back(node, constant, groups)
        return
    more = [node.lazy(outputs_first(constant, groups), "filter")]
    if node.has_input(2):
        node.elements(2, "the bias")
        more.append(node.input(2))
    window = read_window(node, len(constant.shape), constant.shape[2:])
    attrs = {
        "strides": window.attrs["strides"],
        "dilations": window.attrs["dilations"],
        **_borders(node, x, window),
    }
    placed = Window(window.is_line, window.kernel, attrs)
    emit_image_op(node, "Deconv2D", x, placed, {"groups": groups}, *more)


def _borders(node: Node, x: Value, window: Window) -> dict[str, Any]:
    """The attributes pads and output_padding."""
    spatial = 1 if window.is_line else 2
    added = _two(node, "output_padding", spatial, 0)
    if any(a < 0 for a in added):
        raise UnsupportedNodeError(f"negative output_padding {added}")
    auto = node.text("auto_pad", "NOTSET") or "NOTSET"
    size = node.integers("output_shape", [])
    if not size and auto in ("NOTSET", "VALID"):
        return {
            "pads": window.attrs.get("pads", [0] * 4),
            "output_padding": added,
        }
    wanted: list[int | None] = [None, None]
    if size:
        wanted = list(_two(node, "output_shape", spatial, 1))
    pads = [0] * 4
    for axis in range(2):
        if window.is_line and axis == 0:
            continue
        past = _past(x, window, axis, wanted[axis])
        total = max(past + added[axis], 0)
        if wanted[axis] is not None:
            added[axis] = total - past
        # Without output_shape, a kernel shorter than the stride makes the output
        # shorter than stride times the input, as in ONNX Runtime. The specification
        # treats SAME_UPPER specially; all other values are like SAME_LOWER.
        before = total // 2 if auto == "SAME_UPPER" else total - total // 2
        pads[axis], pads[axis + 2] = before, total - before
    return {"pads": pads, "output_padding": added}


def _past(x: Value, window: Window, axis: int, wanted: int | None) -> int:
    """How much longer an output without padding is than the wanted one."""
    stride: int = window.attrs["strides"][axis]
    extent: int = (window.kernel[axis] - 1) * window.attrs["dilations"][axis] + 1
    if wanted is None:  # stride times the input's size
        return extent - stride
    size = None if x.shape is None else x.shape[axis + (1 if window.is_line else 2)]
    if not isinstance(size, int):
        raise UnsupportedNodeError(
            f"attribute output_shape with an input ({x.name}) whose size is open",
            "give fixed input_shapes",
        )
    return int(stride * (size - 1) + extent - wanted)


def _two(node: Node, name: str, spatial: int, other: int) -> list[int]:
    """A list attribute for height and width; `other` for a line's height."""
    values: Sequence[int] = node.integers(name, [0] * spatial)
    if len(values) != spatial:
        raise UnsupportedNodeError(
            f"{name} {list(values)} does not have {spatial} spatial dimensions"
        )
    return [other, *values] if spatial == 1 else list(values)


def outputs_first(constant: Constant, groups: int) -> Constant:
    """[C, O / groups, H, W] or [.., W] as the operator's [O, H, W, C / groups]."""
    channels, outs, *kernel = constant.shape
    kh, kw = kernel if len(kernel) == 2 else (1, *kernel)
    depth = channels // groups
    return constant.moved(
        lambda a: (
            a.reshape(groups, depth, outs, kh, kw)
            .transpose(0, 2, 3, 4, 1)
            .reshape(groups * outs, kh, kw, depth)
        ),
        (groups * outs, kh, kw, depth),
    )
