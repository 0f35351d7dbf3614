# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The real program, and a project to run with it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.errors import MissingToolError
from mace.python.tools.run.options import RunOptions
from mace.python.tools.run.program import find_program
from mace.python.tools.run.testing.project import Project

_ROOT = Path(__file__).resolve().parents[5]


@pytest.fixture(scope="session")
def mace_run() -> Path:
    """mace_run for this computer, built if necessary."""
    try:
        return find_program(Abi.HOST, RunOptions(build_dir=_ROOT / "build"))
    except MissingToolError as error:
        pytest.skip(f"cannot build mace_run: {error}")


@pytest.fixture
def build_dir(mace_run: Path, tmp_path: Path) -> Path:
    """An empty build folder that contains the program."""
    folder = tmp_path / "build"
    program = folder / "bin" / "host" / "mace_run"
    program.parent.mkdir(parents=True)
    shutil.copy2(mace_run, program)
    # The copy must not be older than the sources.
    os.utime(program)
    return folder


@pytest.fixture
def project(build_dir: Path) -> Project:
    return Project(build_dir)
