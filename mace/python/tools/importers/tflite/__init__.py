# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""TensorFlow Lite importer: `.tflite` files. No `tensorflow` needed."""

from mace.python.tools.importers.tflite.context import HANDLERS
from mace.python.tools.importers.tflite.importer import STRUCTURES, import_model

__all__ = ["HANDLERS", "STRUCTURES", "import_model"]
