# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of functions by operator type, filled by the files of a folder."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Generic, TypeVar

F = TypeVar("F")


class OpTable(Generic[F]):
    """Functions by operator type.

    The modules of the package are imported when the first function is asked
    for, so that a new operator is a new file and no list is edited.
    """

    def __init__(self, package: str) -> None:
        self._package = package
        self._functions: dict[str, F] = {}
        self._loaded = False

    def register(self, *op_types: str) -> Callable[[F], F]:
        """Decorator: this function is for these operator types."""

        def add(function: F) -> F:
            for op_type in op_types:
                if op_type in self._functions:
                    raise ValueError(f"{op_type} is registered twice")
                self._functions[op_type] = function
            return function

        return add

    def find(self, op_type: str) -> F | None:
        """The function for an operator type, None if there is none."""
        self._load()
        return self._functions.get(op_type)

    def types(self) -> frozenset[str]:
        """The operator types that have a function."""
        self._load()
        return frozenset(self._functions)

    def _load(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        package = importlib.import_module(self._package)
        for module in pkgutil.iter_modules(package.__path__):
            if not module.name.endswith("_test"):
                importlib.import_module(f"{self._package}.{module.name}")
