# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Puts Quantize and Dequantize around the operators that can compute in integers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mace.python.tools.catalogue import default_catalogue
from mace.python.tools.ir import DataType, Graph, Op, Value
from mace.python.tools.ir.constant import Constant, Integers
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.op_rules.matrices import WeightedSums
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.passes.manager import run_last_passes
from mace.python.tools.quantize import ranges
from mace.python.tools.quantize.ranges import Range

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


_CONVERSIONS = ("Quantize", "Dequantize")
# Of tensors whose range is not known, while it is found out which have to be known.
_ANY_RANGE = Range(-1.0, 1.0)


@dataclass(frozen=True)
class QuantizeOptions:
    """How a graph is quantized.

    Attributes:
        dtype: of tensors that are computed: UINT8, INT8 or INT16.
        change_concat_ranges: give the inputs of a Concat the range of its output.
        in_floats: operators that are to stay in floats, by name, with the reason.
        in_16_bits: operators that are to compute in int16, whatever `dtype` is,
            likewise.
    """

    dtype: DataType = DataType.UINT8
    change_concat_ranges: bool = False
    in_floats: Mapping[str, str] = field(default_factory=dict)
    in_16_bits: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class FloatOperator:
    """An operator that stays in floats."""

    name: str
    type: str
    reason: str


@dataclass(frozen=True)
class Plan:
    """Which operators of a graph are to compute in integers.

    Attributes:
        quantized: their names, in the order of the graph.
        moved: those between them that move integers without pairs around them, because
            they have several results.
        floats: the others, likewise.
        tensors: those whose range must be known, by name, likewise.
    """

    quantized: tuple[str, ...]
    moved: tuple[str, ...]
    floats: tuple[FloatOperator, ...]
    tensors: tuple[str, ...]


def plan(graph: Graph, options: QuantizeOptions) -> Plan:
    """Finds the operators that can be quantized, by quantizing a copy of the graph.

    Operators that only move elements are quantized next to others alone. The ranges of
    tensors make no difference.

    Args:
        graph: in floats, after the passes.
    """
    chosen = {
        op.name
        for op in graph.ops
        if op.name not in options.in_floats and _makes_tensor(op)
        if all(has_known_size(value) for value in tensors_of(op))
    }
    while True:
        trial = graph.copy()
        made = _in_integers(trial, options, chosen)
        kept = set(_worthwhile(graph, made))
        if kept == chosen:
            break
        chosen = kept
    ops = [op for op in graph.ops if op.name in chosen]
    moved = {
        op.name
        for op in trial.ops
        if len(op.outputs) > 1
        and {v.dtype for v in op.outputs} <= {options.dtype, DataType.INT16}
    }
    names = dict.fromkeys(v.name for op in ops for v in tensors_of(op))
    return Plan(
        tuple(op.name for op in ops),
        tuple(op.name for op in graph.ops if op.name in moved),
        tuple(
            FloatOperator(op.name, op.type, _reason(op, options))
            for op in graph.ops
            if op.name not in chosen | moved and op.type not in _CONVERSIONS
        ),
        tuple(names),
    )


def insert(
    graph: Graph,
    ranges: Mapping[str, Range],
    options: QuantizeOptions,
    chosen: Collection[str],
    means: Mapping[str, Array] | None = None,
) -> int:
    """Puts a pair around each of the chosen operators; returns how many pairs.

    The pass `quantized_operators` makes quantized operators of the result.

    Args:
        graph: in floats, after the passes.
        ranges: by the name of the tensor. One that is not there is [-1, 1].
        chosen: operators by name, see `plan`.
        means: of the channels of tensors, by name, to correct biases by.
    """
    return len(_insert(graph, ranges, options, chosen, means))


