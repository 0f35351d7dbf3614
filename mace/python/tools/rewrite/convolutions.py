# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolutions: scales and normalisations that become part of them, and dilations that
were written as convolutions of blocks of pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mace.python.tools.importers.tensorflow.node import Tensor
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.rewrite.work_graph import (
    FLOAT,
    Arguments,
    WorkGraph,
    data_inputs,
    integers,
    is_constant,
    string,
    transform,
)

_CONVOLUTIONS = ("Conv2D", "DepthwiseConv2dNative")
_FUSED = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
_GLOBAL = "BatchNormWithGlobalNormalization"


@dataclass(frozen=True)
class _Product:
    """A convolution or matrix product with constant weights that one node reads."""

    node: Any
    weights: Array

    @property
    def channels(self) -> int:
        """Of its result."""
        shape = self.weights.shape
        return int(np.prod(shape[-2:] if self._is_depthwise else shape[-1:]))

    @property
    def _is_depthwise(self) -> bool:
        return bool(self.node.op == "DepthwiseConv2dNative")

    def scaled(self, scale: Array) -> Array:
        """The weights, each channel of the result multiplied by a number."""
        if self._is_depthwise:
            scale = scale.reshape(self.weights.shape[-2:])
        return np.asarray(self.weights * scale, np.float32)


@transform()
def fold_batch_norms(graph: WorkGraph, arguments: Arguments) -> None:
    """Multiplies weights by the constant that follows their convolution or MatMul."""
    for node in list(graph.nodes.values()):
        sources = data_inputs(node)
        if node.op != "Mul" or len(sources) != 2 or node.name not in graph.nodes:
            continue
        for place in (0, 1):
            product = _product(graph, sources[place], (*_CONVOLUTIONS, "MatMul"))
            if product is None or string(product.node, "data_format") == "NCHW":
                continue
            scale = graph.constant(sources[1 - place])
            if scale is None or not _is_of_channels(scale, product):
                continue
            _replace(graph, node, product, scale.reshape(-1), None)
            break


@transform()
def fold_old_batch_norms(graph: WorkGraph, arguments: Arguments) -> None:
    """Makes normalisations (BatchNormWithGlobalNormalization, FusedBatchNorm) part of
    the convolution before them, which BatchToSpaceND may follow.
    """
    for node in list(graph.nodes.values()):
        numbers = _numbers(graph, node)
        if numbers is None:
            continue
        tensor = data_inputs(node)[0]
        between = _maker(graph, tensor, ("BatchToSpaceND",))
        if between is not None:
            tensor = data_inputs(between)[0]
        product = _product(graph, tensor, _CONVOLUTIONS)
        scale, offset = numbers
        if product is None or scale.shape != (product.channels,):
            continue
        _replace(graph, node, product, scale, offset, between)


def _maker(graph: WorkGraph, tensor: Tensor, types: tuple[str, ...]) -> Any:
    """The node that makes a tensor, if it is of the types, no other node reads it or
    waits for it, and its name need not stay.
    """
    node = graph.nodes[tensor[0]]
    if node.op not in types or node.name in graph.kept:
        return None
    found = [t for t, nodes in graph.readers().items() for _ in nodes]
    return node if [t for t in found if t[0] == node.name] == [tensor] else None


def _product(
    graph: WorkGraph, tensor: Tensor, types: tuple[str, ...]
) -> _Product | None:
    node = _maker(graph, tensor, types)
    inputs = [] if node is None else data_inputs(node)
    weights = graph.constant(inputs[1]) if len(inputs) == 2 else None
    if weights is None or weights.dtype != np.float32:
        return None
    if weights.ndim != (2 if node.op == "MatMul" else 4):
        return None
    if node.op == "MatMul" and node.attr["transpose_b"].b:
        return None
    return _Product(node, weights)


def _is_of_channels(scale: Array, product: _Product) -> bool:
    """Whether a product with `scale` multiplies channels, in the product's shape."""
    size = scale.shape[-1] if scale.ndim else 1
    return (
        scale.dtype == np.float32
        and scale.ndim <= product.weights.ndim
        and scale.size == size
        and size in (1, product.channels)
    )


def _numbers(graph: WorkGraph, node: Any) -> tuple[Array, Array] | None:
    """Scale and offset of a normalisation; None if it is none, or none in inference."""
    inputs = data_inputs(node)
    if len(inputs) != 5 or node.op not in (*_FUSED, _GLOBAL):
        return None
    arrays = [graph.constant(tensor) for tensor in inputs[1:]]
    constants = [np.asarray(a, np.float64) for a in arrays if a is not None]
    if len(constants) < 4 or len({array.shape for array in constants}) > 1:
        return None
    if node.op == _GLOBAL:
        mean, variance, beta, gamma = constants
        epsilon = node.attr["variance_epsilon"].f
        if not node.attr["scale_after_normalization"].b:
            gamma = np.ones_like(gamma)
    else:
        gamma, beta, mean, variance = constants
        epsilon = node.attr["epsilon"].f if "epsilon" in node.attr else 1e-4
        is_training = node.attr["is_training"].b if "is_training" in node.attr else True
        further = any(t[0] == node.name and t[1] > 0 for t in graph.readers())
        if is_training or further:
            return None
    with np.errstate(all="ignore"):
        scale = gamma / np.sqrt(variance + epsilon)
        offset = beta - mean * scale
    if not (np.isfinite(scale).all() and np.isfinite(offset).all()):
        return None
    return scale, offset


