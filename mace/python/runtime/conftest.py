# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mace.python.runtime.library import library_path
from mace.python.tools.errors import MaceError

_ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session", autouse=True)
def library() -> None:
    """Of this computer; other steps of the tests have built it, too."""
    try:
        library_path()
    except MaceError:
        script = ["bash", "tools/build-standalone-lib.sh", "-abi=host"]
        subprocess.run(script, cwd=_ROOT, check=True)


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of caches; one for all tests of a file."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MACE_CACHE", str(folder))
        yield folder
