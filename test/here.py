# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Which tests are about other processors, devices and systems than this computer, or
take long and show little more than others.

`tools/test.sh` without --all leaves them out, and sets a variable that says so: pytest
alone runs them all.
"""

from __future__ import annotations

import os

import pytest

from tools.quality.test_steps import VARIABLE

THIS_COMPUTER = bool(os.environ.get(VARIABLE))
# How the reasons begin; tools/quality/skips.py expects them.
REASON = "left out: "


def only_with_all(what: str) -> None:
    """Skips a test, or all that use a fixture, where this computer is all that counts.

    Args:
        what: it is about.
    """
    if THIS_COMPUTER:
        pytest.skip(f"{REASON}{what}")
