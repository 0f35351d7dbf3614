# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""python -m test.device_farm: see cli.py."""

from __future__ import annotations

import sys

from test.device_farm.cli import main

if __name__ == "__main__":
    sys.exit(main())
