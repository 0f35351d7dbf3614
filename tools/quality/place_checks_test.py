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
