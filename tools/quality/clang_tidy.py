# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over C++ sources, without a build.

Flags are those of the host's tool chain. Generated operator schemas are made
into build/check/include. A source whose preprocessed text has passed before is
not looked at again.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import List, Tuple

from mace.ops.op_schema_gen import main as generate
from tools.quality.model import (
    Check,
    Context,
    Outcome,
    Status,
    find_program,
    from_findings,
    missing,
    run_program,
)

_FLAGS = (
    "-std=c++17",
    "-fno-rtti",
    "-Wall",
    "-Wextra",
    "-Wno-unused-parameter",
    # In place of checks that take longer, see .clang-tidy.
    "-Wsuggest-override",
    "-Wzero-as-null-pointer-constant",
    "-I.",
    "-Ibuild/check/include",
    "-isystem/usr/src/googletest/googletest/include",
    "-isystem/usr/src/googletest/googlemock/include",
)
# A kernel source is compiled once per instruction set; one of them is looked at:
# that of its extension, which its name begins with, or this.
_KERNEL_FLAGS = (
    "-mavx2",
    "-mfma",
    "-mf16c",
    "-DMACE_ISA=avx2",
    "-DMACE_ISA_AVX2=1",
)
_EXTENSION_FLAGS = {
    "amx": (
        "-mavx512f",
        "-mavx512bw",
        "-mavx512dq",
        "-mavx512vl",
        "-mavx512bf16",
        "-mamx-tile",
        "-mamx-bf16",
        "-mfma",
        "-mf16c",
        "-DMACE_ISA=amx_bf16",
        "-DMACE_ISA_AMX_BF16=1",
    ),
    "bf16": (
        "-mavx512f",
        "-mavx512bw",
        "-mavx512dq",
        "-mavx512vl",
        "-mavx512bf16",
        "-mfma",
        "-mf16c",
        "-DMACE_ISA=avx512_bf16",
        "-DMACE_ISA_AVX512_BF16=1",
    ),
    "fp16": (
        "--target=aarch64-linux-gnu",
        "-march=armv8.2-a+fp16",
        "-DMACE_ISA=neon_fp16",
        "-DMACE_ISA_NEON_FP16=1",
    ),
}
_KERNEL = re.compile(r"\bMACE_ISA\b")
# The source that registers an arithmetic is compiled once for each; one of them.
_ARITHMETIC = re.compile(r"\bMACE_ARITHMETIC_KIND\b")
_ARITHMETIC_FLAGS = (
    "-DMACE_ARITHMETIC_KIND=kInt8Weights",
    "-DMACE_ARITHMETIC_TABLES=BASE",
    "-DMACE_ARITHMETIC_TABLE=kInt8WeightArithmetic",
)


def flags_of(file: Path, text: str) -> List[str]:
    """The compiler flags of a source with that text.

    A source in namespace MACE_ISA is compiled once per instruction set.
    """
    if _ARITHMETIC.search(text):
        return [*_FLAGS, *_ARITHMETIC_FLAGS]
    if not _KERNEL.search(text):
        return [*_FLAGS]
    extension = file.name.split("_", 1)[0]
    return [*_FLAGS, *_EXTENSION_FLAGS.get(extension, _KERNEL_FLAGS)]


def generate_schemas(root: Path) -> List[str]:
    """Writes the generated headers; messages of the generator if it fails."""
    include = root / "build" / "check" / "include" / "mace" / "ops"
    generator = [root / "mace" / "ops" / "op_schema_gen.py"]
    generator += (root / "mace" / "python" / "tools" / "catalogue").glob("*.py")
    enums = root / "mace" / "ops" / "op_enums.yaml"
    jobs: List[Tuple[List[str], Path, Path]] = [([], enums, include / "op_enums.h")]
    for declaration in sorted((root / "mace" / "ops").glob("*/*.op.yaml")):
        op = declaration.parent.name
        target = include / op / f"{op}_schema.h"
        jobs.append((["--op", str(declaration)], declaration, target))
    for arguments, source, target in jobs:
        newest = max(p.stat().st_mtime for p in (source, enums, *generator))
        if target.is_file() and target.stat().st_mtime > newest:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        problems = io.StringIO()
        with contextlib.redirect_stderr(problems):
            if generate([*arguments, "--enums", str(enums), "--out", str(target)]):
                return problems.getvalue().splitlines()
    return []


class _Tidy:
    """Runs clang-tidy on one source, unless the same text passed before."""

    def __init__(self, context: Context, tidy: str, clang: str) -> None:
        self._root = context.root
        self._fix = context.fix
        self._tidy = tidy
        self._clang = clang
        self._passed = context.root / "build" / "check" / "tidy"
        self._passed.mkdir(parents=True, exist_ok=True)
        self._config = (context.root / ".clang-tidy").read_bytes()

    def __call__(self, file: Path) -> List[str]:
        source = (self._root / file).read_text(encoding="utf-8")
        flags = flags_of(file, source)
        # Suppressions are comments, which preprocessing removes: so both.
        status, text = run_program(
            [self._clang, "-E", "-x", "c++", *flags, str(file)], self._root
        )
        if status:
            return [line for line in text.splitlines() if ": error: " in line]
        digest = hashlib.sha256(self._config)
        digest.update(source.encode())
        digest.update(text.encode())
        stamp = self._passed / digest.hexdigest()
        if stamp.exists():
            return []
        command = [self._tidy, "--quiet", str(file)]
        if self._fix:
            command.insert(1, "--fix")
        _, output = run_program([*command, "--", *flags], self._root)
        prefix = f"{self._root}{os.sep}"
        lines = [
            line.replace(prefix, "")
            for line in output.splitlines()
            if ": warning: " in line or ": error: " in line
        ]
        if not lines:
            stamp.touch()
        return lines


def _clang_tidy(context: Context) -> Outcome:
    tidy, clang = find_program("clang-tidy-19"), find_program("clang++-19")
    if tidy is None or clang is None:
        return missing("clang-tidy-19" if tidy is None else "clang++-19")
    pool = context.files if context.everything else context.changed
    # Tests and benchmarks are left to the compiler's warnings, to keep the run short.
    files = [
        file
        for file in pool
        if file.suffix == ".cc" and not file.stem.endswith(("_test", "_benchmark"))
    ]
    if not files:
        return Outcome(Status.PASSED, "no source changed (--all looks at all)")
    problems = generate_schemas(context.root)
    if problems:
        return Outcome(Status.FAILED, "no schemas", problems)
    run = _Tidy(context, tidy, clang)
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as executor:
        found = {line for lines in executor.map(run, files) for line in lines}
    return from_findings(sorted(found), len(files))


CHECKS = (Check("clang-tidy", "C++: likely mistakes", _clang_tidy),)
