# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests the entry points with a Python without packages, and the script that clears a
checkout.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

_TOOLS = Path(__file__).resolve().parent
_DOORS = (
    "bazel_adb_run.py",
    "debug.py",
    "image/image_to_tensor.py",
    "image/tensor_to_image.py",
    "onnx_optimizer.py",
    "transform_graph.py",
)


def _start(door: str, venv: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-S", str(_TOOLS / door), "-h"],
        env={**os.environ, "MACE_VENV": str(venv)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("door", _DOORS)
def test_enters_the_virtual_environment(door: str, tmp_path: Path) -> None:
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text('#!/bin/sh\necho "venv: $@"\nexit 7\n')
    python.chmod(0o755)
    started = _start(door, tmp_path)
    assert started.returncode == 7
    assert started.stdout == f"venv: {_TOOLS / door} -h\n"


_INTERRUPTED_IMPORT = """
import runpy, signal, sys
class Interrupt:
    def find_spec(self, name, *_):
        if name == module:
            signal.raise_signal(signal.SIGINT)
module, *sys.argv = sys.argv[1:]
sys.meta_path.insert(0, Interrupt())
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.parametrize(
    ("door", "module", "status", "said"),
    [
        ("converter.py", "mace.python.tools.cli.main", -signal.SIGINT, ""),
        ("converter.py", "mace.python.tools.cli.parser", 130, "error: interrupted"),
        ("bazel_adb_run.py", "mace.python.tools.bazel_run", -signal.SIGINT, ""),
        ("debug.py", "mace.python.tools.debug", -signal.SIGINT, ""),
        (
            "onnx_optimizer.py",
            "mace.python.tools.command_line.guard",
            -signal.SIGINT,
            "",
        ),
    ],
)
def test_ctrl_c_at_the_start_shows_no_traceback(
    door: str, module: str, status: int, said: str
) -> None:
    started = subprocess.run(
        [
            sys.executable,
            "-c",
            _INTERRUPTED_IMPORT,
            module,
            str(_TOOLS / door),
            "a",
            "b",
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        # SIGINT is not ignored, whoever started the tests.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert started.returncode == status
    assert started.stderr.startswith(said)
    assert started.stderr.count("\n") == bool(said)


@pytest.mark.parametrize("door", _DOORS)
def test_names_setup_when_packages_are_missing(door: str, tmp_path: Path) -> None:
    started = _start(door, tmp_path)
    assert started.returncode == 2
    assert started.stderr.count("\n") == 1
    assert "bash tools/setup.sh" in started.stderr


_LEFT = (
    *("build/lib/host/cpu/libmace.a", "docs/_build/index.html"),
    *(".mypy_cache/a", ".ruff_cache/a", ".pytest_cache/a", ".hypothesis/a"),
    *("mace/__pycache__/a.pyc", "test/deep/__pycache__/b.pyc"),
)
_KEPT = ("mace/ops/a.cc", "docs/user/faq.md", "tools/run_bazel.sh", "built/a")
_ENVIRONMENT = (".venv/bin/python", ".venv/lib/__pycache__/c.pyc")
# Stands for Bazel: its output tree is a folder beside the checkout.
_BAZEL = """#!/bin/sh
echo "$@" >> "$LOG"
case "$*" in
*--expunge*) rm -rf "$TREE" ;;
*) rm -rf "$TREE/bin" ;;
esac
echo 'INFO: Starting clean.' >&2
"""


class _Checkout:
    """A checkout with what builds and tests leave, and the script that clears it."""

    def __init__(self, folder: Path) -> None:
        self.root, self.tree = folder / "checkout", folder / "bazel_tree"
        self.log = folder / "asked"
        for name in (*_LEFT, *_KEPT, *_ENVIRONMENT):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).touch()
        for name in ("clear_workspace.sh", "run_bazel.sh"):
            shutil.copy(_TOOLS / name, self.root / "tools" / name)
        (self.root / "builds").symlink_to("build")
        (self.tree / "bin").mkdir(parents=True)
        self.bazel = folder / "bazel"
        self.bazel.write_text(_BAZEL)
        self.bazel.chmod(0o755)

    def clear(self, *flags: str) -> subprocess.CompletedProcess[str]:
        """Clears it, from another folder."""
        places = {"BAZEL": self.bazel, "LOG": self.log, "TREE": self.tree}
        return subprocess.run(
            ["bash", str(self.root / "tools" / "clear_workspace.sh"), *flags],
            env={
                **os.environ,
                **{name: str(path) for name, path in places.items()},
                "BAZEL_FLAGS": "",
                "BAZEL_STARTUP_FLAGS": "",
            },
            cwd=self.root.parent,
            capture_output=True,
            text=True,
            check=False,
        )

    def files(self) -> set[str]:
        """What is left, but for the scripts."""
        found = (path for path in self.root.rglob("*") if path.is_file())
        names = {path.relative_to(self.root).as_posix() for path in found}
        return names - {"tools/clear_workspace.sh"}


def test_clearing_keeps_sources_and_packages(tmp_path: Path) -> None:
    checkout = _Checkout(tmp_path)
    cleared = checkout.clear()
    assert (cleared.returncode, cleared.stdout) == (0, "workspace cleared\n")
    assert checkout.files() == {*_KEPT, *_ENVIRONMENT}
    assert not (checkout.root / "builds").is_symlink()
    assert checkout.log.read_text().split() == ["clean", "--color=no"]
    assert not any(checkout.tree.iterdir())


def test_expunge_removes_packages_and_the_whole_tree_of_bazel(tmp_path: Path) -> None:
    checkout = _Checkout(tmp_path)
    assert checkout.clear("--expunge").returncode == 0
    assert checkout.files() == set(_KEPT)
    assert checkout.log.read_text().split() == ["clean", "--color=no", "--expunge"]
    assert not checkout.tree.exists()


def test_clearing_needs_no_bazel(tmp_path: Path) -> None:
    checkout = _Checkout(tmp_path)
    checkout.bazel.unlink()
    assert checkout.clear().returncode == 0
    assert checkout.files() == {*_KEPT, *_ENVIRONMENT}


def test_clearing_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    checkout = _Checkout(tmp_path)
    before = checkout.files()
    refused = checkout.clear("--all")
    assert refused.returncode == 2
    assert "unknown argument '--all'" in refused.stderr
    assert checkout.files() == before
    told = checkout.clear("--help")
    assert told.stdout.startswith("Usage: bash tools/clear_workspace.sh [--expunge]")
    assert checkout.files() == before
