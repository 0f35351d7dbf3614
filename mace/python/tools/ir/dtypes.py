# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Element types of tensors, and the arrays that hold the elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from mace.python.tools.data_type import DataType

__all__ = ["CAST_TARGETS", "Array", "DataType"]

# The element type differs between arrays; NumPy's stubs cannot express more without a
# type parameter on every function.
Array = np.ndarray[Any, np.dtype[Any]]

# The types that casts of all frameworks may have: to others, MACE's types would round
# or wrap around differently.
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
