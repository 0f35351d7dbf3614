# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Components and descriptors of Kaldi's networks, as kaldi-onnx writes them.

Their operator set has `kaldi` in its name. A tensor is [..., frames, features], and the
attribute `forward_indexes` says which frames of the input an operator reads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value

_NORM_FLOOR = 2.0**-66
_MOST_WEIGHTS = 1 << 26
_CONVERT_AGAIN = "convert the model again, with the newest kaldi-onnx"


# Parts that several components need ------------------------------------------------


def features(node: Node, x: Value, rank: int = 1) -> int:
    """The length of the last axis."""
    shape = node.shape(x)
    if len(shape) < rank:
        raise UnsupportedNodeError(f"an input of {len(shape)} dimensions, not {rank}")
    if not isinstance(shape[-1], int) or shape[-1] == 0:
        raise UnsupportedNodeError(f"the number of features of {x.name} is not known")
    return shape[-1]


def columns(node: Node, x: Value, begin: int, end: int) -> Value:
    """Some of the features."""
    axis = len(node.shape(x)) - 1
    return node.slice(x, axis, begin, end)


def append(node: Node, values: Sequence[Value]) -> Value:
    """The features of all, one after another."""
    if len(values) == 1:
        return values[0]
    return node.make("Concat", values, {"axis": len(node.shape(values[0])) - 1})


def rows(node: Node, x: Value, indexes: Sequence[int]) -> Value:
    """Frames in another order."""
    features(node, x, 2)
    axis = len(node.shape(x)) - 2
    length = node.shape(x)[axis]
    if not indexes:
        raise UnsupportedNodeError("no frames are asked for")
    if isinstance(length, int):
        if not 0 <= min(indexes) <= max(indexes) < length:
            raise UnsupportedNodeError(
                f"frames {min(indexes)} to {max(indexes)} of {length} are asked for"
            )
        if list(indexes) == list(range(length)):
            return x
    elif min(indexes) < 0:
        raise UnsupportedNodeError(f"frame {min(indexes)} is asked for")
    places = node.literal(list(indexes), DataType.INT32)
    return node.make("Gather", [x, places], {"axis": axis})


def affine(
    node: Node,
    x: Value,
    weights: Value,
    bias: Value | None = None,
    residual: Value | None = None,
) -> Value:
    """A product with constant weights [outputs, inputs]."""
    shape = node.static_shape(weights)
    if len(shape) != 2 or shape[1] != features(node, x):
        raise UnsupportedNodeError(
            f"weights of shape {list(shape)} for {features(node, x)} features"
        )
    return node.make("FullyConnected", [x, weights, bias, residual])


def vector(node: Node, index: int, what: str) -> Value:
    """A constant input in one dimension."""
    return node.literal(node.constant(index, what).reshape(-1))


