# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Caffe importer: a prototxt and a caffemodel. No `caffe` needed."""

from mace.python.tools.importers.caffe.importer import import_model
from mace.python.tools.importers.caffe.layer import HANDLERS

__all__ = ["HANDLERS", "import_model"]
