# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Programs made by the stand-in, run on glibc in qemu."""

from __future__ import annotations

from pathlib import Path
from typing import List

from test.android_ndk.targets import LIBRARIES, Target, call

_LOG_SOURCE = """\
#include <stdio.h>
int __android_log_write(int prio, const char *tag, const char *text) {
  return fprintf(stderr, "logcat %c/%s: %s", "??VDIWEF"[prio & 7], tag, text);
}
"""


def run_command(target: Target, program: Path, folder: Path) -> List[str]:
    """A command that runs a program of the stand-in, without its arguments.

    Args:
        folder: empty; for libraries under Android's names.
    """
    library = target.root / "lib"
    for name, real in LIBRARIES.items():
        (folder / name).symlink_to(library / real)
    source = folder / "log.c"
    source.write_text(_LOG_SOURCE)
    call(
        [
            "clang-19",
            f"--target={target.gnu}",
            "-fuse-ld=lld",
            "-shared",
            "-fPIC",
            str(source),
            "-o",
            str(folder / "liblog.so"),
        ]
    )
    search = f"{folder}:{program.parent}:{library}"
    return [
        target.emulator,
        *("-cpu", "max", "-L", str(target.root)),
        *(str(library / target.loader), "--library-path", search),
        str(program),
    ]
