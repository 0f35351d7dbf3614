# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether pages and comments name folders and files that are there."""

from __future__ import annotations

import fnmatch
import io
import posixpath
import re
import tokenize
from pathlib import Path
from typing import Callable, Iterable, Iterator, List, Sequence, Set, Tuple

from tools.quality.model import Check, Context, Outcome, from_findings

_TREE = Path("README.md")
_HEADING = "## The tree"
# "  core/           status, logging": a folder, within the one above it.
_ENTRY = re.compile(r"^( *)([\w.-]+)/\S*(?:  +(.*))?$")
# What a build makes is no folder of the repository.
_UNTRACKED = "(not in git)"
# The folder whose own folders the tree shows, too.
_INNER = "mace"

_TOOLS = Path("tools")

# Tables of what lies in a folder: their first column holds names of files, with
# stars and without the ending as it pleases; <op>.cc stands for many.
_FILE_TABLE = re.compile(r"^\| *(?:files?|folders?) *\|")
_NAME = re.compile(r"`([\w./*-]+)`")

# Pages and sources that name files of MACE. The change log names former ones, pages for
# users also those of other repositories, and tests made-up ones.
_PAGES = ("README.md", "docs/development/*.md")
_CHANGE_LOG = "docs/development/changelog.md"
_SOURCES = (".cc", ".h", ".cl", ".clh", ".py", ".bzl", ".bazel", ".sh")
_TOP = "benchmarks|docker|docs|mace|setup|test|third_party|toolchains|tools"
# A path from the root, or one from the page's folder in `backticks`; none with a
# placeholder, as mace/ops/<op>/<op>.cc and mace/ops/*.yaml.
_MENTIONED = re.compile(
    rf"(?<![\w/.@:{{}}<>$*`-])`?((?:{_TOP})/[\w./+-]*\w)(?![\w<>{{}}*$%]|[/.]?[<{{*$(])"
    r"|`((?:\.\./)+[\w./+-]*\w)`"
)
_COMMENT = {"/": re.compile(r"//(.*)"), "#": re.compile(r"(?:^|\s)#(.*)")}


def tree_entries(text: str) -> Set[str]:
    """The folders of the tree in a README, as "mace" and "mace/core"."""
    block = text.partition(_HEADING)[2].partition("```text\n")[2].partition("```")[0]
    entries: Set[str] = set()
    top = ""
    for line in block.splitlines():
        found = _ENTRY.match(line)
        if found is None or _UNTRACKED in (found[3] or ""):
            continue
        if not found[1]:
            top = found[2]
        entries.add(f"{top}/{found[2]}" if found[1] else top)
    return entries


def tracked_folders(files: Iterable[Path]) -> Set[str]:
    """The folders that the tree has to show."""
    folders: Set[str] = set()
    for file in files:
        parts = file.parts[:-1]
        if parts and not parts[0].startswith("."):
            folders.add(parts[0])
            if parts[0] == _INNER and len(parts) > 1:
                folders.add("/".join(parts[:2]))
    return folders


def _tree(context: Context) -> Outcome:
    if _TREE not in context.files:
        return from_findings([], 0)
    shown = tree_entries((context.root / _TREE).read_text(encoding="utf-8"))
    there = tracked_folders(context.files)
    lines = [f"{_TREE}: the tree lacks {name}/" for name in sorted(there - shown)]
    lines += [f"{_TREE}: no folder {name}/" for name in sorted(shown - there)]
    return from_findings(lines, len(there))


def _commands(context: Context) -> Outcome:
    page = _TOOLS / "README.md"
    if page not in context.files:
        return from_findings([], 0)
    text = (context.root / page).read_text(encoding="utf-8")
    files = [
        file.name
        for file in context.files
        if file.parent == _TOOLS
        and file.suffix in (".py", ".sh")
        and file.name != "__init__.py"
        and not file.name.endswith("_test.py")
    ]
    lines: List[str] = [
        f"{page}: says nothing of {name}"
        for name in sorted(files)
        if not re.search(rf"(?<![\w-]){re.escape(name)}\b", text)
    ]
    return from_findings(lines, len(files))


def listed_names(text: str) -> List[str]:
    """What the tables of files in a README name."""
    names: List[str] = []
    inside = False
    for line in text.splitlines():
        inside = line.startswith("|") and (inside or bool(_FILE_TABLE.match(line)))
        if inside:
            names += _NAME.findall(line.split("|")[1])
    return names


def _below(files: Sequence[str], folder: str) -> Set[str]:
    """Files and folders in a folder, from there; also without the end of their name."""
    start = "" if folder == "." else f"{folder}/"
    found: Set[str] = set()
    for file in files:
        if not file.startswith(start):
            continue
        name = file[len(start) :]
        while name and name not in found:
            found.add(name)
            name = name.rpartition("/")[0]
    return found | {name.rpartition(".")[0] for name in found}


def _listed(context: Context) -> Outcome:
    files = [file.as_posix() for file in context.files]
    pages = [file for file in context.files if file.name == "README.md"]
    lines: List[str] = []
    for page in pages:
        names = listed_names((context.root / page).read_text(encoding="utf-8"))
        there = _below(files, page.parent.as_posix()) if names else set()
        for name in names:
            wanted = name.rstrip("/")
            if wanted not in there and not fnmatch.filter(there, wanted):
                lines.append(f"{page}: there is no {name}")
    return from_findings(lines, len(pages))


def comments(file: Path, text: str) -> Iterator[Tuple[int, str]]:
    """The lines of a page, or of the comments of a source, with their numbers."""
    if file.suffix == ".md":
        yield from enumerate(text.splitlines(), 1)
        return
    if file.suffix == ".py":
        # A string may look like a comment.
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
        return
    comment = _COMMENT["/" if file.suffix in (".cc", ".h", ".cl", ".clh") else "#"]
    for number, line in enumerate(text.splitlines(), 1):
        found = comment.search(line)
        if found:
            yield number, found[1]


def missing_paths(file: Path, text: str, there: Callable[[str], bool]) -> List[str]:
    """The paths that a page or the comments of a source name and that are not there.

    Args:
        there: whether there is such a file or folder.
    """
    lines: List[str] = []
    if not _MENTIONED.search(text):
        return lines
    for number, line in comments(file, text):
        for from_root, from_here in _MENTIONED.findall(line):
            path = from_root or posixpath.normpath(
                posixpath.join(file.parent.as_posix(), from_here)
            )
            if not there(path):
                lines.append(f"{file}:{number}: there is no {from_root or from_here}")
    return lines


def _mentioned(context: Context) -> Outcome:
    known = _below([file.as_posix() for file in context.files], ".")

    def there(path: str) -> bool:
        # The context has no links.
        return path in known or (context.root / path).is_symlink()

    files = [
        file
        for file in context.files
        if file.as_posix() != _CHANGE_LOG
        and (
            any(file.match(page) for page in _PAGES)
            or (file.suffix in _SOURCES and not file.stem.endswith("_test"))
        )
    ]
    lines: List[str] = []
    for file in files:
        text = (context.root / file).read_text(encoding="utf-8")
        lines += missing_paths(file, text, there)
    return from_findings(lines, len(files))


CHECKS = (
    Check("tree", "README.md shows the folders that are there", _tree),
    Check("commands", "tools/README.md names every command", _commands),
    Check("listed", "tables in README.md list files that are there", _listed),
    Check("mentioned", "READMEs and comments name files that are there", _mentioned),
)
