# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Elementwise non-linearities, which many operators apply to their results."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Op

# NumPy has no error function.
erf = np.vectorize(math.erf, otypes=[np.float64])


def check_fused(op: Op) -> None:
    """Checks the activation that an operator ends in.

    Raises:
        ValueError: it has more inputs than its operand.
    """
    if op.attr("activation") == "PRELU":
        raise ValueError(
            "activation PRELU cannot be fused; use an operator Activation with slopes"
        )


def activation_bounds(op: Op) -> tuple[float, float] | None:
    """Between which numbers the activation of an operator leaves its results; None if
    the operator ends in none, or in one that does not limit both sides.
    """
    if "activation" not in op.attrs:
        return None
    limit = float(op.attr("activation_limit"))
    limits = {
        "RELUX": (min(0.0, limit), limit),
        "SIGMOID": (0.0, 1.0),
        "HARD_SIGMOID": (0.0, 1.0),
        "TANH": (-1.0, 1.0),
        "SOFTSIGN": (-1.0, 1.0),
    }
    return limits.get(op.attr("activation"))


def activate(op: Op, x: Array, slope: Array | None = None) -> Array:
    """Applies the activation that the attributes of `op` name, in float64."""
    kind = op.attr("activation")
    if kind == "NONE":
        return x
    x = x.astype(np.float64)
    limit, alpha, beta = (
        op.attr(f"activation_{n}") for n in ("limit", "alpha", "beta")
    )
    if kind == "PRELU":
        assert slope is not None
        return np.where(x < 0, slope * x, x)
    functions: dict[str, Callable[[], Array]] = {
        "RELU": lambda: np.maximum(x, 0),
        "RELUX": lambda: np.minimum(np.maximum(x, 0), limit),
        "LEAKY_RELU": lambda: np.where(x < 0, alpha * x, x),
        "SIGMOID": lambda: sigmoid(x),
        "TANH": lambda: np.tanh(x),
        "ELU": lambda: np.where(x < 0, alpha * np.expm1(x), x),
        "HARD_SIGMOID": lambda: np.clip(alpha * x + beta, 0, 1),
        "HARD_SWISH": lambda: x * np.clip(x / 6 + 0.5, 0, 1),
        "SWISH": lambda: x * sigmoid(x),
        "GELU": lambda: x / 2 * (1 + erf(x / math.sqrt(2))),
        "SOFTPLUS": lambda: np.logaddexp(0, x),
        "SOFTSIGN": lambda: x / (1 + np.abs(x)),
        "GELU_TANH": lambda: (
            x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
        ),
    }
    return functions[kind]()


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)) without overflow."""
    e = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1, e) / (1 + e))
