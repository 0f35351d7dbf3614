# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""One type for all quantized tensors inside a model.

uint8 and int8 stand for the same numbers with zero points that differ by 128. Kernels
read one of both, which depends on the processor, and convert tensors of the other one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from mace.python.tools.ir import Graph, Op, Value
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.quantized_ops import is_quantized

_BYTES = (DataType.INT8, DataType.UINT8)
_HALF_RANGE = 128


def choose_integer_type(graph: Graph, dtype: DataType) -> int:
    """Stores quantized tensors as `dtype`, wherever only operators read them that know
    what they stand for. Inputs and outputs of the model keep their type.

    Args:
        graph: after all passes.
        dtype: INT8 or UINT8.

    Returns:
        How many tensors it changed.
    """
    changing = _changing(graph, dtype)
    if not changing:
        return 0
    shift = _HALF_RANGE if dtype is DataType.UINT8 else -_HALF_RANGE
    for value in changing:
        known = value.quantization
        assert known is not None
        value.dtype = dtype
        value.quantization = Quantization.of_tensor(
            known.scales[0], known.zero_point + shift
        )
    for op in graph.ops:
        _adapt(graph, op, changing, dtype, shift)
    graph.prune()
    return len(changing)


def _changing(graph: Graph, dtype: DataType) -> set[Value]:
    found = {
        value
        for value in graph.values.values()
        if value.dtype in _BYTES
        and value.dtype is not dtype
        and value.producer is not None
        and value.quantization is not None
        and value.quantization.per_tensor
    }
    found.difference_update(graph.outputs)
    # Of values that have one type, all change or none.
    ties: list[list[Value]] = []
    for op in graph.ops:
        values = [v for v in (*op.inputs, *op.outputs) if v is not None]
        tied = _tied(op)
        if tied is None:
            found.difference_update(values)
        else:
            ties.append(tied)
    while any(_loosened(found, tie) for tie in ties):
        pass
    return found


def _loosened(found: set[Value], tie: Iterable[Value]) -> bool:
    """Removes a tie that was found in part; whether it did."""
    inside = [value for value in tie if value in found]
    if not inside or all(v in found or v.is_constant for v in tie):
        return False
    found.difference_update(inside)
    return True


def _tied(op: Op) -> list[Value] | None:
    """The values of an operator that have one type; None if it does not know what its
    bytes stand for.
    """
    if op.type in ("Quantize", "Dequantize"):
        zero = op.get_input(2)
        return [] if zero is None or zero.is_constant else None
    if op.type == "LookupTable":
        return []
    if is_quantized(op):
        return [op.input(0), *op.outputs] if rules_of(op.type).keeps_scale(op) else []
    moved = _moved(op)
    return [*moved, *op.outputs] if moved else None


def _moved(op: Op) -> Sequence[Value]:
    """The inputs whose elements the operator moves."""
    rules = rules_of(op.type)
    if rules.joins_elements:
        return [value for value in op.inputs if value is not None]
    return [op.input(0)] if rules.keeps_elements else []


def _adapt(
    graph: Graph, op: Op, changing: set[Value], dtype: DataType, shift: int
) -> None:
    """Lets an operator read and write values that have changed."""

    def shifted(array: Array) -> Array:
        return (array.astype(np.int32) + shift).astype(dtype.numpy)

    def replace(index: int, array: Array) -> None:
        name = f"{op.name}/{dtype.value}"
        op.set_input(index, graph.add_constant(name, np.ascontiguousarray(array)))

    reads = bool(op.inputs) and op.get_input(0) in changing
    writes = op.outputs[0] in changing
    if op.type in ("Quantize", "Dequantize"):
        if not (writes if op.type == "Quantize" else reads):
            return
        zero = op.get_input(2)
        zeros = np.zeros((1,), np.int32) if zero is None else zero.numpy()
        replace(2, shifted(zeros))
        if op.type == "Quantize":
            op.set_attr("to", dtype.name)
    elif op.type == "LookupTable":
        table = op.input(1).numpy()
        if reads:
            # The number of an entry is the byte, read as uint8.
            table = table[..., np.arange(256) ^ _HALF_RANGE]
        if reads or writes:
            replace(1, shifted(table) if writes else table)
    elif writes and not is_quantized(op):
        for index, value in enumerate(op.inputs):
            if value is not None and value in _moved(op) and value.is_constant:
                replace(index, shifted(value.numpy()))
        for name, attribute in (
            rules_of(op.type).integer_attrs(op, lambda n: n + shift).items()
        ):
            op.set_attr(name, attribute)
