# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Settings for all tests of this repository."""

from __future__ import annotations


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Names a parameter that is bytes by its argument, `data0`, never by its content.

    Content is hard to read in a test's name. If it contains a time, as an archive does,
    each process of a run would have a different name for the same test.
    """
    return argname if isinstance(val, bytes) else None
