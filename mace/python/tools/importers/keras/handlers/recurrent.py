# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers in one direction or both, their cells, and layers on each step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import (
    HANDLERS,
    Context,
    apply,
    count_variables,
    with_bias,
)
from mace.python.tools.importers.keras.handlers.dense import product
from mace.python.tools.importers.keras.handlers.functions import (
    activation_name,
    hard_slope,
)
from mace.python.tools.importers.keras.network import Layer, nested_items
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
# Other layers that Bidirectional takes.
_OTHERS = ("RNN", "ConvLSTM1D", "ConvLSTM2D")
_OF_RNN = ("stateful", "zero_output_for_mask")
# The layer that makes all steps of a cell.
_CELLS = {"LSTMCell": "LSTM", "GRUCell": "GRU", "SimpleRNNCell": "SimpleRNN"}
_STATEFUL = "stateful is set", "make its states inputs and outputs of the model"


@HANDLERS.register(*_KINDS)
def recurrent(context: Context) -> None:
    """All steps of one direction."""
    layer = context.layer
    kind = _KINDS[layer.kind]
    if layer.flag("time_major"):
        raise UnsupportedNodeError("time_major is set")
    x, states = operands(context, kind.states)
    context.check_rank(x, 3)
    weights = _weights(context, kind)
    initial: list[Value | None] = [
        context.step("ExpandDims", [state], f"initial{index}", axes=[1])
        for index, state in enumerate(states)
    ]
    # Keras 3 takes no mask of the input where there are other tensors.
    is_masked = context.masked and (
        layer.keras < 3 or not states or context.keyword("mask") is not None
    )
    counted = _masked_steps(context) if is_masked else None
    products = product(context, x, weights.kernel, weights.bias, "products")
    if counted is not None:
        products = counted.in_front(products)
        initial = initial or [None]
        initial += [None] * (2 - len(initial))
        initial.append(counted.lengths)
    params = None if weights.params is None else context.constant(weights.params)
    recurrence = context.constant(weights.recurrence, "recurrence")
    output, *last = context.steps(
        "Recurrent",
        [products, recurrence, None, params, *(initial or [None])],
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
            steps = _backwards(context, steps)
    if layer.flag("return_sequences"):
        context.give(steps)
    else:
        context.gives_mask = False
        if counted is None:
            context.give(last[0])
        else:
            side = {"axes": [1], "begins": [-1], "ends": [2**31 - 1], "strides": [1]}
            context.emit("StridedSlice", [steps], **side, shrink_axes=[1])
    if layer.flag("return_state"):
        context.give_all(last, 1)


def operands(context: Context, count: int) -> tuple[Value, list[Value]]:
    """The input of a layer, and `count` initial states or none."""
    context.no_keywords("training")
    if context.layer.flag("stateful"):
        raise UnsupportedNodeError(*_STATEFUL)
    x, *states = map(context.as_floats, _with_states(context, "initial_state"))
    if len(states) not in (0, count):
        raise UnsupportedNodeError(f"{len(states)} initial states")
    return x, states


def _with_states(context: Context, key: str) -> list[Value]:
    """The inputs, and the states that are given by name."""
    return [*context.inputs, *nested_items(Value, context.keywords.get(key))]


def _backwards(context: Context, steps: Value) -> Value:
    """The steps of a sequence in the other order."""
    attrs = {"axes": [1], "begins": [-1], "ends": [-(2**31)], "strides": [-1]}
    return context.step("StridedSlice", [steps], "backwards", **attrs)


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
            found = ("HARD_SIGMOID", hard_slope(layer), 0.5)
        if found is None:
            raise UnsupportedNodeError(f"activation {name!r} is not supported")
        attrs[f"{role}_activation"] = found[0]
        attrs[f"{role}_alpha"], attrs[f"{role}_beta"] = map(float, found[1:])
    return attrs


count_variables(*_KINDS, count=with_bias(2), folder="cell/vars")
count_variables(*_CELLS, count=with_bias(2))


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
    x, *states = _with_states(context, "initial_state")
    half = len(states) // 2
    keywords = {**context.keywords, "initial_state": None}
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
        b = _backwards(context, b)
    else:
        context.gives_mask = False
    mode = layer.text("merge_mode")
    if mode == "concat":
        merged = [context.step("Concat", [a, b], axis=context.rank(a) - 1)]
    elif mode in ("sum", "ave", "mul"):
        y = context.eltwise("MUL" if mode == "mul" else "ADD", a, b)
        merged = [context.eltwise("MUL", y, 0.5) if mode == "ave" else y]
    elif not mode:
        merged = [a, b]
    else:
        raise UnsupportedNodeError(f"merge_mode is {mode!r}")
    context.give_all([*merged, *first[1:], *second[1:]])


@HANDLERS.register("TimeDistributed")
def time_distributed(context: Context) -> None:
    """A layer or a model on each step."""
    context.refuse_mask()
    inner = context.layer.children.get("layer")
    if inner is None:
        raise UnsupportedNodeError("it wraps no layer that is supported")
    x = context.input()
    dims = context.dims(x)
    if len(dims) < 3:
        raise UnsupportedNodeError(f"the input has {len(dims)} dimensions, no steps")
    context.known_dims(context.shape(x)[1:], f"the shape of {x.name} is")
    batch = dims[0] * dims[1] if dims[0] != -1 else -1
    flat = context.step("Reshape", [x], "flat", shape=[batch, *dims[2:]])
    results = apply(context, inner, [flat], "each")
    if len(results) != 1:
        raise UnsupportedNodeError(f"it wraps a layer with {len(results)} results")
    (y,) = results
    after = context.dims(y)[1:]
    context.emit("Reshape", [y], shape=[dims[0], dims[1], *after])


# Cells -------------------------------------------------------------------------------


def _layer_of(cell: Layer, config: Mapping[str, Any]) -> Layer:
    """The layer that makes all steps of a cell."""
    if cell.custom or cell.kind not in _CELLS:
        raise UnsupportedNodeError(
            f"its cell is {cell.custom or cell.kind}",
            "use LSTMCell, GRUCell, SimpleRNNCell or StackedRNNCells",
        )
    kind = _CELLS[cell.kind]
    return replace(cell, kind=kind, config={**cell.config, **config}, children={})


def _cells(cell: Layer | None) -> list[Layer]:
    if cell is None:
        raise UnsupportedNodeError("it has no cell")
    if cell.kind == "StackedRNNCells" and not cell.custom:
        return list(cell.children.values())
    return [cell]


@HANDLERS.register("RNN")
def rnn(context: Context) -> None:
    """One recurrent layer behind the other, for each cell."""
    layer = context.layer
    cells = _cells(layer.children.get("cell"))
    x, *states = _with_states(context, "initial_state")
    keywords = {**context.keywords, "initial_state": None}
    common = {key: layer.config[key] for key in _OF_RNN if layer.has(key)}
    sequences, shows = layer.flag("return_sequences"), layer.flag("return_state")
    final: list[Value] = []
    for index, cell in enumerate(cells):
        is_last = index == len(cells) - 1
        config = {
            **common,
            "return_sequences": sequences or not is_last,
            "return_state": shows,
            # What follows has the steps in this order already.
            "go_backwards": layer.flag("go_backwards") and index == 0,
        }
        inner = _layer_of(cell, config)
        count = _KINDS[inner.kind].states if states else 0
        own, states = states[:count], states[count:]
        x, *last = apply(context, inner, [x, *own], f"cell{index}", keywords)
        final += last
    if not sequences:
        context.gives_mask = False
    context.give_all([x, *final])


@HANDLERS.register(*_CELLS, "StackedRNNCells")
def step(context: Context) -> None:
    """One step: its result, and the next states."""
    context.no_keywords("training")
    x, *states = _with_states(context, "states")
    final: list[Value] = []
    x = context.step("ExpandDims", [x], "steps", axes=[1])
    for index, cell in enumerate(_cells(context.layer)):
        config = {"return_sequences": True, "return_state": True}
        inner = _layer_of(cell, config)
        count = _KINDS[inner.kind].states
        if len(states) < count:
            raise UnsupportedNodeError(f"{len(states)} states for {cell.kind}")
        own, states = states[:count], states[count:]
        x, *last = apply(context, inner, [x, *own], f"step{index}")
        final += last
    context.give_all([context.step("Squeeze", [x], axes=[1]), *final])


# Masked steps -------------------------------------------------------------------------
#
# A recurrent layer leaves masked steps out: its state stays, and so does its output, or
# that is 0. Here the steps that count move to the front, the layer computes as many of
# them as there are, and each step takes the result of the last one that counts.


@dataclass(frozen=True)
class _Steps:
    """The steps of a sequence that count.

    Attributes:
        numbers: [batch, steps], 1 where one counts and 0 elsewhere.
        lengths: [batch], how many do.
        order: [batch, steps, 1], where they are, and then the others.
    """

    context: Context
    numbers: Value
    lengths: Value
    order: Value

    def in_front(self, x: Value) -> Value:
        """[batch, steps, ...] with the steps that count first."""
        return self.context.step("GatherNd", [x, self.order], "in_front", batch_dims=1)

    def spread(self, x: Value, backwards: bool, zero: bool) -> Value:
        """What `in_front` moved, at its places again.

        Args:
            x: [batch, steps, units].
            backwards: the layer reads from the last step to the first.
            zero: masked steps are 0; otherwise they repeat the step before.
        """
        context = self.context
        before = context.step(
            "CumSum", [self.numbers], "before", axis=1, exclusive=backwards
        )
        if backwards:
            places = before
            column = context.step("ExpandDims", [self.lengths], "column", axes=[1])
            none = context.eltwise("GREATER_EQUAL", before, column)
        else:
            places = context.eltwise("SUB", before, 1)
            none = context.eltwise("LESS", before, 1)
        places = context.eltwise("MAX", places, 0)
        last = context.fixed(self.numbers)[1] - 1
        places = context.eltwise("MIN", places, last)
        places = context.step("ExpandDims", [places], "chosen", axes=[2])
        read = context.step("GatherNd", [x, places], "spread", batch_dims=1)
        if zero:
            none = context.eltwise("EQUAL", self.numbers, 0)
        none = context.step("ExpandDims", [none], "rows", axes=[2])
        return context.step("Where", [none, context.scalar(0.0), read], "kept")


def _masked_steps(context: Context) -> _Steps:
    """The steps that the mask of the input leaves.

    Raises:
        UnsupportedNodeError: the mask is not known, or its length.
    """
    mask = context.known_mask()
    shape = context.fixed(mask)
    if len(shape) != 2 or shape[1] < 1:
        raise UnsupportedNodeError(f"its mask has the shape {list(shape)}")
    count = shape[1]
    numbers = context.step("Cast", [mask], "numbers", to="INT32")
    floats = context.step("Cast", [mask], "floats", to="FLOAT32")
    lengths = context.as_integers(context.reduce("SUM", floats, [1], False))
    places = context.constant(np.arange(count, dtype=np.int32), "all")
    later = context.constant(np.arange(count, 2 * count, dtype=np.int32), "later")
    keys = context.step("Where", [mask, places, later], "keys")
    _, order = context.steps(
        "TopK", [keys], ["sorted", "order"], k=count, axis=1, largest=False
    )
    order = context.step("ExpandDims", [order], "front", axes=[2])
    return _Steps(context, numbers, lengths, order)
