# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The ONNX importer; see README.md."""

from mace.python.tools.interruption import signals_held

with signals_held():
    # Imported early: its C++ part ends the process if an exception such as Ctrl-C
    # passes through it.
    import onnx  # noqa: F401

from mace.python.tools.importers.frame.opened import Framework, of_one_file
from mace.python.tools.importers.onnx.importer import STRUCTURES, build
from mace.python.tools.importers.onnx.mapped_file import read_model
from mace.python.tools.importers.onnx.scope import describe
from mace.python.tools.importers.standard.node import HANDLERS

FRAMEWORK = Framework(of_one_file(read_model), describe, build)
import_model = FRAMEWORK.import_model

__all__ = ["FRAMEWORK", "HANDLERS", "STRUCTURES", "import_model"]
