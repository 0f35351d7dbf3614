# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds activations that frameworks express as arithmetic operators."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from mace.python.tools.ir import Graph, Op
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.passes import patterns
from mace.python.tools.passes.base import OpPass
from mace.python.tools.passes.match import eltwise
from mace.python.tools.passes.patterns import Pattern, activation, call, either, find

_X = patterns.Any("x")
_SQUARE = call("SQUARE", _X)
_GATE = activation("RELUX", _X + 3, activation_limit=6)
_TANH_OF = either(_X + 0.044715 * (_X * _SQUARE), _X * (1 + 0.044715 * _SQUARE))
_HARD = {"activation_alpha": 1 / 6, "activation_beta": 0.5}

# In the form that `simplify_powers` gives to powers.
_PATTERNS: tuple[tuple[Pattern, Mapping[str, Any]], ...] = (
    (_X * activation("SIGMOID", _X), {"activation": "SWISH"}),
    (_X * activation("HARD_SIGMOID", _X, **_HARD), {"activation": "HARD_SWISH"}),
    (_X * _GATE / 6, {"activation": "HARD_SWISH"}),
    (_GATE / 6, {"activation": "HARD_SIGMOID", **_HARD}),
    (0.5 * _X * (1 + call("ERF", _X / math.sqrt(2))), {"activation": "GELU"}),
    (
        0.5 * _X * (1 + activation("TANH", math.sqrt(2 / math.pi) * _TANH_OF)),
        {"activation": "GELU_TANH"},
    ),
    (_X / (1 + call("ABS", _X)), {"activation": "SOFTSIGN"}),
)


class RecogniseActivations(OpPass):
    """Arithmetic to Activation."""

    name = "recognise_activations"
    requires = (
        "clip_to_relux",
        "remove_neutral",
        "simplify_powers",
        "sink_transposes",
    )
    op_types = ("Eltwise",)

    def rewrite(self, graph: Graph, op: Op) -> bool:
        if eltwise(op.output, op.attr("mode")) is not op:
            return False
        for pattern, attrs in _PATTERNS:
            x = (find(pattern, op.output) or {}).get("x")
            # Not a match if a constant widened the result.
            if x and x.rank == op.output.rank and x.dtype is DataType.FLOAT32:
                graph.replace_op(op, "Activation", [x], attrs)
                return True
        return False
