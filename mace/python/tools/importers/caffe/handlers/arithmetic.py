# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of elements, arithmetic on tensors, positions of maxima, and products with
learned matrices.
"""

from __future__ import annotations

import math
from typing import Any

from mace.python.tools.importers.caffe.layer import HANDLERS, Layer
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.ir.graph import Value

# Activations without parameters, as attributes of the operator.
_ACTIVATIONS: dict[str, dict[str, Any]] = {
    "BNLL": {"activation": "SOFTPLUS"},
    "ReLU6": {"activation": "RELUX", "activation_limit": 6.0},
    "Sigmoid": {"activation": "SIGMOID"},
    "TanH": {"activation": "TANH"},
}
_POWERS = {2.0: "SQUARE", 0.5: "SQRT", -0.5: "RSQRT", -1.0: "RECIPROCAL"}
# Of Eltwise.
_PROD, _SUM, _MAX = 0, 1, 2


@HANDLERS.register(*_ACTIVATIONS)
def _plain(layer: Layer) -> None:
    layer.emit("Activation", [layer.bottom()], **_ACTIVATIONS[layer.type])


@HANDLERS.register("ReLU")
def _relu(layer: Layer) -> None:
    slope = layer.proto.relu_param.negative_slope
    attrs: dict[str, Any] = {"activation": "RELU"}
    if slope:
        attrs = {"activation": "LEAKY_RELU", "activation_alpha": slope}
    layer.emit("Activation", [layer.bottom()], **attrs)


@HANDLERS.register("ELU")
def _elu(layer: Layer) -> None:
    attrs = {"activation": "ELU", "activation_alpha": layer.proto.elu_param.alpha}
    layer.emit("Activation", [layer.bottom()], **attrs)


@HANDLERS.register("PReLU")
def _prelu(layer: Layer) -> None:
    x = layer.bottom()
    rank, channels = len(layer.shape(x)), layer.channels()
    count = 1 if layer.proto.prelu_param.channel_shared else channels
    slopes = layer.blob(0, (count,), "slopes").numpy()
    if count == 1:
        attrs = {"activation": "LEAKY_RELU", "activation_alpha": float(slopes[0])}
        layer.emit("Activation", [x], **attrs)
        return
    slope = layer.literal(slopes)
    if rank == 2:
        layer.emit("Activation", [x, slope], activation="PRELU")
        return
    # The operator has slopes for the innermost dimension. The pass that puts channels
    # last cancels these transposes.
    there = [0, *range(2, rank), 1]
    back = [there.index(axis) for axis in range(rank)]
    moved = layer.make("Transpose", [x], perm=there)
    result = layer.make("Activation", [moved, slope], activation="PRELU")
    layer.emit("Transpose", [result], perm=back)


@HANDLERS.register("Swish")
def _swish(layer: Layer) -> None:
    x, beta = layer.bottom(), layer.proto.swish_param.beta
    if beta == 1:
        layer.emit("Activation", [x], activation="SWISH")
        return
    inner = layer.eltwise("MUL", x, beta)
    layer.emit_eltwise(
        "MUL", x, layer.make("Activation", [inner], activation="SIGMOID")
    )


@HANDLERS.register("AbsVal")
def _absolute(layer: Layer) -> None:
    layer.emit_eltwise("ABS", layer.bottom())


@HANDLERS.register("Clip")
def _clip(layer: Layer) -> None:
    x, param = layer.bottom(), layer.proto.clip_param
    if not layer.proto.HasField("clip_param"):
        raise UnsupportedNodeError("clip_param is missing")
    if param.min == 0 and 0 < param.max < math.inf:
        attrs = {"activation": "RELUX", "activation_limit": param.max}
        layer.emit("Activation", [x], **attrs)
        return
    layer.emit_chain(x, [("MAX", param.min), ("MIN", param.max)])


def scaled(scale: float, shift: float) -> list[tuple[str, float]]:
    """x * scale + shift, without what changes nothing."""
    steps = [("MUL", scale)] if scale != 1 else []
    return [*steps, ("ADD", shift)] if shift != 0 else steps


@HANDLERS.register("Power")
def _power(layer: Layer) -> None:
    param = layer.proto.power_param
    steps: list[tuple[Any, ...]] = [*scaled(param.scale, param.shift)]
    if param.power in _POWERS:
        steps.append((_POWERS[param.power],))
    elif param.power != 1:
        steps.append(("POW", param.power))
    layer.emit_chain(layer.bottom(), steps)


@HANDLERS.register("Eltwise")
def _eltwise(layer: Layer) -> None:
    param, values = layer.proto.eltwise_param, list(layer.bottoms)
    if len(values) < 2:
        raise UnsupportedNodeError(f"has {len(values)} bottoms; at least 2 are needed")
    shapes = {layer.shape(value) for value in values}
    if len(shapes) > 1:
        raise UnsupportedNodeError(
            "its bottoms have different shapes: "
            + ", ".join(str(list(layer.shape(value))) for value in values)
        )
    factors = list(param.coeff)
    if factors and (param.operation != _SUM or len(factors) != len(values)):
        raise UnsupportedNodeError(
            f"{len(factors)} coeff for {len(values)} bottoms; only sums have them"
        )
    mode = {_PROD: "MUL", _SUM: "ADD", _MAX: "MAX"}[param.operation]
    if factors == [1, -1]:
        mode, factors = "SUB", []
    for index, factor in enumerate(factors):
        if factor != 1:
            values[index] = layer.eltwise("MUL", values[index], factor)
    layer.emit_chain(values[0], [(mode, value) for value in values[1:]])


@HANDLERS.register("ArgMax")
def _arg_max(layer: Layer) -> None:
    x, param = layer.bottom(), layer.proto.argmax_param
    rank = len(layer.shape(x))
    if param.HasField("axis"):
        axis = layer.axis(param.axis, rank)
        places, values = _largest(layer, x, axis, param.top_k)
        layer.set_top(0, values if param.out_max_val else places)
        return
    # All elements of an image compete, whatever their number of dimensions.
    dims = layer.static_shape(x)
    if rank != 2:
        x = layer.make("Reshape", [x], shape=[dims[0], math.prod(dims[1:])])
    best, values = _largest(layer, x, 1, param.top_k)
    if param.out_max_val:
        best = layer.make("Concat", [best, values], axis=1)
    count = 2 if param.out_max_val else 1
    shape = [dims[0], count, param.top_k, *[1] * max(rank - 3, 0)]
    layer.emit("Reshape", [best], shape=shape)


def _largest(layer: Layer, x: Value, axis: int, count: int) -> tuple[Value, Value]:
    """Positions, as floats, and values of the largest elements along an axis. Of equal
    elements, Caffe takes the last ones first.
    """
    if count == 1:
        place = layer.make("ArgMax", [x], axis=axis, last=True)
        largest = layer.make("Reduce", [x], mode="MAX", axes=[axis], keep_dims=True)
        return layer.make("Cast", [place], to="FLOAT32"), largest
    length = layer.shape(x)[axis]
    if not isinstance(length, int) or not 1 <= count <= length:
        raise UnsupportedNodeError(f"top_k is {count} of {length} elements")
    attrs = {"axes": [axis], "begins": [-1], "ends": [-length - 1], "strides": [-1]}
    turned = layer.make("StridedSlice", [x], **attrs)
    values, places = layer.make_all("TopK", [turned], 2, k=count, axis=axis)
    places = layer.eltwise("SUB", length - 1, places)
    return layer.make("Cast", [places], to="FLOAT32"), values


@HANDLERS.register("InnerProduct")
def _inner_product(layer: Layer) -> None:
    x, param = layer.bottom(), layer.proto.inner_product_param
    dims = layer.shape(x)
    axis = layer.axis(param.axis, len(dims))
    inner = layer.known_dims(dims[axis:], "the length of its rows is")
    depth, outputs = math.prod(inner), param.num_output
    shape = (depth, outputs) if param.transpose else (outputs, depth)
    weights = layer.learned(0, shape, "weights")
    if len(inner) > 1:
        x = layer.make("Reshape", [x], shape=[*[0] * axis, depth])
    lone = axis == 0  # a vector
    if lone:
        x = layer.make("Reshape", [x], shape=[1, depth])
    steps: list[tuple[str, list[Value], dict[str, Any]]]
    steps = [("MatMul", [weights], {"transpose_b": not param.transpose})]
    if param.bias_term:
        bias = layer.learned(1, (outputs,), "bias")
        steps.append(("Eltwise", [bias], {"mode": "ADD"}))
    if lone:
        steps.append(("Reshape", [], {"shape": [outputs]}))
    for op_type, more, attributes in steps[:-1]:
        x = layer.make(op_type, [x, *more], **attributes)
    op_type, more, attributes = steps[-1]
    layer.emit(op_type, [x, *more], **attributes)


@HANDLERS.register("Embed")
def _embed(layer: Layer) -> None:
    param = layer.proto.embed_param
    table = layer.learned(0, (param.input_dim, param.num_output), "table")
    inputs = [table, layer.as_integers(layer.bottom())]
    if not param.bias_term:
        layer.emit("Gather", inputs, axis=0)
        return
    bias = layer.learned(1, (param.num_output,), "bias")
    layer.emit_eltwise("ADD", layer.make("Gather", inputs, axis=0), bias)
