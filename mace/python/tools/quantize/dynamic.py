# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Products by large constant matrices in integers of 8 bits, without samples.

Weights become int8, symmetric, with one scale for each output; what they are multiplied
by is quantized in each run, with one scale for each row. Of a recurrent layer, that is
the state, in each step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mace.python.tools.ir import Graph, Op
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.quantized_ops import is_quantized
from mace.python.tools.passes.match import FUSED_ACTIVATION, RESIDUAL

if TYPE_CHECKING:
    from mace.python.tools.ir import Value

# Quantizing the rows and the scales of results take time, too. With AVX-512 VNNI and
# 128 rows, a layer of 32 outputs and 32 inputs took 1.29 times as long as in floats,
# 32 and 64 1.04 times, 32 and 128 0.91 times, 128 and 32 0.73 times.
LEAST_OUTPUTS = 32
LEAST_DEPTH = 32
LEAST_WEIGHTS = 4096
_LARGEST = 127


@dataclass(frozen=True)
class DynamicallyQuantized:
    """The products of a model that each run quantizes.

    Attributes:
        names: of these operators.
        in_floats: of the fully connected and recurrent layers that stay in floats, with
            the reason.
        weights: the number of all weights that are now of 8 bits.
        recurrent: whether some of these layers are recurrent ones.
    """

    names: tuple[str, ...]
    in_floats: tuple[tuple[str, str], ...]
    weights: int
    recurrent: bool = False

    def summary(self) -> str:
        """One line for people."""
        count = len(self.names) + len(self.in_floats)
        kinds = "fully connected and recurrent" if self.recurrent else "fully connected"
        text = (
            f"{len(self.names)} of {count} {kinds} layers quantize their input "
            f"in each run; {self.weights} weights in 8 bits"
        )
        reasons = [f"{name} ({reason})" for name, reason in self.in_floats]
        return text + (f"; in floats: {', '.join(reasons)}" if reasons else "")


def quantize_dynamically(graph: Graph) -> DynamicallyQuantized:
    """Rewrites the fully connected and recurrent layers of a graph after the passes."""
    names, in_floats, weights = [], [], 0
    recurrent = any(op.type == "Recurrent" for op in graph.ops)
    for op in graph.ops:
        form = _FORMS.get(op.type)
        if form is None or is_quantized(op):
            continue
        ports, rewrite = form
        matrices = [value for port in ports if (value := op.get_input(port))]
        reason = next(filter(None, map(_reason, matrices)), "")
        if reason:
            in_floats.append((op.name, reason))
            continue
        weights += sum(value.constant.size for value in matrices if value.constant)
        names.append(op.name)
        rewrite(graph, op)
    graph.prune()
    graph.sort()
    return DynamicallyQuantized(tuple(names), tuple(in_floats), weights, recurrent)


def _reason(value: Value) -> str:
    """Why a layer with these weights stays in floats; '' if it does not."""
    constant = value.constant
    if constant is None or value.dtype is not DataType.FLOAT32:
        return "its weights are no constant floats"
    outputs, depth = constant.shape
    small = outputs < LEAST_OUTPUTS or depth < LEAST_DEPTH
    if small or outputs * depth < LEAST_WEIGHTS:
        return f"its weights are only {outputs} x {depth}"
    if not np.isfinite(constant.numpy()).all():
        return "not all of its weights are finite"
    return ""


def weight_scales(weights: Array) -> Array:
    """The scale of each output, float32 [O].

    Args:
        weights: finite float32 [O, K].
    """
    scales = np.abs(weights).max(axis=1).astype(np.float32) / np.float32(_LARGEST)
    # Weights of 0, or next to it, need no scale.
    return np.asarray(
        np.where(scales > np.finfo(np.float32).tiny, scales, np.float32(1))
    )


def round_weights(weights: Array, scales: Array) -> Array:
    """The integers of weights [O, K]: int8 [K, O]."""
    steps = np.rint(weights / scales[:, None])
    return np.ascontiguousarray(np.clip(steps, -_LARGEST, _LARGEST).astype(np.int8).T)


def _integers(graph: Graph, weights: Value) -> tuple[Value, Array]:
    """Weights [O, K] as int8 [K, O], and the scales [O]."""
    constant = weights.constant
    assert constant is not None
    scales = weight_scales(constant.numpy())
    integers = constant.map(
        lambda w: round_weights(w, scales), constant.shape[::-1], DataType.INT8
    )
    name = graph.unique_name(f"{weights.name}/int8")
    return graph.add_constant(name, integers), scales


def _scales(graph: Graph, weights: Value, scales: Array) -> Value:
    return graph.add_constant(graph.unique_name(f"{weights.name}/scales"), scales)


def _product(graph: Graph, op: Op) -> None:
    integers, scales = _integers(graph, op.input(1))
    inputs: list[Value | None] = [
        op.input(0),
        integers,
        _scales(graph, op.input(1), scales),
        None,
        op.get_input(2),
        op.get_input(RESIDUAL),
    ]
    while inputs[-1] is None:
        inputs.pop()
    attrs = {key: op.attrs[key] for key in FUSED_ACTIVATION if key in op.attrs}
    graph.replace_op(op, "DynamicQuantizeMatMul", inputs, {"range": "ROW", **attrs})


def _layer(graph: Graph, op: Op) -> None:
    integers, scales = _integers(graph, op.input(1))
    of_directions, reverse = [scales], op.get_input(2)
    if reverse is not None:
        reverse, scales = _integers(graph, reverse)
        of_directions.append(scales)
    inputs: list[Value | None] = [
        op.input(0),
        integers,
        _scales(graph, op.input(1), np.stack(of_directions)),
        reverse,
        *(op.get_input(port) for port in range(3, 7)),
    ]
    while inputs[-1] is None:
        inputs.pop()
    graph.replace_op(
        op, "DynamicQuantizeRecurrent", inputs, {"range": "ROW", **op.attrs}
    )


# By the type of an operator: the ports of its weights, and its rewriting.
_FORMS: Mapping[str, tuple[tuple[int, ...], Callable[[Graph, Op], None]]] = {
    "FullyConnected": ((1,), _product),
    "Recurrent": ((1, 2), _layer),
}
