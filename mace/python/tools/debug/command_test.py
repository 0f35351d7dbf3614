# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Flags of the debugging commands."""

from __future__ import annotations

import pytest

from mace.python.tools.debug import main


def test_flags_are_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gdb", "--port=80"]) == 2
    assert "from 1024 to 65535" in capsys.readouterr().err
    assert main(["gdb", "--server=qemu", "--attach=5"]) == 2
    assert "only starts programs" in capsys.readouterr().err
    assert main(["gdb", "--attach=5", "--devices_to_run=host"]) == 2
    assert "was started from, unstripped: --program=FILE" in capsys.readouterr().err
    assert main(["memory", "--interval=0"]) == 2
    assert "seconds, above 0" in capsys.readouterr().err
    assert main(["nothing"]) == 2
