# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What handlers of users' own import from here since earlier releases."""

from mace.python.tools.importers.tf_operators.context import HANDLERS, Context

__all__ = ["HANDLERS", "Context"]
