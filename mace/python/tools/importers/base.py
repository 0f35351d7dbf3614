# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What handlers of users' own import from here since earlier releases; MACE's own are
in the rooms (README.md).
"""

from mace.python.tools.importers.frame.errors import (
    UnsupportedNodeError,
    UnsupportedNodesError,
)

__all__ = ["UnsupportedNodeError", "UnsupportedNodesError"]
