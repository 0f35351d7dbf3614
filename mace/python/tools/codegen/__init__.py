# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Models and binaries delivered as code: their sources and archives."""

from __future__ import annotations

from mace.python.tools.codegen.archive import write_archives
from mace.python.tools.codegen.binary_code import write_binary_code
from mace.python.tools.codegen.places import (
    CODEGEN_DIR,
    ModelPlaces,
    bazel_package,
    linked_package,
    model_places,
)
from mace.python.tools.codegen.sources import (
    LinkedModel,
    check_names,
    write_sources,
)

__all__ = [
    "CODEGEN_DIR",
    "LinkedModel",
    "ModelPlaces",
    "bazel_package",
    "check_names",
    "linked_package",
    "model_places",
    "write_archives",
    "write_binary_code",
    "write_sources",
]
