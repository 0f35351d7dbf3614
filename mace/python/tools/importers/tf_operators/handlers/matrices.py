# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Products of matrices, and equations."""

from __future__ import annotations

from mace.python.tools.importers.emit.einsum import einsum
from mace.python.tools.importers.tf_operators.context import HANDLERS, Context


@HANDLERS.register("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def matmul(context: Context) -> None:
    """Product of two matrices, or of the innermost ones."""
    names = ("transpose_a", "transpose_b")
    given = names if context.node.op == "MatMul" else ("adj_x", "adj_y")
    attrs = {name: context.node.flag(own) for name, own in zip(names, given)}
    context.emit("MatMul", [context.input(0), context.input(1)], **attrs)


@HANDLERS.register("Einsum")
def einsum_of(context: Context) -> None:
    """tf.einsum."""
    equation = context.node.string("equation")
    context.pass_on(einsum(context.make, equation, context.inputs))
