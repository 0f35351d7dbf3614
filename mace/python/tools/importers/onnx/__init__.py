# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The ONNX importer; see README.md."""

from mace.python.tools.interruption import signals_held

with signals_held():
    # Its C++ part ends the process when an exception passes through it, as
    # Ctrl-C would be one.
    import onnx  # noqa: F401

from mace.python.tools.importers.onnx.importer import import_model
from mace.python.tools.importers.onnx.node import HANDLERS

__all__ = ["HANDLERS", "import_model"]
