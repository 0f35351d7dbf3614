# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Dict, List

import pytest

from tools.quality.clang_tidy import Tidy, groups_of
from tools.quality.model import Context, find_program

_ROOT = Path(__file__).resolve().parents[2]


def _write(root: Path, texts: Dict[str, str]) -> List[Path]:
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="ascii")
    return [Path(name) for name in texts]


def _tidy(root: Path) -> Tidy:
    tidy, clang = find_program("clang-tidy"), find_program("clang++-19")
    if tidy is None or clang is None:
        pytest.skip("clang-tidy or clang++-19 is not installed")
    shutil.copy(_ROOT / ".clang-tidy", root)
    return Tidy(Context(root, (), (), fix=False, everything=True), tidy, clang)


def test_sources_of_a_folder_with_the_same_flags_are_checked_together(
    tmp_path: Path,
) -> None:
    plain, kernel = "int x;\n", "namespace mace::MACE_ISA {}\n"
    names = ("mace/a/1.cc", "mace/a/2_isa.cc", "mace/a/3.cc", "mace/b/4.cc")
    files = _write(tmp_path, {n: kernel if "isa" in n else plain for n in names})
    groups = groups_of(tmp_path, files)
    assert sorted(groups) == [[files[0], files[2]], [files[1]], [files[3]]]


def test_equal_names_in_two_sources_are_no_finding(tmp_path: Path) -> None:
    text = "namespace {\nint Same() { return 1; }\n}\nint FN() { return Same(); }\n"
    sources = {f"mace/{i}.cc": text.replace("FN", f"F{i}") for i in range(3)}
    files = _write(tmp_path, sources)
    tidy = _tidy(tmp_path)
    assert tidy(files) == []
    # Of each source, of the two that were named, and of all.
    assert len(list((tmp_path / "build/check/tidy").iterdir())) == 5


def test_a_finding_is_told_with_its_source_each_time(tmp_path: Path) -> None:
    bad = "#include <string>\nbool F(const std::string &s) { return s.size() == 0; }\n"
    texts = {"mace/a.cc": "int A() { return 1; }\n", "mace/b.cc": bad}
    files = _write(tmp_path, {**texts, "mace/c.cc": "int C() { return 1; }\n"})
    tidy = _tidy(tmp_path)
    for _ in range(2):
        (line,) = tidy(files)
        assert line.startswith("mace/b.cc:2:")
        assert "[readability-container-size-empty]" in line
    # The two others passed together.
    assert len(list((tmp_path / "build/check/tidy").iterdir())) == 1


def test_what_passed_is_not_looked_at_again(tmp_path: Path) -> None:
    texts = {f"mace/{name}.cc": f"int {name}() {{ return 1; }}\n" for name in "ab"}
    files = _write(tmp_path, texts)
    assert _tidy(tmp_path)(files) == []
    clang = find_program("clang++-19")
    assert clang is not None
    context = Context(tmp_path, (), (), fix=False, everything=True)
    assert Tidy(context, "/none/such", clang)(files) == []
    # A comment may suppress findings.
    (tmp_path / files[0]).write_text("// Other.\nint a() { return 1; }\n")
    with pytest.raises(FileNotFoundError, match="/none/such"):
        Tidy(context, "/none/such", clang)(files)


def test_a_source_that_includes_another_is_told(tmp_path: Path) -> None:
    texts = {f"mace/{name}.cc": f"int {name}() {{ return 1; }}\n" for name in "ab"}
    files = _write(tmp_path, {**texts, "mace/c.cc": '#include "mace/d.cc"\n'})
    _write(tmp_path, {"mace/d.cc": "int d() { return 1; }\n"})
    (line,) = _tidy(tmp_path)(files)
    assert line.startswith("mace/c.cc:1:")
    assert "[bugprone-suspicious-include]" in line


def test_a_missing_header_is_told(tmp_path: Path) -> None:
    (file,) = _write(tmp_path, {"mace/a.cc": '#include "mace/none.h"\n'})
    (line,) = _tidy(tmp_path)([file])
    assert "mace/a.cc:1:10: fatal error: 'mace/none.h' file not found" in line
