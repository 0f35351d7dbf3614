# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Passes that rearrange products with constant matrices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mace.python.tools.ir import Constant, Graph, Op, Value
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.evaluate import update_outputs
from mace.python.tools.ir.op_rules.movement import reshape_attribute
from mace.python.tools.ir.shapes import normalize_axis, product, static
from mace.python.tools.passes.base import OpPass
from mace.python.tools.passes.match import (
    RESIDUAL,
    activation_attrs,
    eltwise,
    has_activation,
    is_pointwise,
    is_scalar,
    only_reader,
    other_operand,
    per_channel,
    producer,
)

_LEVELS = 255
_DYNAMIC_BIAS = 4


class DynamicProducts(OpPass):
    """Turns a product whose operand the run quantizes into one operator.

    What ONNX Runtime's `quantize_dynamic` writes for a MatMul by a constant:

        q, s, z = DynamicQuantizeLinear(x)
        y = Cast(MatMulInteger(q, W, z, zw)) * (s * sw) + bias

    The importer expresses DynamicQuantizeLinear by operators on the extremes of x.
    """

    name = "dynamic_products"
    requires = ("fold_constants",)
    op_types = ("Eltwise",)

    def rewrite(self, graph: Graph, op: Op) -> bool:
        return _become_floats(graph, op) or _add_bias(graph, op)


@dataclass(frozen=True)
class _Product:
    """A product of integers by a constant.

    Attributes:
        x: what is quantized.
        scale: its scale.
        weights: int8 [K, N].
        zeros: those of the weights, [1] or [N]; None: 0.
    """

    x: Value
    scale: Value
    weights: Constant
    zeros: Array | None


def _become_floats(graph: Graph, op: Op) -> bool:
    """Where the sums become floats."""
    if eltwise(op.output, "MUL") is not op:
        return False
    for index in (0, 1):
        found = _dynamic_product(graph, op.input(index))
        if found is None:
            continue
        columns = found.weights.shape[1]
        scales = _weight_scales(op.input(1 - index), found.scale, columns)
        if scales is None:
            continue
        name = op.name
        inputs = [
            found.x,
            graph.add_constant(f"{name}/weights", found.weights),
            graph.add_constant(f"{name}/scales", scales),
        ]
        if found.zeros is not None:
            inputs.append(graph.add_constant(f"{name}/zeros", found.zeros))
        graph.replace_op(op, "DynamicQuantizeMatMul", inputs, {"range": "TENSOR"})
        return True
    return False


def _dynamic_product(graph: Graph, value: Value) -> _Product | None:
    """The product whose sums become `value`."""
    cast = producer(value, "Cast")
    if cast is None or only_reader(graph, value) is None:
        return None
    op = producer(cast.input(0), "MatMulInteger")
    if op is None or only_reader(graph, cast.input(0)) is None:
        return None
    if cast.output.dtype is not DataType.FLOAT32:
        return None
    quantized = _quantized(op.input(0), op.get_input(2))
    weights = op.input(1).constant
    if quantized is None or weights is None:
        return None
    if len(weights.shape) != 2 or 0 in weights.shape:
        return None
    zeros = op.get_input(3)
    if zeros is None:
        return _Product(*quantized, *_signed(weights, None))
    if zeros.constant is None or zeros.constant.size not in (1, weights.shape[1]):
        return None
    return _Product(*quantized, *_signed(weights, zeros.numpy().reshape(-1)))


def _signed(weights: Constant, zeros: Array | None) -> tuple[Constant, Array | None]:
    """The same numbers as int8."""
    if weights.dtype is DataType.UINT8:
        weights = weights.map(
            lambda w: (w ^ np.uint8(0x80)).view(np.int8), dtype=DataType.INT8
        )
        zeros = np.zeros(1, np.uint8) if zeros is None else zeros
        zeros = (zeros ^ np.uint8(0x80)).view(np.int8)
    return weights, zeros if zeros is not None and zeros.any() else None


