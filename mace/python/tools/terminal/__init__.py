# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Terminal output of long commands: results and progress."""

from __future__ import annotations

from mace.python.tools.terminal.fitting import without_source
from mace.python.tools.terminal.progress import Meter, show_progress
from mace.python.tools.terminal.results import make_console, print_text

__all__ = ["Meter", "make_console", "print_text", "show_progress", "without_source"]
