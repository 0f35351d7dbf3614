# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""LSTM, GRU and RNN: the products of all steps' inputs as one, then the steps.

With weights of 8 bits that are multiplied as integers (`recurrent_of_integers`), each
run quantizes the input, and each step the state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import compatible, format_shape

_X, _W, _R, _B, _LENGTHS, _INITIAL_H, _INITIAL_C, _P = range(8)
_DIRECTIONS = {"forward": 1, "reverse": 1, "bidirectional": 2}
_REQUIRED = float("nan")  # there is no default


@dataclass(frozen=True)
class _Kind:
    """Attributes:
    gates: their number.
    activations: the defaults.
    roles: which activations of Recurrent these are.
    """

    gates: int
    activations: tuple[str, ...]
    roles: tuple[str, ...]


_KINDS = {
    "RNN": _Kind(1, ("Tanh",), ("cell",)),
    "GRU": _Kind(3, ("Sigmoid", "Tanh"), ("gate", "cell")),
    "LSTM": _Kind(4, ("Sigmoid", "Tanh", "Tanh"), ("gate", "cell", "output")),
}

# In lower case: the name in RecurrentActivation, and the defaults of alpha and beta;
# None if the function has none.
_ACTIVATIONS: dict[str, tuple[str, float | None, float | None]] = {
    "sigmoid": ("SIGMOID", None, None),
    "tanh": ("TANH", None, None),
    "relu": ("RELU", None, None),
    "affine": ("AFFINE", _REQUIRED, _REQUIRED),
    "leakyrelu": ("LEAKY_RELU", 0.01, None),
    "thresholdedrelu": ("THRESHOLDED_RELU", 1.0, None),
    "scaledtanh": ("SCALED_TANH", _REQUIRED, _REQUIRED),
    "hardsigmoid": ("HARD_SIGMOID", 0.2, 0.5),
    "elu": ("ELU", 1.0, None),
    "softsign": ("SOFTSIGN", None, None),
    "softplus": ("SOFTPLUS", None, None),
}


@dataclass(frozen=True)
class IntegerWeights:
    """Matrices of 8-bit integers, one for each direction.

    Attributes:
        numbers: int8 [D, K, G * H].
        scales: float32 [D, G * H].
        zeros: int8 [D, G * H]; None: 0.
    """

    numbers: Array
    scales: Array
    zeros: Array | None


@HANDLERS.register("RNN")
@HANDLERS.register("GRU")
@HANDLERS.register("LSTM")
def _recurrent(node: Node) -> None:
    _emit(node, node.type, _FloatLayer)


def recurrent_of_integers(
    node: Node, mode: str, of_input: IntegerWeights, of_state: IntegerWeights
) -> None:
    """A node with the attributes and inputs of RNN, GRU or LSTM, but for its weights,
    whose input and states the run quantizes, each with one scale.

    Args:
        mode: the operator that it is in floats.
        of_input: the weights that the input is multiplied by.
        of_state: those of the state.

    Raises:
        UnsupportedNodeError: their shapes do not belong together.
    """
    _emit(
        node,
        mode,
        lambda node, mode, count: _IntegerLayer(node, mode, count, of_input, of_state),
    )


def _emit(node: Node, mode: str, layer_of: Callable[[Node, str, int], _Layer]) -> None:
    kind = _KINDS[mode]
    count = node.choice("direction", "forward", _DIRECTIONS)
    functions = _functions(node, kind, count)
    layer = layer_of(node, mode, count)
    common = {
        "mode": mode,
        "batch_first": layer.batch_first,
        "reset_after": layer.reset_after,
        "couple_gates": node.flag("input_forget", False),
        "clip": layer.clip,
        # ONNX does not say what becomes of the initial states of rows without steps;
        # ONNX Runtime drops them.
        "forget_unread": node.has_input(_INITIAL_H) or node.has_input(_INITIAL_C),
        **layer.attributes,
    }
    parts = [layer.of(range(count))]
    backwards = node.text("direction", "forward") == "reverse"
    attributes = [{**common, **functions[0], "reverse": backwards}]
    if count == 2 and functions[0] != functions[1]:
        parts = [layer.of([0]), layer.of([1])]
        attributes = [
            {**common, **own, "reverse": d == 1} for d, own in enumerate(functions)
        ]
    outputs = 3 if mode == "LSTM" else 2
    results = [
        node.make_all(layer.operator, inputs, own, outputs)
        for inputs, own in zip(parts, attributes)
    ]
    # The axis of the directions.
    axes = (2, 1, 1) if layer.batch_first else (1, 0, 0)
    for index in range(outputs):
        values = [result[index] for result in results]
        whole = values[0]
        if len(values) > 1 and node.is_used(index):
            whole = node.make("Concat", values, {"axis": axes[index]})
        node.set_output(index, whole)


