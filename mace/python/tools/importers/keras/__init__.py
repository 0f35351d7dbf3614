# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Keras importer: whole models in `.keras` and `.h5` files. No `keras` needed."""

from mace.python.tools.importers.frame.opened import Framework, of_one_file
from mace.python.tools.importers.keras.context import HANDLERS
from mace.python.tools.importers.keras.importer import build, describe
from mace.python.tools.importers.keras.reader import read_model

# Models inside of models have no handler.
STRUCTURES = ("Functional", "Sequential")

FRAMEWORK = Framework(of_one_file(read_model), describe, build)
import_model = FRAMEWORK.import_model

__all__ = ["FRAMEWORK", "HANDLERS", "STRUCTURES", "import_model"]
