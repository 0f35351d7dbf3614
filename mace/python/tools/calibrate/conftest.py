# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The real program for tests."""

from __future__ import annotations

from mace.python.tools.run.testing.project import build_dir, mace_run, project

__all__ = ["build_dir", "mace_run", "project"]
