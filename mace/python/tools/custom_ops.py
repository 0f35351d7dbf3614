# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The folders with users' own operators, outside of MACE.

The environment variable MACE_CUSTOM_OPS names them, with colons between them: Bazel
(`mace/ops/custom_repository.bzl`) and child processes see it, too. `use_custom_ops`
sets it to what a deployment file says. A folder holds

    custom_ops.yaml             interface: 1
    <op>/<op>.op.yaml, ...      rooms, as in mace/ops
    <name>/<name>_onnx.py, ...  handlers for an importer, by its name

The modules of the folders are those of the package `mace_custom_ops`. MACE ships one
such folder itself, with handlers alone: `mace/python/rare_ops`, whose modules have the
name of their place. Imports only the standard library; PyYAML when a folder is read.
"""

from __future__ import annotations

import argparse
import importlib
import keyword
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import List, Tuple

from mace.python.tools.errors import MaceError

VARIABLE = "MACE_CUSTOM_OPS"
MANIFEST = "custom_ops.yaml"
PACKAGE = "mace_custom_ops"
# As in mace/ops/custom_repository.bzl.
INTERFACE = 1
# Handlers of operators that few networks have, shipped with MACE.
RARE_OPS = Path(__file__).resolve().parents[1] / "rare_ops"
RARE_PACKAGE = "mace.python.rare_ops"
# What a room has besides its declaration; rooms.bzl.
_ROOM_FILES = (".py", ".cc", "_cpu.cc", "_test.cc")

_resets: List[Callable[[], None]] = []


class CustomOpsError(MaceError):
    """A folder of users' own operators cannot be used."""


def custom_folders() -> Tuple[Path, ...]:
    """The folders in use."""
    named = os.environ.get(VARIABLE, "").split(":")
    return tuple(Path(os.path.abspath(name)) for name in named if name)


def use_custom_ops(folders: Iterable[Path]) -> None:
    """Replaces the folders in use.

    Raises:
        CustomOpsError: with all that is wrong with them.
    """
    paths = [Path(os.path.abspath(folder)) for folder in folders]
    problems = [problem for path in paths for problem in folder_problems(path)]
    if problems:
        raise CustomOpsError("\n".join(problems))
    os.environ[VARIABLE] = ":".join(map(str, dict.fromkeys(paths)))
    for name in [n for n in sys.modules if n.split(".")[0] == PACKAGE]:
        del sys.modules[name]
    for reset in _resets:
        reset()


def add_custom_ops_flag(parser: argparse.ArgumentParser) -> None:
    """Adds the flag --custom_ops, which replaces the folders in use."""

    def use(text: str) -> str:
        try:
            use_custom_ops(Path(name) for name in text.split(",") if name)
        except CustomOpsError as error:
            raise argparse.ArgumentTypeError(str(error)) from error
        return text

    parser.add_argument(
        "--custom_ops",
        type=use,
        metavar="DIR,...",
        help=f"folders with operators of your own (default: those that {VARIABLE} "
        "names)",
    )


def call_on_change(reset: Callable[[], None]) -> None:
    """Calls a function whenever `use_custom_ops` has changed the folders."""
    _resets.append(reset)


def rooms_in(folder: Path) -> List[Path]:
    """The folders of its operators."""
    return sorted({path.parent for path in folder.glob("*/*.op.yaml")})


def folder_problems(folder: Path) -> List[str]:
    """Everything that is wrong with a folder, except for what is in its files."""
    where = f"custom_ops: {folder}"
    if not folder.is_dir():
        return [f"{where} is no folder"]
    if ":" in str(folder):
        return [f"{where}: the path of such a folder cannot have a colon"]
    problems = [f"{where}{text}" for text in _manifest_problems(folder / MANIFEST)]
    for place in (folder, *rooms_in(folder)):
        problems += [
            f"{where}: remove {place / name}; the targets of rooms are made without it"
            for name in ("BUILD", "BUILD.bazel")
            if (place / name).exists()
        ]
    rooms = rooms_in(folder)
    for room in rooms:
        problems += [f"{where}/{text}" for text in _room_problems(room)]
    if not rooms and not any(_handler_files(folder, f) for f in _frameworks()):
        problems.append(
            f"{where} has no operator: neither <op>/<op>.op.yaml nor, for handlers "
            "alone, <name>/<name>_onnx.py"
        )
    return problems


