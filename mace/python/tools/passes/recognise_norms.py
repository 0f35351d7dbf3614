# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Passes that recognise normalisation: minus a mean, by a standard deviation."""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mace.python.tools.ir import DataFormat, Graph, Op, Value
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.op_rules.images import data_format
from mace.python.tools.ir.shapes import normalize_axis
from mace.python.tools.passes.base import OpPass
from mace.python.tools.passes.match import (
    eltwise,
    has_activation,
    only_reader,
    per_channel,
    producer,
    scalar,
)
from mace.python.tools.passes.patterns import (
    Any,
    Found,
    Pattern,
    call,
    either,
    named,
    number,
    operator,
)

# Recognises arithmetic that subtracts a mean and divides by a standard deviation.
#
# Frameworks express the mean of squares in several ways, and TensorFlow and Keras
# normalise by two products.


class Statistics(ABC):
    """The dimensions over which means are taken."""

    @abstractmethod
    def reduced(self, rank: int) -> tuple[int, ...]:
        """The dimensions of a value of that rank, in order; empty for no such value."""

    @abstractmethod
    def fits(self, value: Value | None, x: Value) -> bool:
        """Whether a constant has one number for each mean's scale or offset."""


@dataclass(frozen=True)
class Normalisation:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset.

    Attributes:
        subtract_mean: whether the mean is subtracted, and not taken as 0.
        scale, offset: constants; None if there is none.
    """

    x: Value
    epsilon: float
    subtract_mean: bool
    scale: Value | None
    offset: Value | None


def find_normalisation(op: Op, statistics: Statistics) -> Normalisation | None:
    """What ends in `op`, an Eltwise."""
    for pattern, subtract_mean in _forms(statistics):
        for found in pattern.match(op.output, {}):
            x, scale, offset = (found.get(name) for name in ("x", "scale", "offset"))
            assert x is not None
            rows = [row for row in (scale, offset) if row is not None]
            epsilon = scalar(found["epsilon"])
            if epsilon is not None and all(statistics.fits(row, x) for row in rows):
                return Normalisation(x, epsilon, subtract_mean, scale, offset)
    return None


@functools.cache
def _forms(statistics: Statistics) -> tuple[tuple[Pattern, bool], ...]:
    """The forms, and whether they subtract the mean."""
    x, epsilon = Any("x"), number("epsilon")
    scale, offset = Any("scale", _is_constant), Any("offset", _is_constant)

    def mean(of: Pattern) -> Pattern:
        return operator(lambda op: _reduces(op, "MEAN", statistics), of)

    def mean_of_squares(of: Pattern) -> Pattern:
        return either(mean(call("SQUARE", of)), _SumOfSquares(of, statistics))

    centred = x - mean(x)
    distances = call("SQR_DIFF", x, mean(x)), call("SQR_DIFF", mean(x), x)
    variance = either(mean_of_squares(centred), mean(either(*distances)))
    inverse = (variance + epsilon) ** -0.5
    factor = named("factor", either(inverse, inverse * scale))
    # TensorFlow, and Keras.
    two_products = x * factor - mean(x) * factor
    without_mean = x * (mean_of_squares(x) + epsilon) ** -0.5
    return (
        (centred * inverse, True),
        (centred * inverse * scale, True),
        (two_products, True),
        (two_products + offset, True),
        (without_mean, False),
        (without_mean * scale, False),
    )


def _is_constant(value: Value, found: Found) -> bool:
    return value.is_constant


def _reduces(op: Op, mode: str, statistics: Statistics) -> bool:
    """Whether an operator reduces the dimensions, and keeps them as 1."""
    if op.type != "Reduce" or op.attr("mode") != mode or not op.attr("keep_dims"):
        return False
    rank = op.input(0).rank
    if rank is None:
        return False
    axes = sorted(normalize_axis(axis, rank) for axis in op.attr("axes"))
    return bool(axes) and tuple(axes) == statistics.reduced(rank)


@dataclass(frozen=True)
class _SumOfSquares(Pattern):
    """A sum of squares divided by their number."""

    of: Pattern
    statistics: Statistics

    def match(self, value: Value, found: Found) -> Iterator[Found]:
        for total, count in _scaled(value):
            op = producer(total, "Reduce")
            if op is None or not _reduces(op, "SUM_SQUARE", self.statistics):
                continue
            shape = op.input(0).shape or ()
            sizes = [shape[axis] for axis in self.statistics.reduced(len(shape))]
            known = [size for size in sizes if isinstance(size, int)]
            if known == sizes and math.isclose(count, math.prod(known), rel_tol=1e-6):
                yield from self.of.match(op.input(0), found)


def _scaled(value: Value) -> Iterator[tuple[Value, float]]:
    """What a value is a multiple of, and the number that it is divided by."""
    for mode in ("MUL", "DIV"):
        op = eltwise(value, mode)
        pairs = [] if op is None else [(op.input(0), op.get_input(1))]
        if op is not None and mode == "MUL":
            pairs.append((op.input(1), op.input(0)))
        for total, by in pairs:
            count = scalar(by)
            if count:
                yield total, count if mode == "DIV" else 1 / count


class RecogniseLayerNorm(OpPass):
    """Replaces arithmetic that normalises the innermost dimension by LayerNorm.

    The forms are those of `find_normalisation`. A scale and an offset that follow are
    moved into the LayerNorm.
    """

    name = "recognise_layer_norm"
    # Must run before transposes move past these operators and make another dimension
    # the innermost one.
    requires = ("simplify_powers", "symbolic_shapes")
    op_types = ("Eltwise",)

    def rewrite(self, graph: Graph, op: Op) -> bool:
        return _layer_norm(graph, op) or _into_layer_norm(graph, op)


class _OfRows(Statistics):
    def reduced(self, rank: int) -> tuple[int, ...]:
        return (rank - 1,) if rank else ()

    def fits(self, value: Value | None, x: Value) -> bool:
        if value is None or value.constant is None or not value.dtype.is_float:
            return False
        shape = value.constant.shape
        return (
            x.shape is not None
            and 0 < len(shape) <= len(x.shape)
            and shape[-1] == x.shape[-1]
            and all(dim == 1 for dim in shape[:-1])
        )


_ROWS = _OfRows()


def _layer_norm(graph: Graph, op: Op) -> bool:
    found = find_normalisation(op, _ROWS)
    if found is None:
        return False
    _to_layer_norm(graph, op, found)
    return True


def _to_layer_norm(graph: Graph, op: Op, found: Normalisation) -> None:
    attrs = {"epsilon": found.epsilon, "subtract_mean": found.subtract_mean}
    rows = [_row(graph, value) for value in (found.scale, found.offset)]
    graph.replace_op(op, "LayerNorm", [found.x, *rows], attrs)


def _row(graph: Graph, value: Value | None) -> Value | None:
    """The constant with the shape of the innermost dimension."""
    if value is None:
        return None
    array = value.numpy().reshape(-1)
    if value.shape == (array.size,):
        return value
    return graph.add_constant(f"{value.name}/row", array)


def _into_layer_norm(graph: Graph, op: Op) -> bool:
    """Moves a scale or an offset into the LayerNorm before it."""
    mode = op.attr("mode")
    port = {"MUL": 1, "ADD": 2}.get(mode)
    second = op.get_input(1)
    if port is None or second is None or eltwise(op.output, mode) is not op:
        return False
    for value, row in ((op.input(0), second), (second, op.input(0))):
        norm = producer(value, "LayerNorm")
        if norm is None or only_reader(graph, value) is not op:
            continue
        # A scale after an offset is a different formula.
        free = norm.get_input(port) is None and norm.get_input(2) is None
        if free and _ROWS.fits(row, value):
            norm.set_input(port, _row(graph, row))
            graph.merge_into(norm, op)
            return True
    return False


class RecogniseInstanceNorm(OpPass):
    """Replaces arithmetic that normalises each channel of each image by InstanceNorm.

    The forms are those of `find_normalisation`, with channels last, as TensorFlow has
    them; other frameworks have an operator. Keras' GroupNormalization with as many
    groups as channels adds a dimension of one element behind the channels. A scale
    and an offset that follow are moved into the InstanceNorm.
    """

    name = "recognise_instance_norm"
    # As of recognise_layer_norm.
    requires = ("simplify_powers", "symbolic_shapes")
    op_types = ("Eltwise",)

    def rewrite(self, graph: Graph, op: Op) -> bool:
        return _instance_norm(graph, op) or _into_instance_norm(graph, op)


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


def _instance_norm(graph: Graph, op: Op) -> bool:
    for kind in _KINDS:
        found = find_normalisation(op, kind)
        if found is None or not found.subtract_mean:
            continue
        channels = kind.channels(found.x)
        sizes = (found.x.shape or ())[1 : len(found.x.shape or ()) - kind.behind]
        # Without the batch, a reshape must know all of them.
        if channels is not None and (not kind.behind or _known(sizes)):
            _to_instance_norm(graph, op, found, channels, kind)
            return True
    return False


def _known(sizes: tuple[object, ...]) -> bool:
    return all(isinstance(size, int) for size in sizes)


def _to_instance_norm(
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


def _into_instance_norm(graph: Graph, op: Op) -> bool:
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
