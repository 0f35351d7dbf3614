# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Constants that a file stores without the elements that are 0."""

from __future__ import annotations

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tflite.context import HANDLERS, Context


@HANDLERS.register("DENSIFY")
def densify(context: Context) -> None:
    """All elements of a constant that is stored without those that are 0."""
    if not context.input(0).is_constant:
        raise UnsupportedNodeError("the input is no constant")
    context.pass_on(context.input(0))
