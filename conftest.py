# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What holds for every test of this repository."""

from __future__ import annotations


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Names a parameter that is bytes by its argument, `data0`, never by its content.

    Content is hard to read in a test's name, and where it has a time in it (of an
    archive, say) each process of one run would find a test of another name.
    """
    return argname if isinstance(val, bytes) else None
