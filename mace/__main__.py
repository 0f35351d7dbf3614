# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The command `mace`, as ``python -m mace``."""

import sys

from mace.python.tools.cli.main import main

sys.exit(main())
