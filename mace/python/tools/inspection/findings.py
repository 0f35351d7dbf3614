# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What was found out about a model."""

from __future__ import annotations

from dataclasses import dataclass

from mace.python.tools.check.findings import ModelCheck
from mace.python.tools.importers.description import ModelDescription


@dataclass(frozen=True)
class Inspection:
    """What a model is.

    Attributes:
        size: of its files, in bytes.
        description: what its files say.
        check: what would become of its nodes.
    """

    name: str
    size: int
    description: ModelDescription
    check: ModelCheck
