# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Loops and choices that the run decides, in the engine."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("onnxruntime")

from test.conformance.control_flow import difference
from test.conformance.native import built


@pytest.mark.parametrize("seed", range(30))
def test_random_programs(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = built("//mace:libmace.so")
    monkeypatch.setenv("MACE_LIBRARY", str(library))
    assert difference(seed, tmp_path) == ""
