# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""House rules that hold for every kind of source file."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Dict, List, Tuple

from tools.quality.model import Check, Context, Outcome, Status, from_findings

LICENCE = ("Copyright 2026 The MACE Authors", "SPDX-License-Identifier: Apache-2.0")
SOURCE_SUFFIXES = (
    ".c",
    ".cc",
    ".h",
    ".cl",
    ".java",
    ".py",
    ".bzl",
    ".sh",
    ".proto",
    ".BUILD",
)
SOURCE_NAMES = ("BUILD.bazel", "WORKSPACE", ".bazelrc", "Dockerfile")
TEXT_SUFFIXES = (*SOURCE_SUFFIXES, ".md", ".yaml", ".yml", ".toml", ".txt", ".lds")
# One responsibility per file; its length is no goal. What is longer than this has
# most likely more than one.
LONG = 800
README_FROM = 8
# Folders that exist only on the machine of whoever wrote the line; the images of
# docker/ have a user "mace" for everyone.
_HOME = re.compile(r"(?<![\w.}$~])/(?!home/mace\b)(?:home|root|Users|work)/[\w.]+")
# The virtual environment of this checkout, where MACE_VENV may name another.
_VENV = re.compile(r"(?<!:-)(?<!:-\$root/)\.venv/bin")
_NAMESPACE = re.compile(r"^(?:inline )?namespace (?:(\w+) )?\{")
_NAMESPACE_END = re.compile(r"^\}  // namespace")
# A definition, not a declaration.
_TYPE = re.compile(
    r"^(?:struct|class|union|enum(?: class)?) "
    r"(?:MACE_\w+ )?([\w:]+)(?: [^;]*)?(?: \{|$)"
)
# A function of OpenCL C whose parameters include local memory.
_LOCAL_PARAMETER = re.compile(r"^ *static [^;{}()]*\([^{})]*\b__local\b", re.MULTILINE)
_LOAD = re.compile(r'^load\(\s*"([^"]+)"', re.MULTILINE)


def is_source(file: Path) -> bool:
    """Whether the house rules for sources hold for a file."""
    return file.name.endswith(SOURCE_SUFFIXES) or file.name in SOURCE_NAMES


def licence_problem(text: str) -> str:
    """What is wrong with the licence header of a source; empty if nothing.

    The two lines stand at the top, below a ``#!`` line if there is one.
    """
    lines = text.splitlines()
    if lines and lines[0].startswith("#!"):
        lines = lines[1:]
    # "/*" opens the comment of a linker script.
    for line, wanted in zip([*lines[:2], "", ""], LICENCE):
        if not line.lstrip("/*# ").startswith(wanted):
            return f"does not begin with the line '{wanted}'"
    return ""


def load_problem(text: str) -> str:
    """The first load() that is out of order; empty if none is.

    As buildifier has it: other repositories, then this one, then this package,
    each in alphabetical order.
    """

    def key(label: str) -> Tuple[int, List[str]]:
        place = 0 if label[0] == "@" else 1 if label[0] == "/" else 2
        return place, label.split(":")

    labels = _LOAD.findall(text)
    for before, after in zip(labels, labels[1:]):
        if key(after) < key(before):
            return f'load("{after}") belongs before load("{before}")'
    return ""


def whitespace_problems(file: Path, text: str) -> List[str]:
    """Tabs, blanks at the end of a line and a missing last newline."""
    problems = []
    markdown = file.suffix == ".md"  # two blanks at the end are a line break
    for number, line in enumerate(text.split("\n"), 1):
        if "\t" in line:
            problems.append(f"{file}:{number}: tab")
        if line != line.rstrip() and not markdown:
            problems.append(f"{file}:{number}: blanks at the end of the line")
    if text and not text.endswith("\n"):
        problems.append(f"{file}: no newline at the end")
    elif text.endswith("\n\n"):
        problems.append(f"{file}: empty lines at the end")
    return problems


def _read(context: Context, file: Path) -> str:
    return (context.root / file).read_text(encoding="utf-8", errors="replace")


def _licence(context: Context) -> Outcome:
    files = [file for file in context.files if is_source(file)]
    lines = []
    for file in files:
        problem = licence_problem(_read(context, file))
        if problem:
            lines.append(f"{file}:1: {problem}")
    return from_findings(lines, len(files))


def _length(context: Context) -> Outcome:
    files = [file for file in context.files if is_source(file)]
    long = []
    for file in files:
        count = _read(context, file).count("\n")
        if count > LONG:
            long.append(f"{file}: {count} lines; has it one responsibility?")
    if long:
        return Outcome(Status.WARNED, f"{len(long)} long", long)
    return Outcome(Status.PASSED, f"{len(files)} files")


