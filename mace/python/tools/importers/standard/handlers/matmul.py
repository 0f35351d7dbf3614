# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Matrices: products, determinants, inverses and triangles."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.emit.einsum import einsum
from mace.python.tools.importers.frame.budget import check_made
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.lengths import NodeLengths
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.importers.standard.operators import Operators, inverse
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value


def as_matrices(node: Node) -> tuple[Value, Value, list[int]]:
    """Both operands with at least two dimensions. A vector becomes a row on the left
    and a column on the right; the added dimension is removed from the result.

    Returns:
        The operands, and the axes of their product that must go.
    """
    a, b = node.input(0), node.input(1)
    ranks = len(node.shape(a)), len(node.shape(b))
    if 0 in ranks:
        raise UnsupportedNodeError("a scalar operand")
    gone = []
    if ranks[0] == 1:
        a = node.expand_dims(a, [0])
        gone.append(-2)
    if ranks[1] == 1:
        b = node.expand_dims(b, [1])
        gone.append(-1)
    return a, b, gone


@HANDLERS.register("MatMul")
def _matmul(node: Node) -> None:
    a, b, gone = as_matrices(node)
    if not gone:
        node.emit("MatMul", [a, b])
        return
    product = node.make("MatMul", [a, b])
    node.emit("Squeeze", [product], {"axes": gone})


@HANDLERS.register("Gemm")
def _gemm(node: Node) -> None:
    a, b = node.input(0), _times(node, node.input(1), node.real("alpha", 1.0))
    for value in (a, b):
        if len(node.shape(value)) != 2:
            raise UnsupportedNodeError(f"{value.name} is no matrix")
    attrs = {
        "transpose_a": node.flag("transA", False),
        "transpose_b": node.flag("transB", False),
    }
    beta = node.real("beta", 1.0)
    if not node.has_input(2) or beta == 0.0:
        node.emit("MatMul", [a, b], attrs)
        return
    product = node.make("MatMul", [a, b], attrs)
    offset = _times(node, node.input(2), beta)
    node.emit("Eltwise", [product, offset], {"mode": "ADD"})


def _times(node: Node, value: Value, factor: float) -> Value:
    if factor == 1.0:
        return value
    constant = value.constant
    if constant is None:
        number = node.scalar(factor, value)
        return node.eltwise("MUL", value, number)
    return node.lazy(_scaled(constant, factor), "scaled")


def _scaled(constant: Constant, factor: float) -> Constant:
    target = constant.dtype.numpy
    return constant.map(lambda array: (array * factor).astype(target))


@HANDLERS.register("Einsum")
def _einsum(node: Node) -> None:
    values = [node.input(index) for index in range(len(node.inputs))]
    node.set_output(0, einsum(node.make, node.text("equation", ""), values))


@HANDLERS.register("Det")
def _det(node: Node) -> None:
    node.emit("Determinant", [node.input(0)])


@HANDLERS.register("com.microsoft.Inverse")
def _inverse(node: Node) -> None:
    operators = Operators(node.builder, node.label)
    node.set_output(0, inverse(operators, node.input(0)))


# No axis is longer.
FARTHEST = 2**30


@HANDLERS.register("Trilu")
def _trilu(node: Node) -> None:
    x = node.input(0)
    dims = node.shape(x)
    if len(dims) < 2:
        raise UnsupportedNodeError(f"the input has {len(dims)} dimensions, not 2")
    diagonal = node.constant_number(1, "k") if node.has_input(1) else 0
    # Far beyond the corners, every k is the same, and no sum overflows.
    rows, columns = dims[-2:]
    if not isinstance(rows, int) or not isinstance(columns, int):
        k = int(np.clip(diagonal, -FARTHEST, FARTHEST))
        whole = NodeLengths(node).triangle(x, k, node.flag("upper", True))
        node.set_output(0, whole)
        return
    k = int(np.clip(diagonal, -rows, columns))
    check_made(rows, columns)
    triangle = np.tri(rows, columns, k - 1 if node.flag("upper", True) else k, bool)
    kept = ~triangle if node.flag("upper", True) else triangle
    mask = node.literal(kept, DataType.BOOL)
    node.emit("Where", [mask, x, node.scalar(0, x)])
