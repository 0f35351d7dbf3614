# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""TensorFlow importer: frozen GraphDef files. No `tensorflow` needed."""

from mace.python.tools.importers.tensorflow.context import HANDLERS
from mace.python.tools.importers.tensorflow.importer import import_model

__all__ = ["HANDLERS", "import_model"]
