# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Some of ONNX's cases in the native engine of this computer, on every ISA: those of
real PyTorch exports and each sixteenth generated one. Networks, also on ARM:
../networks_test.py.
"""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from test.conformance.native import native
from test.conformance.onnx.cases import KINDS, Case, load_cases
from test.conformance.onnx.runner import check_cases

# ISA names, by the names in the kernel's cpuinfo.
_ISAS = {"sse41": "sse4_1", "avx2": "avx2", "avx512": "avx512f"}


def _sample(kind: str) -> list[Case]:
    """All exported cases, one in sixteen of the generated ones."""
    every = 16 if kind == "node" else 1
    return [
        case for case in load_cases(kind) if zlib.crc32(case.name.encode()) % every == 0
    ]


@pytest.mark.parametrize("isa", _ISAS)
def test_cases_on_every_isa(isa: str, monkeypatch: pytest.MonkeyPatch) -> None:
    executor = native("host")
    monkeypatch.setenv("MACE_CPU_ISA", isa)
    if not _runs(isa):
        pytest.skip(f"this CPU has no {isa}")
    for kind in KINDS:
        check_cases(_sample(kind), {"the engine": executor})


def _runs(isa: str) -> bool:
    flags = Path("/proc/cpuinfo")
    return flags.exists() and _ISAS[isa] in flags.read_text().split()
