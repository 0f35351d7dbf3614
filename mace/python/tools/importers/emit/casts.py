# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The types that casts of all frameworks may have."""

from __future__ import annotations

from mace.python.tools.ir.dtypes import DataType

# Casts to other types would round or wrap around differently in MACE's types.
CAST_TARGETS = frozenset(
    {
        DataType.BOOL,
        DataType.FLOAT32,
        DataType.FLOAT64,
        DataType.INT32,
        DataType.INT64,
        DataType.INT8,
        DataType.UINT8,
    }
)