def _manifest_problems(path: Path) -> Iterator[str]:
    import yaml

    if not path.is_file():
        yield f" has no {MANIFEST}; write 'interface: {INTERFACE}' into it"
        return
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        yield f"/{MANIFEST} cannot be read: {reason}"
        return
    if not isinstance(content, dict) or list(content) != ["interface"]:
        yield f"/{MANIFEST}: needs 'interface: {INTERFACE}', and nothing else"
        return
    found = content["interface"]
    if found != INTERFACE or isinstance(found, bool):
        yield (
            f"/{MANIFEST}: found interface {found!r}; this release of MACE has "
            f"interface {INTERFACE}"
        )


def _room_problems(room: Path) -> Iterator[str]:
    name = room.name
    if not re.fullmatch("[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        yield f"{name}: a room's name is of lower-case letters, digits and '_'"
        return
    for path in sorted(room.glob("*.op.yaml")):
        if path.name != f"{name}.op.yaml":
            yield f"{name}/{path.name}: must be called {name}.op.yaml, like its folder"
            return
    for end in _ROOM_FILES:
        if not (room / f"{name}{end}").is_file():
            yield (
                f"{name}: there is no {name}{end}; 'converter.py new-op' writes all "
                "files of a room"
            )


def _frameworks() -> List[str]:
    """Those that have an importer."""
    importers = Path(__file__).parent / "importers"
    return [path.parent.name for path in importers.glob("*/__init__.py")]


def _handler_files(folder: Path, framework: str) -> List[Path]:
    return sorted(folder.glob(f"*/*_{framework}.py"))


def handler_modules(framework: str) -> Iterator[Tuple[str, Path]]:
    """The modules with handlers for a framework, for `import_custom`."""
    for folder in custom_folders():
        for path in _handler_files(folder, framework):
            yield f"{path.parent.name}.{path.stem}", path


def rare_modules(framework: str) -> Iterator[Tuple[str, Path]]:
    """The modules with handlers for a framework in `RARE_OPS`, by their full names."""
    for path in _handler_files(RARE_OPS, framework):
        yield f"{RARE_PACKAGE}.{path.parent.name}.{path.stem}", path


def import_custom(name: str, path: Path) -> ModuleType:
    """Imports a module of a folder, `<room>.<file>`.

    Raises:
        CustomOpsError: it cannot be imported.
    """
    if PACKAGE not in sys.modules:
        package = ModuleType(PACKAGE)
        package.__path__ = [str(folder) for folder in custom_folders()]
        sys.modules[PACKAGE] = package
    importlib.invalidate_caches()
    try:
        return importlib.import_module(f"{PACKAGE}.{name}")
    except Exception as error:
        if isinstance(error, SyntaxError):
            where = f"{error.filename}, line {error.lineno}"
            raise CustomOpsError(f"custom_ops: {where}: {error.msg}") from error
        where = fault_of(error) or str(path)
        what = "" if isinstance(error, CustomOpsError) else f"{type(error).__name__}: "
        raise CustomOpsError(f"custom_ops: {where}: {what}{error}") from error


def fault_of(error: BaseException) -> str:
    """The file and line of a folder's module in which an error arose; '' if in none."""
    where = ""
    folders = [f"{folder}{os.sep}" for folder in custom_folders()]
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename.startswith(tuple(folders)):
            where = f"{frame.filename}, line {frame.lineno}"
    return where
