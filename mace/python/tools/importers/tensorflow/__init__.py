# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""TensorFlow importer: frozen GraphDef files. No `tensorflow` needed."""

from mace.python.tools.importers.tensorflow.importer import import_model
from mace.python.tools.importers.tf_operators.context import HANDLERS

__all__ = ["HANDLERS", "import_model"]
