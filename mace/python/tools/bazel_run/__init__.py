# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests and benchmarks on devices: `tools/bazel_adb_run.py`."""

from __future__ import annotations

from mace.python.tools.bazel_run.bazel_run import BazelRunOptions, bazel_run
from mace.python.tools.bazel_run.command import main

__all__ = ["BazelRunOptions", "bazel_run", "main"]
