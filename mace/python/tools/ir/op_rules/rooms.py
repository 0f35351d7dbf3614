# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the rules in the operators' folders, in mace/ops and those of users' own; there
is no list of operators.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from types import ModuleType

from mace.python.tools.catalogue import CatalogueError, default_catalogue
from mace.python.tools.custom_ops import call_on_change, import_custom
from mace.python.tools.ir.op_rules.base import OpRules


@functools.cache
def rules_of(op_type: str) -> OpRules:
    """The rules of an operator of the catalogue.

    Raises:
        CatalogueError: its room has no `<room>.py`, or not one class of rules in it, or
            of the operator's name, if it is the room of several operators.
    """
    module, file = _module(op_type)
    found = [
        item
        for item in vars(module).values()
        # In Python 3.9 this alone is true of tuple[int, ...], too.
        if inspect.isclass(item)
        and issubclass(type(item), type)
        and issubclass(item, OpRules)
        and item.__module__ == module.__name__
        and not inspect.isabstract(item)
    ]
    # In the room of several operators, the classes are called like them.
    found = [item for item in found if item.__name__ == op_type] or found
    if len(found) != 1:
        raise CatalogueError(
            f"{file} must have one class derived from OpRules, "
            f"which gives infer and evaluate; it has {len(found)}"
        )
    return found[0]()


call_on_change(rules_of.cache_clear)


def _module(op_type: str) -> tuple[ModuleType, str]:
    """The module with the rules of an operator, and its file for messages."""
    room = default_catalogue().rooms[op_type]
    custom = default_catalogue().custom.get(op_type)
    if custom is not None:
        path = custom / f"{room}.py"
        return import_custom(f"{room}.{room}", path), str(path)
    name = f"mace.ops.{room}.{room}"
    try:
        return importlib.import_module(name), f"mace/ops/{room}/{room}.py"
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise CatalogueError(
            f"mace/ops/{room} declares {op_type}, but has no {room}.py with its "
            "shape rule and formula"
        ) from error
