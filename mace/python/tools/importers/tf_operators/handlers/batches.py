# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Blocks of pixels that become images of a batch, and back."""

from __future__ import annotations

import math

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.atrous import Blocks, emit_dilated
from mace.python.tools.importers.tf_operators.context import HANDLERS, Context
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import static


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
    dims = _dims(context, value)
    count = len(blocks)
    places = range(1, count + 1)
    if any(dims[i] % block for i, block in zip(places, blocks)):
        raise UnsupportedNodeError(f"{dims[1:]} is not divisible by blocks {blocks}")
    how = Blocks.of(dims, blocks)
    parts = context.step("Reshape", [value], "blocks", shape=how.split)
    turned = context.step("Transpose", [parts], "turned", perm=how.perm)
    context.emit("Reshape", [turned], shape=how.shape)


@HANDLERS.register("BatchToSpaceND", "BatchToSpace")
def batch_to_space(context: Context) -> None:
    """The reverse of SpaceToBatchND; then the edges are cut off."""
    blocks, crops = _blocks_and_edges(context, "crops")
    if emit_dilated(context, blocks, crops):
        return
    value = context.input(0)
    dims = _dims(context, value)
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


def _dims(context: Context, value: Value) -> tuple[int, ...]:
    dims = None if value.shape is None else static(value.shape)
    if dims is None:
        raise UnsupportedNodeError(
            f"the shape of {value.name} is not known before the run",
            "give fixed input_shapes",
        )
    return dims
