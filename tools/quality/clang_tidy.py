# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over C++ sources, without a build.

Flags are those of the host's tool chain. Generated headers are made
into build/check/include. A source whose preprocessed text has passed before is
not looked at again.

Most of the time goes into headers of the standard library, which clang-tidy reads
once per run; before version 21, it also searched them. Sources of one folder are
therefore checked in one run, as one source that includes them. If that does not
compile, because two of them give different things the same name, or if it has
findings, the sources that were named are checked apart from the others.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Dict, List, Sequence, Tuple

from mace.core.model import field_numbers_gen
from mace.kernels.opencl.embed_cl import embed
from mace.kernels.opencl.embed_cl import header as embedded_header
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
    "-isystem/usr/lib/jvm/default-java/include",
    "-isystem/usr/lib/jvm/default-java/include/linux",
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
    "neon": (
        "--target=aarch64-linux-gnu",
        "-DMACE_ISA=neon",
        "-DMACE_ISA_NEON=1",
    ),
}
# What runs on the DSP.
_DSP = re.compile(r"^mace/kernels/hexagon/")
_DSP_FLAGS = (
    "--target=hexagon-unknown-none-elf",
    "-mcpu=hexagonv67",
    "-mhvx=v67",
    "-mhvx-length=128B",
    "-ffreestanding",
    "-nostdlibinc",
    "-fno-exceptions",
)
_KERNEL = re.compile(r"\bMACE_ISA\b")
# The source that registers an arithmetic is compiled once for each; one of them.
_ARITHMETIC = re.compile(r"\bMACE_ARITHMETIC_KIND\b")
_ARITHMETIC_FLAGS = (
    "-DMACE_ARITHMETIC_KIND=kInt8Weights",
    "-DMACE_ARITHMETIC_TABLES=BASE",
    "-DMACE_ARITHMETIC_TABLE=kInt8WeightArithmetic",
)


# They include a header that a converted model comes with; steps `linked` and `install`
# compile them. The last three are text of older documents, which their test compiles.
_WITHOUT_HEADER = frozenset(
    (
        Path("mace/examples/cmake/linked.cc"),
        Path("test/standalone/linked_models.cc"),
        Path("test/standalone/plugin.cc"),
        Path("test/old_api/miai.cc"),
        Path("test/old_api/v0.cc"),
        Path("test/old_api/v1.cc"),
    )
)
# Of Bazel's, with the label of the build.
_VERSION_HEADER = Path("mace/core/engine/version.h")
# "error: " and "fatal error: ".
_ERROR = "error: "
# So that two of equal names in a large folder cost little.
_LARGEST_GROUP = 8


def flags_of(file: Path, text: str) -> List[str]:
    """The compiler flags of a source with that text.

    A source in namespace MACE_ISA is compiled once per instruction set.
    """
    if _DSP.match(file.as_posix()):
        return [*_FLAGS, *_DSP_FLAGS]
    if _ARITHMETIC.search(text):
        return [*_FLAGS, *_ARITHMETIC_FLAGS]
    if not _KERNEL.search(text):
        return [*_FLAGS]
    extension = file.name.split("_", 1)[0]
    return [*_FLAGS, *_EXTENSION_FLAGS.get(extension, _KERNEL_FLAGS)]


def generate_headers(root: Path) -> List[str]:
    """Writes the generated headers; messages of the generator if it fails."""
    version = root / "build" / "check" / "include" / _VERSION_HEADER
    version.parent.mkdir(parents=True, exist_ok=True)
    version.write_text('#define MACE_VERSION "0.0.0"\n', encoding="ascii")
    include = root / "build" / "check" / "include" / "mace" / "ops"
    generator = [root / "mace" / "ops" / "op_schema_gen.py"]
    generator += (root / "mace" / "python" / "tools" / "catalogue").glob("*.py")
    enums = root / "mace" / "ops" / "op_enums.yaml"
    jobs: List[Tuple[List[str], Path, Path]] = [([], enums, include / "op_enums.h")]
    # Also of the example for users, whose sources include it as those of MACE do.
    for declaration in sorted(
        [
            *(root / "mace" / "ops").glob("*/*.op.yaml"),
            *(root / "mace" / "examples").glob("**/*.op.yaml"),
        ]
    ):
        schema = declaration.name.replace(".op.yaml", "_schema.h")
        target = include / declaration.parent.name / schema
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
    for kernels in sorted((root / "mace").glob("**/*.cl*")):
        name = kernels.relative_to(root).as_posix()
        embedded = root / "build" / "check" / "include" / embedded_header(name)
        text = embed(name, kernels.read_text(encoding="utf-8"))
        if embedded.is_file() and embedded.read_text(encoding="utf-8") == text:
            continue
        embedded.parent.mkdir(parents=True, exist_ok=True)
        embedded.write_text(text, encoding="utf-8")
    numbers = root / "build/check/include/mace/core/model/field_numbers.h"
    numbers.parent.mkdir(parents=True, exist_ok=True)
    proto = root / "mace/proto/mace.proto"
    field_numbers_gen.main(["--proto", str(proto), "--out", str(numbers)])
    return []


