# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from pathlib import Path
from typing import Dict, List

import pytest

from tools.quality import place_checks
from tools.quality.model import Context

README = """# X

## The tree

```text
mace/
  core/           status
  python/tools/   all in Python
  codegen/        generated (not in git)
docs/             pages
```
"""
FILES = ("mace/core/a.cc", "mace/python/tools/b.py", "docs/c.md", ".ci/run", "x.md")


def findings(tmp_path: Path, name: str, files: Dict[str, str]) -> List[str]:
    for file, text in files.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text, encoding="utf-8")
    paths = tuple(Path(file) for file in files)
    context = Context(tmp_path, paths, paths, False, everything=True)
    check = next(check for check in place_checks.CHECKS if check.name == name)
    return list(check.run(context).lines)


def test_a_true_tree_passes(tmp_path: Path) -> None:
    assert not findings(
        tmp_path, "tree", {"README.md": README, **dict.fromkeys(FILES, "")}
    )


@pytest.mark.parametrize(
    ("more", "less", "finding"),
    [
        ("mace/runtimes/a.cc", None, "lacks mace/runtimes/"),
        ("setup/x.txt", None, "lacks setup/"),
        (None, "mace/core/a.cc", "no folder mace/core/"),
        (None, "docs/c.md", "no folder docs/"),
    ],
)
def test_a_tree_that_drifted_is_found(
    tmp_path: Path, more: str, less: str, finding: str
) -> None:
    names = [name for name in (*FILES, more) if name and name != less]
    found = findings(
        tmp_path, "tree", {"README.md": README, **dict.fromkeys(names, "")}
    )
    assert len(found) == 1
    assert finding in found[0]


def test_every_command_is_named(tmp_path: Path) -> None:
    files = {
        "tools/README.md": "`bash tools/build-lib.sh`\n",
        "tools/build-lib.sh": "",
        "tools/a_test.py": "",
        "tools/quality/x.py": "",
    }
    assert findings(tmp_path, "commands", files) == []
    files["tools/lib.sh"] = ""
    assert findings(tmp_path, "commands", files) == [
        "tools/README.md: says nothing of lib.sh"
    ]


_FOLDER = """\
| file | holds |
|---|---|
| `a.py`, `b` | stems will do, `other.py` here is no name |
| `model.*`, `mace_*` | and stars |
| `<op>.cc`, `deep/`, `deep/c.py` | and folders |

| flag | does |
|---|---|
| `none.py` | something else |
"""
_THERE = ("a.py", "b.h", "model.cc", "mace_x.h", "deep/c.py")


@pytest.mark.parametrize(
    ("gone", "told"),
    [
        (None, []),
        ("a.py", ["a.py"]),
        ("b.h", ["b"]),
        ("model.cc", ["model.*"]),
        ("mace_x.h", ["mace_*"]),
        ("deep/c.py", ["deep/", "deep/c.py"]),
    ],
)
def test_files_that_are_gone_are_found_in_tables(
    tmp_path: Path, gone: str, told: List[str]
) -> None:
    files = {f"room/{name}": "" for name in _THERE if name != gone}
    files = {"room/README.md": _FOLDER, "b.h": "", **files}
    assert findings(tmp_path, "listed", files) == [
        f"room/README.md: there is no {name}" for name in told
    ]


@pytest.mark.parametrize(
    ("file", "text", "finding"),
    [
        (
            "README.md",
            "See `mace/core/b.cc`.",
            "README.md:1: there is no mace/core/b.cc",
        ),
        (
            "mace/README.md",
            "\n`../docs/d.md`",
            "mace/README.md:2: there is no ../docs/d",
        ),
        (
            "mace/core/c.h",
            "// As in mace/core/b.cc.",
            "c.h:1: there is no mace/core/b.cc",
        ),
        ("tools/c.py", "a = 1  # of test/b", "c.py:1: there is no test/b"),
        ("tools/c.sh", "a=1 # of test/b", "c.sh:1: there is no test/b"),
    ],
)
def test_a_path_that_is_gone_is_found(
    tmp_path: Path, file: str, text: str, finding: str
) -> None:
    found = findings(tmp_path, "mentioned", {**dict.fromkeys(FILES, ""), file: text})
    assert len(found) == 1
    assert finding in found[0]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (
            "README.md",
            "`mace/core/a.cc`, `mace/core/a`, `mace/core/`, `docs` and `mace`",
        ),
        ("README.md", "`mace/ops/<op>/<op>.cc`, `mace/ops/*.yaml`, mace/ops/$op/x.cc"),
        ("README.md", "https://a.org/mace/core/b.cc, build/mace/b, //mace/core/b"),
        ("mace/README.md", "`../docs/c.md`, `core/a.cc`"),
        ("docs/development/changelog.md", "mace/core/b.cc is gone"),
        ("docs/user/x.md", "mace/core/b.cc of another repository"),
        ("mace/core/c.h", '#include "mace/ops/op_enums.h"'),
        ("tools/c.py", 'a = "test/b"  # of docs/c.md'),
        ("tools/c_test.py", "# of test/b"),
    ],
)
def test_other_paths_are_none(tmp_path: Path, file: str, text: str) -> None:
    assert not findings(tmp_path, "mentioned", {**dict.fromkeys(FILES, ""), file: text})
