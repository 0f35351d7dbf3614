# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Sizes of images; blocks of pixels that become channels, or images of a batch.

TensorFlow wrote convolutions with dilations with them:

    SpaceToBatchND > Conv2D > BatchToSpaceND                 with dilations, one Conv2D
    SpaceToBatchND > ... > BiasAdd > Relu > BatchToSpaceND   the others behind it

Each image of the batch in between has every block-th pixel, so that neighbours there
are as far apart as the dilation says. What computes on each pixel alone may come later.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import HANDLERS, Context
from mace.python.tools.ir.graph import Op, Value
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.shapes import static


@HANDLERS.register("ResizeBilinear")
def bilinear(context: Context) -> None:
    """Weighted means of 2 x 2 pixels."""
    _resize(context, "LINEAR")


@HANDLERS.register("ResizeNearestNeighbor")
def nearest_neighbor(context: Context) -> None:
    """The pixel below the position; with aligned corners the nearest one."""
    aligned = context.node.flag("align_corners")
    _resize(context, "NEAREST", rounding="PREFER_CEIL" if aligned else "FLOOR")


@HANDLERS.register("ResizeBicubic")
def bicubic(context: Context) -> None:
    """Cubic convolution of 4 x 4 pixels. With half_pixel_centers, TensorFlow uses Keys'
    kernel and only pixels of the image; without it, a steeper kernel and repeated
    border pixels. TensorFlow reads the kernel from a table of 1024 steps, so results
    differ from MACE's, which are computed, by up to 8e-4 of the range of the pixels.
    """
    half = context.node.flag("half_pixel_centers")
    kernel = -0.5 if half else -0.75
    _resize(context, "CUBIC", cubic_coefficient=kernel, exclude_outside=half)


@HANDLERS.register("DepthToSpace", "SpaceToDepth")
def blocks(context: Context) -> None:
    """Moves elements between channels and blocks of pixels."""
    attrs = {"data_format": "NCHW"} if context.is_nchw() else {}
    block = context.node.integer("block_size")
    context.emit(context.node.op, [context.input(0)], block=block, **attrs)


def _resize(context: Context, mode: str, **attrs: object) -> None:
    aligned = context.node.flag("align_corners")
    half = context.node.flag("half_pixel_centers")
    if aligned and half:
        raise UnsupportedNodeError("align_corners and half_pixel_centers exclude")
    coordinates = "ALIGN_CORNERS" if aligned else "ASYMMETRIC"
    if half:
        coordinates = "HALF_PIXEL_FLOOR" if mode == "NEAREST" else "HALF_PIXEL"
    inputs = [context.input(0)]
    if context.input(1).is_constant:
        attrs["size"] = context.ints(1, "size")
    else:
        inputs.append(context.input(1))
    context.emit("Resize", inputs, mode=mode, coordinates=coordinates, **attrs)


# Blocks that become images of a batch -------------------------------------------------

_CONVOLUTIONS = ("Conv2D", "DepthwiseConv2d")
# Around the Conv2D of a convolution of rows.
_OF_ROWS = ("ExpandDims", "Squeeze")


