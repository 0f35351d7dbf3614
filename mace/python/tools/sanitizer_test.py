# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What programs with the address sanitizer are told, and what they say."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from mace.python.tools.sanitizer import (
    sanitizer_environment,
    sanitizer_summary,
)

_SOURCE = """\
#include <stdlib.h>
int main(int count, char **words) {
  char *memory = malloc(count);
  (void)words;
  return memory[count];
}
"""


def test_a_real_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASAN_OPTIONS", raising=False)
    (tmp_path / "beyond.c").write_text(_SOURCE)
    flags = ["-fsanitize=address", "-g", "-o", str(tmp_path / "beyond")]
    try:
        subprocess.run(["clang-19", *flags, tmp_path / "beyond.c"], check=True)
    except FileNotFoundError:
        pytest.skip("there is no clang-19 to make a program")
    done = subprocess.run(
        [tmp_path / "beyond"],
        env=sanitizer_environment(),
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    # SIGABRT: no status that the program itself might give.
    assert done.returncode == -6
    summary = sanitizer_summary(done.stderr)
    assert summary.startswith("AddressSanitizer: heap-buffer-overflow ")
    assert summary.endswith("in main")
    assert "\n" not in summary


def test_the_folder_of_the_build_is_left_out() -> None:
    text = "SUMMARY: AddressSanitizer: SEGV /proc/self/cwd/mace/core/a.cc:3 in main\n"
    assert sanitizer_summary(text) == "AddressSanitizer: SEGV mace/core/a.cc:3 in main"


def test_nothing_found() -> None:
    assert sanitizer_summary("all is well\nSUMMARY: of something else\n") == ""


def test_the_users_options_come_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=1")
    value = sanitizer_environment()["ASAN_OPTIONS"]
    assert value.endswith("detect_leaks=0:detect_leaks=1")