class _Layer:
    """The operands of a node, checked."""

    operator: ClassVar[str]
    # Of the operator, besides those of every layer.
    attributes: ClassVar[Mapping[str, str]] = {}

    def __init__(self, node: Node, mode: str, directions: int) -> None:
        self._node = node
        self._mode = mode
        self._gates = _KINDS[mode].gates
        self._directions = directions
        x = node.shape(node.input(_X))
        if len(x) != 3:
            raise UnsupportedNodeError(f"the input has {len(x)} dimensions, not 3")
        self._units = units = self._read_weights()
        asked = node.integer("hidden_size", units)
        if asked != units:
            raise UnsupportedNodeError(f"hidden_size is {asked}, but R has {units}")
        self._bias: Array | None = None
        if node.has_input(_B):
            shape = (directions, 2 * self._gates * units)
            self._bias = self._constant(_B, "B", shape).numpy()
        self._peepholes: Array | None = None
        if mode == "LSTM" and node.has_input(_P):
            self._peepholes = self._constant(_P, "P", (directions, 3 * units)).numpy()
        self.batch_first = node.flag("layout", False)
        self.reset_after = mode == "GRU" and node.flag("linear_before_reset", False)
        self.clip = node.real("clip", 0.0)
        if node.has("clip") and not self.clip > 0:
            raise UnsupportedNodeError(f"clip is {self.clip}")

    def _read_weights(self) -> int:
        """The number of units."""
        raise NotImplementedError

    def of(self, directions: Sequence[int]) -> list[Value | None]:
        """The inputs of the operator for some of the directions."""
        raise NotImplementedError

    def _constant(
        self, port: int, name: str, shape: tuple[int | None, ...]
    ) -> Constant:
        constant = self._node.elements(port, name)
        _check_shape(name, constant.shape, shape)
        return constant

    def _others(self, chosen: list[int], params: Array | None) -> list[Value | None]:
        """The inputs behind the weights, params to lengths."""
        node = self._node
        return [
            None if params is None else node.literal(params),
            self._state(_INITIAL_H, chosen),
            self._state(_INITIAL_C, chosen) if self._mode == "LSTM" else None,
            node.optional(_LENGTHS),
        ]

    def _biases(self, chosen: list[int]) -> tuple[Array | None, Array | None]:
        """The bias of the products of the input, and the operand params."""
        peepholes = None if self._peepholes is None else self._peepholes[chosen]
        if self._bias is None:
            return None, peepholes
        w, r = np.split(self._bias[chosen], 2, axis=1)
        if not self.reset_after:
            return w + r, peepholes
        # The reset gate multiplies the last gate's product with its bias.
        params = r[:, 2 * self._units :].copy()
        r[:, 2 * self._units :] = 0
        return w + r, params if params.any() else None

    def _state(self, port: int, chosen: list[int]) -> Value | None:
        node = self._node
        if not node.has_input(port):
            return None
        value = node.input(port)
        if len(chosen) == self._directions:
            return value
        axis = 1 if self.batch_first else 0
        attrs = {"axes": [axis], "begins": chosen, "ends": [chosen[0] + 1]}
        return node.make("StridedSlice", [value], {**attrs, "strides": [1]})


class _FloatLayer(_Layer):
    operator = "Recurrent"

    def _read_weights(self) -> int:
        node = self._node
        r = node.shape(node.input(_R))
        if len(r) != 3 or not isinstance(r[2], int):
            raise UnsupportedNodeError("the size of R is not known before the run")
        units = r[2]
        columns = self._gates * units
        self._weights = self._constant(_W, "W", (self._directions, columns, None))
        self._recurrence = self._constant(_R, "R", (self._directions, columns, units))
        return units

    def of(self, directions: Sequence[int]) -> list[Value | None]:
        node, chosen = self._node, list(directions)
        columns = self._weights.shape[2]
        rows = len(chosen) * self._gates * self._units
        weights = self._weights.moved(
            lambda array: array[chosen].reshape(-1, columns), (rows, columns)
        )
        bias, params = self._biases(chosen)
        offset = None if bias is None else node.literal(bias.reshape(-1))
        products = node.make(
            "FullyConnected", [node.input(_X), node.lazy(weights, "W"), offset]
        )
        recurrence = [node.lazy(self._recurrence_of(d), "R") for d in chosen]
        return [
            products,
            *(recurrence if len(recurrence) == 2 else [*recurrence, None]),
            *self._others(chosen, params),
        ]

    def _recurrence_of(self, direction: int) -> Constant:
        shape = self._recurrence.shape[1:]
        return self._recurrence.moved(lambda array: array[direction], shape)


