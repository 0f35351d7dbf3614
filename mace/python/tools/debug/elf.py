# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the headers of programs and libraries with LLVM's tools."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from mace.python.tools.android_ndk import find_ndk
from mace.python.tools.errors import MaceError, MissingToolError

_SETUP = "bash tools/setup.sh --for build"


class ElfError(MaceError):
    """The file is not a program or library."""


@dataclass(frozen=True)
class ElfFile:
    """A program or library.

    Attributes:
        machine: "AArch64", "ARM", "Advanced Micro Devices X86-64".
        interpreter: the loader it asks for; empty if it is static.
        build_id: in hexadecimal; empty if it has none.
        has_lines: whether it knows source lines.
    """

    path: Path
    machine: str
    interpreter: str
    build_id: str
    has_lines: bool


def find_llvm_tool(name: str, needed_for: str) -> str:
    """The path of an LLVM program: from PATH, otherwise from the NDK.

    Raises:
        MissingToolError: there is none.
    """
    for candidate in (f"{name}-19", name):
        path = shutil.which(candidate)
        if path is not None:
            return path
    ndk = find_ndk()
    if ndk is not None and (ndk.prebuilt / "bin" / name).is_file():
        return str(ndk.prebuilt / "bin" / name)
    raise MissingToolError(name, needed_for, _SETUP)


def read_elf(path: Path) -> ElfFile:
    """Reads the headers of a file.

    Raises:
        ElfError: it cannot be read, or it is none.
        MissingToolError: there is no llvm-readelf.
    """
    tool = find_llvm_tool("llvm-readelf", f"reading {path.name}")
    result = subprocess.run(
        [
            tool,
            *("--file-header", "--program-headers", "--section-headers", "--notes"),
            str(path),
        ],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    machine = re.search(r"^ +Machine: +(.*)$", result.stdout, re.MULTILINE)
    if result.returncode != 0 or machine is None:
        text = result.stderr.strip().rpartition(": ")[2] or "not an ELF file"
        raise ElfError(f"{path} is no program or library: {text}")
    loader = re.search(r"interpreter: (.*)\]", result.stdout)
    build_id = re.search(r"Build ID: ([0-9a-f]+)", result.stdout)
    return ElfFile(
        path,
        machine[1].strip(),
        loader[1] if loader else "",
        build_id[1] if build_id else "",
        " .debug_line " in result.stdout,
    )
