# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Random numbers; no two frameworks draw the same ones."""

from __future__ import annotations

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.apply import apply_operator
from mace.python.tools.importers.tflite.context import HANDLERS, Context

_INT64 = 7  # of ONNX


@HANDLERS.register("RANDOM_STANDARD_NORMAL", "RANDOM_UNIFORM")
def random(context: Context) -> None:
    """Every run draws others."""
    normal = context.operator.type == "RANDOM_STANDARD_NORMAL"
    context.apply(
        "RandomStandardNormal" if normal else "RandomUniform",
        seed=context.node.integer("seed"),
        seed2=context.node.integer("seed2"),
    )


@HANDLERS.register("MULTINOMIAL")
def multinomial(context: Context) -> None:
    """Classes, drawn by the logarithms of their chances."""
    count = context.ints(1, "the number of samples")
    if len(count) != 1:
        raise UnsupportedNodeError(f"the number of samples is {count}")
    (found,) = apply_operator(
        context.builder,
        "Multinomial",
        [context.input(0)],
        context.node.name,
        sample_size=count[0],
        dtype=_INT64,
    )
    context.pass_on(found)
