# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The ONNX importer; see README.md."""

from mace.python.tools.importers.onnx.importer import import_model

__all__ = ["import_model"]
