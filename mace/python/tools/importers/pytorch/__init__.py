# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Imports exported programs of PyTorch."""

from mace.python.tools.importers.pytorch.context import HANDLERS
from mace.python.tools.importers.pytorch.importer import import_model

__all__ = ["HANDLERS", "import_model"]
