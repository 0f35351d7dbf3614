# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What terminals get of texts from models and devices."""

from __future__ import annotations

import pytest

from mace.python.tools.wording import on_one_line, printable


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("\x9b2J", "\\x9b2J"),
        ("name\rother", "name\\x0dother"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("a\x00b\x7f", "a\\x00b\\x7f"),
        ("two\r\nlines\n\tindented", "two\nlines\n\tindented"),
        (
            "Gr\u00fc\u00dfe \u4e2d\u6587 \U0001f600",
            "Gr\u00fc\u00dfe \u4e2d\u6587 \U0001f600",
        ),
    ],
)
def test_control_characters_become_escapes(text: str, safe: str) -> None:
    assert printable(text) == safe


def test_a_cell_is_one_line() -> None:
    assert on_one_line("a\n\tb\x1b") == "a\\n\\tb\\x1b"
