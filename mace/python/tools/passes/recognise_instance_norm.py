# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Replaces arithmetic that normalises each channel of each image by InstanceNorm.

The forms are those of `normalisation`, with channels last, as TensorFlow has them;
other frameworks have an operator. Keras' GroupNormalization with as many groups as
channels adds a dimension of one element behind the channels. A scale and an offset that
follow are moved into the InstanceNorm.
"""

from __future__ import annotations

import numpy as np

from mace.python.tools.ir import DataFormat, Graph, Op, Value
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.op_rules.images import data_format
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.match import (
    eltwise,
    has_activation,
    only_reader,
    per_channel,
    producer,
)
from mace.python.tools.passes.normalisation import (
    Normalisation,
    Statistics,
    find_normalisation,
)


class RecogniseInstanceNorm(Pass):
    """Converts arithmetic to InstanceNorm."""

    name = "recognise_instance_norm"
    # As of recognise_layer_norm.
    requires = ("simplify_powers", "symbolic_shapes")

    def run(self, graph: Graph) -> int:
        count = 0
        for op in graph.ops:
            if op in graph and op.type == "Eltwise":
                count += _normalisation(graph, op) or _affine(graph, op)
        return count


class _OfImages(Statistics):
    """
    Args:
        behind: dimensions behind the channels, of one element each.
    """

    def __init__(self, behind: int) -> None:
        self.behind = behind

    def reduced(self, rank: int) -> tuple[int, ...]:
        channels = rank - 1 - self.behind
        if channels < 2:
            return ()
        return (*range(1, channels), *range(channels + 1, rank))

    def fits(self, value: Value | None, x: Value) -> bool:
        if value is None or value.constant is None or not value.dtype.is_float:
            return False
        channels = self.channels(x)
        shape = value.constant.shape
        return (
            channels is not None
            and self.behind < len(shape) <= len(x.shape or ())
            and shape[len(shape) - 1 - self.behind] == channels
            and value.constant.size == channels
        )

    def channels(self, x: Value) -> int | None:
        """Their number; None if it is not known, or x has no such dimensions."""
        if x.shape is None or len(x.shape) < 3 + self.behind:
            return None
        at = len(x.shape) - 1 - self.behind
        if any(dim != 1 for dim in x.shape[at + 1 :]):
            return None
        dim = x.shape[at]
        return dim if isinstance(dim, int) else None


_KINDS = (_OfImages(0), _OfImages(1))


def _normalisation(graph: Graph, op: Op) -> bool:
    for kind in _KINDS:
        found = find_normalisation(op, kind)
        if found is None or not found.subtract_mean:
            continue
        channels = kind.channels(found.x)
        sizes = (found.x.shape or ())[1 : len(found.x.shape or ()) - kind.behind]
        # Without the batch, a reshape must know all of them.
        if channels is not None and (not kind.behind or _known(sizes)):
            _replace(graph, op, found, channels, kind)
            return True
    return False


def _known(sizes: tuple[object, ...]) -> bool:
    return all(isinstance(size, int) for size in sizes)


def _replace(
    graph: Graph, op: Op, found: Normalisation, channels: int, kind: _OfImages
) -> None:
    parameters = [
        _parameter(graph, op, name, value, np.full(channels, default, np.float32))
        for name, value, default in (
            ("scale", found.scale, 1),
            ("offset", found.offset, 0),
        )
    ]
    attrs = {"epsilon": found.epsilon}
    if not kind.behind:
        graph.replace_op(op, "InstanceNorm", [found.x, *parameters], attrs)
        return
    assert found.x.shape is not None
    shape = found.x.shape[: -kind.behind]
    image, normal = (
        graph.add_value(
            graph.unique_name(f"{op.output.name}/{name}"), found.x.dtype, shape
        )
        for name in ("image", "normal")
    )
    sizes = (-1, *shape[1:])
    graph.add_op("Reshape", [found.x], [image], {"shape": sizes})
    graph.add_op("InstanceNorm", [image, *parameters], [normal], attrs)
    back = {"shape": (*sizes, *(1,) * kind.behind)}
    graph.replace_op(op, "Reshape", [normal], back)


def _parameter(
    graph: Graph, op: Op, name: str, value: Value | None, default: Array
) -> Value:
    if value is not None:
        if len(value.shape or ()) == 1:
            return value
        default = value.numpy().reshape(-1)
    return graph.add_constant(f"{op.name}/{name}", default)


def _affine(graph: Graph, op: Op) -> bool:
    """Moves a scale or an offset into the InstanceNorm before it."""
    mode, second = op.attr("mode"), op.get_input(1)
    if mode not in ("MUL", "ADD") or second is None:
        return False
    if eltwise(op.output, mode) is not op:
        return False
    for value, constant in ((op.input(0), second), (second, op.input(0))):
        norm = producer(value, "InstanceNorm")
        if norm is None or has_activation(norm) or only_reader(graph, value) is not op:
            continue
        if data_format(norm) is not DataFormat.NHWC:
            continue
        channels = _KINDS[0].channels(value)
        row = None if channels is None else per_channel(constant, channels)
        if row is None or len(constant.shape or ()) > len(value.shape or ()):
            continue
        for port, name in ((1, "scale"), (2, "offset")):
            old = norm.input(port)
            if old.constant is None:
                return False
            if mode == "ADD" and port == 1:
                continue
            numbers = old.numpy().astype(np.float64)
            numbers = numbers * row if mode == "MUL" else numbers + row
            new = np.asarray(numbers, np.float32)
            norm.set_input(port, graph.add_constant(f"{norm.name}/{name}", new))
        graph.merge_into(norm, op)
        return True
    return False
