# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""ONNX's cases in the native engine of this computer, on every ISA.

The best ISA runs every case, each one those of real PyTorch exports and each
sixteenth generated one. Networks, also on ARM: ../networks_test.py.
"""

from __future__ import annotations

import collections
import shutil
import zlib
from pathlib import Path

import pytest

from mace.python.tools.bazel_command import bazel_command
from test.conformance.native import Native, native
from test.conformance.onnx.cases import KINDS, Case, load_cases
from test.conformance.onnx.runner import Executor, Verdict, run_case

# ISA names, by the names in the kernel's cpuinfo.
_ISAS = {"sse41": "sse4_1", "avx2": "avx2", "avx512": "avx512f"}


def _native() -> Native:
    if shutil.which(bazel_command().program) is None:
        pytest.skip("bazel is not installed")
    return native("host")


def _sample(kind: str) -> list[Case]:
    """All exported cases, one in sixteen of the generated ones."""
    every = 16 if kind == "node" else 1
    return [
        case for case in load_cases(kind) if zlib.crc32(case.name.encode()) % every == 0
    ]


def _check(cases: list[Case], executor: Executor) -> None:
    counts: collections.Counter[str] = collections.Counter()
    wrong = []
    for case in cases:
        result = run_case(case, executor)
        counts[result.verdict.value] += 1
        if result.verdict is Verdict.WRONG:
            wrong.append(f"{case.name}: {result.reason}")
    print(dict(counts))
    assert not wrong, "\n".join(wrong)
    assert counts["passed"] > 0


@pytest.mark.parametrize("kind", KINDS)
def test_every_case_on_the_host(kind: str) -> None:
    _check(list(load_cases(kind)), _native())


@pytest.mark.parametrize("isa", _ISAS)
def test_cases_on_every_isa(isa: str, monkeypatch: pytest.MonkeyPatch) -> None:
    executor = _native()
    monkeypatch.setenv("MACE_CPU_ISA", isa)
    if not _runs(isa):
        pytest.skip(f"this CPU has no {isa}")
    for kind in KINDS:
        _check(_sample(kind), executor)


def _runs(isa: str) -> bool:
    flags = Path("/proc/cpuinfo")
    return flags.exists() and _ISAS[isa] in flags.read_text().split()
