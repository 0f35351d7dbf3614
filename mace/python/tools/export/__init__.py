# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a graph as a MACE model; see README.md."""

from mace.python.tools.export.export import (
    Exported,
    ExportError,
    ExportOptions,
    InputSignature,
    OutputSignature,
    export_model,
)

__all__ = [
    "ExportError",
    "ExportOptions",
    "Exported",
    "InputSignature",
    "OutputSignature",
    "export_model",
]
