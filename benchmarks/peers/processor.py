# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Measures as on a processor with fewer instructions than this one has.

All engines, MACE too, choose their kernels by what CPUID reports. A preloaded library
(cpuid_mask.c) hides instructions from a process, so that each engine does what it would
do on an older processor. Times are those of this one: caches, memory and the units that
compute are not changed. Linux on x86-64, where processor and kernel can let CPUID fault
(Intel since 2012; AMD since Zen 5).
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

_SOURCE = Path(__file__).with_name("cpuid_mask.c")
_LIBRARY = Path(__file__).resolve().parents[2] / "build/benchmarks/cpuid_mask.so"
# What stays, by the names of MACE_CPU_ISA, and how people call it.
PROCESSORS: Mapping[str, str] = MappingProxyType(
    {
        "sse41": "SSE4.1",
        "avx2": "AVX2",
        "avx2_vnni": "AVX-VNNI",
        "avx512": "AVX-512",
        "avx512_vnni": "AVX-512 VNNI",
    }
)
# The C library's own functions, which it chooses before anything is preloaded.
_TUNABLES = "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512CD,-AVX512DQ"


def variables(processor: str | None) -> dict[str, str]:
    """The environment of a process that sees this processor; {} for the real one.

    Raises:
        SystemExit: with status 2, the library cannot be built, or this computer cannot
            hide instructions.
    """
    if processor is None:
        return {}
    _build()
    found = {
        "LD_PRELOAD": str(_LIBRARY),
        "MACE_BENCHMARK_PROCESSOR": processor,
    }
    if not processor.startswith("avx512"):
        found["GLIBC_TUNABLES"] = _TUNABLES
    environment = {**os.environ, **found}
    tried = subprocess.run(
        [sys.executable, "-c", ""],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if tried.returncode != 0:
        sys.stderr.write(f"--as {processor}: {tried.stderr}")
        raise SystemExit(2)
    return found


def _build() -> None:
    if _LIBRARY.exists() and _LIBRARY.stat().st_mtime >= _SOURCE.stat().st_mtime:
        return
    _LIBRARY.parent.mkdir(parents=True, exist_ok=True)
    partial = _LIBRARY.with_suffix(f".{os.getpid()}")
    flags = ["-O2", "-Wall", "-Wextra", "-shared", "-fPIC"]
    command = ["clang-19", *flags, "-o", str(partial), str(_SOURCE)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        sys.stderr.write("clang-19 is missing: bash tools/setup.sh --for build\n")
        raise SystemExit(2) from None
    if done.returncode != 0:
        sys.stderr.write(done.stderr)
        raise SystemExit(2)
    partial.replace(_LIBRARY)
