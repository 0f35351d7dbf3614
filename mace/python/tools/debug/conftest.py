# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The emulated devices that tests of the drivers use."""

from __future__ import annotations

from mace.python.tools.devices.conftest import boards, farm, phones

__all__ = ["boards", "farm", "phones"]
