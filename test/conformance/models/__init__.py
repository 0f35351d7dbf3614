# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Real architectures with random weights from a fixed seed, for tests and
benchmarks.
"""

from __future__ import annotations

from test.conformance.models.light import (
    LIGHT_MODELS,
    light_input,
    light_source,
    make_light_model,
)

__all__ = ["LIGHT_MODELS", "light_input", "light_source", "make_light_model"]
