# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Models whose files are read once, whatever is asked of them."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from mace.python.tools.config.vocabulary import Platform
from mace.python.tools.errors import UnsupportedError
from mace.python.tools.importers.frame.budget import Budget, one_budget
from mace.python.tools.importers.frame.description import ModelDescription
from mace.python.tools.importers.frame.recognise import (
    Recognised,
    check_recognised,
    recognise,
)
from mace.python.tools.importers.frame.request import ImportRequest
from mace.python.tools.ir.graph import Graph

_PACKAGE = "mace.python.tools.importers"

_Files = TypeVar("_Files")


@dataclass(frozen=True)
class Framework(Generic[_Files]):
    """How the models of a framework are imported: `FRAMEWORK` of its package.

    Attributes:
        read: the contents of the files of a model, and of its weights where they are
            apart (Caffe). Raises ImportModelError: they cannot be read.
        describe: what the contents say of themselves; they stay as they are.
        build: the graph of what a request wants of them; they stay as they are. Raises
            ImportModelError: wrong tensor name or shape; UnsupportedNodesError: lists
            every node that cannot be converted.
    """

    read: Callable[[Path, Path | None], _Files]
    describe: Callable[[_Files], ModelDescription]
    build: Callable[[ImportRequest, _Files], Graph]

    def open(self, model: Path, weights: Path | None = None) -> OpenedModel:
        """The model of these files, which are not read yet."""
        return OpenedModel(self, model, weights)

    def import_model(self, request: ImportRequest) -> Graph:
        """Reads a model for one import."""
        opened = self.open(request.model_path, request.weight_path)
        return opened.import_graph(request)


def of_one_file(read: Callable[[Path], _Files]) -> Callable[[Path, Any], _Files]:
    """`Framework.read` where weights are in the model's own file or folder."""
    return lambda model, _: read(model)


class OpenedModel:
    """The files of a model, read when they are first needed.

    Args:
        check: whether the file may be of this framework, asked before it is read.
    """

    def __init__(
        self,
        framework: Framework[Any],
        model: Path,
        weights: Path | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self._framework = framework
        self._model = model
        self._weights = weights
        self._check = check
        self._files: Any = None
        self._spent = Budget()
        self._about: ModelDescription | None = None

    def describe(self) -> ModelDescription:
        """What the model says of itself.

        Raises:
            ImportModelError: a file cannot be read.
        """
        if self._about is None:
            with self._read() as files:
                self._about = self._framework.describe(files)
        return self._about

    def import_graph(self, request: ImportRequest) -> Graph:
        """What a request wants of the model, for MACE's operators.

        Raises:
            ImportModelError: unreadable file, wrong tensor name or shape.
            UnsupportedNodesError: lists every node that cannot be converted.
        """
        with self._read() as files:
            return self._framework.build(request, files)

    def close(self) -> None:
        """Forgets what was read; who goes on reads it again."""
        self._files = None

    @contextlib.contextmanager
    def _read(self) -> Iterator[Any]:
        """The contents of the files, and while this lasts the budget that reading them
        has left.
        """
        if self._files is None:
            self._check()
            with one_budget() as spent:
                self._files = self._framework.read(self._model, self._weights)
            self._spent = spent
        with one_budget(self._spent.copy()):
            yield self._files


class OpenedModels:
    """The models that a command has opened so far."""

    def __init__(self) -> None:
        self._recognised: dict[Path, Recognised | None] = {}
        self._opened: dict[tuple[Platform, Path, Path | None], OpenedModel] = {}

    def recognise(self, path: Path) -> Recognised | None:
        """What a file is, by its contents; None if that is not certain."""
        if path not in self._recognised:
            self._recognised[path] = recognise(path)
        return self._recognised[path]

    def open(
        self, platform: Platform, model: Path, weights: Path | None = None
    ) -> OpenedModel:
        """The model of these files.

        Raises:
            UnsupportedError: models of this framework cannot be read.
        """
        key = (platform, model, weights)
        if key not in self._opened:
            self._opened[key] = OpenedModel(
                load_framework(platform.value),
                model,
                weights,
                lambda: check_recognised(model, platform, self.recognise),
            )
        return self._opened[key]


def load_framework(name: str) -> Framework[Any]:
    """The importer of a framework ('onnx', 'tensorflow', ...).

    Raises:
        UnsupportedError: MACE does not read models of this framework.
    """
    package = f"{_PACKAGE}.{name}"
    if importlib.util.find_spec(package) is None:
        raise UnsupportedError(
            f"platform {name!r} cannot be imported yet; "
            f"available: {', '.join(available_importers())}"
        )
    framework: Framework[Any] = importlib.import_module(package).FRAMEWORK
    return framework


def available_importers() -> list[str]:
    """The frameworks that have an importer."""
    folders = Path(__file__).parents[1]
    return sorted(path.parent.name for path in folders.glob("*/importer.py"))
