# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Adds an operator to MACE as docs/development/adding_an_op.md says: by new files
only. The command writes the files into a copy of the checkout, and the test changes the
formula as a developer would. All tools find the operator there.

The same files in a folder of a user's own are built and run by test/custom_op; Bazel
makes their targets as it makes those of all rooms.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mace.python.tools.new_op.room import NewOp

_ROOT = Path(__file__).resolve().parents[2]
_OP = NewOp("Asinh", onnx="Asinh")
_ROOM = Path("mace/ops/asinh")
_HANDLERS = Path("mace/python/tools/importers/standard/handlers")
# Every elementwise operator of ONNX is imported, so the copy first unlearns this one.
_KNOWN = (_HANDLERS / "elementwise.py", '"Asinh", ')

# The changes of a developer to the files of `new-op`: file, before, after.
_CHANGES = (
    ("asinh.op.yaml", "input * factor", "asinh(input)"),
    (
        "asinh.op.yaml",
        "attributes:\n  factor: {type: float, default: 1.0, "
        'doc: "By what each element is multiplied."}\n',
        "attributes: {}\n",
    ),
    ("asinh.py", 'inputs[0] * op.attr("factor")', "np.arcsinh(inputs[0])"),
    ("asinh.py", "import Any\n", "import Any\n\nimport numpy as np\n"),
)


class _Checkout:
    """A copy of this checkout, without files that git ignores."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "checkout"
        for path in _tracked():
            target = self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(_ROOT / path, target, follow_symlinks=False)
        known, name = _KNOWN
        text = (self.root / known).read_text("utf-8")
        assert text.count(name) == 1
        (self.root / known).write_text(text.replace(name, ""), "utf-8")

    def python(self, *arguments: str) -> str:
        """Runs Python in the copy; returns its output."""
        command = [sys.executable, *arguments]
        ended = subprocess.run(
            command,
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": str(self.root)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, f"{command}\n{ended.stdout}\n{ended.stderr}"
        return ended.stdout

    def digests(self) -> dict[Path, str]:
        """The checksum of each source file."""
        return {
            path.relative_to(self.root): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in self.root.rglob("*")
            if path.is_file()
            and not path.is_symlink()
            and not {"__pycache__", "build"} & {*path.relative_to(self.root).parts}
        }


def _tracked() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=_ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    names = filter(None, listed.stdout.split("\0"))
    return [name for name in names if (_ROOT / name).is_file()]


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Checkout]:
    if not (_ROOT / ".git").exists():
        pytest.skip("not a checkout of git, so nothing tells sources from outputs")
    checkout = _Checkout(tmp_path_factory.mktemp("added"))
    yield checkout
    shutil.rmtree(checkout.root)


@pytest.fixture(scope="module")
def added(before: _Checkout) -> _Checkout:
    """The copy with the operator, added only by new files."""
    sources = before.digests()
    before.python("tools/converter.py", "new-op", _OP.op_type, f"--onnx={_OP.onnx}")
    for name, old, new in _CHANGES:
        path = before.root / _ROOM / name
        text = path.read_text("utf-8")
        assert old in text, f"the template of {name} has changed"
        path.write_text(text.replace(old, new), "utf-8")
    after = before.digests()
    assert {path: after[path] for path in sources} == sources
    assert after.keys() - sources.keys() == {
        *(_ROOM / f"asinh{end}" for end in (".op.yaml", ".py", ".cc", "_cpu.cc")),
        *(_ROOM / f"asinh{end}" for end in ("_test.cc", "_benchmark.cc")),
        *(_HANDLERS / f"asinh{end}" for end in (".py", "_test.py")),
    }
    return before


def test_the_tests_of_the_tools_find_it(added: _Checkout) -> None:
    added.python(
        *("-m", "pytest", "-q", "-p", "no:cacheprovider"),
        str(_HANDLERS / "asinh_test.py"),
        "mace/ops",
        "mace/python/tools/catalogue",
        "mace/python/tools/ir/shapes_test.py::"
        "test_every_operator_has_its_rules_in_its_room",
    )


def test_the_documentation_lists_it(added: _Checkout) -> None:
    table = added.python("-m", "mace.python.tools.catalogue.table")
    assert "| [Asinh](#asinh) | asinh(input) |" in table
    out = added.root / "build" / "onnx.txt"
    arguments = ("--framework=onnx", f"--output={out}")
    added.python("-m", "mace.python.tools.importers.frame.reference", *arguments)
    assert "`Asinh`" in out.read_text("utf-8")


def test_a_library_can_be_built_with_it(added: _Checkout) -> None:
    selection = "mace.python.tools.export.selection"
    rooms = added.python("-m", selection, f"--ops={_OP.op_type}").strip()
    assert rooms == "asinh"
