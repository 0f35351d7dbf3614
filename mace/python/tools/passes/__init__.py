# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Rewrites of the graph, one per file; see README.md."""

from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.manager import PassManager, all_passes, optimize

__all__ = ["Pass", "PassManager", "all_passes", "optimize"]
