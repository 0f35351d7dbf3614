# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Rounds the constants of an operator to multiples of their scales."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mace.python.tools.catalogue import default_catalogue
from mace.python.tools.ir import DataType, Graph, Op
from mace.python.tools.ir.constant import Constant, Integers
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.op_rules.matrices import WeightedSums
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.quantize import ranges

_BIAS = 2


def round_constants(
    graph: Graph,
    op: Op,
    first: Quantization | None,
    dtype: DataType,
    means: Array | None = None,
) -> None:
    """Gives an operator in floats constants that `quantized_constants` takes.

    Weights become multiples of one scale for each output; other constants of one
    scale. A bias stays as it is: it is rounded when the operator becomes a quantized
    one.

    Args:
        first: of input 0; None if that is a constant.
        dtype: of tensors that are computed.
        means: of the channels of input 0. The bias then makes up for what rounding the
            weights adds to the mean of each output.
    """
    schema = default_catalogue()[op.type]
    for index, value in enumerate(op.inputs):
        if value is None or value.constant is None or not value.dtype.is_float:
            continue
        types = schema.input_port(index).quantized
        if value.constant.integers is not None or value.constant.size == 0:
            continue
        if types == (DataType.INT8,) and first is not None:
            constant = _weights(op, value.constant, first.scales[0])
            if means is not None:
                _correct_bias(graph, op, constant, means)
        elif dtype in types:
            constant = _tensor(value.constant, dtype)
        else:
            continue
        rounded = graph.add_constant(f"{value.name}/rounded", constant)
        rounded.take_source(value)
        op.set_input(index, rounded)


def _weights(op: Op, constant: Constant, input_scale: float) -> Constant:
    weights = constant.numpy()
    first, last = _output_axes(op)
    outputs = weights.shape[first:last]
    bias = op.get_input(_BIAS)
    known = bias.numpy() if bias is not None and bias.is_constant else None
    rows = np.moveaxis(weights, range(first, last), range(last - first))
    rows = rows.reshape(int(np.prod(outputs)), -1)
    fits = known is not None and known.shape == rows.shape[:1]
    scales = ranges.weight_scales(rows, known if fits else None, input_scale)
    by_output = scales.reshape((1,) * first + outputs + (1,) * (weights.ndim - last))
    return _dequantized(ranges.quantized_weights(weights, by_output), by_output, 0)


def _output_axes(op: Op) -> tuple[int, int]:
    """The axes of the weights that are together that of the outputs: first and end."""
    if op.type == "DepthwiseConv2d":
        return 2, 4
    rules = rules_of(op.type)
    axis = rules.output_axis if isinstance(rules, WeightedSums) else 0
    return axis, axis + 1


def _correct_bias(graph: Graph, op: Op, rounded: Constant, means: Array) -> None:
    """Subtracts the mean error of each output from the bias (Nagel et al., 2019,
    section 4.2; see `equalise.py`), by the means of samples. Padding counts as mean.
    """
    error = rounded.numpy().astype(np.float64) - op.input(1).numpy()
    bias = op.get_input(_BIAS)
    added = _mean_products(op, error, means)
    if added is None or (bias is not None and not bias.is_constant):
        return
    before = 0.0 if bias is None else bias.numpy().astype(np.float64)
    name = f"{op.input(1).name}/bias" if bias is None else f"{bias.name}/corrected"
    corrected = graph.add_constant(name, (before - added).astype(np.float32))
    op.set_input(_BIAS, corrected)


def _mean_products(op: Op, weights: Array, means: Array) -> Array | None:
    """The mean of each output, without padding; None for other operators."""
    if op.type == "DepthwiseConv2d":
        by_channel = weights.sum(axis=(0, 1))
        fits = by_channel.shape[:1] == means.shape
        return np.asarray(by_channel * means[:, None]).reshape(-1) if fits else None
    if op.type == "FullyConnected":
        fits = weights.shape[1:] == means.shape
        return np.asarray(weights @ means) if fits else None
    if op.type != "Conv2D":
        return None
    groups = op.attr("groups")
    summed = weights.sum(axis=(1, 2))
    if means.shape != (groups * summed.shape[1],):
        return None
    grouped = summed.reshape(groups, -1, summed.shape[1])
    by_group = means.reshape(groups, -1, 1)
    return np.asarray((grouped @ by_group).reshape(-1))


def _tensor(constant: Constant, dtype: DataType) -> Constant:
    array = constant.numpy()
    found = ranges.Range(float(array.min()), float(array.max())).quantization(dtype)
    numbers = ranges.quantized(array, found, dtype)
    scale = np.asarray(found.scales[0], np.float32)
    return _dequantized(numbers, scale, found.zero_point)


def _dequantized(numbers: Array, scale: Array, zero: int) -> Constant:
    """The floats that these integers stand for."""
    shape = numbers.shape
    made = Constant.of(numbers).map(
        lambda array: (array.astype(np.float32) - np.float32(zero)) * scale,
        dtype=DataType.FLOAT32,
    )
    return replace(
        made,
        integers=Integers(
            Constant.of(numbers),
            Constant.of(np.broadcast_to(scale, shape)),
            Constant.of(np.broadcast_to(np.asarray(zero, numbers.dtype), shape)),
        ),
    )
