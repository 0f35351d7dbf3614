# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Objects written without a compiler, judged by linkers and readers of ELF."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import tracemalloc
from pathlib import Path

import pytest

from mace.python.tools.export.linkable import (
    MACHINES,
    Member,
    TooLargeError,
    library_prefix,
    main,
    symbol_prefix,
    write_archive,
)

_TRIPLES = {
    "x86_64": "x86_64-linux-gnu",
    "aarch64": "aarch64-linux-gnu",
    "arm": "arm-linux-gnueabihf",
}
# Odd sizes: nothing begins where the one before it ends.
_GRAPH = bytes(range(101))
_DATA = bytes(range(256)) * 5 + b"end"
_UNUSED = b"a graph that the program does not name"

_NEEDED = ("llvm-ar-19", "llvm-readelf-19", "llvm-objcopy-19", "clang-19")
_missing = [name for name in _NEEDED if shutil.which(name) is None]
pytestmark = pytest.mark.skipif(
    bool(_missing), reason=f"{', '.join(_missing)} not installed"
)


@pytest.fixture
def members(tmp_path: Path) -> list[Member]:
    (tmp_path / "m.pb").write_bytes(_GRAPH)
    (tmp_path / "m.data").write_bytes(_DATA)
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "n.pb").write_bytes(_UNUSED)
    graph, data = tmp_path / "m.pb", tmp_path / "m.data"
    return [
        Member("a_model_with_a_long_name", "first", graph, data),
        Member("b", "second", tmp_path / "n.pb"),
        Member("c", "third", graph, tmp_path / "empty"),
    ]


def _archive(folder: Path, machine: str, members: list[Member]) -> Path:
    path = folder / f"{machine}.a"
    with path.open("wb") as out:
        write_archive(out, MACHINES[machine], members)
    return path


