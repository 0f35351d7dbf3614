# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Kaldi's statistics of frames, of which an output frame reads a range."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mace.python.rare_ops.kaldi.kaldi_onnx import (
    append,
    columns,
    features,
    math_of,
)
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Value

_MOST_ELEMENTS = 1 << 26


@HANDLERS.register("kaldi.StatisticsExtraction")
def _extraction(node: Node) -> None:
    """Number, sum and sum of squares of frames."""
    x, ranges = node.input(0), _ranges(node)
    counts = _counts(node, ranges)
    parts = [_as_frames(node, counts[:, None], x), _sums(node, x, ranges)]
    if node.flag("include_variance", True):
        parts.append(_sums(node, math_of(node, "SQUARE", x), ranges))
    node.set_output(0, append(node, parts))


@HANDLERS.register("kaldi.StatisticsPooling")
def _pooling(node: Node) -> None:
    """Means, and deviations, of what StatisticsExtraction found."""
    total = _sums(node, node.input(0), _ranges(node))
    size = features(node, total)
    count, rest = columns(node, total, 0, 1), columns(node, total, 1, size)
    means = math_of(node, "DIV", rest, count)
    log = math_of(node, "LOG", count)
    logs = [log] * _log_features(node, "num_log_count_features")
    if node.flag("output_stddevs", True):
        if size % 2 == 0:
            raise UnsupportedNodeError(f"no squares among {size} features")
        middle = (size - 1) // 2
        mean = columns(node, means, 0, middle)
        square = columns(node, means, middle, size - 1)
        means = append(node, [mean, _deviation(node, mean, square)])
    node.set_output(0, append(node, [*logs, means]))


@HANDLERS.register("kaldi.ExtractPooling")
def _extract_pooling(node: Node) -> None:
    """Both in one."""
    if node.has("output_time_range") or node.has("start_index"):
        raise UnsupportedNodeError(
            "was written by an early version of kaldi-onnx",
            "convert the model again, with the newest kaldi-onnx",
        )
    x, ranges = node.input(0), _ranges(node)
    counts = _counts(node, ranges)
    mean = _sums(node, x, ranges, 1 / counts)
    parts = []
    logs = _log_features(node, "num_log_count")
    if logs:
        table = np.repeat(np.log(counts)[:, None], logs, 1)
        parts.append(_as_frames(node, table, x))
    parts.append(mean)
    if node.flag("include_variance", False):
        square = _sums(node, math_of(node, "SQUARE", x), ranges, 1 / counts)
        if node.flag("output_stddevs", True):
            square = _deviation(node, mean, square)
        parts.append(square)
    node.set_output(0, append(node, parts))


def _deviation(node: Node, mean: Value, square: Value) -> Value:
    floor = node.real("variance_floor", 1e-10)
    if not floor >= 0:
        raise UnsupportedNodeError(f"variance_floor is {floor}")
    variance = math_of(node, "SUB", square, math_of(node, "SQUARE", mean))
    variance = math_of(node, "MAX", variance, node.scalar(floor, mean))
    return math_of(node, "SQRT", variance)


def _log_features(node: Node, name: str) -> int:
    count = node.integer(name, 0)
    if not 0 <= count <= 1000:
        raise UnsupportedNodeError(f"{name} is {count}")
    return count


def _ranges(node: Node) -> list[tuple[int, int]]:
    """Begin and end of the frames of each output frame."""
    ends = node.integers("forward_indexes")
    found = list(zip(ends[::2], ends[1::2]))
    if not found or len(ends) % 2 or any(not 0 <= a < b for a, b in found):
        raise UnsupportedNodeError(
            f"forward_indexes {ends[:20]} are no ranges of frames"
        )
    return found


def _counts(node: Node, ranges: Sequence[tuple[int, int]]) -> Array:
    counts = np.array([end - begin for begin, end in ranges], np.float64)
    given = list(node.attribute_value("counts")) if node.has("counts") else counts
    if not np.array_equal(counts, given):
        raise UnsupportedNodeError("counts and forward_indexes contradict each other")
    return counts


def _sums(
    node: Node,
    x: Value,
    ranges: Sequence[tuple[int, int]],
    factors: Array | None = None,
) -> Value:
    """The sum of each range of frames, times a factor."""
    features(node, x, 2)
    frames = node.shape(x)[-2]
    last = max(end for _, end in ranges)
    if not isinstance(frames, int) or frames < last:
        raise UnsupportedNodeError(f"frame {last - 1} of {frames} is asked for")
    if frames * len(ranges) > _MOST_ELEMENTS:
        raise UnsupportedNodeError(f"{len(ranges)} ranges of {frames} frames")
    table = np.zeros((len(ranges), frames))
    for row, (begin, end) in enumerate(ranges):
        table[row, begin:end] = 1 if factors is None else factors[row]
    return node.make("MatMul", [node.literal(table), x])


def _as_frames(node: Node, table: Array, x: Value) -> Value:
    """Constant features, for each sequence of a batch."""
    constant = node.literal(table)
    if len(node.shape(x)) == 2:
        return constant
    before = node.static_shape(x)[:-2]
    return node.literal(np.broadcast_to(table, (*before, *table.shape)))
