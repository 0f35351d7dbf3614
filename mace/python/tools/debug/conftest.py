# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures: a program for the debugging commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from mace.python.tools.debug.testing import compile_look


@pytest.fixture(scope="package")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A static program for 64-bit ARM, with line numbers."""
    return compile_look(tmp_path_factory.mktemp("program"), "-g")
