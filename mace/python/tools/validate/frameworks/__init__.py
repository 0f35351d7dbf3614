# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a model in its original framework, in a separate process."""

from __future__ import annotations

from mace.python.tools.validate.frameworks.reference import (
    FrameworkError,
    ReferenceRequest,
    ReferenceResult,
    run_reference,
)

__all__ = ["FrameworkError", "ReferenceRequest", "ReferenceResult", "run_reference"]
