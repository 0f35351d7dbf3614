# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""ARM programs that replace `mace_run` and fail."""

from __future__ import annotations

import subprocess
from pathlib import Path

_SOURCES = {
    "segfault": "volatile int *p = 0; *p = 1; return 0;",
    "abort": "abort();",
    # The file shows that the program has started.
    "hang": 'fclose(fopen(".scratch/begun", "w")); for (;;) pause();',
}
_TRIPLES = {"arm64": "aarch64-linux-gnu", "arm": "arm-linux-gnueabihf"}


def make_program(kind: str, path: Path, machine: str = "arm64") -> None:
    """Compiles a program that says "begun" and then does `kind`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Never write through a link to the real program.
    path.unlink(missing_ok=True)
    text = (
        "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
        'int main(void) { printf("begun\\n"); fflush(stdout); '
        f"{_SOURCES[kind]} }}\n"
    )
    subprocess.run(
        [
            *("clang-19", f"--target={_TRIPLES[machine]}", "-fuse-ld=lld-19"),
            *("-static", "-O1", "-x", "c", "-", "-o", str(path)),
        ],
        input=text,
        text=True,
        check=True,
    )