def _insert(
    graph: Graph,
    ranges: Mapping[str, Range],
    options: QuantizeOptions,
    chosen: Collection[str],
    means: Mapping[str, Array] | None,
) -> dict[str, Op]:
    """The operators Quantize, by the name of the tensor in floats."""
    ops = [op for op in graph.ops if op.name in chosen]
    known = _ranges(graph, ops, ranges, options)
    types = _types(ops, options)
    made = {value: types[op] for op in ops for value in op.outputs}
    pairs: dict[tuple[Value, DataType], Value] = {}
    for op in ops:
        dtype = types[op]
        mean = (means or {}).get(op.input(0).name) if op.inputs else None
        round_constants(graph, op, _first_scale(op, known, dtype), dtype, mean)
        for index, value in enumerate(op.inputs):
            if value is None or value not in known or made.get(value) is dtype:
                continue
            if (value, dtype) not in pairs:
                scale = known[value].quantization(dtype)
                pairs[value, dtype] = _after_float(graph, value, scale, dtype)
            op.set_input(index, pairs[value, dtype])
    rounded = {value.name: _rounding(pair) for (value, _), pair in pairs.items()}
    for op in ops:
        if op.output in known:
            result = op.output
            scale = known[result].quantization(types[op])
            _after_integers(graph, op, scale, types[op])
            rounded[result.name] = _rounding(result)
    graph.sort()
    return rounded


def _types(ops: Sequence[Op], options: QuantizeOptions) -> dict[Op, DataType]:
    """Of what each operator computes. Those that move elements keep the type."""
    found: dict[Op, DataType] = {}
    for op in ops:
        wide = op.name in options.in_16_bits
        first = op.get_input(0)
        if rules_of(op.type).keeps_range(op) and first is not None and first.producer:
            wide = wide or found.get(first.producer) is DataType.INT16
        found[op] = DataType.INT16 if wide else options.dtype
    return found


def _rounding(result: Value) -> Op:
    """The Quantize of a pair whose Dequantize makes `result`."""
    dequantize = result.producer
    quantize = dequantize.input(0).producer if dequantize is not None else None
    assert quantize is not None
    return quantize


def tensors_of(op: Op) -> Iterator[Value]:
    """Inputs and output of an operator that would be integers."""
    types = default_catalogue()[op.type]
    moves = rules_of(op.type).keeps_elements
    for index, value in enumerate(op.inputs):
        port = types.input_port(index)
        known = DataType.FLOAT32 in port.types or DataType.INT8 in port.quantized
        if value is None or value.is_constant or not known or (moves and index):
            continue
        if value.dtype is DataType.FLOAT32 and not _is_dequantized(value):
            yield value
    if _makes_tensor(op) and not _is_quantized_already(op.output):
        yield op.output


def _makes_tensor(op: Op) -> bool:
    """Whether the result of an operator may become integers."""
    if op.type in _CONVERSIONS or len(op.outputs) != 1:
        return False
    return op.output.dtype is DataType.FLOAT32


def has_known_size(value: Value) -> bool:
    """Whether the shapes of inputs give the shape. Others are known to a run only, so
    that the elements cannot be collected.
    """
    return value.shape is not None and None not in value.shape


def _is_quantized_already(value: Value) -> bool:
    readers = value.consumers
    return bool(readers) and all(reader.type == "Quantize" for reader in readers)


def _is_dequantized(value: Value) -> bool:
    """Whether the model's file says what its integers are."""
    return value.producer is not None and value.producer.type == "Dequantize"


def _ranges(
    graph: Graph,
    ops: Sequence[Op],
    ranges: Mapping[str, Range],
    options: QuantizeOptions,
) -> dict[Value, Range]:
    """Of the tensors that become integers. Where they are moved, they stay the same."""
    found = {
        value: ranges.get(value.name, _ANY_RANGE)
        for op in ops
        for value in tensors_of(op)
    }
    if options.change_concat_ranges:
        for op in reversed(ops):
            if op.type == "Concat" and op.output in found:
                found.update({v: found[op.output] for v in op.inputs if v in found})
    for op in graph.ops:
        if rules_of(op.type).keeps_range(op) and op.get_input(0) in found:
            same = found[op.input(0)]
            found.update({value: same for value in op.outputs if value in found})
    return found


def _first_scale(
    op: Op, ranges: Mapping[Value, Range], dtype: DataType
) -> Quantization | None:
    """Of the first input, if that is computed."""
    first = op.get_input(0)
    if first is None or first.is_constant:
        return None
    if _is_dequantized(first):
        assert first.producer is not None
        return first.producer.input(0).quantization
    return ranges[first].quantization(dtype) if first in ranges else None


def _after_float(
    graph: Graph, value: Value, scale: Quantization, dtype: DataType
) -> Value:
    """Quantizes a tensor that is computed in floats; returns what it then is."""
    integers = _quantize(graph, value, value, scale, dtype)
    name = graph.unique_name(f"{value.name}/dequantized")
    result = graph.add_value(name, DataType.FLOAT32, value.shape)
    _dequantize(graph, integers, result, scale)
    return result


