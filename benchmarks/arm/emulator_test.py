# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The plugin counts a program whose instructions are known; what it writes is read."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from benchmarks.arm.emulator import (
    CLASSES,
    Counts,
    EmulationError,
    Run,
    execute,
    missing_tools,
    parse,
)

_REPEATS = 1000
# One instruction of each form, and its class.
_LOOP = (
    ("fmla v0.4s, v1.4s, v2.4s", "fmla"),
    ("fmls v0.2d, v1.2d, v2.2d", "fmla"),
    ("fmla v3.4s, v4.4s, v5.s[3]", "fmla"),
    ("fmls v3.2s, v4.2s, v5.s[1]", "fmla"),
    ("fmla v3.8h, v4.8h, v5.8h", "fmla_half"),
    ("fmla v3.8h, v4.8h, v5.h[7]", "fmla_half"),
    ("fmlal v3.4s, v4.4h, v5.4h", "fmla_half"),
    ("fmlal2 v3.4s, v4.4h, v5.h[2]", "fmla_half"),
    ("fmadd s0, s1, s2, s3", "fmadd"),
    ("fmla s0, s1, v2.s[1]", "fmadd"),
    ("sdot v6.4s, v7.16b, v8.16b", "dot"),
    ("udot v6.2s, v7.8b, v8.4b[2]", "dot"),
    ("mla v0.8h, v1.8h, v2.8h", "mla"),
    ("mls v0.4s, v1.4s, v2.s[1]", "mla"),
    ("smlal v0.4s, v1.4h, v2.4h", "mla"),
    ("umlsl2 v0.4s, v1.8h, v2.h[1]", "mla"),
    ("fmul v0.4s, v1.4s, v2.4s", "simd"),
    ("fmax v0.4s, v1.4s, v2.4s", "simd"),
    ("smull v0.8h, v1.8b, v2.8b", "simd"),
    ("zip1 v0.4s, v1.4s, v2.4s", "simd"),
    ("fadd s0, s1, s2", "simd"),
    ("ldr q9, [x1]", "load_simd"),
    ("ldp q10, q11, [x1]", "load_simd"),
    ("ld1 {v0.4s-v3.4s}, [x1]", "load_simd"),
    ("ld1r {v0.4s}, [x1]", "load_simd"),
    ("ldr q9, [x1, x2]", "load_simd"),
    ("st1 {v0.4s}, [x1]", "store_simd"),
    ("stp q0, q1, [x1]", "store_simd"),
    ("str s0, [x1]", "store_simd"),
    ("ldr w3, [x1]", "load"),
    ("ldp x3, x4, [x1]", "load"),
    ("ldrsw x3, [x1, x2]", "load"),
    ("ldxr w3, [x1]", "load"),
    ("str w3, [x1, #4]", "store"),
    ("stp w3, w3, [x1]", "store"),
    ("madd x3, x3, x3, x3", "integer"),
    ("csel x3, x4, x3, eq", "integer"),
    ("add x3, x3, #1", "integer"),
    ("nop", "branch"),
    ("subs x0, x0, #1", "integer"),
    ("b.ne 1b", "branch"),
)
# Without libraries, only these instructions are executed between marks.
_SOURCE = """
.globl _start
_start:
  adr x1, data
  mov x2, #0
  mov x20, #3
2:
  mov w0, #0x4345
  movk w0, #0x4d41, lsl #16
  mov x8, #57
  svc #0
  mov x0, #{repeats}
1:
  {loop}
  subs x20, x20, #1
  b.ne 2b
  mov x0, #{status}
  mov x8, #93
  svc #0
.data
.balign 64
data: .space 256
"""


@pytest.fixture
def compiler() -> str:
    missing = missing_tools(["cortex-a76", "cortex-a53"])
    if missing:
        pytest.skip("; ".join(missing))
    found = shutil.which("clang-19")
    if found is None:
        pytest.skip("clang-19 is missing: bash tools/setup.sh --for cross")
    return found


def _assemble(compiler: str, folder: Path, status: int = 0) -> str:
    loop = "\n  ".join(text for text, _ in _LOOP)
    source = folder / "loop.s"
    source.write_text(_SOURCE.format(repeats=_REPEATS, loop=loop, status=status))
    program = folder / "loop"
    command = [compiler, "--target=aarch64-linux-gnu", "-march=armv8.4-a+fp16fml"]
    command += ["-fuse-ld=lld", "-nostdlib", "-static", "-o", str(program)]
    subprocess.run([*command, str(source)], check=True)
    return str(program)


def test_counts_every_class_exactly(compiler: str, tmp_path: Path) -> None:
    # Of the CPUs here only `max` has all of these instructions.
    program = _assemble(compiler, tmp_path)
    execution = execute("max", Run([program], hottest=1))
    expected = dict.fromkeys(CLASSES, 0)
    for _, name in _LOOP:
        expected[name] += _REPEATS
    # From one mark to the next: the system call and its preparation, and the end of the
    # outer loop.
    expected["integer"] += 5
    expected["branch"] += 2
    assert len(execution.marks) == 3
    assert execution.marks[1] == execution.marks[2] == Counts(**expected)
    assert execution.per_mark() == Counts(**expected)
    (block,) = execution.blocks
    assert block.size == len(_LOOP) == len(block.words)
    assert block.macs == sum(kind in CLASSES[:5] for _, kind in _LOOP)


def test_a_path_is_that_of_the_caller(
    compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Path(_assemble(compiler, tmp_path))
    monkeypatch.chdir(program.parent)
    assert execute("max", Run([program.name])).total.total > 0


def test_a_failing_program_is_an_error(compiler: str, tmp_path: Path) -> None:
    program = _assemble(compiler, tmp_path, status=3)
    with pytest.raises(EmulationError, match="exit status 3"):
        execute("max", Run([program]))


def test_instructions_that_a_cpu_lacks_are_refused(
    compiler: str, tmp_path: Path
) -> None:
    program = _assemble(compiler, tmp_path)
    with pytest.raises(EmulationError, match="exit status -4"):
        execute("cortex-a53", Run([program]))


_LINES = (
    '{"type":"mark","fmla":5}',
    '{"type":"mark","fmla":10,"load":2}',
    '{"type":"mark","fmla":30,"load":4}',
    '{"type":"block","function":"f","instructions":12,"address":64,"size":3,"macs":2,"words":[1]}',
    '{"type":"total","fmla":80,"branch":20}',
)


def test_reads_what_the_plugin_writes() -> None:
    execution = parse(_LINES)
    assert execution.total.total == 100
    assert execution.total.share == 0.8
    assert execution.per_mark() == Counts(fmla=20, load=3)
    (block,) = execution.blocks
    assert (block.function, block.instructions, block.words) == ("f", 12, (1,))


def test_all_kinds_of_multiply_adds_count() -> None:
    kinds = Counts(fmla=1, fmla_half=2, fmadd=4, dot=8, mla=16, simd=32)
    assert kinds.multiply_adds == 31
    assert kinds.total == 63
    assert Counts().share == 0


def test_the_difference_of_runs_leaves_out_what_comes_before() -> None:
    one, three = Counts(fmla=150, load=7), Counts(fmla=350, load=7)
    assert three.per_run(one, 2) == Counts(fmla=100)


def test_refuses_counts_that_are_cut_off() -> None:
    with pytest.raises(ValueError, match="cut off"):
        parse(_LINES[:-1])
    with pytest.raises(ValueError, match="fewer than two marks"):
        parse(_LINES[-1:]).per_mark()
