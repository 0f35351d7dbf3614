# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Programs built by Bazel for a device."""

from __future__ import annotations

from mace.python.tools.bazel.build import (
    BuildError,
    DspVariant,
    Variant,
    build_program,
    choose_variant,
)
from mace.python.tools.bazel.sanitizer import (
    sanitizer_environment,
    sanitizer_summary,
)

__all__ = [
    "BuildError",
    "DspVariant",
    "Variant",
    "build_program",
    "choose_variant",
    "sanitizer_environment",
    "sanitizer_summary",
]
