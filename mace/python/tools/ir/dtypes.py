# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Element types of tensors, and the arrays that hold the elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from mace.python.tools.data_type import DataType

__all__ = ["Array", "DataType"]

# The element type differs between arrays; NumPy's stubs cannot express more without a
# type parameter on every function.
Array = np.ndarray[Any, np.dtype[Any]]
