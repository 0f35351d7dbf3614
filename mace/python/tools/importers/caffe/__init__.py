# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Caffe importer: a prototxt and a caffemodel. No `caffe` needed."""

from mace.python.tools.importers.caffe.importer import build, describe, read
from mace.python.tools.importers.caffe.layer import HANDLERS
from mace.python.tools.importers.frame.opened import Framework

FRAMEWORK = Framework(read, describe, build)
import_model = FRAMEWORK.import_model

__all__ = ["FRAMEWORK", "HANDLERS", "import_model"]
