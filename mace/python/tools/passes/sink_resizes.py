# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Moves images behind the 1x1 convolution of a Concat before they are enlarged.

    conv(concat(resize(x), y))  =  conv(y) + resize(conv(x))

A resize computes every channel in the same way, and a 1x1 convolution every pixel, so
their order does not matter; before the resize, there are fewer pixels to convolve.
Decoders for segmentation join feature maps of several sizes like this. The
convolution of the other inputs of the Concat keeps bias and activation, and adds the
resized images as its residual.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mace.python.tools.ir import Graph, Op, Value
from mace.python.tools.ir.infer import update_outputs
from mace.python.tools.ir.shapes import normalize_axis, product
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.match import (
    RESIDUAL,
    is_pointwise,
    only_reader,
    producer,
)

# Resizing or adding an element takes as long as about this many multiply-adds.
_ELEMENT_MACS = 32


class SinkResizes(Pass):
    """Resize, Concat, 1x1 Conv2D to 1x1 Conv2D, Resize, sum."""

    name = "sink_resizes"
    requires = ("fold_affine_forward",)

    def run(self, graph: Graph) -> int:
        return sum(_rewrite(graph, op) for op in graph.ops if op.type == "Conv2D")


@dataclass(frozen=True)
class _Part:
    """An input of the Concat, and its channels in the result."""

    value: Value
    begin: int
    end: int


def _rewrite(graph: Graph, conv: Op) -> bool:
    join = producer(conv.input(0), "Concat")
    if join is None or not is_pointwise(conv) or conv.get_input(RESIDUAL) is not None:
        return False
    if only_reader(graph, join.output) is not conv:
        return False
    parts = _parts(join)
    moved = [part for part in parts if _pays(graph, part, conv)]
    kept = [part for part in parts if part not in moved]
    if not moved or not kept:
        return False
    resized = [_resize_last(graph, part, conv) for part in moved]
    total = resized[0]
    for image in resized[1:]:
        total = _added(graph, "Eltwise", [total, image], {"mode": "ADD"}, conv.name)
    rest = kept[0].value
    if len(kept) > 1:
        values = [part.value for part in kept]
        rest = _added(graph, "Concat", values, dict(join.attrs), join.name)
    conv.set_inputs([rest, _slice(graph, conv, kept), conv.get_input(2), total])
    return True


def _parts(join: Op) -> list[_Part]:
    """The inputs of a Concat of channels; none if they are not known."""
    rank = join.output.rank
    if rank is None or normalize_axis(join.attr("axis"), rank) != rank - 1:
        return []
    parts: list[_Part] = []
    begin = 0
    for value in join.inputs:
        channels = value.shape[-1] if value is not None and value.shape else None
        if value is None or not isinstance(channels, int):
            return []
        parts.append(_Part(value, begin, begin + channels))
        begin += channels
    return parts


def _pays(graph: Graph, part: _Part, conv: Op) -> bool:
    resize = producer(part.value, "Resize")
    if resize is None or only_reader(graph, part.value) is None:
        return False
    small, large = (
        product(value.shape[1:3]) if value.shape else None
        for value in (resize.input(0), part.value)
    )
    if small is None or large is None or small >= large:
        return False
    channels, outs = part.end - part.begin, conv.input(1).shape
    assert outs is not None and isinstance(outs[0], int)
    saved = (large - small) * channels * outs[0]
    more = large * (2 * outs[0] - channels)  # resized, and added to the others
    return saved > _ELEMENT_MACS * more


def _resize_last(graph: Graph, part: _Part, conv: Op) -> Value:
    resize = part.value.producer
    assert resize is not None
    inputs = [resize.input(0), _slice(graph, conv, [part])]
    small = _added(graph, "Conv2D", inputs, {}, f"{conv.name}/small")
    operands = [small, *resize.inputs[1:]]
    return _added(graph, "Resize", operands, dict(resize.attrs), resize.name)


def _slice(graph: Graph, conv: Op, parts: list[_Part]) -> Value:
    """The filter for the channels of some inputs of the Concat."""
    filters = conv.input(1)
    assert filters.constant is not None
    channels = [c for part in parts for c in range(part.begin, part.end)]
    constant = filters.constant.moved(
        lambda w: w[..., channels], (*filters.constant.shape[:3], len(channels))
    )
    return graph.add_constant(f"{filters.name}/part", constant)


def _added(
    graph: Graph,
    op_type: str,
    inputs: list[Value] | list[Value | None],
    attrs: dict[str, Any],
    name: str,
) -> Value:
    first = inputs[0]
    assert first is not None
    made = graph.add_value(graph.unique_name(f"{name}/resized"), first.dtype, None)
    update_outputs(graph.add_op(op_type, inputs, [made], attrs))
    return made
