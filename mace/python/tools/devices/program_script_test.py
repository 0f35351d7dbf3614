# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The script, run by the shell of this computer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest

from mace.python.tools.devices.device import SCRATCH
from mace.python.tools.devices.program_script import run

_PRINT = "import os, sys; print(os.environ['MACE_TEST'], sys.argv[1:])"


def test_values_and_arguments_are_taken_literally(tmp_path: Path) -> None:
    folder = tmp_path / "a b; touch injected"
    (folder / SCRATCH).mkdir(parents=True)
    odd = "$(touch injected) `touch injected`; 'x' \"y\" \\"
    script = run(
        PurePosixPath(folder), [sys.executable, "-c", _PRINT, odd], {"MACE_TEST": odd}
    )
    # The program is ended when this ends.
    ours, theirs = os.pipe()
    done = subprocess.run(
        ["sh", "-c", script],
        stdin=ours,
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    os.close(ours)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{odd} {[odd]}\n"
    assert not list(tmp_path.rglob("injected"))


@pytest.mark.parametrize("name", ["A;touch x", "A=1 B", "$(x)", "", "1A", "A-B", "Ä"])
def test_a_name_that_no_variable_has(name: str) -> None:
    with pytest.raises(
        ValueError, match="is not a valid name of an environment variable"
    ):
        run(PurePosixPath("/tmp"), ["true"], {name: "value"})
