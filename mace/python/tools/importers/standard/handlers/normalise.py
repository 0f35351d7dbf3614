# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Normalisation and softmax."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.importers.standard.window import NCHW
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Value

_TRAINING_HINT = "export the model for inference"


@HANDLERS.register("BatchNormalization")
def _batch_normalization(node: Node) -> None:
    x = node.input(0)
    if not node.flag("spatial", True):
        raise UnsupportedNodeError("spatial is 0", "export with a newer operator set")
    if node.flag("training_mode", False):
        raise UnsupportedNodeError("training_mode is 1", _TRAINING_HINT)
    for index, what in enumerate(("mean", "variance", "mean", "variance")):
        node.refuse_output(index + 1, f"{what} of the batch")
    rank = len(node.shape(x))
    if rank < 2:
        raise UnsupportedNodeError(f"an input of {rank} dimensions has no channels")
    epsilon = node.real("epsilon", 1e-5)
    parameters = [node.input(index) for index in range(1, 5)]
    if not all(value.is_constant for value in parameters):
        _computed_parameters(node, x, rank, parameters, epsilon)
        return
    gamma, beta, mean, variance = (p.numpy().astype(np.float64) for p in parameters)
    scale = gamma / np.sqrt(variance + epsilon)
    offset = beta - mean * scale
    if rank in (2, 4):
        inputs = [x, node.literal(scale), node.literal(offset)]
        node.emit("BatchNorm", inputs, NCHW if rank == 4 else None)
        return
    scale, offset = (_by_channel(p, rank) for p in (scale, offset))
    product = node.eltwise("MUL", x, node.literal(scale))
    node.emit("Eltwise", [product, node.literal(offset)], {"mode": "ADD"})


def _by_channel(array: Array, rank: int) -> Array:
    return array.reshape((-1, *(1,) * (rank - 2)))


def _computed_parameters(
    node: Node, x: Value, rank: int, parameters: Sequence[Value], epsilon: float
) -> None:
    shape = {"shape": [-1, *(1,) * (rank - 2)]}
    gamma, beta, mean, variance = (
        node.make("Reshape", [value], shape) for value in parameters
    )
    inverse = node.eltwise("ADD", variance, node.scalar(epsilon, variance))
    scale = node.eltwise("MUL", gamma, node.eltwise("RSQRT", inverse))
    result = node.eltwise("MUL", node.eltwise("SUB", x, mean), scale)
    node.emit("Eltwise", [result, beta], {"mode": "ADD"})


@dataclass(frozen=True)
class Moments:
    """Intermediate values of standardising a tensor.

    Attributes:
        mean: over the axes, which are kept with length 1.
        centred: x - mean.
        inverse: 1 / sqrt(variance + epsilon).
    """

    mean: Value
    centred: Value
    inverse: Value

    def result(self, node: Node) -> Value:
        """centred * inverse."""
        return node.eltwise("MUL", self.centred, self.inverse)


def moments(node: Node, x: Value, axes: Sequence[int], epsilon: float) -> Moments:
    """The moments of x over some axes."""
    mean = node.reduce("MEAN", x, axes)
    centred = node.eltwise("SUB", x, mean)
    below = node.eltwise(
        "ADD", _mean_square(node, centred, axes), node.scalar(epsilon, x)
    )
    return Moments(mean, centred, node.eltwise("RSQRT", below))


def _mean_square(node: Node, x: Value, axes: Sequence[int]) -> Value:
    """The mean of x * x over some axes, which are kept with length 1."""
    dims = [node.shape(x)[axis] for axis in axes]
    known = [dim for dim in dims if isinstance(dim, int)]
    if len(known) < len(dims):
        return node.reduce("MEAN", node.eltwise("SQUARE", x), axes)
    # This saves one pass over x.
    total = node.reduce("SUM_SQUARE", x, axes)
    return node.eltwise("DIV", total, node.scalar(math.prod(known), x))


@HANDLERS.register("InstanceNormalization")
def _instance_normalization(node: Node) -> None:
    x = node.input(0)
    rank = len(node.shape(x))
    if rank < 3:
        raise UnsupportedNodeError(
            f"an input of {rank} dimensions; at least 3 are supported"
        )
    attrs = {**NCHW, "epsilon": node.real("epsilon", 1e-5)}
    node.emit("InstanceNorm", [x, node.input(1), node.input(2)], attrs)


def scaled(
    node: Node, x: Value, scale: Value, bias: Value, shape: Sequence[int]
) -> Value:
    """x * scale + bias, both in this shape."""
    scale, bias = (node.reshape(value, shape) for value in (scale, bias))
    return node.eltwise("ADD", node.eltwise("MUL", x, scale), bias)


def in_groups(
    node: Node,
    x: Value,
    groups: int,
    epsilon: float,
    affine: Sequence[Value] = (),
) -> Value:
    """[batch, channels, ...], of which groups of channels are standardised.

    Args:
        affine: a factor and an offset for each group.
    """
    dims = node.shape(x)
    channels = dims[1] if len(dims) > 1 else None
    if not isinstance(channels, int) or groups < 1 or channels % groups:
        raise UnsupportedNodeError(f"{channels} channels in {groups} groups")
    rest = node.static_shape(x)[2:]
    grouped = node.reshape(x, [0, groups, -1])
    result = moments(node, grouped, [2], epsilon).result(node)
    if affine:
        result = scaled(node, result, affine[0], affine[1], [-1, 1])
    return node.reshape(result, [0, channels, *rest])


