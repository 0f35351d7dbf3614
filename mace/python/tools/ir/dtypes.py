# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Element types of the IR."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

# The element type differs from array to array, and NumPy's stubs cannot say
# more than this without a type parameter on every function.
Array = np.ndarray[Any, np.dtype[Any]]


class DataType(str, enum.Enum):
    """Element type; the names are those of the operator declarations.

    FLOAT64, INT64 and the unsigned ones exist for what frameworks compute on
    shapes and constants; the pass `narrow_types` removes them.
    """

    FLOAT32 = "float32"
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"
    INT32 = "int32"
    INT8 = "int8"
    UINT8 = "uint8"
    BOOL = "bool"
    INT16 = "int16"
    INT64 = "int64"
    FLOAT64 = "float64"
    UINT16 = "uint16"
    UINT32 = "uint32"
    UINT64 = "uint64"

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy type; BFLOAT16 has none and is held as FLOAT32."""
        if self is DataType.BFLOAT16:
            return np.dtype("float32")
        return np.dtype(str(self.value))

    @property
    def is_float(self) -> bool:
        """Whether values are floating point."""
        return self.value.startswith(("float", "bfloat"))

    @classmethod
    def of(cls, dtype: np.dtype[Any]) -> DataType:
        """The element type of a NumPy type.

        Raises:
            ValueError: NumPy's type has no counterpart (strings, complex).
        """
        return cls(dtype.newbyteorder("=").name)