class _Blocks(NamedTuple):
    """How SpaceToBatchND rearranges a tensor whose dimensions are known.

    Attributes:
        split, perm, shape: Reshape, Transpose, Reshape.
    """

    split: list[int]
    perm: list[int]
    shape: list[int]

    @classmethod
    def of(cls, dims: Sequence[int], blocks: Sequence[int]) -> _Blocks:
        """That of padded dimensions, which the blocks divide."""
        places = range(1, len(blocks) + 1)
        split, outer, batch = [dims[0]], [], dims[0]
        for i, block in zip(places, blocks):
            split += [dims[i] // block, block]
            outer.append(dims[i] // block)
            batch *= block
        rest = list(dims[len(blocks) + 1 :])
        # From batch, (row, block) of every axis, rest.
        perm = [*(2 * i for i in places), 0, *(2 * i - 1 for i in places)]
        perm += range(len(split), len(split) + len(rest))
        return cls([*split, *rest], perm, [batch, *outer, *rest])


@HANDLERS.register("SpaceToBatchND", "SpaceToBatch")
def space_to_batch(context: Context) -> None:
    """Pads; then image b of the batch has every block-th pixel, starting with pixel
    b.
    """
    blocks, pads = _blocks_and_edges(context, "paddings")
    value = context.input(0)
    rank = context.rank(0)
    if any(pads):
        inner = [0] * (2 * rank - 2 - len(pads))
        value = context.step("Pad", [value], "padded", pads=[0, 0, *pads, *inner])
    dims = context.static_shape(value)
    count = len(blocks)
    places = range(1, count + 1)
    if any(dims[i] % block for i, block in zip(places, blocks)):
        raise UnsupportedNodeError(f"{dims[1:]} is not divisible by blocks {blocks}")
    how = _Blocks.of(dims, blocks)
    parts = context.step("Reshape", [value], "blocks", shape=how.split)
    turned = context.step("Transpose", [parts], "turned", perm=how.perm)
    context.emit("Reshape", [turned], shape=how.shape)


@HANDLERS.register("BatchToSpaceND", "BatchToSpace")
def batch_to_space(context: Context) -> None:
    """The reverse of SpaceToBatchND; then the edges are cut off."""
    blocks, crops = _blocks_and_edges(context, "crops")
    if _emit_dilated(context, blocks, crops):
        return
    value = context.input(0)
    dims = context.static_shape(value)
    count = len(blocks)
    if dims[0] % math.prod(blocks):
        raise UnsupportedNodeError(f"{dims[0]} images in blocks {blocks}")
    batch = dims[0] // math.prod(blocks)
    outer, rest = dims[1 : count + 1], dims[count + 1 :]
    # From blocks, batch, rows of every axis, rest.
    perm = [count]
    for i in range(count):
        perm += [count + 1 + i, i]
    perm += range(2 * count + 1, 2 * count + 1 + len(rest))
    parts = context.step(
        "Reshape", [value], "blocks", shape=[*blocks, batch, *outer, *rest]
    )
    turned = context.step("Transpose", [parts], "turned", perm=perm)
    whole = [size * block for size, block in zip(outer, blocks)]
    shape = [batch, *whole, *rest]
    if not any(crops):
        context.emit("Reshape", [turned], shape=shape)
        return
    joined = context.step("Reshape", [turned], "joined", shape=shape)
    context.emit(
        "StridedSlice",
        [joined],
        axes=list(range(1, count + 1)),
        begins=crops[::2],
        ends=[size - after for size, after in zip(whole, crops[1::2])],
        strides=[1] * count,
    )


def _blocks_and_edges(context: Context, what: str) -> tuple[list[int], list[int]]:
    """The block size of every axis, and the elements before and after, axis by axis."""
    if context.node.op.endswith("ND"):
        blocks, edges = context.ints(1, "block_shape"), context.ints(2, what)
    else:
        blocks, edges = [context.node.integer("block_size")] * 2, context.ints(1, what)
    if any(block < 1 for block in blocks) or any(edge < 0 for edge in edges):
        raise UnsupportedNodeError(f"block_shape {blocks} with {what} {edges}")
    if 2 * len(blocks) != len(edges) or len(blocks) >= context.rank(0):
        raise UnsupportedNodeError(f"{len(blocks)} blocks with {what} {edges}")
    return blocks, edges


def _emit_dilated(
    context: Context, blocks: Sequence[int], crops: Sequence[int]
) -> bool:
    """Gives the result of BatchToSpaceND by a convolution with dilations, if its input
    is such a convolution; `crops` are before and after, axis by axis.
    """
    found = _convolution(context.input(0))
    if found is None:
        return False
    conv, steps = found
    first = conv.input(0)
    turned = first.producer
    is_row = len(blocks) == 1
    if is_row:
        if turned is None or turned.type != "ExpandDims" or turned.attr("axes") != (1,):
            return False
        first = turned.input(0)
    origin = _origin(first, blocks)
    if origin is None or (not is_row and len(blocks) != 2):
        return False
    x, pads = origin
    inner = _inner_pads(conv)
    if is_row and any(inner[:2]):
        return False
    inner = inner[2:] if is_row else inner
    distances = [block for block in blocks for _ in range(2)]
    edges = [p + d * i - c for p, d, i, c in zip(pads, distances, inner, crops)]
    if min(edges) < 0:
        return False
    if is_row:
        assert turned is not None
        x = context.step("ExpandDims", [x], "rows", **turned.attrs)
        edges, blocks = [0, 0, *edges], [1, *blocks]
    attrs = {
        **conv.attrs,
        "dilations": list(blocks),
        "padding": "EXPLICIT" if any(edges) else "VALID",
        "pads": [edges[0], edges[2], edges[1], edges[3]],
    }
    ops = [(conv, [x, *conv.inputs[1:]], attrs)]
    ops += [(op, list(op.inputs), dict(op.attrs)) for op in reversed(steps)]
    value = x
    for index, (op, inputs, attributes) in enumerate(ops):
        inputs[_computed(op)] = value
        if index == len(ops) - 1:
            context.emit(op.type, inputs, **attributes)
        else:
            value = context.step(op.type, inputs, f"dilated{index}", **attributes)
    return True


def _convolution(value: Value) -> tuple[Op, list[Op]] | None:
    """The convolution behind which only operators on each pixel make the value; these,
    the last one first.
    """
    steps: list[Op] = []
    while (op := value.producer) is not None:
        if op.type in _CONVOLUTIONS:
            return (op, steps) if _is_plain(op) else None
        if len(op.outputs) != 1 or not (op.type in _OF_ROWS or _is_of_pixels(op)):
            return None
        steps.append(op)
        value = op.input(_computed(op))
    return None


def _is_plain(conv: Op) -> bool:
    last = conv.attrs.get("data_format", "NHWC") == "NHWC"
    ones = conv.attr("strides") == (1, 1) and conv.attr("dilations") == (1, 1)
    return last and ones and conv.input(1).is_constant


def _is_of_pixels(op: Op) -> bool:
    if not rules_of(op.type).elementwise:
        return False
    given = [value for value in op.inputs if value is not None]
    constants = [value for value in given if value.is_constant]
    if len(given) != len(constants) + 1:
        return False
    if op.attrs.get("data_format", "NHWC") != "NHWC":
        return False
    return all(all(d == 1 for d in (v.shape or ())[:-1]) for v in constants)


def _computed(op: Op) -> int:
    """The number of the input that is computed."""
    given = enumerate(op.inputs)
    return next(i for i, value in given if value is not None and not value.is_constant)


def _origin(value: Value, blocks: Sequence[int]) -> tuple[Value, list[int]] | None:
    """What SpaceToBatchND with these blocks makes the value of, and its paddings."""
    ops: list[Op] = []
    for op_type in ("Reshape", "Transpose", "Reshape"):
        op = value.producer
        if op is None or op.type != op_type:
            return None
        ops.append(op)
        value = op.input(0)
    dims = static(value.shape)
    if dims is None or len(dims) <= len(blocks):
        return None
    wanted = _Blocks.of(dims, blocks)
    found = (ops[2].attr("shape"), ops[1].attr("perm"), ops[0].attr("shape"))
    if [*map(list, found)] != list(wanted):
        return None
    count, pad = 2 * len(blocks), value.producer
    if pad is None or pad.type != "Pad":
        return value, [0] * count
    pads = list(pad.attr("pads"))
    zeros = pad.attr("mode") == "CONSTANT" and pad.attr("value") == 0
    if not zeros or any(pads[:2]) or any(pads[2 + count :]):
        return value, [0] * count
    return pad.input(0), pads[2 : 2 + count]


def _inner_pads(conv: Op) -> list[int]:
    """Those of the convolution: before and after, axis by axis."""
    if conv.attr("padding") == "EXPLICIT":
        top, left, bottom, right = conv.attr("pads")
        return [top, bottom, left, right]
    if conv.attr("padding") == "VALID":
        return [0] * 4
    shape = conv.input(1).shape or ()
    height, width = shape[1:3] if conv.type == "Conv2D" else shape[:2]
    assert isinstance(height, int) and isinstance(width, int)
    return [(height - 1) // 2, height // 2, (width - 1) // 2, width // 2]
