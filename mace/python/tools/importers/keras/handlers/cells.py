# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Cells of recurrent layers: RNN around one or several, and single steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.keras.context import (
    HANDLERS,
    Context,
    has_variables,
    trainable,
)
from mace.python.tools.importers.keras.formats import apply
from mace.python.tools.importers.keras.handlers.recurrent import listed
from mace.python.tools.importers.keras.layer import Layer
from mace.python.tools.ir.graph import Value

# The layer that makes all steps of a cell, and the number of its states.
_LAYERS = {
    "LSTMCell": ("LSTM", 2),
    "GRUCell": ("GRU", 1),
    "SimpleRNNCell": ("SimpleRNN", 1),
}
_OF_RNN = ("stateful", "zero_output_for_mask")


def _layer(cell: Layer, config: Mapping[str, Any]) -> Layer:
    """The layer that makes all steps of a cell."""
    if cell.custom or cell.kind not in _LAYERS:
        raise UnsupportedNodeError(
            f"its cell is {cell.custom or cell.kind}",
            "use LSTMCell, GRUCell, SimpleRNNCell or StackedRNNCells",
        )
    kind, _ = _LAYERS[cell.kind]
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
    x, *states = context.inputs
    states += listed(context.keywords.get("initial_state"))
    keywords = {k: v for k, v in context.keywords.items() if k != "initial_state"}
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
        inner = _layer(cell, config)
        count = _LAYERS[cell.kind][1] if states else 0
        own, states = states[:count], states[count:]
        x, *last = apply(context, inner, [x, *own], f"cell{index}", keywords)
        final += last
    if not sequences:
        context.gives_mask = False
    context.give(x)
    for index, state in enumerate(final):
        context.give(state, index + 1)


@HANDLERS.register(*_LAYERS, "StackedRNNCells")
def step(context: Context) -> None:
    """One step: its result, and the next states."""
    context.no_keywords("training")
    x, *states = context.inputs
    states += listed(context.keywords.get("states"))
    final: list[Value] = []
    x = context.step("ExpandDims", [x], "steps", axes=[1])
    for index, cell in enumerate(_cells(context.layer)):
        config = {"return_sequences": True, "return_state": True}
        inner = _layer(cell, config)
        count = _LAYERS[cell.kind][1]
        if len(states) < count:
            raise UnsupportedNodeError(f"{len(states)} states for {cell.kind}")
        own, states = states[:count], states[count:]
        x, *last = apply(context, inner, [x, *own], f"step{index}")
        final += last
    context.emit("Squeeze", [x], axes=[1])
    for index, state in enumerate(final):
        context.give(state, index + 1)


@has_variables(*_LAYERS)
def _variables(layer: Layer) -> list[tuple[str, bool]]:
    return trainable(3 if layer.flag("use_bias", True) else 2)
