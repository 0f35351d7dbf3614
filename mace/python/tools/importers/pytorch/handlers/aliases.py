# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Other names of operators; `Context.operator` is the usual one."""

from __future__ import annotations

from mace.python.tools.importers.pytorch.context import ALIASES, HANDLERS, Context


@HANDLERS.register(*(f"aten.{name}" for name in ALIASES))
def _alias(c: Context) -> None:
    handler = HANDLERS.find(f"aten.{c.operator}")
    assert handler is not None, c.operator
    handler(c)
