# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The generated reference of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from mace.python.tools.cli import reference
from mace.python.tools.cli.parser import COMMANDS, command_parser


def test_every_flag_of_every_command_is_there() -> None:
    text = reference.markdown()
    for command in COMMANDS:
        assert f"\n## {command}\n" in f"\n{text}"
        for action in command_parser(command)._actions:
            flag = [str(action.metavar), *action.option_strings][-1]
            if flag not in ("-h", "--help"):
                assert f"| `{flag}" in text


def test_rows_show_values() -> None:
    text = reference.markdown()
    assert "| `--config=FILE` | the deployment file |" in text
    assert "| `--validate[=BOOL]` |" in text
    assert "| `--caffe_env=docker\\|local` |" in text
    assert "| `--round=N` | number of times to run the model (default 1) |" in text


def test_rows_say_when_a_flag_has_no_effect() -> None:
    text = reference.markdown()
    (row, *_) = [x for x in text.splitlines() if x.startswith("| `--debug_mode")]
    assert "no effect on convert" in row
    (row,) = [x for x in text.splitlines() if x.startswith("| `--enable_micro")]
    assert "refused: the microcontroller form is not in this release" in row


def test_headings_are_unique() -> None:
    headings = [
        line for line in reference.markdown().splitlines() if line.startswith("#")
    ]
    assert len(headings) == len(set(headings))


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "flags.txt"
    assert reference.main(["--output", str(path)]) == 0
    assert reference.main([]) == 0
    assert capsys.readouterr().out == path.read_text()
