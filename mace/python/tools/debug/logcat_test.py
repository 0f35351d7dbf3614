# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Logs of emulated phones, by the real adb."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from mace.python.tools.debug import main
from test.device_farm.farm import Running


def test_logcat(phones: list[Running], capsys: pytest.CaptureFixture[str]) -> None:
    for phone in phones:
        subprocess.run(
            ["adb", "-s", phone.address, "shell", "log -t MACE hello there; log other"],
            stdin=subprocess.DEVNULL,
            check=True,
        )
    assert main(["logcat", "--grep=MACE"]) == 0
    told = capsys.readouterr()
    output = told.out
    # Nobody asked for boards.
    assert told.err == ""
    assert output.count("hello there") == len(phones)
    assert "other" not in output
    for phone in phones:
        assert phone.address in output


_OFF = """\
devices:
  "off":
    target_abis: [arm64]
    address: 127.0.0.1
    port: 1
    username: root
"""


def test_a_board_that_is_off_keeps_nobody_from_a_phone(
    phones: list[Running], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    boards = tmp_path / "boards.yml"
    boards.write_text(_OFF)
    flags = ["logcat", f"--device_yml={boards}"]
    assert main(flags) == 0
    captured = capsys.readouterr()
    assert all(phone.address in captured.out for phone in phones)
    assert "left out: cannot reach off (root@127.0.0.1)" in captured.err
    # Unless it was asked for.
    assert main([*flags, f"--devices_to_run=off,{phones[0].address}"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "cannot reach off (root@127.0.0.1)" in captured.err
