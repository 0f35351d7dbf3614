# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of handlers, by the operator types of a framework."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

from mace.python.tools.custom_ops import (
    PACKAGE,
    RARE_PACKAGE,
    CustomOpsError,
    call_on_change,
    handler_modules,
    import_custom,
    rare_modules,
)
from mace.python.tools.wording import nearest_names

H = TypeVar("H", bound=Callable[..., None])


class HandlerTable(Generic[H]):
    """Handlers by framework operator type, registered with a decorator. A new file in
    `package` is enough to add handlers: those that name a type are imported when its
    handler is asked for. For types that none of them has come the handlers for a
    `framework`, by default the one in whose folder the package is, of users' own
    folders, and then those of `mace/python/rare_ops`.
    """

    def __init__(self, package: str, framework: str = "") -> None:
        self._framework = framework or package.split(".")[-2]
        self._core: dict[str, H] = {}
        self._core_modules = _LazyModules(lambda: _modules_of(package))
        self._custom: dict[str, H] = {}
        self._custom_loaded = False
        self._rare: dict[str, H] = {}
        self._rare_modules = _LazyModules(lambda: rare_modules(self._framework))
        call_on_change(self._forget_custom)

    def register(self, *op_types: str) -> Callable[[H], H]:
        """Decorator: this function converts nodes of these types."""

        def add(handler: H) -> H:
            handlers = self._handlers_beside(_module(handler))
            if handlers is self._custom:
                self._core_modules.load()
            for op_type in op_types:
                if handlers is not self._core and op_type in self._core:
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
        self._load_custom()
        for modules, named in (
            (self._core_modules, op_type),
            (self._rare_modules, op_type),
            # Names may also be put together: then all are imported.
            (self._core_modules, ""),
        ):
            handler = self._known(op_type)
            if handler is not None:
                return handler
            modules.load(named)
        return self._known(op_type)

    def _known(self, op_type: str) -> H | None:
        found = (self._core, self._custom, self._rare)
        return next((one[op_type] for one in found if op_type in one), None)

    def types(self) -> list[str]:
        """The types that have a handler, sorted: for docs and hints."""
        self._core_modules.load()
        self._rare_modules.load()
        self._load_custom()
        return sorted({*self._core, *self._custom, *self._rare})

    def similar(self, op_type: str) -> str:
        """A hint that names types which are spelled alike; '' if there are none."""
        near = nearest_names(op_type, self.types(), 2)
        return f"supported and similar: {', '.join(near)}" if near else ""

    def modules(self) -> dict[str, str]:
        """By type, the module of its handler."""
        return {kind: _module(self.find(kind)) for kind in self.types()}

    def _handlers_beside(self, module: str) -> dict[str, H]:
        """Where handlers of a module belong."""
        if module.split(".")[0] == PACKAGE:
            return self._custom
        return self._rare if module.startswith(f"{RARE_PACKAGE}.") else self._core

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


class _LazyModules:
    """Modules that are imported when a type is asked for that their source names.

    Args:
        find: their full names and files.
    """

    def __init__(self, find: Callable[[], Iterable[tuple[str, Path]]]) -> None:
        self._find = find
        # Of the modules that are not imported yet, by name; None: nobody has looked.
        self._sources: dict[str, str] | None = None

    def load(self, op_type: str = "") -> None:
        """Imports the modules that name a type; all, if none is given."""
        if self._sources is None:
            self._sources = {
                name: path.read_text(encoding="utf-8") for name, path in self._find()
            }
        named = f'"{op_type}"' if op_type else ""
        for name in [n for n, source in self._sources.items() if named in source]:
            # A module that asks for others while it is imported finds itself gone.
            if self._sources.pop(name, None) is not None:
                importlib.import_module(name)


def _modules_of(package: str) -> Iterator[tuple[str, Path]]:
    for folder in importlib.import_module(package).__path__:
        for path in sorted(Path(folder).glob("*.py")):
            if not path.stem.endswith(("_test", "__init__")):
                yield f"{package}.{path.stem}", path


def _module(handler: object) -> str:
    return str(getattr(handler, "__module__", ""))
