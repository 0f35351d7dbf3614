# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Converts the addresses of backtraces from a device to functions and source lines."""

from __future__ import annotations

import logging
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from mace.python.tools.build_tools import find_ndk
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


_LOG = logging.getLogger(__name__)

# "#01 pc 00000000000a2b34  /data/local/tmp/mace_run/mace_run (Run+12) (BuildId: 0f)"
_TOMBSTONE = re.compile(
    r"#(?P<number>\d+) +pc +(?:0x)?(?P<address>[0-9a-f]+) +(?P<file>/\S+|\S+\.so\S*)"
    r"(?: \(offset (?:0x)?(?P<offset>[0-9a-f]+)\))?"
)
# "    #1 0x5581 in Run (/opt/app/mace_run/mace_run+0x1b34)", of a sanitizer.
_SANITIZER = re.compile(
    r"#(?P<number>\d+) +0x[0-9a-f]+ .*?\((?P<file>/[^()]*?)\+0x(?P<address>[0-9a-f]+)\)"
)
_BUILD_ID = re.compile(r"BuildId: ([0-9a-f]+)")

_ADVICE = (
    "run with --debug_mode, or build with: bash tools/build-standalone-lib.sh -debug; "
    "then name the file by --symbols"
)


class SymbolizeError(MaceError):
    """The text has no backtrace, or no file has symbols for it."""


@dataclass(frozen=True)
class Frame:
    """One line of a backtrace.

    Attributes:
        address: in the file.
        file: as the device names it.
        build_id: of the file there; empty if the line does not tell.
    """

    number: int
    address: int
    file: str
    build_id: str = ""


@dataclass
class Symbols:
    """Files with symbols, found by build id or by name."""

    files: list[ElfFile] = field(default_factory=list)

    def find(self, frame: Frame) -> ElfFile | None:
        """The file a frame is in.

        Raises:
            SymbolizeError: there is one of that name, and it is another build.
        """
        name = PurePosixPath(frame.file).name
        named = [file for file in self.files if file.path.name == name]
        if not frame.build_id:
            with_lines = [file for file in named if file.has_lines]
            return next(iter([*with_lines, *named]), None)
        same = [file for file in self.files if file.build_id == frame.build_id]
        if same:
            return max(same, key=lambda file: file.has_lines)
        if named:
            known = ", ".join(f"{file.path} ({file.build_id})" for file in named)
            raise SymbolizeError(
                f"{name} on the device is build {frame.build_id}, and here is another: "
                f"{known}; give the file that ran by --symbols"
            )
        return None


def frames(text: str) -> list[Frame]:
    """All frames of all backtraces of a log, in their order."""
    return [frame for line in text.splitlines() for frame in _frame(line)]


def _frame(line: str) -> Iterator[Frame]:
    found = _TOMBSTONE.search(line) or _SANITIZER.search(line)
    if found is None:
        return
    address = int(found["address"], 16)
    build_id = _BUILD_ID.search(line)
    yield Frame(
        int(found["number"]), address, found["file"], build_id[1] if build_id else ""
    )


def read_symbols(paths: Iterable[Path]) -> Symbols:
    """The files, and all programs and libraries in the folders.

    Raises:
        SymbolizeError: a path does not exist.
        ElfError: a file that was named is none.
    """
    symbols = Symbols()
    for path in paths:
        if path.is_dir():
            for file in sorted(path.rglob("*")):
                if file.is_file() and _is_elf(file):
                    symbols.files.append(read_elf(file))
        elif path.is_file():
            symbols.files.append(read_elf(path))
        else:
            raise SymbolizeError(f"--symbols={path}: no such file or folder")
    return symbols


def symbolize(text: str, symbols: Symbols) -> list[str]:
    """One line per frame, inlined calls below it.

    Raises:
        SymbolizeError: the text holds no backtrace, or no frame of it is in a
            file with symbols.
    """
    backtrace = frames(text)
    if not backtrace:
        raise SymbolizeError(
            "the log holds no backtrace (lines like '#00 pc 0001a2b4  /path/file' of "
            "Android or '#0 0x1a2b4 (/path/file+0x1b4)' of a sanitizer)"
        )
    lines = []
    explained = 0
    for frame in backtrace:
        file = symbols.find(frame)
        head = f"#{frame.number:02d} {frame.address:#x} {frame.file}"
        if file is None:
            lines.append(head)
            continue
        if not file.has_lines:
            _LOG.warning("%s has no source lines: %s", file.path, _ADVICE)
        explained += 1
        lines.append(head)
        lines += [f"      {call}" for call in _calls(file, frame)]
    if explained == 0:
        wanted = sorted({PurePosixPath(frame.file).name for frame in backtrace})
        raise SymbolizeError(f"no symbols for {', '.join(wanted)}: {_ADVICE}")
    return lines


def _calls(file: ElfFile, frame: Frame) -> Sequence[str]:
    tool = find_llvm_tool("llvm-symbolizer", "reading backtraces")
    result = subprocess.run(
        [
            tool,
            f"--obj={file.path}",
            *("--demangle", "--inlining", "--pretty-print"),
            hex(frame.address),
        ],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if result.returncode != 0:
        raise SymbolizeError(f"{tool}: {result.stderr.strip()}")
    return [line.strip() for line in result.stdout.splitlines() if line.strip()]


def _is_elf(path: Path) -> bool:
    try:
        with open(path, "rb") as stream:
            return stream.read(4) == b"\x7fELF"
    except OSError:
        return False
