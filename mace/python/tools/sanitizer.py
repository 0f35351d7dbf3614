# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs programs built with the address sanitizer, and reads their messages."""

from __future__ import annotations

import os
import re

_VARIABLE = "ASAN_OPTIONS"
_OPTIONS = (
    # End with a signal, like any crash; an exit status could be the program's own.
    "abort_on_error=1",
    # MACE itself handles allocations that fail.
    "allocator_may_return_null=1",
    # The search for leaks needs ptrace, which emulators and containers refuse.
    "detect_leaks=0",
)
# Bazel compiles in a folder with this name, so that the bytes are the same anywhere.
_FOLDER = "/proc/self/cwd/"
_SUMMARY = re.compile(r"^SUMMARY: (AddressSanitizer: .*\S)\s*$", re.MULTILINE)


def sanitizer_environment() -> dict[str, str]:
    """Variables for a program built with the address sanitizer.

    What ASAN_OPTIONS holds here has the last word there.
    """
    words = [*_OPTIONS, os.environ.get(_VARIABLE, "")]
    return {_VARIABLE: ":".join(word for word in words if word)}


def sanitizer_summary(text: str) -> str:
    """What the sanitizer found, in one line: kind, place and function.

    Args:
        text: all that a program printed.

    Returns:
        an empty text if it found nothing.
    """
    found = _SUMMARY.search(text)
    return found[1].replace(_FOLDER, "") if found else ""