def groups_of(root: Path, files: Sequence[Path]) -> List[List[Path]]:
    """The sources that are checked together: of one folder, with the same flags."""
    groups: Dict[Tuple[Path, Tuple[str, ...]], List[Path]] = {}
    for file in files:
        flags = flags_of(file, (root / file).read_text(encoding="utf-8"))
        groups.setdefault((file.parent, tuple(flags)), []).append(file)
    return sorted(
        (
            group[first : first + _LARGEST_GROUP]
            for group in groups.values()
            for first in range(0, len(group), _LARGEST_GROUP)
        ),
        # The longest runs first, so that no processor waits for one at the end.
        key=len,
        reverse=True,
    )


def _together(files: Sequence[Path]) -> str:
    """One source that includes them all."""
    return "".join(f'#include "{file}"\n' for file in files)


def _plain(root: Path, line: str) -> str:
    """A message with the name of its file as git has it."""
    return line.replace(f"{root}{os.sep}", "").removeprefix("./")


def _parts(files: Sequence[Path], lines: Sequence[str]) -> List[List[Path]]:
    """A group that failed, divided: the sources that were named are on their own."""
    named = [file for file in files if any(f"{file}:" in line for line in lines)]
    others = [file for file in files if file not in named]
    if named and others:
        return [named, others]
    return [[file] for file in files]


class Tidy:
    """Runs clang-tidy on sources of a folder, unless the same text passed before."""

    def __init__(self, context: Context, tidy: str, clang: str) -> None:
        self._root = context.root
        self._fix = context.fix
        self._tidy = tidy
        self._clang = clang
        self._passed = context.root / "build" / "check" / "tidy"
        self._passed.mkdir(parents=True, exist_ok=True)
        self._config = (context.root / ".clang-tidy").read_bytes()

    def __call__(self, files: Sequence[Path]) -> List[str]:
        """The findings in sources that have the same flags."""
        source = (self._root / files[0]).read_text(encoding="utf-8")
        return self._findings(files, flags_of(files[0], source))

    def _findings(self, files: Sequence[Path], flags: Sequence[str]) -> List[str]:
        """The findings; a stamp is left if there is none."""
        alone = len(files) == 1
        stamp, problems = self._stamp(files, flags)
        if problems and alone:
            return problems
        if not problems and stamp.exists():
            return []
        lines = problems or self._run(files, flags)
        if lines and not alone:
            parts = _parts(files, lines)
            lines = [line for part in parts for line in self._findings(part, flags)]
        if not lines and not problems:
            stamp.touch()
        return lines

    def _stamp(
        self, files: Sequence[Path], flags: Sequence[str]
    ) -> Tuple[Path, List[str]]:
        """The file that exists if this text passed before; errors if there is none."""
        # With comments, which suppress findings.
        command = [self._clang, "-E", "-C", "-x", "c++", *flags, "-"]
        status, text = run_program(command, self._root, _together(files))
        if status:
            lines = [_plain(self._root, line) for line in text.splitlines()]
            return self._passed, [line for line in lines if _ERROR in line] or lines
        digest = hashlib.sha256(self._config)
        digest.update(text.encode())
        return self._passed / digest.hexdigest(), []

    def _run(self, files: Sequence[Path], flags: Sequence[str]) -> List[str]:
        """The findings of one run of clang-tidy."""
        if len(files) == 1 or self._fix:
            return self._lines([str(file) for file in files], flags)
        with tempfile.NamedTemporaryFile(
            "w", suffix=".cc", prefix="group_", dir=self._passed.parent
        ) as group:
            group.write(_together(files))
            group.flush()
            lines = self._lines([group.name], flags)
        # bugprone-suspicious-include, of the group itself.
        return [line for line in lines if Path(group.name).name not in line]

    def _lines(self, arguments: Sequence[str], flags: Sequence[str]) -> List[str]:
        command = [self._tidy, "--quiet", *(["--fix"] if self._fix else []), *arguments]
        _, output = run_program([*command, "--", *flags], self._root)
        return [
            _plain(self._root, line)
            for line in output.splitlines()
            if ": warning: " in line or _ERROR in line
        ]


def _clang_tidy(context: Context) -> Outcome:
    tidy, clang = find_program("clang-tidy"), find_program("clang++-19")
    if tidy is None or clang is None:
        return missing("clang-tidy" if tidy is None else "clang++-19")
    pool = context.files if context.everything else context.changed
    # Tests and benchmarks are left to the compiler's warnings, to keep the run short.
    files = [
        file
        for file in pool
        if file.suffix == ".cc"
        and not file.stem.endswith(("_test", "_benchmark"))
        and file not in _WITHOUT_HEADER
    ]
    if not files:
        return Outcome(Status.PASSED, "no source changed (--all looks at all)")
    problems = generate_headers(context.root)
    if problems:
        return Outcome(Status.FAILED, "no generated headers", problems)
    run = Tidy(context, tidy, clang)
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as executor:
        groups = groups_of(context.root, files)
        found = {line for lines in executor.map(run, groups) for line in lines}
    return from_findings(sorted(found), len(files))


CHECKS = (Check("clang-tidy", "C++: likely mistakes", _clang_tidy),)