def _whitespace(context: Context) -> Outcome:
    files = context.with_suffix(*TEXT_SUFFIXES, *SOURCE_NAMES)
    lines: List[str] = []
    for file in files:
        text = _read(context, file)
        problems = whitespace_problems(file, text)
        if problems and context.fix:
            tidy = (line.rstrip() for line in text.split("\n"))
            fixed = "\n".join(tidy).rstrip("\n") + "\n"
            if file.suffix != ".md":
                (context.root / file).write_text(fixed, encoding="utf-8")
                problems = whitespace_problems(file, fixed)
        lines += problems
    return from_findings(lines, len(files))


def _paths(context: Context) -> Outcome:
    files = context.with_suffix(*TEXT_SUFFIXES, *SOURCE_NAMES, ".json", ".html")
    lines = []
    for file in files:
        for number, line in enumerate(_read(context, file).splitlines(), 1):
            found = _HOME.search(line)
            if found:
                lines.append(f"{file}:{number}: a path of one machine: {found[0]}")
    return from_findings(lines, len(files))


def _bazel(context: Context) -> Outcome:
    files = context.with_suffix("BUILD.bazel", "WORKSPACE", ".bzl", ".BUILD")
    lines = []
    for file in files:
        problem = load_problem(_read(context, file))
        if problem:
            lines.append(f"{file}: {problem}")
    return from_findings(lines, len(files))


def venv_problems(file: Path, text: str) -> List[str]:
    """Where a script would pass over the virtual environment of MACE_VENV."""
    return [
        f"{file}:{number}: .venv alone; write ${{MACE_VENV:-.venv}}"
        for number, line in enumerate(text.splitlines(), 1)
        if _VENV.search(line) and not line.lstrip().startswith("#")
    ]


def _venv(context: Context) -> Outcome:
    files = context.with_suffix(".sh")
    lines: List[str] = []
    for file in files:
        lines += venv_problems(file, _read(context, file))
    return from_findings(lines, len(files))


def local_problems(file: Path, text: str) -> List[str]:
    """Where a function of a kernel has local memory that PoCL would share."""
    return [
        f"{file}:{text.count(chr(10), 0, found.start()) + 1}: a function that has"
        " local memory begins with LOCAL_FUNCTION (tensor.clh), not with static"
        for found in _LOCAL_PARAMETER.finditer(text)
    ]


def _local(context: Context) -> Outcome:
    files = context.with_suffix(".cl", ".clh")
    lines: List[str] = []
    for file in files:
        lines += local_problems(file, _read(context, file))
    return from_findings(lines, len(files))


def type_names(text: str) -> List[str]:
    """The types that C++ text defines in namespaces that have a name."""
    names: List[str] = []
    namespaces: List[str] = []
    for line in text.splitlines():
        opened = _NAMESPACE.match(line)
        if opened is not None:
            namespaces.append(opened[1] or "")
        elif _NAMESPACE_END.match(line):
            namespaces = namespaces[:-1]
        elif namespaces and "" not in namespaces:
            found = _TYPE.match(line)
            if found is not None:
                names.append("::".join([*namespaces, found[1]]))
    return names


def _types(context: Context) -> Outcome:
    """Two types of one name are an error of the program that no linker tells."""
    defined: Dict[str, List[Path]] = {}
    for file in context.with_suffix(".h", ".cc"):
        for name in type_names(_read(context, file)):
            defined.setdefault(name, []).append(file)
    lines = [
        f"{files[0]}: {name} is another type in {', '.join(map(str, files[1:]))}"
        for name, files in sorted(defined.items())
        # Programs of benchmarks and tests are linked by themselves.
        if len({file for file in files if file.parts[0] == "mace"}) > 1
    ]
    return from_findings(lines, len(defined))


def _is_described(context: Context, folder: Path) -> bool:
    """Whether a README is there, or one above names the folder."""
    if folder / "README.md" in context.files:
        return True
    for above in folder.parents:
        page = above / "README.md"
        if page in context.files:
            name = re.escape(folder.relative_to(above).as_posix())
            return re.search(rf"`{name}/?`", _read(context, page)) is not None
    return False


def _readme(context: Context) -> Outcome:
    counts = Counter(file.parent for file in context.files if is_source(file))
    # Rooms of operators have the files that mace/ops/README.md says.
    for file in context.files:
        if file.name.endswith(".op.yaml"):
            counts.pop(file.parent, None)
    lines = [
        f"{folder}: {count} sources and no README.md"
        for folder, count in sorted(counts.items())
        if count >= README_FROM and not _is_described(context, folder)
    ]
    if lines:
        return Outcome(Status.WARNED, f"{len(lines)} folders", lines)
    return Outcome(Status.PASSED, f"{len(counts)} folders")


CHECKS = (
    Check("licence", "the two-line licence header", _licence),
    Check("length", f"warns of files above {LONG} lines", _length),
    Check("whitespace", "tabs and blanks", _whitespace),
    Check("paths", "no path of one machine", _paths),
    Check("bazel", "order of load statements", _bazel),
    Check("types", "C++: one type for each name", _types),
    Check("venv", "scripts honour MACE_VENV", _venv),
    Check("local", "OpenCL: functions that have local memory", _local),
    Check("readme", "larger folders say what lives there", _readme),
)
