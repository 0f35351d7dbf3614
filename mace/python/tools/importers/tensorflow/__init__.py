# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""TensorFlow importer: frozen GraphDef files. No `tensorflow` needed."""

from mace.python.tools.importers.frame.opened import Framework, of_one_file
from mace.python.tools.importers.tensorflow.importer import build
from mace.python.tools.importers.tensorflow.reader import describe, read_graph
from mace.python.tools.importers.tf_operators.context import HANDLERS

FRAMEWORK = Framework(of_one_file(read_graph), describe, build)
import_model = FRAMEWORK.import_model

__all__ = ["FRAMEWORK", "HANDLERS", "import_model"]
