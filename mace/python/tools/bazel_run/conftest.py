# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures: the tool with a stand-in for Bazel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mace.python.tools.bazel_run.testing import Stand


@pytest.fixture
def stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stand]:
    made = Stand(tmp_path)
    monkeypatch.setenv("PATH", made.path, prepend=":")
    for name in ("BAZEL", "BAZEL_STARTUP_FLAGS", "BAZEL_FLAGS", "ANDROID_NDK_HOME"):
        monkeypatch.delenv(name, raising=False)
    # Do not read a developer's devices.yml.
    monkeypatch.chdir(tmp_path)
    yield made
