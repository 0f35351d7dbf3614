# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Comparing results with those of the original framework."""

from __future__ import annotations

from mace.python.tools.validate.comparison import (
    Comparison,
    compare_tensor,
    similarity_threshold,
)
from mace.python.tools.validate.metrics import Metrics, compute_metrics

__all__ = [
    "Comparison",
    "Metrics",
    "compare_tensor",
    "compute_metrics",
    "similarity_threshold",
]
