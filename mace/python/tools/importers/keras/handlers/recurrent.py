# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers, in one direction or both."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import (
    HANDLERS,
    Context,
    has_variables,
    trainable,
)
from mace.python.tools.importers.keras.formats import apply
from mace.python.tools.importers.keras.handlers.dense import product
from mace.python.tools.importers.keras.handlers.functions import (
    HARD_SLOPES,
    activation_name,
)
from mace.python.tools.importers.keras.layer import Layer
from mace.python.tools.importers.keras.masks import masked_steps
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Value

# By the activation in Keras; alpha and beta.
_ACTIVATIONS: dict[str, tuple[str, float, float]] = {
    "sigmoid": ("SIGMOID", 0, 0),
    "tanh": ("TANH", 0, 0),
    "relu": ("RELU", 0, 0),
    "linear": ("AFFINE", 1, 0),
    "elu": ("ELU", 1, 0),
    "softsign": ("SOFTSIGN", 0, 0),
    "softplus": ("SOFTPLUS", 0, 0),
}


@dataclass(frozen=True)
class _Kind:
    """Attributes:
    mode: of Recurrent.
    gates: for each, its place in Keras' order.
    states: their number.
    """

    mode: str
    gates: tuple[int, ...]
    states: int


_KINDS = {
    "SimpleRNN": _Kind("RNN", (0,), 1),
    "GRU": _Kind("GRU", (0, 1, 2), 1),
    # Keras: input, forget, cell, output. MACE: input, output, forget, cell.
    "LSTM": _Kind("LSTM", (0, 3, 1, 2), 2),
}


# Layers in other files that Bidirectional takes.
_OTHERS = ("RNN", "ConvLSTM1D", "ConvLSTM2D")
_LAST_STEP = {
    "axes": [1],
    "begins": [-1],
    "ends": [2**31 - 1],
    "strides": [1],
    "shrink_axes": [1],
}


@HANDLERS.register(*_KINDS)
def recurrent(context: Context) -> None:
    """All steps of one direction."""
    layer = context.layer
    kind = _KINDS[layer.kind]
    context.no_keywords("training")
    if layer.flag("stateful"):
        raise UnsupportedNodeError(
            "stateful is set", "make its states inputs and outputs of the model"
        )
    if layer.flag("time_major"):
        raise UnsupportedNodeError("time_major is set")
    x, *states = [context.as_floats(value) for value in context.inputs]
    states += [
        context.as_floats(value)
        for value in listed(context.keywords.get("initial_state"))
    ]
    if len(states) not in (0, kind.states):
        raise UnsupportedNodeError(f"{len(states)} initial states")
    if context.rank(x) != 3:
        raise UnsupportedNodeError(f"the input has {context.rank(x)} dimensions, not 3")
    weights = _weights(context, kind)
    initial: list[Value | None] = [
        context.step("ExpandDims", [state], f"initial{index}", axes=[1])
        for index, state in enumerate(states)
    ]
    # Keras 3 takes no mask of the input where there are other tensors.
    is_masked = context.masked and (
        layer.keras < 3 or not states or context.keyword("mask") is not None
    )
    counted = masked_steps(context) if is_masked else None
    products = product(context, x, weights.kernel, weights.bias, "products")
    if counted is not None:
        products = counted.in_front(products)
        initial = initial or [None]
        initial += [None] * (2 - len(initial))
        initial.append(counted.lengths)
    output, *last = context.steps(
        "Recurrent",
        [
            products,
            context.constant(weights.recurrence, "recurrence"),
            None,
            None if weights.params is None else context.constant(weights.params),
            *(initial or [None]),
        ],
        ["steps", *(f"last{index}" for index in range(kind.states))],
        mode=kind.mode,
        batch_first=True,
        reverse=layer.flag("go_backwards"),
        reset_after=weights.reset_after,
        **_functions(layer, kind),
    )
    last = [
        context.step("Squeeze", [state], f"state{index}", axes=[1])
        for index, state in enumerate(last)
    ]
    if layer.flag("return_sequences") or counted is not None:
        steps = context.step("Squeeze", [output], "sequence", axes=[2])
        is_turned = layer.flag("go_backwards")
        if counted is not None:
            zero = layer.flag("zero_output_for_mask")
            steps = counted.spread(steps, is_turned, zero)
        if is_turned:
            # Keras gives the last step first.
            steps = backwards(context, steps)
    if layer.flag("return_sequences"):
        context.give(steps)
    else:
        context.gives_mask = False
        if counted is None:
            context.give(last[0])
        else:
            context.emit("StridedSlice", [steps], **_LAST_STEP)
    if layer.flag("return_state"):
        for index, state in enumerate(last):
            context.give(state, index + 1)


def backwards(context: Context, steps: Value) -> Value:
    """The steps of a sequence in the other order."""
    return context.step(
        "StridedSlice",
        [steps],
        "backwards",
        axes=[1],
        begins=[-1],
        ends=[-(2**31)],
        strides=[-1],
    )


def listed(value: object) -> list[Value]:
    """The tensors of an argument that may be a list."""
    values = value if isinstance(value, (list, tuple)) else [value]
    return [item for item in values if isinstance(item, Value)]


@dataclass(frozen=True)
class _Weights:
    kernel: Array
    recurrence: Array
    bias: Array | None
    params: Array | None
    reset_after: bool


