# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Settings for all tests of this repository."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

# A computer that is busy with other work is slow, and no test fails for that.
settings.register_profile(
    "busy", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("busy")


# Files of tests that take minutes: of several processes, none is left alone with one.
LONG = ("test/conformance/", "test/devices/bazel_adb_run_test.py")


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Puts long files first."""
    root = config.rootpath
    items.sort(
        key=lambda item: not item.path.relative_to(root).as_posix().startswith(LONG)
    )


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Names a parameter that is bytes by its argument, `data0`, never by its content.

    Content is hard to read in a test's name. If it contains a time, as an archive does,
    each process of a run would have a different name for the same test.
    """
    return argname if isinstance(val, bytes) else None


@pytest.fixture
def release_without_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the tools do if the library has no GPU runtime."""
    from mace.python.tools.config import vocabulary

    monkeypatch.setattr(vocabulary, "_IN_RELEASE", frozenset({"cpu"}))


@pytest.fixture
def release_with_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the tools do if it has one."""
    from mace.python.tools.config import vocabulary

    monkeypatch.setattr(vocabulary, "_IN_RELEASE", frozenset({"cpu", "gpu"}))
