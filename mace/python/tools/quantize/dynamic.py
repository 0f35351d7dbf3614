# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Products by large constant matrices in integers of 8 bits, without samples.

Weights become int8, symmetric, with one scale for each output; what they are multiplied
by is quantized in each run, with one scale for each row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mace.python.tools.ir import Constant, Graph, Op
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
        in_floats: of the fully connected layers that stay in floats, with the reason.
        weights: the number of all weights that are now of 8 bits.
    """

    names: tuple[str, ...]
    in_floats: tuple[tuple[str, str], ...]
    weights: int

    def summary(self) -> str:
        """One line for people."""
        count = len(self.names) + len(self.in_floats)
        text = (
            f"{len(self.names)} of {count} fully connected layers quantize their input "
            f"in each run; {self.weights} weights in 8 bits"
        )
        reasons = [f"{name} ({reason})" for name, reason in self.in_floats]
        return text + (f"; in floats: {', '.join(reasons)}" if reasons else "")


def quantize_dynamically(graph: Graph) -> DynamicallyQuantized:
    """Rewrites the fully connected layers of a graph after the passes."""
    names, in_floats, weights = [], [], 0
    for op in graph.ops:
        if op.type != "FullyConnected" or is_quantized(op):
            continue
        reason = _reason(op)
        if reason:
            in_floats.append((op.name, reason))
            continue
        constant = op.input(1).constant
        assert constant is not None
        weights += constant.size
        names.append(op.name)
        _rewrite(graph, op, constant)
    graph.prune()
    graph.sort()
    return DynamicallyQuantized(tuple(names), tuple(in_floats), weights)


def _reason(op: Op) -> str:
    """Why a layer stays in floats; '' if it does not."""
    constant = op.input(1).constant
    if constant is None or op.input(1).dtype is not DataType.FLOAT32:
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


def _rewrite(graph: Graph, op: Op, weights: Constant) -> None:
    scales = weight_scales(weights.numpy())
    integers = weights.map(
        lambda w: round_weights(w, scales), weights.shape[::-1], DataType.INT8
    )
    name = op.input(1).name
    inputs: list[Value | None] = [
        op.input(0),
        graph.add_constant(graph.unique_name(f"{name}/int8"), integers),
        graph.add_constant(graph.unique_name(f"{name}/scales"), scales),
        None,
        op.get_input(2),
        op.get_input(RESIDUAL),
    ]
    while inputs[-1] is None:
        inputs.pop()
    attrs = {key: op.attrs[key] for key in FUSED_ACTIVATION if key in op.attrs}
    graph.replace_op(op, "DynamicQuantizeMatMul", inputs, {"range": "ROW", **attrs})
