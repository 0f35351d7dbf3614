# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The ABIs of the stand-in, and the cross compilers' parts that make it."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Sequence

# Of the C library's stand-in, by the name Android gives it.
LIBRARIES = {"libc.so": "libc.so.6", "libm.so": "libm.so.6", "libdl.so": "libdl.so.2"}


@dataclass(frozen=True)
class Target:
    """One ABI: what it is called, and where its parts come from."""

    abi: str
    triple: str
    clang_arch: str
    macro: str
    gnu: str
    loader: str
    emulator: str

    @property
    def gcc(self) -> Path:
        """Folder of GCC's libraries."""
        return newest(Path("/usr/lib/gcc-cross") / self.gnu)

    @property
    def root(self) -> Path:
        return Path("/usr") / self.gnu


TARGETS = {
    target.abi: target
    for target in (
        Target(
            "arm64-v8a",
            "aarch64-linux-android",
            "aarch64",
            "__aarch64__",
            "aarch64-linux-gnu",
            "ld-linux-aarch64.so.1",
            "qemu-aarch64",
        ),
        Target(
            "armeabi-v7a",
            "arm-linux-androideabi",
            "arm",
            "__arm__",
            # Floats go through integer registers, as on Android.
            "arm-linux-gnueabi",
            "ld-linux.so.3",
            "qemu-arm",
        ),
    )
}


def newest(folder: Path) -> Path:
    """The entry with the highest version."""
    return max(folder.iterdir(), key=lambda path: int(path.name.split(".")[0]))


def call(command: Sequence[str], text: str = "") -> None:
    """Runs a compiler or the like; `text` is its standard input."""
    subprocess.run(command, input=text, text=True, check=True)