def _weight_scales(value: Value, scale: Value, columns: int) -> Array | None:
    """The other factor of the product of `scale` and a constant: one number, or one for
    each column.
    """
    both = eltwise(value, "MUL")
    factor = None if both is None else other_operand(both, scale)
    if factor is None or factor.constant is None:
        return None
    if factor.dtype is not DataType.FLOAT32:
        return None
    found = factor.numpy().reshape(-1)
    fits = found.size == 1 or factor.constant.shape[-1:] == (columns,) == found.shape
    return np.asarray(found, np.float32) if fits else None


def _quantized(value: Value, zero: Value | None) -> tuple[Value, Value] | None:
    """What `value` quantizes, and its scale, where these are those of
    DynamicQuantizeLinear.
    """
    op = producer(value, "Quantize")
    if op is None or op.output.dtype is not DataType.UINT8 or len(op.inputs) < 3:
        return None
    x, scale = op.input(0), op.input(1)
    if zero is None or op.get_input(2) is not zero:
        return None
    return (x, scale) if _is_scale(scale, x) and _is_zero(zero, scale, x) else None


def _is_scale(value: Value, x: Value) -> bool:
    """1 if all of x are 0, otherwise (high - low) / 255."""
    where = producer(value, "Where")
    if where is None or not is_scalar(where.input(1), 1):
        return False
    step = eltwise(where.input(2), "DIV")
    if step is None or not is_scalar(step.input(1), _LEVELS):
        return False
    span = step.input(0)
    empty = eltwise(where.input(0), "EQUAL")
    if empty is None or empty.input(0) is not span or not is_scalar(empty.input(1), 0):
        return False
    difference = eltwise(span, "SUB")
    return (
        difference is not None
        and _is_extreme(difference.input(0), x, "MAX")
        and _is_extreme(difference.input(1), x, "MIN")
    )


def _is_zero(value: Value, scale: Value, x: Value) -> bool:
    """round((0 - low) / scale)."""
    cast = producer(value, "Cast")
    rounded = None if cast is None else eltwise(cast.input(0), "ROUND")
    quotient = None if rounded is None else eltwise(rounded.input(0), "DIV")
    if quotient is None or quotient.input(1) is not scale:
        return False
    return _is_minus(quotient.input(0), lambda low: _is_extreme(low, x, "MIN"))


def _is_minus(value: Value, check: Callable[[Value], bool]) -> bool:
    negated = eltwise(value, "NEG")
    if negated is not None:
        return check(negated.input(0))
    difference = eltwise(value, "SUB")
    return (
        difference is not None
        and is_scalar(difference.input(0), 0)
        and check(difference.input(1))
    )


def _is_extreme(value: Value, x: Value, mode: str) -> bool:
    """The least or the greatest of x and 0."""
    bounded = eltwise(value, mode)
    relu = producer(value, "Activation")
    if bounded is not None and is_scalar(bounded.input(1), 0):
        inner = bounded.input(0)
    elif mode == "MAX" and relu is not None and relu.attr("activation") == "RELU":
        inner = relu.input(0)
    else:
        return False
    reduce = producer(inner, "Reduce")
    return (
        reduce is not None
        and reduce.input(0) is x
        and reduce.attr("mode") == mode
        and not reduce.attr("axes")
    )


def _add_bias(graph: Graph, op: Op) -> bool:
    if eltwise(op.output, "ADD") is not op:
        return False
    for index in (0, 1):
        product = producer(op.input(index), "DynamicQuantizeMatMul")
        if product is None or only_reader(graph, product.output) is not op:
            continue
        if len(product.inputs) > _DYNAMIC_BIAS:
            continue
        columns = product.input(1).shape
        assert columns is not None and isinstance(columns[1], int)
        bias = per_channel(op.input(1 - index), columns[1])
        if bias is None or op.output.rank != product.output.rank:
            continue
        graph.merge_into(product, op)
        product.set_input(
            _DYNAMIC_BIAS,
            graph.add_constant(f"{product.name}/bias", bias.astype(np.float32)),
        )
        return True
    return False


# Weights are packed in panels of so many columns; a partial panel takes as long as a
# whole one.
_PANEL = 16


