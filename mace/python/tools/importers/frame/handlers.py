# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of handlers, by the operator types of a framework."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
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
    """Handlers by framework operator type, registered with a decorator. A new file in
    `package` is enough to add handlers: those that name a type are imported when its
    handler is asked for. So are those of users' own folders for a `framework`, by
    default the one in whose folder the package is.
    """

    def __init__(self, package: str, framework: str = "") -> None:
        self._package = package
        self._framework = framework or package.split(".")[-2]
        self._handlers: dict[str, H] = {}
        # Of the modules that are not imported yet, by name; None: nobody has looked.
        self._sources: dict[str, str] | None = None
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
        if op_type not in self._handlers:
            # Names may also be put together: then all are imported.
            self._import(lambda source: f'"{op_type}"' in source)
        if op_type not in self._handlers:
            self._load_own()
        self._load_custom()
        return self._handlers.get(op_type) or self._custom.get(op_type)

    def types(self) -> list[str]:
        """The types that have a handler, sorted: for docs and hints."""
        self._load_own()
        self._load_custom()
        return sorted([*self._handlers, *self._custom])

    def _load_custom(self) -> None:
        if self._custom_loaded:
            return
        self._custom_loaded = True
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
        self._import(lambda source: True)

    def _import(self, wanted: Callable[[str], bool]) -> None:
        """Imports the modules with such a source."""
        if self._sources is None:
            folders = importlib.import_module(self._package).__path__
            self._sources = {
                path.stem: path.read_text(encoding="utf-8")
                for folder in folders
                for path in sorted(Path(folder).glob("*.py"))
                if not path.stem.endswith(("_test", "__init__"))
            }
        for name in [n for n, source in self._sources.items() if wanted(source)]:
            # A module that asks for others while it is imported finds itself gone.
            if self._sources.pop(name, None) is not None:
                importlib.import_module(f"{self._package}.{name}")


def _module(handler: object) -> str:
    return str(getattr(handler, "__module__", ""))
