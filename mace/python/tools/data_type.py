# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Element types and precisions: the only lists of them in Python.

`data_type_test.py` compares them with `mace.proto` and `mace/core`.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


class DataType(str, enum.Enum):
    """Element type of a tensor; the values are NumPy's names.

    The first ones can be stored in a model: operators declare them, and
    `mace.proto` and `mace/core/base/data_type.h` have them too, numbered from 1 in
    this order. The others exist for what frameworks compute on shapes and
    constants; importers narrow them.
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

    @staticmethod
    def answers() -> dict[str, str]:
        """What is said of types that an application cannot pass."""
        return {
            **dict.fromkeys(
                ("float64", "double", "float"),
                "floats are passed in 32 bits: say float32",
            ),
            **dict.fromkeys(
                ("int64", "long", "int"), "integers are passed in 32 bits: say int32"
            ),
            "half": "say float16",
        }

    @property
    def in_models(self) -> bool:
        """Whether a model file can hold tensors of this type."""
        return self not in _ONLY_IN_FRAMEWORKS

    @property
    def cpp_name(self) -> str:
        """The enumerator of `mace::DataType`."""
        return f"k{self.value.capitalize()}"

    @property
    def proto_name(self) -> str:
        """The enumerator of `DataType` in `mace.proto`."""
        return f"DT_{self.name}"

    @property
    def is_float(self) -> bool:
        """Whether values are floating point."""
        return self.value.startswith(("float", "bfloat"))

    @property
    def narrowed(self) -> DataType:
        """The type that MACE uses for values of this type."""
        if self.is_float:
            return DataType.FLOAT32
        if self in (DataType.BOOL, DataType.INT8, DataType.UINT8):
            return self
        return DataType.INT32

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy type; BFLOAT16 has none and is held as FLOAT32."""
        # Imported here: Bazel generates headers from declarations on computers that do
        # not have NumPy.
        import numpy as np

        if self is DataType.BFLOAT16:
            return np.dtype("float32")
        return np.dtype(str(self.value))

    @classmethod
    def of(cls, dtype: np.dtype[Any]) -> DataType:
        """The element type of a NumPy type.

        Raises:
            ValueError: NumPy's type has no counterpart (strings, complex).
        """
        return cls(dtype.newbyteorder("=").name)


_ONLY_IN_FRAMEWORKS = frozenset(
    {DataType.FLOAT64, DataType.UINT16, DataType.UINT32, DataType.UINT64}
)


class Precision(str, enum.Enum):
    """What `data_type` of a deployment says, <type of weights>_<of arithmetic>.

    `mace/core/base/precision.cc` reads the same words from the model file.
    """

    FP16_FP32 = "fp16_fp32"
    BF16_FP32 = "bf16_fp32"
    BF16_BF16 = "bf16_bf16"
    FP32_FP32 = "fp32_fp32"
    FP16_FP16 = "fp16_fp16"

    @property
    def weights(self) -> DataType:
        """The type that large weights are stored in."""
        return _FLOATS[self.value.partition("_")[0]]

    @property
    def arithmetic(self) -> DataType:
        """The type that operators round their operands to."""
        return _FLOATS[self.value.partition("_")[2]]

    @property
    def computes_in_half(self) -> bool:
        """Whether operators round their operands to 16 bits."""
        return self.arithmetic is not DataType.FLOAT32


_FLOATS = {
    "fp32": DataType.FLOAT32,
    "fp16": DataType.FLOAT16,
    "bf16": DataType.BFLOAT16,
}