def _after_integers(graph: Graph, op: Op, scale: Quantization, dtype: DataType) -> None:
    """Quantizes what an operator makes; its readers read the same as before."""
    result = op.output
    inner = graph.add_value(
        graph.unique_name(f"{result.name}/float"), DataType.FLOAT32, result.shape
    )
    graph.replace_output(op, result, inner)
    integers = _quantize(graph, inner, result, scale, dtype)
    _dequantize(graph, integers, result, scale)


def _quantize(
    graph: Graph, value: Value, like: Value, scale: Quantization, dtype: DataType
) -> Value:
    """The integers of a value, named like another one."""
    integers = graph.add_value(
        graph.unique_name(f"{like.name}/{dtype.value}"), dtype, value.shape
    )
    integers.quantization = scale
    # The framework's floats are what the integers stand for.
    integers.take_source(like)
    parameters = _parameters(graph, integers.name, scale, dtype)
    attrs = {"to": dtype.value.upper()}
    graph.add_op("Quantize", [value, *parameters], [integers], attrs, integers.name)
    return integers


def _dequantize(
    graph: Graph, integers: Value, result: Value, scale: Quantization
) -> None:
    name = graph.unique_name(f"{integers.name}/dequantize")
    parameters = _parameters(graph, integers.name, scale, integers.dtype)
    graph.add_op("Dequantize", [integers, *parameters], [result], None, name)


def _parameters(
    graph: Graph, name: str, scale: Quantization, dtype: DataType
) -> list[Value]:
    zero = scale.zero_point
    return [
        graph.add_constant(f"{name}/scale", np.asarray(scale.scales, np.float32)),
        graph.add_constant(f"{name}/zero_point", np.asarray([zero], dtype.numpy)),
    ]


def _in_integers(
    graph: Graph, options: QuantizeOptions, chosen: Collection[str]
) -> set[str]:
    """Quantizes a graph; returns which of the chosen operators became quantized ones:
    those whose results are no longer rounded afterwards.
    """
    results = {op.name: op.output for op in graph.ops if op.name in chosen}
    known = {name: value.consumers for name, value in results.items()}
    rounded = _insert(graph, {}, options, chosen, None)
    roundings = {
        name: [rounded[value.name]] if value.name in rounded else known[name]
        for name, value in results.items()
    }
    run_last_passes(graph)
    return {
        name
        for name, readers in roundings.items()
        if not any(reader in graph for reader in readers)
    }


def _worthwhile(graph: Graph, made: Collection[str]) -> Iterator[str]:
    """Without operators that only move elements from floats to floats."""
    group: dict[Op, int] = {}
    for start in graph.ops:
        if start.name not in made or start in group:
            continue
        members = [start]
        group[start] = 0
        for op in members:
            producers = [v.producer for v in op.inputs if v is not None]
            readers = [reader for v in op.outputs for reader in v.consumers]
            for other in (*producers, *readers):
                if other and other.name in made and other not in group:
                    group[other] = 0
                    members.append(other)
        if not all(rules_of(op.type).keeps_elements for op in members):
            yield from (op.name for op in members)


def _reason(op: Op, options: QuantizeOptions) -> str:
    asked = options.in_floats.get(op.name)
    if asked is not None:
        return asked
    schema = default_catalogue()[op.type]
    wide = options.dtype is DataType.INT16 or op.name in options.in_16_bits
    bits = 16 if wide else 8
    floats = any(v is not None and v.dtype.is_float for v in (*op.inputs, *op.outputs))
    if not floats:
        return "it computes no floats"
    rules = rules_of(op.type)
    unknown = [v.name for v in tensors_of(op) if not has_known_size(v)]
    if unknown:
        return f"a run decides the shape of {unknown[0]}"
    if rules.keeps_elements:
        return "it moves elements between operators in floats"
    if not schema.outputs or not schema.output_port(0).quantized:
        return f"{op.type} has no form in {bits} bits"
    given = ", ".join(
        f"{name} {op.attr(name)}"
        for name in ("mode", "activation")
        if name in op.attrs and op.attr(name) != "NONE"
    )
    return f"{op.type}{f' with {given}' if given else ''} has no form in {bits} bits"