def _weights(context: Context, kind: _Kind) -> _Weights:
    layer = context.layer
    units = layer.integer("units")
    width = len(kind.gates) * units

    def ordered(array: Array) -> Array:
        parts = np.split(array, len(kind.gates), axis=-1)
        return np.concatenate([parts[gate] for gate in kind.gates], axis=-1)

    kernel = ordered(context.variable(0, [None, width]))
    recurrence = ordered(context.variable(1, [units, width])).T
    # Only a GRU of Keras 2 without the key had the default false.
    reset_after = layer.kind == "GRU" and layer.flag("reset_after", layer.keras > 2)
    bias = params = None
    if layer.flag("use_bias", True):
        bias = context.variable(2)
        if reset_after:
            if bias.shape != (2, width):
                raise UnsupportedNodeError(f"its bias has the shape {list(bias.shape)}")
            own, other = bias[0].copy(), bias[1].copy()
            params = other[None, 2 * units :].copy()
            other[2 * units :] = 0
            bias = own + other
            params = params if params.any() else None
        if bias.shape != (width,):
            raise UnsupportedNodeError(f"its bias has the shape {list(bias.shape)}")
        bias = ordered(bias)
    return _Weights(kernel, recurrence, bias, params, reset_after)


def _functions(layer: Layer, kind: _Kind) -> dict[str, str | float]:
    attrs: dict[str, str | float] = {}
    default = "hard_sigmoid" if layer.keras < 2 else "sigmoid"
    gate = activation_name(layer, "recurrent_activation")
    gate = gate if layer.has("recurrent_activation") else default
    cell = activation_name(layer) if layer.has("activation") else "linear"
    roles = {"cell": cell}
    if kind.mode != "RNN":
        roles["gate"] = gate
    if kind.mode == "LSTM":
        roles["output"] = cell
    for role, name in roles.items():
        found = _ACTIVATIONS.get(name)
        if name == "hard_sigmoid":
            found = ("HARD_SIGMOID", HARD_SLOPES[min(max(layer.keras, 2), 3)], 0.5)
        if found is None:
            raise UnsupportedNodeError(f"activation {name!r} is not supported")
        attrs[f"{role}_activation"] = found[0]
        attrs[f"{role}_alpha"], attrs[f"{role}_beta"] = map(float, found[1:])
    return attrs


@has_variables(*_KINDS)
def _variables(layer: Layer) -> list[tuple[str, bool]]:
    return trainable(3 if layer.flag("use_bias", True) else 2, "cell/vars")


@HANDLERS.register("Bidirectional")
def bidirectional(context: Context) -> None:
    """Two recurrent layers, one of which reads the steps from the last to the first."""
    layer = context.layer
    forward, backward = (layer.children.get(k) for k in ("layer", "backward_layer"))
    if forward is None or forward.kind not in (*_KINDS, *_OTHERS):
        raise UnsupportedNodeError("it wraps no recurrent layer of Keras")
    if backward is None or backward.kind != forward.kind:
        raise UnsupportedNodeError("its backward layer is another one")
    if not backward.flag("go_backwards"):
        raise UnsupportedNodeError("its backward layer does not go backwards")
    x, *states = context.inputs
    states += listed(context.keywords.get("initial_state"))
    half = len(states) // 2
    keywords = {k: v for k, v in context.keywords.items() if k != "initial_state"}
    if context.masked:
        # Keras does this where it makes the layer.
        zero = {"zero_output_for_mask": forward.flag("return_sequences")}
        forward, backward = (
            replace(side, config={**side.config, **zero})
            for side in (forward, backward)
        )
    first = apply(context, forward, [x, *states[:half]], "forward", keywords)
    second = apply(context, backward, [x, *states[half:]], "backward", keywords)
    a, b = first[0], second[0]
    if forward.flag("return_sequences"):
        b = backwards(context, b)
    else:
        context.gives_mask = False
    index = 0
    mode = layer.text("merge_mode")
    if mode == "concat":
        context.emit("Concat", [a, b], axis=context.rank(a) - 1)
    elif mode in ("sum", "ave", "mul"):
        y = context.step(
            "Eltwise", [a, b], "merged", mode="MUL" if mode == "mul" else "ADD"
        )
        if mode == "ave":
            y = context.step("Eltwise", [y, context.scalar(0.5)], "half", mode="MUL")
        context.give(y)
    elif not mode:
        context.give(a)
        context.give(b, 1)
        index = 1
    else:
        raise UnsupportedNodeError(f"merge_mode is {mode!r}")
    for state in (*first[1:], *second[1:]):
        index += 1
        context.give(state, index)


@HANDLERS.register("TimeDistributed")
def time_distributed(context: Context) -> None:
    """A layer or a model on each step."""
    context.refuse_mask()
    inner = context.layer.children.get("layer")
    if inner is None:
        raise UnsupportedNodeError("it wraps no layer that is supported")
    x = context.input()
    dims = context.dims(x)
    if len(dims) < 3 or -1 in dims[1:]:
        raise UnsupportedNodeError(
            f"the shape of {x.name} is not known before the run",
            "give fixed input_shapes",
        )
    batch = dims[0] * dims[1] if dims[0] != -1 else -1
    flat = context.step("Reshape", [x], "flat", shape=[batch, *dims[2:]])
    results = apply(context, inner, [flat], "each")
    if len(results) != 1:
        raise UnsupportedNodeError(f"it wraps a layer with {len(results)} results")
    (y,) = results
    after = context.dims(y)[1:]
    context.emit("Reshape", [y], shape=[dims[0], dims[1], *after])