def _run(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout


@pytest.mark.parametrize("machine", sorted(MACHINES))
def test_readers_find_the_bytes(
    machine: str, tmp_path: Path, members: list[Member]
) -> None:
    archive = _archive(tmp_path, machine, members)
    names = ["a_model_with_a_long_name.o", "b.o", "c.o"]
    assert _run("llvm-ar-19", "t", archive).split() == names
    index = _run("llvm-nm-19", "--print-armap", archive).partition("\n\n")[0]
    assert "first_data in a_model_with_a_long_name.o" in index
    assert "third_data_end in c.o" in index
    first = tmp_path / names[0]
    _run("llvm-ar-19", "x", "--output", tmp_path, archive)
    for part, contents in (("graph", _GRAPH), ("data", _DATA)):
        raw = tmp_path / part
        _run(
            "llvm-objcopy-19", "-O", "binary", "-j", f".rodata.first_{part}", first, raw
        )
        assert raw.read_bytes() == contents
    symbols = _run("llvm-readelf-19", "--symbols", first)
    for name, value, size in (
        ("first_graph", 0, len(_GRAPH)),
        ("first_graph_end", len(_GRAPH), 0),
        ("first_data", 0, len(_DATA)),
        ("first_data_end", len(_DATA), 0),
    ):
        line = rf"0*{value:x} +{size} OBJECT +GLOBAL +HIDDEN +\d {name}\n"
        assert re.search(line, symbols)
    sections = _run("llvm-readelf-19", "--sections", "--wide", first)
    # Allocated and not writable, at multiples of 64.
    for part in ("graph", "data"):
        assert re.search(rf"rodata.first_{part} +PROGBITS .* A +0 +0 +64\n", sections)


@pytest.mark.parametrize("linker", ["lld", "bfd"])
@pytest.mark.parametrize("machine", sorted(MACHINES))
def test_linkers_take_them(
    machine: str, linker: str, tmp_path: Path, members: list[Member]
) -> None:
    triple = _TRIPLES[machine]
    if linker == "bfd" and shutil.which(f"{triple}-ld.bfd") is None:
        pytest.skip(f"{triple}-ld.bfd is not installed")
    archive = _archive(tmp_path, machine, members)
    (tmp_path / "main.c").write_text(
        'extern __attribute__((visibility("hidden"))) const char first_data[];\n'
        "const char *use(void) { return first_data; }\n"
    )
    program = tmp_path / "program.so"
    _run(
        *("clang-19", f"--target={triple}", f"-fuse-ld={linker}", "-shared"),
        *("-nostdlib", "-fPIC", "-Wl,--gc-sections", "-Wl,-z,separate-code"),
        *(tmp_path / "main.c", archive, "-o", program),
    )
    program_headers = _run("llvm-readelf-19", "--program-headers", "--wide", program)
    assert re.search(r"GNU_STACK .* RW +0", program_headers)
    contents = program.read_bytes()
    at = contents.index(_DATA)
    assert at % 64 == 0
    # Only the model that the program names, and nothing of it among its exports.
    assert _UNUSED not in contents
    assert "first" not in _run("llvm-nm-19", "--dynamic", program)
    segment = next(
        line.split()
        for line in program_headers.splitlines()
        if line.split()[:1] == ["LOAD"]
        and int(line.split()[1], 16)
        <= at
        < int(line.split()[1], 16) + int(line.split()[4], 16)
    )
    assert "W" not in segment[6:]


def test_memory_does_not_grow_with_the_weights(tmp_path: Path) -> None:
    data = tmp_path / "m.data"
    with data.open("wb") as out:
        os.truncate(out.fileno(), 64 << 20)
    member = Member("m", "m", data, data)
    tracemalloc.start()
    with (tmp_path / "a.a").open("wb") as out:
        write_archive(out, MACHINES["arm"], [member])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (tmp_path / "a.a").stat().st_size > 128 << 20
    assert peak < 4 << 20


@pytest.mark.parametrize("name", sorted(MACHINES))
def test_what_no_program_can_reach_is_refused(name: str, tmp_path: Path) -> None:
    machine = MACHINES[name]
    data = tmp_path / "m.data"
    with data.open("wb") as out:
        os.truncate(out.fileno(), machine.most_bytes // 2)
    out_bytes = io.BytesIO()
    with pytest.raises(TooLargeError, match=f"at most {machine.most_bytes} can be"):
        write_archive(out_bytes, machine, [Member("m", "m", data, data)])
    assert not out_bytes.getvalue()


def test_a_file_that_shrinks_is_an_error(tmp_path: Path) -> None:
    data = tmp_path / "m.data"
    data.write_bytes(_DATA)

    class Shrinking(io.BytesIO):
        def write(self, block: bytes) -> int:  # type: ignore[override]
            data.write_bytes(b"")
            return super().write(block)

    with pytest.raises(OSError, match="became shorter while it was read"):
        write_archive(Shrinking(), MACHINES["arm"], [Member("m", "m", data)])


def test_prefixes_are_names_that_no_two_models_share() -> None:
    pairs = [("a", "b_c"), ("a_b", "c"), ("a-b", "c"), ("a.b", "c"), ("\u00e9", "c")]
    prefixes = [symbol_prefix(*pair) for pair in pairs]
    assert len(set(prefixes)) == len(pairs)
    assert all(re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) for name in prefixes)


def test_the_program_writes_the_same(tmp_path: Path) -> None:
    for name, contents in (("m.pb", _GRAPH), ("m.data", _DATA), ("n.pb", b"n")):
        (tmp_path / name).write_bytes(contents)
    files = [str(tmp_path / name) for name in ("m.pb", "m.data", "n.pb")]
    out = tmp_path / "by_program.a"
    prefix = library_prefix("lib")
    main(["--machine=arm", f"--prefix={prefix}", f"--out={out}", *files])
    members = [
        Member("m", symbol_prefix("lib", "m"), *map(Path, files[:2])),
        Member("n", symbol_prefix("lib", "n"), Path(files[2])),
    ]
    assert out.read_bytes() == _archive(tmp_path, "arm", members).read_bytes()
