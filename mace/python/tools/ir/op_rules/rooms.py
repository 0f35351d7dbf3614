# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the rules in the operators' folders; there is no list of operators."""

from __future__ import annotations

import functools
import importlib
import inspect

from mace.python.tools.catalogue import CatalogueError, default_catalogue
from mace.python.tools.ir.op_rules.base import OpRules


@functools.cache
def rules_of(op_type: str) -> OpRules:
    """The rules of an operator of the catalogue.

    Raises:
        CatalogueError: its room has no `<op>.py`, or not one class of rules in it.
    """
    room = default_catalogue().rooms[op_type]
    name = f"mace.ops.{room}.{room}"
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise CatalogueError(
            f"mace/ops/{room} declares {op_type}, but has no {room}.py with its "
            "shape rule and formula"
        ) from error
    found = [
        item
        for item in vars(module).values()
        if inspect.isclass(item)
        and issubclass(item, OpRules)
        and item.__module__ == name
        and not inspect.isabstract(item)
    ]
    if len(found) != 1:
        raise CatalogueError(
            f"mace/ops/{room}/{room}.py must have one class derived from OpRules, "
            f"which gives infer and evaluate; it has {len(found)}"
        )
    return found[0]()
