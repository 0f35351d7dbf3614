# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mace.python.runtime.library import library_path
from mace.python.tools.build_tools import bazel_command

_ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session", autouse=True)
def library() -> None:
    """Of this computer, as its sources are: Bazel builds what has changed."""
    if shutil.which(bazel_command().program) is None:
        library_path()
        return
    script = ["bash", "tools/build-standalone-lib.sh", "-abi=host"]
    subprocess.run(script, cwd=_ROOT, check=True)


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of caches; one for all tests of a file."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MACE_CACHE", str(folder))
        yield folder
