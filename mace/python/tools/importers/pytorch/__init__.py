# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Imports exported programs of PyTorch."""

from mace.python.tools.importers.frame.opened import Framework, of_one_file
from mace.python.tools.importers.pytorch.context import HANDLERS
from mace.python.tools.importers.pytorch.importer import build
from mace.python.tools.importers.pytorch.model import describe, read

FRAMEWORK = Framework(of_one_file(read), describe, build)
import_model = FRAMEWORK.import_model

__all__ = ["FRAMEWORK", "HANDLERS", "import_model"]
