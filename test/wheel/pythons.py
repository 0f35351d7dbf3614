# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Virtual environments with a wheel, of the Pythons that this computer has."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

from filelock import FileLock

ROOT = Path(__file__).resolve().parents[2]
_KEPT = ROOT / "build" / "test" / "wheel"
_OLDEST = (3, 9)
_VERSION = "import sys, venv, ensurepip; print(*sys.version_info[:2])"


@dataclass(frozen=True)
class Python:
    """An interpreter.

    Attributes:
        version: as (3, 9).
    """

    version: Tuple[int, ...]
    program: Path

    @property
    def is_own(self) -> bool:
        """Whether it is the version that runs the tests, with what these need."""
        return self.version == sys.version_info[:2]

    def __str__(self) -> str:
        return ".".join(map(str, self.version))


def pythons() -> List[Python]:
    """The oldest and the newest that can be used, and the one that runs the tests."""
    own = Python(sys.version_info[:2], Path(sys.executable))
    found: Dict[Tuple[int, ...], Python] = {own.version: own}
    for program in _programs():
        answer = subprocess.run(
            [program, "-c", _VERSION], capture_output=True, text=True, check=False
        )
        if answer.returncode == 0:
            version = tuple(map(int, answer.stdout.split()))
            if version >= _OLDEST:
                found.setdefault(version, Python(version, program))
    return [found[version] for version in sorted({min(found), own.version, max(found)})]


def _programs() -> Iterator[Path]:
    for minor in range(_OLDEST[1], sys.version_info[1] + 10):
        program = shutil.which(f"python3.{minor}")
        if program:
            yield Path(program)
    versions = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    yield from sorted(versions.glob("3.*/bin/python3"))


def install(python: Python, wheel: Path, folder: Path) -> Path:
    """Makes a virtual environment with a wheel; returns the folder of its programs.

    The wheel's dependencies are those of the tests, or, for another version of Python,
    are installed once and kept.
    """
    subprocess.run(
        [python.program, "-m", "venv", "--without-pip", folder],
        check=True,
    )
    programs = folder / "bin"
    _pip(programs / "python", "--no-deps", str(wheel))
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(f"{_dependencies(python)}\n")
    return programs


def _pip(python: Path, *arguments: str) -> None:
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    more = ("--disable-pip-version-check", "--no-input", *arguments)
    subprocess.run([*pip, *more], check=True, stdin=subprocess.DEVNULL)


def _dependencies(python: Python) -> Path:
    """A folder with the packages that the wheel needs."""
    if python.is_own:
        return Path(sysconfig.get_path("purelib"))
    lists = ROOT / "setup" / "requirements.txt"
    digest = hashlib.sha256(lists.read_bytes()).hexdigest()[:12]
    folder = _KEPT / f"{python}-{digest}"
    _KEPT.mkdir(parents=True, exist_ok=True)
    with FileLock(_KEPT / ".lock"):
        if not folder.is_dir():
            stage = _KEPT / f".{folder.name}"
            shutil.rmtree(stage, ignore_errors=True)
            _pip(python.program, "--target", str(stage), "-r", str(lists))
            stage.rename(folder)
    return folder