@HANDLERS.register("GroupNormalization")
def _group_normalization(node: Node) -> None:
    x, epsilon = node.input(0), node.real("epsilon", 1e-5)
    groups, affine = node.integer("num_groups", 1), (node.input(1), node.input(2))
    if node.opset < 21:
        # Scale and bias are per group.
        node.set_output(0, in_groups(node, x, groups, epsilon, affine))
        return
    shape = [-1, *(1,) * (len(node.shape(x)) - 2)]
    result = in_groups(node, x, groups, epsilon)
    node.set_output(0, scaled(node, result, *affine, shape))


@HANDLERS.register("LayerNormalization")
def _layer_normalization(node: Node) -> None:
    x = node.input(0)
    rank = len(node.shape(x))
    axis = node.axis(node.integer("axis", -1), rank)
    found = moments(node, x, range(axis, rank), node.real("epsilon", 1e-5))
    result = found.result(node)
    node.set_output(1, found.mean)
    node.set_output(2, found.inverse)
    if node.has_input(2):
        product = node.eltwise("MUL", result, node.input(1))
        node.emit("Eltwise", [product, node.input(2)], {"mode": "ADD"})
    else:
        node.emit("Eltwise", [result, node.input(1)], {"mode": "MUL"})


@HANDLERS.register("RMSNormalization")
def _rms_normalization(node: Node) -> None:
    x = node.input(0)
    rank = len(node.shape(x))
    axis = node.axis(node.integer("axis", -1), rank)
    square = _mean_square(node, x, range(axis, rank))
    below = node.eltwise("ADD", square, node.scalar(node.real("epsilon", 1e-5), x))
    result = node.eltwise("MUL", x, node.eltwise("RSQRT", below))
    node.emit("Eltwise", [result, node.input(1)], {"mode": "MUL"})


@HANDLERS.register("MeanVarianceNormalization")
def _mean_variance_normalization(node: Node) -> None:
    x = node.input(0)
    rank = len(node.shape(x))
    axes = [node.axis(axis, rank) for axis in node.integers("axes", [0, 2, 3])]
    # The specification adds 1e-9 to the deviation, not to the variance.
    centred = node.eltwise("SUB", x, node.reduce("MEAN", x, axes))
    variance = _mean_square(node, centred, axes)
    below = node.eltwise("ADD", node.eltwise("SQRT", variance), node.scalar(1e-9, x))
    node.emit("Eltwise", [centred, below], {"mode": "DIV"})


@HANDLERS.register("LpNormalization")
def _lp_normalization(node: Node) -> None:
    x = node.input(0)
    axis = node.axis(node.integer("axis", -1), len(node.shape(x)))
    power = node.integer("p", 2)
    if power not in (1, 2):
        raise UnsupportedNodeError(f"p is {power}; 1 and 2 are supported")
    if power == 2:
        norm = node.reduce("L2", x, [axis])
    else:
        norm = node.reduce("SUM", node.eltwise("ABS", x), [axis])
    # If the norm is 0, the result is 0, as in onnxruntime.
    smallest = node.scalar(float(np.finfo(np.float32).tiny), x)
    node.emit("Eltwise", [x, node.eltwise("MAX", norm, smallest)], {"mode": "DIV"})


@HANDLERS.register("LRN")
def _lrn(node: Node) -> None:
    x = node.input(0)
    rank = len(node.shape(x))
    if rank != 4:
        raise UnsupportedNodeError(f"an input of {rank} dimensions; 4 are supported")
    size = node.integer("size", 1)
    if size < 1:
        raise UnsupportedNodeError(f"size is {size}")
    attrs = {
        **NCHW,
        "before": (size - 1) // 2,
        "after": size // 2,
        "alpha": node.real("alpha", 1e-4) / size,
        "beta": node.real("beta", 0.75),
        "bias": node.real("bias", 1.0),
    }
    node.emit("LocalResponseNorm", [x], attrs)


@HANDLERS.register("Softmax", "LogSoftmax")
def _softmax(node: Node) -> None:
    x = node.input(0)
    dims = node.shape(x)
    rank = len(dims)
    log = node.type == "LogSoftmax"
    if rank == 0:
        raise UnsupportedNodeError("a scalar input")
    if node.opset >= 13:
        axis = node.axis(node.integer("axis", -1), rank)
        node.emit("Softmax", [x], {"axis": axis, "log": log})
        return
    # The input is treated as a matrix: all dimensions from the axis on share one sum.
    # If all of them except one are 1, this is a softmax over that one.
    axis = node.axis(node.integer("axis", 1), rank) if rank > 1 else 0
    node.set_output(0, softmax_from(node, x, axis, log))


def softmax_from(node: Node, x: Value, axis: int, log: bool = False) -> Value:
    """A softmax over all dimensions from one on, which share one sum."""
    rank, dims = len(node.shape(x)), node.shape(x)
    long = [a for a in range(axis, rank) if dims[a] != 1]
    if len(long) <= 1:
        only = long[0] if long else axis
        return node.make("Softmax", [x], {"axis": only, "log": log})
    flat = node.reshape(x, _matrix(node, x, axis))
    result = node.make("Softmax", [flat], {"axis": 1, "log": log})
    return node.make("Reshape", [result, node.make("Shape", [x])])


def _matrix(node: Node, x: Value, axis: int) -> list[int]:
    dims = node.shape(x)
    inner = dims[axis:]
    if all(isinstance(dim, int) for dim in inner):
        return [-1, math.prod(d for d in inner if isinstance(d, int))]
    if axis == 1:
        return [0, -1]
    return [math.prod(node.static_shape(x)[:axis]), -1]
