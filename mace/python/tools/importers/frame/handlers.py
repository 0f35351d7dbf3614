# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of handlers, by the operator types of a framework."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable
from typing import Generic, TypeVar

from mace.python.tools.custom_ops import (
    PACKAGE,
    CustomOpsError,
    call_on_change,
    handler_modules,
    import_custom,
)

H = TypeVar("H", bound=Callable[..., None])


class HandlerTable(Generic[H]):
    """Handlers by framework operator type, registered with a decorator. The modules of
    `package` are imported when the first handler is needed, so that a new file is
    enough to add handlers; so are those of users' own folders for a `framework`, by
    default the one in whose folder the package is.
    """

    def __init__(self, package: str, framework: str = "") -> None:
        self._package = package
        self._framework = framework or package.split(".")[-2]
        self._handlers: dict[str, H] = {}
        self._loaded = False
        self._custom: dict[str, H] = {}
        self._custom_loaded = False
        call_on_change(self._forget_custom)

    def register(self, *op_types: str) -> Callable[[H], H]:
        """Decorator: this function converts nodes of these types."""

        def add(handler: H) -> H:
            is_custom = _module(handler).split(".")[0] == PACKAGE
            handlers = self._custom if is_custom else self._handlers
            if is_custom:
                self._load_own()
            for op_type in op_types:
                if is_custom and op_type in self._handlers:
                    raise CustomOpsError(
                        f"MACE itself converts {op_type} of {self._framework}"
                    )
                if op_type in handlers:
                    raise ValueError(f"{op_type} has two handlers")
                handlers[op_type] = handler
            return handler

        return add

    def find(self, op_type: str) -> H | None:
        """The handler for a type, None if there is none."""
        self._load()
        return self._handlers.get(op_type) or self._custom.get(op_type)

    def types(self) -> list[str]:
        """The types that have a handler, sorted: for docs and hints."""
        self._load()
        return sorted([*self._handlers, *self._custom])

    def _load(self) -> None:
        self._load_own()
        if not self._custom_loaded:
            self._custom_loaded = True
            self._load_custom()

    def _load_custom(self) -> None:
        for name, path in handler_modules(self._framework):
            module = import_custom(name, path).__name__
            if all(_module(item) != module for item in self._custom.values()):
                raise CustomOpsError(
                    f"custom_ops: {path} registers no handler for {self._framework}: "
                    '@HANDLERS.register("<type in the framework>") is missing'
                )

    def _forget_custom(self) -> None:
        self._custom = {}
        self._custom_loaded = False

    def _load_own(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        folder = importlib.import_module(self._package).__path__
        for module in pkgutil.iter_modules(folder):
            if not module.name.endswith("_test"):
                importlib.import_module(f"{self._package}.{module.name}")


def _module(handler: object) -> str:
    return str(getattr(handler, "__module__", ""))
