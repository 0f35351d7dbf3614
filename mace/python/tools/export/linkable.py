# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Files as an archive of ELF objects that any linker takes, without a compiler.

Each model becomes one object, whose read-only sections hold its graph and its
weights, byte by byte as they are in their files, at multiples of 64. Hidden symbols
name where each begins and ends, so that nothing needs a relocation. The objects are
written as a stream: memory does not grow with the weights.

Bazel runs this file as a program, on a Python without packages.
"""

from __future__ import annotations

import argparse
import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Optional

# As the model file promises for weights: a cache line, and any vector.
ALIGNMENT = 64
_COPY_BYTES = 1 << 20

# From the ELF specification and those of the processors.
_ET_REL = 1
_SHT_PROGBITS, _SHT_SYMTAB, _SHT_STRTAB = 1, 2, 3
_SHF_ALLOC = 2
_GLOBAL_OBJECT = 1 << 4 | 1
_HIDDEN = 2


@dataclass(frozen=True)
class Machine:
    """A processor as ELF knows it.

    Attributes:
        number: e_machine.
        wide: files of the 64-bit kind.
        most_bytes: that can be linked in, so that code reaches across them and the
            program itself.
        flags: e_flags.
    """

    number: int
    wide: bool
    most_bytes: int
    flags: int = 0

    @property
    def header(self) -> struct.Struct:
        """An ELF header."""
        return struct.Struct("<16sHHIQQQIHHHHHH" if self.wide else "<16sHHIIIIIHHHHHH")

    @property
    def section(self) -> struct.Struct:
        """An entry of the section table."""
        return struct.Struct("<IIQQQQIIQQ" if self.wide else "<IIIIIIIIII")

    def symbol(self, name: int, value: int, size: int, section: int) -> bytes:
        """A hidden global symbol of data."""
        if self.wide:
            return struct.pack(
                "<IBBHQQ", name, _GLOBAL_OBJECT, _HIDDEN, section, value, size
            )
        return struct.pack(
            "<IIIBBH", name, value, size, _GLOBAL_OBJECT, _HIDDEN, section
        )


# x86 reaches 2 GiB, and ARM's tables for exceptions reach 1 GiB with 32 bits. Version 5
# of ARM's ABI, whose objects do not mix with others.
MACHINES = {
    "x86_64": Machine(62, True, 1792 << 20),
    "aarch64": Machine(183, True, 1792 << 20),
    "arm": Machine(40, False, 960 << 20, 5 << 24),
}


@dataclass(frozen=True)
class Member:
    """A model, to be linked in.

    Attributes:
        name: the model's.
        prefix: of its symbols: `<prefix>_graph`, `<prefix>_graph_end`, and of the
            weights `<prefix>_data`, `<prefix>_data_end`.
        data: None: the weights are delivered as a file.
    """

    name: str
    prefix: str
    graph: Path
    data: Optional[Path] = None

    @property
    def parts(self) -> list[tuple[str, Path]]:
        """Each symbol, and the file whose bytes it names."""
        parts = [(f"{self.prefix}_graph", self.graph)]
        if self.data is not None:
            parts.append((f"{self.prefix}_data", self.data))
        return parts

    @property
    def symbols(self) -> list[str]:
        """The names that the object defines."""
        return [n for name, _ in self.parts for n in (name, f"{name}_end")]


class TooLargeError(ValueError):
    """More than a program can reach."""


def library_prefix(library: str) -> str:
    """How the symbols of a library begin. No two libraries share one."""
    # Other characters than C's are replaced, and the name's checksum tells them apart.
    name = "".join(c if c.isascii() and c.isalnum() else "_" for c in library)
    if name != library:
        name += f"_{zlib.crc32(library.encode('utf-8')):08x}"
    # The length says where the library's name ends and the model's begins.
    return f"mace_linked{len(name)}_{name}"


def symbol_prefix(library: str, model: str) -> str:
    """How the symbols of a model begin."""
    return f"{library_prefix(library)}_{model}"


def write_archive(out: IO[bytes], machine: Machine, members: Sequence[Member]) -> None:
    """Writes an archive, one object after the other.

    Raises:
        TooLargeError: models too large to be linked into one program.
        OSError: a file cannot be read or written.
    """
    objects = [_Object(member, machine) for member in members]
    total = sum(item.size for item in objects)
    if total > machine.most_bytes:
        raise TooLargeError(f"{total} bytes; at most {machine.most_bytes} can be")
    names = "".join(f"{member.name}.o/\n" for member in members).encode("ascii")
    symbols = [name for member in members for name in member.symbols]
    table = "".join(f"{name}\0" for name in symbols).encode("ascii")
    index_size = 4 + 4 * len(symbols) + len(table)
    starts = []
    at = 8 + 60 + _even(index_size) + 60 + _even(len(names))
    for item in objects:
        starts += [at] * len(item.member.symbols)
        at += 60 + _even(item.size)
    out.write(b"!<arch>\n")
    _write_member_header(out, "/", index_size)
    # The symbol table of an archive is big-endian everywhere.
    out.write(struct.pack(f">{1 + len(starts)}I", len(starts), *starts) + table)
    out.write(b"\n" * (index_size % 2))
    _write_member_header(out, "//", len(names))
    out.write(names + b"\n" * (len(names) % 2))
    at = 0
    for item in objects:
        _write_member_header(out, f"/{at}", item.size)
        item.write(out)
        out.write(b"\n" * (item.size % 2))
        at += len(item.member.name) + 4


def _write_member_header(out: IO[bytes], name: str, size: int) -> None:
    # Name, time, owner, group, mode, size.
    text = f"{name:<16}{0:<12}{0:<6}{0:<6}{'644':<8}{size:<10}`\n"
    out.write(text.encode("ascii"))


def _even(size: int) -> int:
    return size + size % 2


def _aligned(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


class _Strings:
    """A table of strings, which others refer to by offsets."""

    def __init__(self) -> None:
        self.bytes = b"\0"

    def add(self, text: str) -> int:
        """The offset of a new string."""
        at = len(self.bytes)
        self.bytes += text.encode("ascii") + b"\0"
        return at


@dataclass
class _Section:
    """A section: what its table says, and its bytes.

    Attributes:
        contents: a file whose bytes it has, or the bytes.
        entries: of what one entry takes, for a table.
    """

    name: str
    kind: int
    contents: bytes | Path
    size: int
    alignment: int
    flags: int = 0
    link: int = 0
    info: int = 0
    entries: int = 0
    offset: int = field(default=0, init=False)


class _Object:
    """One object file, planned before it is written."""

    def __init__(self, member: Member, machine: Machine) -> None:
        self.member = member
        self._machine = machine
        sections = [
            _Section(
                f".rodata.{symbol}",
                _SHT_PROGBITS,
                path,
                path.stat().st_size,
                ALIGNMENT,
                _SHF_ALLOC,
            )
            for symbol, path in member.parts
        ]
        strings = _Strings()
        # The first symbol is none.
        symbols = b"\0" * len(machine.symbol(0, 0, 0, 0))
        for number, (symbol, _) in enumerate(member.parts, start=1):
            size = sections[number - 1].size
            symbols += machine.symbol(strings.add(symbol), 0, size, number)
            symbols += machine.symbol(strings.add(f"{symbol}_end"), size, 0, number)
        # Without this note linkers would make the program's stack executable.
        sections.append(_Section(".note.GNU-stack", _SHT_PROGBITS, b"", 0, 1))
        word = 8 if machine.wide else 4
        sections += [
            _Section(
                ".symtab",
                _SHT_SYMTAB,
                symbols,
                len(symbols),
                word,
                link=len(sections) + 2,
                info=1,
                entries=len(machine.symbol(0, 0, 0, 0)),
            ),
            _Section(".strtab", _SHT_STRTAB, strings.bytes, len(strings.bytes), 1),
        ]
        names = _Strings()
        self._names = [names.add(section.name) for section in sections]
        self._names.append(names.add(".shstrtab"))
        sections.append(
            _Section(".shstrtab", _SHT_STRTAB, names.bytes, len(names.bytes), 1)
        )
        at = machine.header.size
        for section in sections:
            section.offset = _aligned(at, section.alignment)
            at = section.offset + section.size
        self._sections = sections
        self._table = _aligned(at, word)
        self.size = self._table + machine.section.size * (1 + len(sections))

    def write(self, out: IO[bytes]) -> None:
        """Writes it; weights pass by in small pieces."""
        out.write(self._header())
        at = self._machine.header.size
        for section in self._sections:
            out.write(b"\0" * (section.offset - at))
            if isinstance(section.contents, Path):
                _copy(section.contents, section.size, out)
            else:
                out.write(section.contents)
            at = section.offset + section.size
        out.write(b"\0" * (self._table - at))
        entry = self._machine.section
        out.write(b"\0" * entry.size)
        for name, section in zip(self._names, self._sections):
            out.write(
                entry.pack(
                    name,
                    section.kind,
                    section.flags,
                    0,
                    section.offset,
                    section.size,
                    section.link,
                    section.info,
                    section.alignment,
                    section.entries,
                )
            )

    def _header(self) -> bytes:
        machine = self._machine
        # Class, little-endian, version 1.
        identity = b"\x7fELF" + bytes([2 if machine.wide else 1, 1, 1])
        return machine.header.pack(
            identity,
            _ET_REL,
            machine.number,
            1,
            0,
            0,
            self._table,
            machine.flags,
            machine.header.size,
            0,
            0,
            machine.section.size,
            1 + len(self._sections),
            len(self._sections),
        )


def _copy(path: Path, size: int, out: IO[bytes]) -> None:
    left = size
    with path.open("rb") as source:
        while left:
            block = source.read(min(left, _COPY_BYTES))
            if not block:
                raise OSError(f"{path} became shorter while it was read")
            out.write(block)
            left -= len(block)


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Writes an archive of models of a library."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machine", choices=sorted(MACHINES), required=True)
    parser.add_argument("--prefix", help="library_prefix()", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("files", nargs="+", type=Path, help="<model>.pb, <model>.data")
    args = parser.parse_args(argv)
    with args.out.open("wb") as out:
        members = _members_of(args.prefix, args.files)
        write_archive(out, MACHINES[args.machine], members)
    return 0


def _members_of(prefix: str, files: Iterable[Path]) -> list[Member]:
    data = {path.stem: path for path in files if path.suffix == ".data"}
    return [
        Member(path.stem, f"{prefix}_{path.stem}", path, data.get(path.stem))
        for path in files
        if path.suffix == ".pb"
    ]


if __name__ == "__main__":
    raise SystemExit(main())
