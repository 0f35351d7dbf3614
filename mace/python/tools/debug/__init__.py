# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Finding out what a program does on a device: `tools/debug.py`."""

from __future__ import annotations

from mace.python.tools.debug.command import main

__all__ = ["main"]
