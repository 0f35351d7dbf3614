# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors of PyTorch's files: from bytes to arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.pytorch.program import TensorMeta
from mace.python.tools.ir.builder import narrow, narrow_constant
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array, DataType

# The numbers of element types in exported programs.
ELEMENT_TYPES: Mapping[int, DataType] = {
    1: DataType.UINT8,
    2: DataType.INT8,
    3: DataType.INT16,
    4: DataType.INT32,
    5: DataType.INT64,
    6: DataType.FLOAT16,
    7: DataType.FLOAT32,
    8: DataType.FLOAT64,
    12: DataType.BOOL,
    13: DataType.BFLOAT16,
    28: DataType.UINT16,
    34: DataType.UINT32,
    35: DataType.UINT64,
}
# Of element types that MACE has no counterpart of, for messages.
_OTHERS = {9: "complex32", 10: "complex64", 11: "complex128"}
# Of numbers that MACE has as two tensors, of their real and imaginary parts.
_COMPLEX: Mapping[int, np.dtype[Any]] = {10: np.dtype("<c8"), 11: np.dtype("<c16")}
# Smaller tensors are read at once: they are axes, shapes and scalars.
_EAGER_ELEMENTS = 1 << 12
# Whether int32 holds their elements has to be known.
_MAY_SATURATE = (DataType.INT64, DataType.UINT32, DataType.UINT64)


class BadTensorError(Exception):
    """A tensor contradicts its bytes; the message says how."""


def type_name(number: int) -> str:
    """An element type for messages."""
    known = ELEMENT_TYPES.get(number)
    if known is not None:
        return known.value
    return _OTHERS.get(number, f"number {number}")


def element_type(meta: TensorMeta | None) -> DataType | None:
    """What the program says that a tensor consists of."""
    return None if meta is None else ELEMENT_TYPES.get(meta.number)


def stored_type(dtype: DataType) -> np.dtype[Any]:
    """The type of the elements in a file."""
    if dtype is DataType.BFLOAT16:
        kind: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
        return kind
    stored: np.dtype[Any] = dtype.numpy.newbyteorder("<")
    return stored


@dataclass(frozen=True)
class StoredTensor:
    """A tensor of a file.

    Attributes:
        number: of its element type.
        content: the bytes of its storage, which several tensors may share.
        offset: of its first element.
        shape, strides: in elements.
    """

    number: int
    content: memoryview
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def dtype(self) -> DataType:
        """Its element type.

        Raises:
            UnsupportedNodeError: MACE has no such type.
        """
        dtype = ELEMENT_TYPES.get(self.number)
        if dtype is None:
            raise UnsupportedNodeError(
                f"elements of type {type_name(self.number)} cannot be read"
            )
        return dtype

    def array(self) -> Array:
        """Its elements, a view of the file.

        Raises:
            BadTensorError: they lie outside the storage.
            UnsupportedNodeError: as `dtype`.
        """
        kind = _COMPLEX.get(self.number) or stored_type(self.dtype)
        shape, strides = self.shape, self.strides
        if len(shape) != len(strides) or min((*shape, *strides, self.offset, 0)) < 0:
            raise BadTensorError(f"shape {list(shape)} with strides {list(strides)}")
        if math.prod(shape) == 0:
            return np.zeros(shape, kind)
        count = len(self.content) // kind.itemsize
        last = self.offset + sum((n - 1) * step for n, step in zip(shape, strides))
        if last >= count:
            raise BadTensorError(
                f"shape {list(shape)} needs {last + 1} elements, of which {count} are "
                "stored"
            )
        flat = np.frombuffer(self.content, kind, count)[self.offset :]
        steps = [step * kind.itemsize for step in strides]
        return np.lib.stride_tricks.as_strided(flat, shape, steps, writeable=False)

    @property
    def is_complex(self) -> bool:
        """Whether `parts` reads it, and `constant` does not."""
        return self.number in _COMPLEX

    def parts(self) -> tuple[Constant, Constant]:
        """The real and the imaginary parts of complex numbers."""
        array = self.array()

        def part(pick: str) -> Constant:
            return Constant(
                self.shape,
                DataType.FLOAT32,
                lambda: getattr(array, pick).astype(np.float32),
            )

        return part("real"), part("imag")

    def constant(self, what: str) -> Constant:
        """It in the type that MACE computes in.

        Args:
            what: it is, for messages.
        """
        array, dtype = self.array(), self.dtype
        if dtype is dtype.narrowed:
            return Constant.of(narrow(array, what))

        def wide() -> Array:
            return array.astype(np.float32) if dtype is DataType.BFLOAT16 else array

        if array.size <= _EAGER_ELEMENTS or dtype in _MAY_SATURATE:
            return replace(narrow_constant(wide(), what), narrowed_from=dtype)
        return Constant(
            self.shape,
            dtype.narrowed,
            lambda: narrow(wide(), what),
            narrowed_from=dtype,
        )


def contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of a tensor without gaps."""
    strides, step = [], 1
    for length in reversed(shape):
        strides.append(step)
        step *= max(length, 1)
    return tuple(reversed(strides))
