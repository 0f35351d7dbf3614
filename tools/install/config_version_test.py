# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Which installed versions `find_package(mace VERSION)` takes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

_TEMPLATE = Path(__file__).with_name("maceConfigVersion.cmake.in")
_PROJECT = """\
cmake_minimum_required(VERSION 3.13)
project(asks LANGUAGES NONE)
find_package(mace {asked} REQUIRED)
"""


def _finds(folder: Path, installed: str, asked: str) -> bool:
    """Whether a project that asks for a version finds the installed one."""
    package = folder / "prefix" / "lib" / "cmake" / "mace"
    package.mkdir(parents=True)
    (package / "maceConfig.cmake").write_text("")
    text = _TEMPLATE.read_text()
    for name, value in (("VERSION", installed), ("POINTER_BYTES", "8"), ("ABI", "x")):
        text = text.replace(f"@{name}@", value)
    (package / "maceConfigVersion.cmake").write_text(text)
    (folder / "CMakeLists.txt").write_text(_PROJECT.format(asked=asked))
    prefix = f"-DCMAKE_PREFIX_PATH={folder / 'prefix'}"
    command = ["cmake", "-S", folder, "-B", folder / "build", prefix]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 or "but not accepted" in done.stderr
    return done.returncode == 0


@pytest.mark.parametrize(
    ("installed", "asked"),
    [
        ("0.3.0", ""),
        ("0.3.0", "0"),
        ("0.3.2", "0.3"),
        ("0.3.2", "0.3.1"),
        ("0.3.2", "0.3.2 EXACT"),
        ("1.4.0", "1"),
        ("1.4.0", "1.2"),
    ],
)
def test_a_version_that_fits_is_found(
    tmp_path: Path, installed: str, asked: str
) -> None:
    assert _finds(tmp_path, installed, asked)


@pytest.mark.parametrize(
    ("installed", "asked"),
    [
        ("0.3.0", "0.3.1"),
        ("0.3.2", "0.3.1 EXACT"),
        ("0.4.0", "0.3"),
        ("0.4.0", "1"),
        ("1.4.0", "0.3"),
        ("1.4.0", "0"),
        ("1.4.0", "1.5"),
        ("2.0.0", "1.4"),
    ],
)
def test_another_interface_is_refused(
    tmp_path: Path, installed: str, asked: str
) -> None:
    assert not _finds(tmp_path, installed, asked)
