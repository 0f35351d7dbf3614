# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""ONNX's cases in the native engine of this computer, on every ISA.

The best ISA runs every case, each one those of real PyTorch exports and each
sixteenth generated one. Networks, also on ARM: ../networks_test.py.
"""

from __future__ import annotations

import collections
import os
import shutil
import zlib
from collections.abc import Mapping
from pathlib import Path

import pytest

from mace.python.tools.bazel_command import bazel_command
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.graph import Graph
from test.conformance.native import Native, native
from test.conformance.onnx.cases import KINDS, Case, load_cases
from test.conformance.onnx.runner import Executor, Verdict, run_case, run_reference
from test.here import REASON
from tools.quality.test_steps import OPS_VARIABLE

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


class _OfOperators:
    """Runs graphs that have certain operators natively, all others by the reference.

    Attributes:
        runs: how many it ran natively.
    """

    def __init__(self, executor: Executor, types: frozenset[str]) -> None:
        self._executor = executor
        self._types = types
        self.runs = 0

    def __call__(self, graph: Graph, feeds: Mapping[str, Array]) -> dict[str, Array]:
        if not self._types & {op.type for op in graph.ops}:
            return run_reference(graph, feeds)
        self.runs += 1
        return self._executor(graph, feeds)


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
    types = os.environ.get(OPS_VARIABLE)
    if types is None:
        _check(list(load_cases(kind)), _native())
        return
    executor = _OfOperators(_native(), frozenset(types.split(",")))
    _check(list(load_cases(kind)), executor)
    print(f"{executor.runs} graphs have {types}")


@pytest.mark.parametrize("isa", _ISAS)
def test_cases_on_every_isa(isa: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if OPS_VARIABLE in os.environ:
        pytest.skip(f"{REASON}other instruction sets: operators' tests run them all")
    executor = _native()
    monkeypatch.setenv("MACE_CPU_ISA", isa)
    if not _runs(isa):
        pytest.skip(f"this CPU has no {isa}")
    for kind in KINDS:
        _check(_sample(kind), executor)


def _runs(isa: str) -> bool:
    flags = Path("/proc/cpuinfo")
    return flags.exists() and _ISAS[isa] in flags.read_text().split()
