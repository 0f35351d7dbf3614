# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The interface of the converter's operator rules, and code that the rules share. The
rules of an operator are in its folder, `mace/ops/<room>/<room>.py`; see README.md.
"""

from mace.python.tools.ir.op_rules.base import (
    FEW_CHANNELS,
    FIVE_WIDE,
    NARROW_TYPES,
    WIDE_TYPES,
    WINOGRAD,
    Bounds,
    BoundsOf,
    Emitter,
    Make,
    OpRules,
    OutputType,
    Perm,
    SunkTranspose,
    hull,
    rules_of,
)

__all__ = [
    "FEW_CHANNELS",
    "FIVE_WIDE",
    "NARROW_TYPES",
    "WIDE_TYPES",
    "WINOGRAD",
    "Bounds",
    "BoundsOf",
    "Emitter",
    "Make",
    "OpRules",
    "OutputType",
    "Perm",
    "SunkTranspose",
    "hull",
    "rules_of",
]
