# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from pathlib import Path
from typing import Dict

import pytest

from tools.quality import text_checks
from tools.quality.model import Context, Outcome, Status

HEADER = "# Copyright 2026 The MACE Authors\n# SPDX-License-Identifier: Apache-2.0\n"


def run(tmp_path: Path, name: str, files: Dict[str, str], fix: bool = False) -> Outcome:
    for file, text in files.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text, encoding="utf-8")
    paths = tuple(Path(file) for file in files)
    context = Context(tmp_path, paths, paths, fix, everything=True)
    check = next(check for check in text_checks.CHECKS if check.name == name)
    return check.run(context)


@pytest.mark.parametrize(
    "text",
    [
        HEADER,
        HEADER + "\nx = 1\n",
        "#!/bin/sh\n" + HEADER,
        HEADER.replace("# ", "// "),
    ],
)
def test_licence_header_is_seen(text: str) -> None:
    assert text_checks.licence_problem(text) == ""


@pytest.mark.parametrize("text", ["", "x = 1\n", HEADER.splitlines()[0], "\n" + HEADER])
def test_missing_licence_header_is_a_finding(tmp_path: Path, text: str) -> None:
    outcome = run(tmp_path, "licence", {"a.py": text, "b.txt": "no source"})
    assert outcome.status is Status.FAILED
    assert len(outcome.lines) == 1
    assert outcome.lines[0].startswith("a.py:1: ")


def test_length_warns(tmp_path: Path) -> None:
    short, long = ("x\n" * count for count in (800, 801))
    assert run(tmp_path, "length", {"a.cc": short}).status is Status.PASSED
    assert run(tmp_path, "length", {"a.cc": long}).status is Status.WARNED
    assert run(tmp_path, "length", {"a.md": long}).status is Status.PASSED


_TYPES = """namespace mace {
class Later;
struct Chain {
  struct Inner {};
};
namespace {
struct Own {};
}  // namespace
namespace detail {
enum class Kind : uint8_t { kOne };
}  // namespace detail
class Long final
    : public Base {};
}  // namespace mace
"""


def test_types_have_one_definition(tmp_path: Path) -> None:
    names = ["mace::Chain", "mace::detail::Kind", "mace::Long"]
    assert text_checks.type_names(_TYPES) == names
    same = {"mace/a.h": _TYPES, "test/b.h": _TYPES}
    assert run(tmp_path, "types", same).status is Status.PASSED
    outcome = run(tmp_path, "types", {"mace/a.h": _TYPES, "mace/b.cc": _TYPES})
    assert [line.split()[1] for line in outcome.lines] == sorted(names)


def test_scripts_honour_the_chosen_environment(tmp_path: Path) -> None:
    good = "a=${MACE_VENV:-.venv}/bin/python\n# .venv/bin\n${V:-$root/.venv}/bin/x\n"
    assert run(tmp_path, "venv", {"a.sh": good}).status is Status.PASSED
    for bad in (".venv/bin/python x\n", 'p="$root/.venv/bin/python"\n'):
        assert run(tmp_path, "venv", {"a.sh": bad}).status is Status.FAILED


def test_functions_that_have_local_memory_are_inlined(tmp_path: Path) -> None:
    good = "LOCAL_FUNCTION int f(__local int *p) {\nstatic int g() {\n  __local int a;"
    assert run(tmp_path, "local", {"a.cl": good}).status is Status.PASSED
    bad = "#define F(t) \\\n  static t f(t v, \\\n   __local t *p) {"
    outcome = run(tmp_path, "local", {"a.clh": f"//\n{bad}"})
    assert outcome.status is Status.FAILED
    assert outcome.lines[0].startswith("a.clh:3: ")


def test_whitespace_is_found_and_repaired(tmp_path: Path) -> None:
    files = {"a.cc": "int a; \n\n\n"}
    assert run(tmp_path, "whitespace", files).status is Status.FAILED
    assert run(tmp_path, "whitespace", files, fix=True).status is Status.PASSED
    assert (tmp_path / "a.cc").read_text(encoding="utf-8") == "int a;\n"


def test_path_of_one_machine_is_a_finding(tmp_path: Path) -> None:
    home = "/" + "home/somebody/mace"
    image = {"a.md": "cd /home/mace/.cache"}
    assert run(tmp_path, "paths", image).status is Status.PASSED
    assert run(tmp_path, "paths", {"a.md": f"cd {home}"}).status is Status.FAILED
    good = "cd ~/mace; ls /usr/lib; see $ROOT/work/x and docs/work/x\n"
    assert run(tmp_path, "paths", {"a.md": good}).status is Status.PASSED


def test_loads_are_ordered_as_by_buildifier() -> None:
    ordered = 'load("@z//:a.bzl", "a")\nload("//mace:b.bzl", "b")\nload(":c.bzl", "c")'
    assert text_checks.load_problem(ordered) == ""
    packages = 'load("//mace:b.bzl", "b")\nload("//mace/ops:a.bzl", "a")\n'
    assert text_checks.load_problem(packages) == ""
    swapped = 'load("//mace:b.bzl", "b")\nload("@z//:a.bzl", "a")\n'
    assert "@z//:a.bzl" in text_checks.load_problem(swapped)


def test_larger_folder_needs_a_readme(tmp_path: Path) -> None:
    files = {f"lib/{index}.cc": "x\n" for index in range(text_checks.README_FROM)}
    assert run(tmp_path, "readme", files).status is Status.WARNED
    files["lib/README.md"] = "# lib\n"
    assert run(tmp_path, "readme", files).status is Status.PASSED


@pytest.mark.parametrize(
    ("page", "status"),
    [("`parts/`: each part", Status.PASSED), ("the parts of it", Status.WARNED)],
)
def test_a_readme_above_may_tell_of_a_folder(
    tmp_path: Path, page: str, status: Status
) -> None:
    names = [f"lib/parts/{index}.cc" for index in range(text_checks.README_FROM)]
    files = {**dict.fromkeys(names, "x\n"), "lib/README.md": f"# lib\n\n{page}\n"}
    assert run(tmp_path, "readme", files).status is status
