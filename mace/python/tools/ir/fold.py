# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Computes operators during conversion if their inputs are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.evaluate import evaluate_op
from mace.python.tools.ir.graph import Graph, Op, Value
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.shapes import product, static

_INT32 = np.iinfo(np.int32)
# Results with more elements are kept only if they are not larger than the operands; a
# broadcast filled tensor would otherwise inflate the model file.
_ALWAYS_FOLD_ELEMENTS = 1 << 16
_LARGEST_GROWTH = 4


def fold_op(graph: Graph, op: Op) -> bool:
    """Converts the outputs of `op` to constants if they are known. Large results are
    computed only when they are needed.
    """
    known = rules_of(op.type).known_outputs(op)
    if known is not None:
        graph.make_constants(op, known)
        return True
    if _is_settled(op):
        value = op.output
        settled = Constant.of(np.asarray(value.dims, value.dtype.numpy))
        graph.make_constants(op, [settled])
        return True
    if not op.inputs or any(v is not None and not v.is_constant for v in op.inputs):
        return False
    saturated = bool(saturated_operands(op))
    if saturated and computes_with_integers(op):
        return False  # of other numbers than the model's; see importers/frame/errors.py
    before = sum(v.constant.size for v in op.inputs if v and v.constant)
    after = 0
    for value in op.outputs:
        size = product(value.shape or (None,))
        if size is None and value.shape != ():
            return False
        after += size or 0
    if after > max(_ALWAYS_FOLD_ELEMENTS, _LARGEST_GROWTH * before):
        return False
    try:
        results = _results(op, small=after <= _ALWAYS_FOLD_ELEMENTS)
    except (ArithmeticError, IndexError, ValueError):
        # If the operator reports that the value cannot be computed, it would fail at
        # run time too, unless its result is not needed.
        return False
    integers = rules_of(op.type).integers(op)
    if integers is not None:
        results = [replace(results[0], integers=integers)]
    if saturated:
        results = [replace(result, saturated=_at_limits(result)) for result in results]
    graph.make_constants(op, results)
    return True


def saturated_operands(op: Op) -> list[Value]:
    """Constants of the operator with integers that 32 bits cannot hold."""
    return [
        value
        for value in op.inputs
        if value is not None and value.constant is not None and value.constant.saturated
    ]


def computes_with_integers(op: Op) -> bool:
    """Whether the results are other numbers than the operands. The largest integer
    stands for any larger one where it only says how far something goes.
    """
    if op.type == "Cast":
        return op.output.dtype is DataType.FLOAT32
    divides = op.type == "Eltwise" and op.attr("mode") == "FLOOR_MOD"
    return divides or op.type == "Bitwise" or rules_of(op.type).can_exceed(op)


def _at_limits(constant: Constant) -> bool:
    if constant.dtype is not DataType.INT32:
        return False
    return bool(np.isin(constant.numpy(), (_INT32.min, _INT32.max)).any())


def _is_settled(op: Op) -> bool:
    """Whether what is computed of open dimensions is the same in every run."""
    if len(op.outputs) != 1 or op.output.dims is None:
        return False
    return all(isinstance(dim, int) for dim in op.output.dims.flat)


def _results(op: Op, small: bool) -> list[Constant]:
    sources = [v.constant if v else None for v in op.inputs]
    # The operator is removed from the graph; the recipe keeps a copy of what it needs.
    frozen = Op(op.name, op.type, op.attrs)
    frozen._outputs = list(op.outputs)

    def compute() -> list[Array]:
        return evaluate_op(frozen, [s.numpy() if s else None for s in sources])

    if small:
        return [Constant.of(np.asarray(a, order="C")) for a in compute()]
    constants = []
    for index, value in enumerate(op.outputs):
        shape = static(value.shape)
        assert shape is not None
        constants.append(
            Constant(shape, value.dtype, lambda i=index: compute()[i])  # type: ignore[misc]
        )
    return constants
