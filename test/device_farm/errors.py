# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The errors that a user of the farm sees."""

from __future__ import annotations

from mace.python.tools.errors import MaceError


class FarmError(MaceError):
    """The farm cannot do what was asked, and the message says what to change."""
