# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""TensorFlow Lite importer: `.tflite` files. No `tensorflow` needed."""

from mace.python.tools.importers.frame.opened import Framework, of_one_file
from mace.python.tools.importers.tflite.context import HANDLERS
from mace.python.tools.importers.tflite.importer import STRUCTURES, build
from mace.python.tools.importers.tflite.reader import describe, read_network

FRAMEWORK = Framework(of_one_file(read_network), describe, build)
import_model = FRAMEWORK.import_model

__all__ = ["FRAMEWORK", "HANDLERS", "STRUCTURES", "import_model"]
