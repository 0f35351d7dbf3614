# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The tests in this folder know its operators."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mace.python.tools.custom_ops import custom_folders, use_custom_ops


@pytest.fixture(autouse=True, scope="module")
def _operators_of_this_folder() -> Iterator[None]:
    before = custom_folders()
    use_custom_ops([Path(__file__).parent])
    yield
    use_custom_ops(before)
