# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The operator catalogue: what `mace/ops/<op>/<op>.op.yaml` declares."""

from mace.python.tools.catalogue.check import attribute_problems
from mace.python.tools.catalogue.loader import (
    CatalogueError,
    Enumerations,
    default_catalogue,
    load_catalogue,
    load_enums,
    load_op,
    use_operators,
)
from mace.python.tools.catalogue.schema import (
    Attribute,
    AttributeKind,
    AttributeValue,
    Catalogue,
    ControlFlow,
    Enumeration,
    OpSchema,
    Packing,
    Port,
    SharedCode,
    Signature,
    Signedness,
)
from mace.python.tools.data_type import DataType

__all__ = [
    "Attribute",
    "AttributeKind",
    "AttributeValue",
    "Catalogue",
    "CatalogueError",
    "ControlFlow",
    "DataType",
    "Enumeration",
    "Enumerations",
    "OpSchema",
    "Packing",
    "Port",
    "SharedCode",
    "Signature",
    "Signedness",
    "attribute_problems",
    "default_catalogue",
    "load_catalogue",
    "load_enums",
    "load_op",
    "use_operators",
]