def groups(node: Node, x: Value, count: int) -> Value:
    """[..., count, features / count]."""
    size = features(node, x)
    if count <= 0 or size % count:
        raise UnsupportedNodeError(f"{size} features in {count} groups")
    before = [0] * (len(node.shape(x)) - 1)
    return node.reshape(x, [*before, count, size // count])


def joined(node: Node, x: Value) -> Value:
    """The last two axes as one."""
    shape = node.shape(x)
    count, size = shape[-2:]
    assert isinstance(count, int)
    assert isinstance(size, int)
    before = [0] * (len(shape) - 2)
    return node.reshape(x, [*before, count * size])


# Descriptors ------------------------------------------------------------------------


@HANDLERS.register("kaldi.Append", "kaldi.Concat")
def _append(node: Node) -> None:
    values = [node.input(index) for index in range(len(node.inputs))]
    node.set_output(0, append(node, values))


@HANDLERS.register("kaldi.Sum", "kaldi.Add")
def _sum(node: Node) -> None:
    total = node.input(0)
    for index in range(1, len(node.inputs)):
        total = node.eltwise("ADD", total, node.input(index))
    node.set_output(0, total)


@HANDLERS.register("kaldi.DimRange")
def _dim_range(node: Node) -> None:
    x, begin = node.input(0), node.integer("offset", 0)
    size = node.integer("output_dim", node.integer("dim", 0))
    if begin < 0 or size <= 0 or begin + size > features(node, x):
        raise UnsupportedNodeError(
            f"features {begin} to {begin + size} of {features(node, x)}"
        )
    node.set_output(0, columns(node, x, begin, begin + size))


@HANDLERS.register(
    "kaldi.Identity", "kaldi.NoOp", "kaldi.Dropout", "kaldi.ClipGradient"
)
def _identity(node: Node) -> None:
    node.set_output(0, node.input(0))


@HANDLERS.register(
    "kaldi.Offset", "kaldi.ReplaceIndex", "kaldi.Round", "kaldi.Subsample"
)
def _frames(node: Node) -> None:
    if not node.has("forward_indexes"):
        if node.type == "Offset" and node.integer("offset", 1) == 0:
            node.set_output(0, node.input(0))
            return
        raise UnsupportedNodeError(
            "attribute forward_indexes is missing", _CONVERT_AGAIN
        )
    node.set_output(0, rows(node, node.input(0), node.integers("forward_indexes")))


@HANDLERS.register("kaldi.IfDefined")
def _if_defined(node: Node) -> None:
    """Frames that are not there are 0, or those of the last call, the second input."""
    x = node.input(0)
    features(node, x, 2)
    axis = len(node.shape(x)) - 2
    length = node.shape(x)[axis]
    if not isinstance(length, int):
        raise UnsupportedNodeError("the number of frames is not known")
    if node.has("forward_indexes"):
        indexes = node.integers("forward_indexes")
    else:
        offset = node.integer("offset", 0)
        if offset > 0:
            raise UnsupportedNodeError(f"offset is {offset}; it must not be positive")
        indexes = [index + offset for index in range(length)]
    if not indexes or max(indexes) >= length:
        raise UnsupportedNodeError(f"frames {indexes[-1:]} of {length} are asked for")
    # The frame before the first one is 0; those of the last call come behind.
    pads = [0] * (2 * len(node.shape(x)))
    pads[2 * axis] = 1
    source = node.make("Pad", [x], {"pads": pads})
    places = [max(index, -1) + 1 for index in indexes]
    if node.has_input(1):
        places = _from_last_call(node, indexes, places, length)
        source = node.make("Concat", [source, node.input(1)], {"axis": axis})
    node.set_output(0, rows(node, source, places))


def _from_last_call(
    node: Node, indexes: Sequence[int], places: Sequence[int], length: int
) -> list[int]:
    cached = node.integers("cache_forward_indexes", [])
    missing = [i for i, index in enumerate(indexes) if index < 0]
    if len(cached) != len(missing) or not all(0 <= c < length for c in cached):
        raise UnsupportedNodeError(
            f"cache_forward_indexes {cached} for {len(missing)} missing frames"
        )
    found = list(places)
    for place, frame in zip(missing, cached):
        found[place] = 1 + length + frame
    return found


@HANDLERS.register("kaldi.PadContext")
def _pad_context(node: Node) -> None:
    """The first and the last frame, repeated."""
    x = node.input(0)
    features(node, x, 2)
    pads = [0] * (2 * len(node.shape(x)))
    pads[-4:-2] = node.integer("left_context", 0), node.integer("right_context", 0)
    if min(pads) < 0:
        raise UnsupportedNodeError(f"a context of {pads[-4]} and {pads[-3]} frames")
    node.emit("Pad", [x], {"pads": pads, "mode": "EDGE"})


@HANDLERS.register("kaldi.Splice")
def _splice(node: Node) -> None:
    """The features of several frames as those of one."""
    x, context = node.input(0), node.integers("context", [0])
    size, constant = features(node, x, 2), node.integer("const_component_dim", 0)
    if not context or not 0 <= constant < size:
        raise UnsupportedNodeError(
            f"context {context}, const_component_dim {constant} of {size} features"
        )
    if node.has("forward_indexes"):
        indexes = node.integers("forward_indexes")
    else:
        length = node.shape(x)[-2]
        if not isinstance(length, int):
            raise UnsupportedNodeError("the number of frames is not known")
        first = range(length - (max(context) - min(context)))
        indexes = [i + c - min(context) for i in first for c in context]
    if not indexes or len(indexes) % len(context):
        raise UnsupportedNodeError(
            f"{len(indexes)} forward_indexes for a context of {len(context)} frames"
        )
    count = len(indexes) // len(context)
    varied = columns(node, x, 0, size - constant) if constant else x
    spliced = rows(node, varied, indexes)
    before = [0] * (len(node.shape(x)) - 2)
    shape = [*before, count, len(context) * (size - constant)]
    spliced = node.reshape(spliced, shape)
    if constant:
        default = indexes[:: len(context)]
        places = node.integers("forward_const_indexes", default)
        if len(places) != count:
            raise UnsupportedNodeError(
                f"{len(places)} forward_const_indexes for {count} frames"
            )
        rest = rows(node, columns(node, x, size - constant, size), places)
        spliced = append(node, [spliced, rest])
    node.set_output(0, spliced)


# Components -------------------------------------------------------------------------


@HANDLERS.register("kaldi.Affine", "kaldi.Gemm", "kaldi.Linear")
def _affine(node: Node) -> None:
    x, weights = node.input(0), node.constant(1, "the weights")
    bias = vector(node, 2, "the bias") if node.has_input(2) else None
    repeats, blocks = node.integer("num_repeats", 1), node.integer("num_blocks", 1)
    if min(repeats, blocks) < 1:
        raise UnsupportedNodeError(f"num_repeats {repeats}, num_blocks {blocks}")
    if node.integer("transA", 0) or not node.integer("transB", 1):
        raise UnsupportedNodeError("transA must be 0, and transB 1")
    if blocks > 1:
        weights = _diagonal(weights, blocks)
    if repeats == 1:
        node.set_output(0, affine(node, x, node.literal(weights), bias))
        return
    each = affine(node, groups(node, x, repeats), node.literal(weights), bias)
    node.set_output(0, joined(node, each))


def _diagonal(weights: Array, blocks: int) -> Array:
    """Weights of blocks that do not read each other's features."""
    if weights.ndim != 2 or len(weights) % blocks:
        raise UnsupportedNodeError(
            f"weights of shape {list(weights.shape)} in {blocks} blocks"
        )
    if weights.size * blocks > _MOST_WEIGHTS:
        raise UnsupportedNodeError(f"weights of {blocks} blocks are too large")
    depth = weights.shape[1]
    result = np.zeros((len(weights), depth * blocks), weights.dtype)
    height = len(weights) // blocks
    for block in range(blocks):
        part = slice(block * height, (block + 1) * height)
        result[part, block * depth : (block + 1) * depth] = weights[part]
    return result


@HANDLERS.register("kaldi.Scale")
def _scale(node: Node) -> None:
    x, factor = node.input(0), node.real("scale", 1.0)
    node.set_output(0, node.eltwise("MUL", x, node.scalar(factor, x)))


@HANDLERS.register("kaldi.Mul", "kaldi.Scales", "kaldi.FixedScale", "kaldi.PerEltScale")
def _scales(node: Node) -> None:
    node.set_output(0, node.eltwise("MUL", node.input(0), _vector(node, 1)))


@HANDLERS.register("kaldi.Bias", "kaldi.PerEltOffset")
def _bias(node: Node) -> None:
    node.set_output(0, node.eltwise("ADD", node.input(0), _vector(node, 1)))


@HANDLERS.register("kaldi.ScaleOffset")
def _scale_offset(node: Node) -> None:
    x = node.eltwise("MUL", node.input(0), _vector(node, 1))
    node.set_output(0, node.eltwise("ADD", x, _vector(node, 2)))


def _vector(node: Node, index: int) -> Value:
    """A constant for each feature; something computed as it is."""
    value = node.input(index)
    if not value.is_constant:
        return value
    size, array = features(node, node.input(0)), value.numpy()
    if array.size != 1 and (array.size == 0 or size % array.size):
        raise UnsupportedNodeError(f"{array.size} numbers for {size} features")
    if array.size > 1:
        array = np.tile(array.reshape(-1), size // array.size)
    return node.literal(array.reshape(-1))


@HANDLERS.register("kaldi.BatchNorm")
def _batch_norm(node: Node) -> None:
    """With the statistics of the training; those of a block hold for all blocks."""
    x = node.input(0)
    if not node.flag("test_mode", True) or len(node.inputs) < 3:
        raise UnsupportedNodeError(
            "normalises by the statistics of its input",
            "write the model with nnet3-am-copy --prepare-for-test=true",
        )
    mean, variance = (
        node.constant(index, what).astype(np.float64).reshape(-1)
        for index, what in ((1, "the mean"), (2, "the variance"))
    )
    size = features(node, x)
    if mean.size != variance.size or not mean.size or size % mean.size:
        raise UnsupportedNodeError(
            f"{mean.size} means and {variance.size} variances for {size} features"
        )
    epsilon, target = node.real("epsilon", 1e-3), node.real("target_rms", 1.0)
    below = np.maximum(variance, 0) + epsilon
    if not (below > 0).all():
        raise UnsupportedNodeError(f"epsilon is {epsilon}")
    scale = target / np.sqrt(below)
    both = [np.tile(a, size // mean.size) for a in (scale, -mean * scale)]
    node.emit("BatchNorm", [x, *map(node.literal, both)])


@HANDLERS.register("kaldi.TargetRMSNorm")
def _target_rms_norm(node: Node) -> None:
    """Each block of features with the same root of the mean square."""
    x, target = node.input(0), node.real("target_rms", 1.0)
    size = features(node, x)
    block = node.integer("block_dim", 0) or size
    if block < 0 or size % block or not target > 0:
        raise UnsupportedNodeError(
            f"block_dim {block}, target_rms {target} for {size} features"
        )
    if block < size:
        x = groups(node, x, size // block)
    axis = len(node.shape(x)) - 1
    squares = node.reduce("SUM_SQUARE", x, [axis])
    factor = node.scalar(1 / (block * target**2), x)
    squares = node.eltwise("MUL", squares, factor)
    squares = node.eltwise("MAX", squares, node.scalar(_NORM_FLOOR, x))
    y = node.eltwise("MUL", x, node.eltwise("RSQRT", squares))
    if node.flag("add_log_stddev", False):
        half = node.eltwise("MUL", node.eltwise("LOG", squares), node.scalar(0.5, x))
        log = node.eltwise("ADD", half, node.scalar(math.log(target), x))
        y = append(node, [y, log])
    node.set_output(0, joined(node, y) if block < size else y)


@HANDLERS.register("kaldi.PNorm")
def _p_norm(node: Node) -> None:
    x, power = node.input(0), node.integer("p", 2)
    count = node.integer("output_dim", 0)
    x = groups(node, x, count)
    axis = len(node.shape(x)) - 1
    attrs: dict[str, Any] = {"axes": [axis], "keep_dims": False, "mode": "SUM"}
    if power == 2:
        node.emit("Reduce", [x], {**attrs, "mode": "L2"})
        return
    if power not in (0, 1):
        raise UnsupportedNodeError(f"p is {power}; 0, 1 and 2 are supported")
    x = node.eltwise("ABS", x)
    if power == 0:
        above = node.eltwise("GREATER", x, node.scalar(0, x))
        x = node.cast(above, DataType.FLOAT32)
    node.emit("Reduce", [x], attrs)


@HANDLERS.register("kaldi.SumGroup")
def _sum_group(node: Node) -> None:
    """Sums of neighbouring features, as many as the second input says."""
    x, sizes = node.input(0), node.constant_ints(1, "the sizes")
    size = features(node, x)
    if not sizes or min(sizes) <= 0 or sum(sizes) != size:
        raise UnsupportedNodeError(f"groups of {sizes[:20]} for {size} features")
    if len(set(sizes)) == 1:
        axis = len(node.shape(x))
        attrs = {"mode": "SUM", "axes": [axis], "keep_dims": False}
        node.emit("Reduce", [groups(node, x, len(sizes))], attrs)
        return
    if size * len(sizes) > _MOST_WEIGHTS:
        raise UnsupportedNodeError(f"{len(sizes)} groups of {size} features")
    ones = np.repeat(np.eye(len(sizes), dtype=np.float32), sizes, 1)
    node.set_output(0, affine(node, x, node.literal(ones)))


@HANDLERS.register("kaldi.Permute")
def _permute(node: Node) -> None:
    x, order = node.input(0), node.constant_ints(1, "the order")
    size = features(node, x)
    if sorted(order) != list(range(size)):
        raise UnsupportedNodeError(f"an order of {len(order)} of {size} features")
    places = node.literal(order, DataType.INT32)
    node.emit("Gather", [x, places], {"axis": len(node.shape(x)) - 1})


@HANDLERS.register("kaldi.Relu", "kaldi.Sigmoid", "kaldi.Tanh")
def _activation(node: Node) -> None:
    node.emit("Activation", [node.input(0)], {"activation": node.type.upper()})


@HANDLERS.register("kaldi.Softmax", "kaldi.LogSoftmax")
def _softmax(node: Node) -> None:
    log = node.type == "LogSoftmax"
    node.emit("Softmax", [node.input(0)], {"axis": -1, "log": log})


_MOST_ELEMENTS = 1 << 26


# Statistics of frames, of which an output frame reads a range ---------------------


@HANDLERS.register("kaldi.StatisticsExtraction")
def _extraction(node: Node) -> None:
    """Number, sum and sum of squares of frames."""
    x, ranges = node.input(0), _ranges(node)
    counts = _counts(node, ranges)
    parts = [_as_frames(node, counts[:, None], x), _sums(node, x, ranges)]
    if node.flag("include_variance", True):
        parts.append(_sums(node, node.eltwise("SQUARE", x), ranges))
    node.set_output(0, append(node, parts))


@HANDLERS.register("kaldi.StatisticsPooling")
def _pooling(node: Node) -> None:
    """Means, and deviations, of what StatisticsExtraction found."""
    total = _sums(node, node.input(0), _ranges(node))
    size = features(node, total)
    count, rest = columns(node, total, 0, 1), columns(node, total, 1, size)
    means = node.eltwise("DIV", rest, count)
    log = node.eltwise("LOG", count)
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
        square = _sums(node, node.eltwise("SQUARE", x), ranges, 1 / counts)
        if node.flag("output_stddevs", True):
            square = _deviation(node, mean, square)
        parts.append(square)
    node.set_output(0, append(node, parts))


def _deviation(node: Node, mean: Value, square: Value) -> Value:
    floor = node.real("variance_floor", 1e-10)
    if not floor >= 0:
        raise UnsupportedNodeError(f"variance_floor is {floor}")
    variance = node.eltwise("SUB", square, node.eltwise("SQUARE", mean))
    variance = node.eltwise("MAX", variance, node.scalar(floor, mean))
    return node.eltwise("SQRT", variance)


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
