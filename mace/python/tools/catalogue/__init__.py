# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The operator catalogue: what `mace/ops/<op>/<op>.op.yaml` declares."""

from mace.python.tools.catalogue.check import attribute_problems
from mace.python.tools.catalogue.loader import (
    CatalogueError,
    default_catalogue,
    load_catalogue,
)
from mace.python.tools.catalogue.schema import (
    Attribute,
    AttributeKind,
    AttributeValue,
    Catalogue,
    OpSchema,
    Port,
)

__all__ = [
    "Attribute",
    "AttributeKind",
    "AttributeValue",
    "Catalogue",
    "CatalogueError",
    "OpSchema",
    "Port",
    "attribute_problems",
    "default_catalogue",
    "load_catalogue",
]