class SplitProducts(OpPass):
    """Divides a matrix product of which only ranges of columns are read.

        FullyConnected > Split  =  a FullyConnected for each part

    Attention often computes queries, keys and values in one product. Divided, the
    product writes each part where it is read, and a factor of one part can be folded
    into its weights. A Reshape that divides the columns may be before the Split, and
    StridedSlice may take the parts.
    """

    name = "split_products"
    requires = ("fold_affine", "sink_transposes")
    op_types = ("FullyConnected",)

    def rewrite(self, graph: Graph, op: Op) -> bool:
        return op.get_input(RESIDUAL) is None and _split_product(graph, op)


@dataclass(frozen=True)
class _Part:
    """A value that has the columns [begin, end) of the product."""

    value: Value
    begin: int
    end: int


def _split_product(graph: Graph, product: Op) -> bool:
    whole = product.output
    reader = only_reader(graph, whole)
    if reader is not None and reader.type == "Reshape":
        whole = reader.output
    parts = _parts(graph, product, whole)
    outs = product.output.shape
    # The rank may be known only at run time.
    if outs is None or not isinstance(outs[-1], int):
        return False
    if not parts or sum(part.end - part.begin for part in parts) > outs[-1]:
        return False
    if any((part.end - part.begin) % _PANEL for part in parts):
        return False
    shapes = [(*outs[:-1], part.end - part.begin) for part in parts]
    wanted = [
        reshape_attribute(shape, part.value.shape or ())
        for shape, part in zip(shapes, parts)
    ]
    if None in wanted:
        return False
    for part, shape in zip(parts, wanted):
        _divide(graph, product, part, shape or ())
    return True


def _parts(graph: Graph, product: Op, whole: Value) -> list[_Part]:
    """What reads `whole`, the output of the product; empty if it is not only parts."""
    shape, columns = static(whole.shape), product.input(1).shape
    if whole in graph.outputs or shape is None or columns is None:
        return []
    # The axis from which on the dimensions are columns.
    axis = next(
        (i for i in range(len(shape)) if np.prod(shape[i:]) == columns[0]), None
    )
    if axis is None or not isinstance(columns[0], int):
        return []
    step = columns[0] // shape[axis]
    parts: list[_Part] = []
    for reader in whole.consumers:
        ranges = _ranges(reader, axis, shape)
        if ranges is None:
            return []
        parts += [
            _Part(value, begin * step, end * step)
            for value, (begin, end) in zip(reader.outputs, ranges)
        ]
    return parts


