# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What changed in a checkout, and which tests in Python that can affect.

A file of tests is affected if it changed, if a module changed that it imports, directly
or through others, or if a file changed that belongs to such a module: a template, a
table, or native code where a module builds it. What imports modules by name, and which,
is listed here, since no `import` says so.
"""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path
from typing import Dict, Iterable, List, Optional, Sequence, Set, Tuple

_IMPORTERS = "mace/python/tools/importers"
_RARE_OPS = "mace/python/rare_ops"
# Folders whose modules a module imports by name.
IMPORTS_BY_NAME = {
    f"{_IMPORTERS}/frame/reference.py": (_IMPORTERS, _RARE_OPS),
    f"{_IMPORTERS}/frame/description.py": (_IMPORTERS, _RARE_OPS),
    "mace/python/tools/convert/convert.py": (_IMPORTERS, _RARE_OPS),
    "mace/python/tools/ir/op_rules/base.py": ("mace/ops",),
    "mace/python/tools/passes/manager.py": ("mace/python/tools/passes",),
    "mace/python/tools/validate/frameworks/worker.py": (
        "mace/python/tools/validate/frameworks",
    ),
}
# Handlers of operators, which the package above them imports.
_HANDLERS = "handlers"
# Modules that build native programs or load the native library.
NATIVE = (
    "mace/python/runtime/library.py",
    "mace/python/tools/bazel.py",
    "test/conformance/native.py",
)
# Where native code is.
_NATIVE_FOLDERS = ("mace/", "toolchains/", "third_party/", "WORKSPACE", ".bazelrc")
# Rooms of operators: mace/ops/<room>/... .
_ROOMS = "mace/ops/"
_TEST = "_test.py"
_PACKAGE = "__init__.py"
_COMES_WITH = (_PACKAGE, "conftest.py")
# Nothing that runs reads these.
_PROSE = (".md", ".png")


def git(root: Path, *arguments: str) -> List[str]:
    """The lines that git prints; none if it fails."""
    result = subprocess.run(
        ["git", *arguments],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    return result.stdout.splitlines() if result.returncode == 0 else []


def source_files(root: Path) -> Tuple[Path, ...]:
    """Tracked files and new ones that git does not ignore, by their place in `root`."""
    names = git(root, "ls-files", "--cached", "--others", "--exclude-standard")
    files = (Path(name) for name in sorted(set(names)))
    return tuple(file for file in files if (root / file).is_file())


def changed_files(
    root: Path, since: Optional[str] = None, removed: bool = False
) -> Tuple[Path, ...]:
    """Files that differ from ``since``, or from where main was left.

    Args:
        root: of the checkout.
        since: a commit.
        removed: whether those that are there no longer are among them.
    """
    base = since or next(iter(git(root, "merge-base", "HEAD", "main")), "HEAD")
    filters = () if removed else ("--diff-filter=d",)
    names = git(root, "diff", "--name-only", "--no-renames", *filters, base)
    names += git(root, "ls-files", "--others", "--exclude-standard")
    return tuple(Path(name) for name in sorted(set(names)))


def is_native(name: str) -> bool:
    """Whether Bazel builds something of a file."""
    return name.startswith(_NATIVE_FOLDERS) and not name.endswith((".py", *_PROSE))


def room_of(name: str) -> str:
    """The operator's room that a file is in; empty if it is in none."""
    parts = name.split("/")
    inside = name.startswith(_ROOMS) and len(parts) == 4 and parts[2] != "testing"
    return parts[2] if inside else ""


class Modules:
    """Which Python files of a checkout need which others."""

    def __init__(self, root: Path, files: Iterable[Path]) -> None:
        self._root = root
        self._files = {file.as_posix() for file in files if file.suffix == ".py"}
        self._imports: Dict[str, Set[str]] = {}
        self._places: Dict[str, Set[str]] = {}

    def tests_affected_by(self, changed: Sequence[str]) -> List[str]:
        """Files of tests that changed files can affect, sorted."""
        starts = set()
        rooms = set()
        for name in changed:
            if name.endswith(".py"):
                starts.add(name)
            elif is_native(name):
                # Operators' tests in a room; all that runs native code, if other code
                # changed.
                room = room_of(name)
                rooms.add(room)
                starts.update(NATIVE if not room else ())
            elif not name.endswith(_PROSE):
                folder = name.rpartition("/")[0]
                starts.update(self._below(folder))
        tests = [name for name in self._files if name.endswith(_TEST)]
        found = {test for test in tests if starts and self._needs(test) & starts}
        found.update(test for test in tests if room_of(test) in rooms - {""})
        return sorted(found)

    def _below(self, folder: str) -> Set[str]:
        """The modules of a folder and those inside of it, without their tests."""
        start = f"{folder}/" if folder else ""
        inside = {name for name in self._files if name.startswith(start)}
        return {name for name in inside if not name.endswith(_TEST)}

    def _needs(self, test: str) -> Set[str]:
        """The files that a test runs through, itself among them."""
        reached = {test}
        waiting = [test]
        while waiting:
            name = waiting.pop()
            new = self._imported_by(name) - reached
            folders = IMPORTS_BY_NAME.get(name, ())
            # A test inside of the folders imports what it is about.
            if not test.startswith(tuple(f"{folder}/" for folder in folders)):
                for folder in folders:
                    new |= self._below(folder) - reached
            reached |= new
            waiting += new
        # Packages and fixtures that come with a place. A test asks for few of the
        # fixtures, and for nothing that a package offers unless it imports that: what
        # these import is not followed.
        return reached | {beside for name in reached for beside in self._beside(name)}

    def _beside(self, name: str) -> Set[str]:
        folder = name.rpartition("/")[0]
        if folder not in self._places:
            parts = folder.split("/")
            places = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
            found = {f"{at}/{file}" for at in places for file in _COMES_WITH}
            self._places[folder] = {*found, *_COMES_WITH} & self._files
        return self._places[folder]

    def _imported_by(self, name: str) -> Set[str]:
        """The files of this checkout that a file imports."""
        if name not in self._imports:
            self._imports[name] = self._find(name)
        return self._imports[name]

    def _find(self, name: str) -> Set[str]:
        found = set()
        if Path(name).name == _PACKAGE:
            found |= self._below(f"{Path(name).parent.as_posix()}/{_HANDLERS}")
        text = (self._root / name).read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    found |= self._module(alias.name)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found |= self._module(node.module)
                for alias in node.names:
                    found |= self._module(f"{node.module}.{alias.name}")
        return found - {name}

    def _module(self, dotted: str) -> Set[str]:
        path = dotted.replace(".", "/")
        return {f"{path}.py", f"{path}/{_PACKAGE}"} & self._files
