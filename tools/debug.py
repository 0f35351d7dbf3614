#!/usr/bin/env python3
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Looks at programs on devices (gdb, logcat, symbolize, memory): see ``-h``.

A thin door to mace/python/tools/debug.
"""

from __future__ import annotations

import os
import sys


def main() -> int:
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from tools.door import run_room

    return run_room("debug", __file__)


if __name__ == "__main__":
    sys.exit(main())
