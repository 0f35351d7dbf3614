# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The common type of operands, by PyTorch's rules.

A tensor of rank 0 or a number changes the type of a tensor only if it is of another
kind: an integer tensor plus 0.5 is of floats, plus 2**40 it remains what it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mace.python.tools.importers.pytorch.context import Context
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value


def _kind(dtype: DataType) -> int:
    if dtype.is_float:
        return 2
    return 0 if dtype is DataType.BOOL else 1


def _common(types: Iterable[DataType]) -> DataType | None:
    result: DataType | None = None
    for dtype in types:
        if result is None or _kind(dtype) > _kind(result):
            result = dtype
        elif _kind(dtype) == _kind(result) and dtype is not result:
            result = DataType.INT32 if _kind(dtype) == 1 else DataType.FLOAT32
    return result


def _of_number(number: object) -> DataType:
    if isinstance(number, bool):
        return DataType.BOOL
    return DataType.INT32 if isinstance(number, int) else DataType.FLOAT32


def common_type(operands: Sequence[object]) -> DataType:
    """The type in which an operator computes with values and numbers."""
    values = [o for o in operands if isinstance(o, Value)]
    levels = (
        [v.dtype for v in values if v.shape != ()],
        [v.dtype for v in values if v.shape == ()],
        [_of_number(o) for o in operands if not isinstance(o, Value)],
    )
    result: DataType | None = None
    for types in levels:
        found = _common(types)
        if found is not None and (result is None or _kind(found) > _kind(result)):
            result = found
    return result or DataType.FLOAT32


def promoted(
    c: Context, names: Sequence[str], least: DataType | None = None
) -> list[Value]:
    """Operands in their common type.

    Args:
        c: the node.
        names: of its arguments.
        least: the type if the common one is of a lesser kind.
    """
    operands = [c.raw(name) for name in names]
    dtype = common_type(operands)
    if least is not None and _kind(least) > _kind(dtype):
        dtype = least
    return [c.cast(c.value(name), dtype) for name in names]