class _IntegerLayer(_Layer):
    operator = "DynamicQuantizeRecurrent"
    attributes: ClassVar[Mapping[str, str]] = {"range": "TENSOR"}

    def __init__(
        self,
        node: Node,
        mode: str,
        directions: int,
        of_input: IntegerWeights,
        of_state: IntegerWeights,
    ) -> None:
        self._of_input = of_input
        self._of_state = of_state
        super().__init__(node, mode, directions)

    def _read_weights(self) -> int:
        shape = self._of_state.numbers.shape
        if len(shape) != 3:
            raise UnsupportedNodeError(f"R has {len(shape)} dimensions, not 3")
        units = int(shape[1])
        columns = self._gates * units
        for name, given, depth in (
            ("W", self._of_input, None),
            ("R", self._of_state, units),
        ):
            _check_shape(name, given.numbers.shape, (self._directions, depth, columns))
        return units

    def of(self, directions: Sequence[int]) -> list[Value | None]:
        node, chosen = self._node, list(directions)
        bias, params = self._biases(chosen)
        of_input, of_state = self._of_input, self._of_state
        numbers = np.concatenate([of_input.numbers[d] for d in chosen], axis=1)
        products = node.make(
            "DynamicQuantizeMatMul",
            [
                node.input(_X),
                _integers(node, numbers, "W"),
                node.literal(of_input.scales[chosen].reshape(-1)),
                _zeros(node, of_input, chosen, (-1,)),
                None if bias is None else node.literal(bias.reshape(-1)),
            ],
            {"range": "TENSOR"},
        )
        recurrence = [_integers(node, of_state.numbers[d], "R") for d in chosen]
        return [
            products,
            recurrence[0],
            node.literal(of_state.scales[chosen]),
            recurrence[1] if len(recurrence) == 2 else None,
            *self._others(chosen, params),
            _zeros(node, of_state, chosen, (len(chosen), -1)),
        ]


def _integers(node: Node, numbers: Array, suffix: str) -> Value:
    return node.lazy(Constant.of(np.ascontiguousarray(numbers)), suffix)


def _zeros(
    node: Node, weights: IntegerWeights, chosen: list[int], shape: tuple[int, ...]
) -> Value | None:
    if weights.zeros is None or not weights.zeros[chosen].any():
        return None
    return _integers(node, weights.zeros[chosen].reshape(shape), "zeros")


def _check_shape(
    name: str, found: tuple[int, ...], shape: tuple[int | None, ...]
) -> None:
    if not compatible(found, shape):
        raise UnsupportedNodeError(
            f"{name} is {format_shape(found)}, not {format_shape(shape)}"
        )


def _functions(node: Node, kind: _Kind, count: int) -> list[dict[str, str | float]]:
    """The attributes of the activations, for each direction."""
    names = list(kind.activations) * count
    if node.has("activations"):
        names = node.texts("activations")
    if len(names) != len(kind.activations) * count:
        raise UnsupportedNodeError(
            f"{len(names)} activations for {count} directions of "
            f"{len(kind.activations)}"
        )
    alphas, betas = (
        node.reals(name, []) for name in ("activation_alpha", "activation_beta")
    )
    attributes: list[dict[str, str | float]] = [{} for _ in range(count)]
    for index, name in enumerate(names):
        found = _ACTIVATIONS.get(name.lower())
        if found is None:
            raise UnsupportedNodeError(f"activation {name!r}")
        d, role = divmod(index, len(kind.roles))
        attributes[d][f"{kind.roles[role]}_activation"] = found[0]
        # Only functions that have a number take one from the list.
        for what, default, numbers in zip(
            ("alpha", "beta"), found[1:], (alphas, betas)
        ):
            if default is None:
                continue
            number = numbers.pop(0) if numbers else default
            if np.isnan(number):
                raise UnsupportedNodeError(
                    f"activation {name!r} lacks activation_{what}"
                )
            attributes[d][f"{kind.roles[role]}_{what}"] = number
    return attributes
