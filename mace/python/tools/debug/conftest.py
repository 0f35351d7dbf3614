# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A small program for the debugging commands."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

# Do not change line numbers: the tests check them.
_LOOK = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static inline __attribute__((always_inline)) int inner(int x) {
  return x * 3;
}
__attribute__((noinline)) int outer(int x) {
  printf("outer %d\\n", x);
  return inner(x) + 1;
}
int main(int count, char **words) {
  if (count > 1 && !strcmp(words[1], "hold")) {
    char *memory = malloc(32 << 20);
    memset(memory, 1, 32 << 20);
    sleep(4);
    return memory[5] - 1;
  }
  return outer(count) == 4 ? 0 : 1;
}
"""
OUTER_LINE = 9


def compile_c(program: Path, source: str, *flags: str) -> Path:
    """Makes `program` of C; the source stays beside it as look.c."""
    text = program.parent / "look.c"
    text.write_text(source)
    command = ["clang-19", "-fuse-ld=lld", "-O1", *flags, str(text)]
    try:
        subprocess.run([*command, "-o", str(program)], check=True)
    except FileNotFoundError:
        pytest.skip("there is no clang-19 to make a program")
    return program


def compile_look(folder: Path, *flags: str) -> Path:
    """A mace_run for 64-bit ARM, static, which any device of the farm runs.

    It takes `hold` as an argument: it then holds 32 MiB for 4 s.
    """
    target = ("--target=aarch64-linux-gnu", "-static", "-Wl,--build-id=sha1")
    return compile_c(folder / "mace_run", _LOOK, *target, *flags)


@pytest.fixture(scope="package")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A static program for 64-bit ARM, with line numbers."""
    return compile_look(tmp_path_factory.mktemp("program"), "-g")