def _ranges(
    reader: Op, axis: int, shape: tuple[int, ...]
) -> list[tuple[int, int]] | None:
    """The range of each output of Split or StridedSlice along `axis`; None if it does
    something else.
    """
    if reader.type == "Split":
        if normalize_axis(reader.attr("axis"), len(shape)) != axis:
            return None
        count = len(reader.outputs)
        sizes = reader.attr("sizes") or [shape[axis] // count] * count
        ends = [int(end) for end in np.cumsum(sizes)]
        return list(zip([0, *ends], ends))
    if reader.type != "StridedSlice" or reader.attr("shrink_axes"):
        return None
    if [normalize_axis(a, len(shape)) for a in reader.attr("axes")] != [axis]:
        return None
    begin, end, stride = slice(
        reader.attr("begins")[0], reader.attr("ends")[0], reader.attr("strides")[0]
    ).indices(shape[axis])
    return [(begin, end)] if stride == 1 and begin < end else None


def _divide(graph: Graph, product: Op, part: _Part, shape: tuple[int, ...]) -> None:
    """Makes a product and a Reshape compute `part.value`."""
    weights, bias = product.input(1), product.get_input(2)
    assert weights.constant is not None
    rows = slice(part.begin, part.end)
    constant = weights.constant.moved(
        lambda w: w[rows], (part.end - part.begin, *weights.constant.shape[1:])
    )
    inputs: list[Value | None] = [
        product.input(0),
        graph.add_constant(f"{weights.name}/part", constant),
    ]
    if bias is not None:
        inputs.append(graph.add_constant(f"{bias.name}/part", bias.numpy()[rows]))
    name = graph.unique_name(f"{product.output.name}/part")
    made = graph.add_value(name, product.output.dtype, None)
    update_outputs(
        graph.add_op("FullyConnected", inputs, [made], activation_attrs(product), name)
    )
    old = part.value
    reader = old.producer
    assert reader is not None
    unread = graph.add_value(graph.unique_name(f"{old.name}/old"), old.dtype, old.shape)
    graph.replace_output(reader, old, unread)
    graph.add_op("Reshape", [made], [old], {"shape": shape}, f"{name}/reshaped")


# Numbers of a matrix that are in float64 at one time.
_PART = 1 << 20


class MergeProducts(OpPass):
    """Merges two consecutive products with constant matrices into one.

    `(x W1 + b1) W2 + b2` is `x (W1 W2) + (b1 W2 + b2)`. The pass does so if the
    product with `W1 W2` takes fewer multiply-adds than the two; a bottleneck, whose
    narrow middle saves them, stays as it is. 1x1 convolutions are such products too,
    and a Reshape of the leading dimensions may be between the two.
    """

    name = "merge_products"
    requires = ("sink_resizes",)
    op_types = ("Conv2D", "FullyConnected")

    def rewrite(self, graph: Graph, op: Op) -> bool:
        return _is_product(op) and _merge_products(graph, op)


def _is_product(op: Op) -> bool:
    if op.type == "Conv2D":
        return is_pointwise(op)
    return op.type == "FullyConnected"


def _merge_products(graph: Graph, second: Op) -> bool:
    between = second.input(0)
    reshape = producer(between, "Reshape")
    if reshape is not None:
        if not _keeps_channels(reshape) or only_reader(graph, between) is None:
            return False
        between = reshape.input(0)
    first = between.producer
    if first is None or not _is_product(first) or only_reader(graph, between) is None:
        return False
    if has_activation(first) or first.get_input(RESIDUAL) is not None:
        return False
    weights = [op.input(1).constant for op in (first, second)]
    if weights[0] is None or weights[1] is None:
        return False
    (middle, inner), outer = _matrix_shape(weights[0]), weights[1].shape[0]
    if inner * outer >= middle * (inner + outer):
        return False
    source = first.input(0)
    if reshape is not None:
        reshaped = _reshaped(graph, reshape, source, inner)
        if reshaped is None:
            return False
        source = reshaped
    bias = _bias(first, second, weights[1])
    if bias is not None:
        second.set_input(2, graph.add_constant(f"{second.name}/bias", bias))
    merged = _merged(weights[0], weights[1])
    second.set_input(1, graph.add_constant(f"{second.input(1).name}/merged", merged))
    second.set_input(0, source)
    return True


def _keeps_channels(reshape: Op) -> bool:
    before, after = reshape.input(0).shape, reshape.output.shape
    return bool(before and after and before[-1] == after[-1])


def _matrix_shape(weights: Constant) -> tuple[int, int]:
    """[outputs, inputs] of a matrix or a 1x1 filter."""
    return weights.shape[0], weights.shape[-1]


def _reshaped(graph: Graph, reshape: Op, source: Value, channels: int) -> Value | None:
    """`source` with the leading dimensions of the output of `reshape`."""
    assert reshape.output.shape is not None
    shape = (*reshape.output.shape[:-1], channels)
    wanted = reshape_attribute(source.shape, shape)
    if wanted is None:
        return None
    name = graph.unique_name(f"{reshape.output.name}/before")
    made = graph.add_value(name, source.dtype, shape)
    graph.add_op("Reshape", [source], [made], {"shape": wanted}, name)
    return made


def _merged(first: Constant, second: Constant) -> Constant:
    def multiply(weights: Array) -> Array:
        left = weights.reshape(_matrix_shape(second))
        right = first.numpy().reshape(_matrix_shape(first))
        return (
            _multiply(left, right).astype(second.dtype.numpy, copy=False).reshape(shape)
        )

    shape = (*second.shape[:-1], first.shape[-1])
    return second.map(multiply, shape)


def _bias(first: Op, second: Op, weights: Constant) -> Array | None:
    """The bias of the merged product; None if that of the second one remains."""
    before, after = first.get_input(2), second.get_input(2)
    if before is None:
        return None
    matrix = weights.numpy().reshape(_matrix_shape(weights))
    added = _multiply(matrix, before.numpy().reshape(-1, 1), np.float64)[:, 0]
    if after is not None:
        added = added + after.numpy()
    return np.asarray(added, np.float32)


def _multiply(left: Array, right: Array, dtype: type = np.float32) -> Array:
    """A product that is computed in float64, of which little is in memory at once."""
    result = np.empty((left.shape[0], right.shape[1]), dtype)
    for columns in _slices(right.shape[1], right.shape[0]):
        part = right[:, columns].astype(np.float64)
        for rows in _slices(*left.shape):
            result[rows, columns] = left[rows].astype(np.float64) @ part
    return result


def _slices(count: int, size: int) -> Iterator[slice]:
    """Parts of so many rows or columns of that size."""
    step = max(1, _PART // max(size, 1))
    for begin in range(0, count, step):
        yield slice(begin, begin + step)


# Resizing or adding an element takes as long as about this many multiply-adds.
_ELEMENT_MACS = 32


class SinkResizes(OpPass):
    """Moves images behind the 1x1 convolution of a Concat before they are enlarged.

        conv(concat(resize(x), y))  =  conv(y) + resize(conv(x))

    A resize computes every channel in the same way, and a 1x1 convolution every
    pixel, so their order does not matter; before the resize, there are fewer pixels
    to convolve. Decoders for segmentation join feature maps of several sizes like
    this. The convolution of the other inputs of the Concat keeps bias and
    activation, and adds the resized images as its residual.
    """

    name = "sink_resizes"
    requires = ("fold_affine_forward",)
    op_types = ("Conv2D",)

    def rewrite(self, graph: Graph, op: Op) -> bool:
        join = producer(op.input(0), "Concat")
        if join is None or not is_pointwise(op) or op.get_input(RESIDUAL) is not None:
            return False
        if only_reader(graph, join.output) is not op:
            return False
        parts = _joined(join)
        moved = [part for part in parts if _pays(graph, part, op)]
        kept = [part for part in parts if part not in moved]
        if not moved or not kept:
            return False
        resized = [_resize_last(graph, part, op) for part in moved]
        total = resized[0]
        for image in resized[1:]:
            total = _added(graph, "Eltwise", [total, image], {"mode": "ADD"}, op.name)
        rest = kept[0].value
        if len(kept) > 1:
            values = [part.value for part in kept]
            rest = _added(graph, "Concat", values, dict(join.attrs), join.name)
        op.set_inputs([rest, _slice(graph, op, kept), op.get_input(2), total])
        return True


@dataclass(frozen=True)
class _Joined:
    """An input of the Concat, and its channels in the result."""

    value: Value
    begin: int
    end: int


def _joined(join: Op) -> list[_Joined]:
    """The inputs of a Concat of channels; none if they are not known."""
    rank = join.output.rank
    if rank is None or normalize_axis(join.attr("axis"), rank) != rank - 1:
        return []
    parts: list[_Joined] = []
    begin = 0
    for value in join.inputs:
        channels = value.shape[-1] if value is not None and value.shape else None
        if value is None or not isinstance(channels, int):
            return []
        parts.append(_Joined(value, begin, begin + channels))
        begin += channels
    return parts


def _pays(graph: Graph, part: _Joined, conv: Op) -> bool:
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


def _resize_last(graph: Graph, part: _Joined, conv: Op) -> Value:
    resize = part.value.producer
    assert resize is not None
    inputs = [resize.input(0), _slice(graph, conv, [part])]
    small = _added(graph, "Conv2D", inputs, {}, f"{conv.name}/small")
    operands = [small, *resize.inputs[1:]]
    return _added(graph, "Resize", operands, dict(resize.attrs), resize.name)


def _slice(graph: Graph, conv: Op, parts: list[_Joined]) -> Value:
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