def _replace(
    graph: WorkGraph,
    node: Any,
    product: _Product,
    scale: Array,
    offset: Array | None,
    between: Any = None,
) -> None:
    """Puts the product with other weights in the place of a node that follows it.

    Args:
        offset: that is added behind it.
        between: a node that stays between both.
    """
    old = product.node
    old_weights = data_inputs(old)[1][0]
    if scale.size == 1:
        scale = np.full(product.channels, scale.item())
    new = graph.new_node(node.name, old.op)
    new.CopyFrom(old)
    controls = [text for text in node.input if text.startswith("^")]
    weights = graph.new_constant(
        graph.unique_name(f"{old.name}/scaled_weights"), product.scaled(scale)
    )
    new.input[1] = weights.name
    if offset is None:
        new.name = node.name
        new.input.extend(text for text in controls if text not in new.input)
        graph.replace(node.name, new, weights)
        graph.drop_unread([old.name])
        _drop_constants(graph, node)
        return
    graph.replace(old.name, new, weights)
    graph.drop_unread([old_weights])
    bias = graph.new_constant(
        graph.unique_name(f"{node.name}/offset"), offset.astype(np.float32)
    )
    last = between or new
    added = graph.new_node(node.name, "BiasAdd", [last.name, bias.name, *controls])
    added.attr["T"].type = FLOAT
    if string(old, "data_format") == "NCHW":
        added.attr["data_format"].s = b"NCHW"
    graph.replace(node.name, added, bias)
    _drop_constants(graph, node)


def _drop_constants(graph: WorkGraph, node: Any) -> None:
    names = [name for name, _ in data_inputs(node) if name in graph.nodes]
    graph.drop_unread([name for name in names if is_constant(graph.nodes[name])])


@transform()
def flatten_atrous_conv(graph: WorkGraph, arguments: Arguments) -> None:
    """Replaces SpaceToBatchND, a convolution and BatchToSpaceND by a convolution with
    dilations.
    """
    for node in list(graph.nodes.values()):
        if node.op == "BatchToSpaceND":
            _flatten(graph, node)


def _flatten(graph: WorkGraph, last: Any) -> None:
    conv = _before(graph, last, _CONVOLUTIONS)
    first = None if conv is None else _before(graph, conv, ("SpaceToBatchND",))
    if conv is None or first is None or not _is_plain(conv):
        return
    blocks, pads = (_ints(graph, first, index) for index in (1, 2))
    same_blocks, crops = (_ints(graph, last, index) for index in (1, 2))
    inputs = data_inputs(conv)
    filters = graph.nodes[inputs[1][0]] if len(inputs) == 2 else None
    weights = None if filters is None else graph.constant(inputs[1])
    if weights is None or weights.ndim != 4 or len(blocks) != 2 or len(pads) != 4:
        return
    if blocks != same_blocks or len(crops) != 4:
        return
    padding = _padding(weights.shape[:2], blocks, pads, crops)
    if not padding:
        return
    new = graph.new_node(last.name, conv.op)
    new.CopyFrom(conv)
    new.name = last.name
    new.input[0] = first.input[0]
    for old in (first, last):
        new.input.extend(t for t in old.input if t.startswith("^"))
    new.attr["padding"].s = padding.encode()
    dilations = new.attr["dilations"].list.i
    del dilations[:]
    dilations.extend([1, *blocks, 1])
    graph.replace(last.name, new)
    graph.drop_unread([conv.name, *(name for name, _ in data_inputs(last)[1:])])


def _before(graph: WorkGraph, node: Any, types: tuple[str, ...]) -> Any:
    inputs = data_inputs(node)
    return _maker(graph, inputs[0], types) if inputs else None


def _is_plain(conv: Any) -> bool:
    return (
        string(conv, "padding") == "VALID"
        and string(conv, "data_format", "NHWC") == "NHWC"
        and set(integers(conv, "strides")) == {1}
        and set(integers(conv, "dilations")) <= {1}
    )


def _ints(graph: WorkGraph, node: Any, index: int) -> list[int]:
    inputs = data_inputs(node)
    array = graph.constant(inputs[index]) if index < len(inputs) else None
    return [] if array is None else [int(number) for number in array.flat]


def _padding(
    size: tuple[int, ...], blocks: list[int], pads: list[int], crops: list[int]
) -> str:
    """The padding of the convolution with dilations; '' if it has no name."""
    names: set[str] = set()
    for axis in (0, 1):
        before = pads[2 * axis]
        after = pads[2 * axis + 1] - crops[2 * axis + 1]
        missing = (size[axis] - 1) * blocks[axis]
        found: set[str] = set()
        if crops[2 * axis] == 0 and (before, after) == (0, 0):
            found.add("VALID")
        whole = (missing // 2, missing - missing // 2)
        if crops[2 * axis] == 0 and (before, after) == whole:
            found.add("SAME")
        names = found if axis == 0 else names & found
    return min(names, default="")
