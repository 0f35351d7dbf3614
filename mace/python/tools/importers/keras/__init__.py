# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Keras importer: whole models in `.keras` and `.h5` files. No `keras` needed."""

from mace.python.tools.importers.keras.context import HANDLERS
from mace.python.tools.importers.keras.importer import import_model

# Models inside of models have no handler.
STRUCTURES = ("Functional", "Sequential")

__all__ = ["HANDLERS", "STRUCTURES", "import_model"]
