# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Floating point numbers in 16 bits."""

from __future__ import annotations

import enum

import numpy as np

from mace.python.tools.ir.dtypes import Array, DataType


class Storage(str, enum.Enum):
    """Type that large weights are stored in; kernels widen it."""

    FLOAT32 = "float32"
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"
    # With a scale and an offset per output channel, see eight_bit.py.
    INT8 = "int8"


# For smaller weights, less than a page of memory would be saved, and digits lost.
SMALLEST_HALF = 1024
# float16 has fewer digits below it, and from 2**-25 on none.
_LEAST_NORMAL_FLOAT16 = 2.0**-14


def fits(array: Array, storage: Storage) -> bool:
    """Whether that type keeps what is large in the array.

    Rounding to it must make no number infinite; bfloat16 has the exponent of float32,
    but rounding up the largest numbers overflows it too. In float16, the largest number
    must also have all its digits: then those that become 0 are below 2**-11 of it, as
    is what rounding changes it by.
    """
    # GPUs have the same rule for what they store in float16 (FitsHalf,
    # mace/ops/opencl_op/stored_elements.cc).
    # Two passes over the array instead of a copy.
    largest = float(max(array.max(initial=0), -array.min(initial=0)))
    if not np.isfinite(largest):
        # 16-bit types can store infinities and NaN; a scale for them is meaningless.
        return storage is not Storage.INT8
    if storage is Storage.FLOAT16 and 0 < largest < _LEAST_NORMAL_FLOAT16:
        return False
    limits = {
        Storage.FLOAT32: np.inf,
        Storage.FLOAT16: 65520.0,  # rounds to infinity from here on
        Storage.BFLOAT16: 3.3961775e38,
        Storage.INT8: np.inf,
    }
    return largest < limits[storage]


def encode(array: Array, storage: Storage) -> Array:
    """float32 numbers as float32, float16 or bfloat16, rounded to nearest even.
    bfloat16 is returned as uint16.
    """
    single = np.asarray(array, np.float32)
    if storage is Storage.FLOAT32:
        return single
    if storage is Storage.FLOAT16:
        with np.errstate(over="ignore"):
            return single.astype(np.float16)
    bits = np.ascontiguousarray(single).view(np.uint32)
    rounded = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    # A NaN whose upper bits are zero must not become an infinity.
    rounded = np.where(np.isnan(single), bits | np.uint32(0x400000), rounded)
    upper = (rounded >> np.uint32(16)).astype(np.uint16)
    return np.asarray(upper.reshape(single.shape))


def stored_type(dtype: DataType, storage: Storage) -> DataType:
    """The element type in the file."""
    return DataType(storage.value) if dtype is DataType.FLOAT32 else dtype
