# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests the environment of an emulated processor, without running it."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.arm import engines


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(engines, "PEERS_ROOT", tmp_path / "peers")
    monkeypatch.setattr(engines, "DIRECTORY", tmp_path)
    for abi in ("arm64", "armhf"):
        (tmp_path / "peers" / abi / "root/usr").mkdir(parents=True)
        (tmp_path / "peers" / abi / "root/proc").mkdir()
    return tmp_path


def test_engines_run_where_they_have_packages() -> None:
    assert engines.is_packaged("mnn", "cortex-a76")
    assert engines.is_packaged("ncnn", "cortex-a15")
    assert not engines.is_packaged("mnn", "cortex-a15")
    assert not engines.is_packaged("ncnn", "max")


def test_what_is_missing_is_told_once_per_abi(folders: Path) -> None:
    cpus = ("cortex-a76", "cortex-a53", "cortex-a15", "max")
    assert [line.split()[3] for line in engines.missing_packages(cpus)] == [
        "arm64",
        "armhf",
    ]
    (folders / "peers/arm64/packages").mkdir()
    (line,) = engines.missing_packages(cpus)
    assert line.startswith("the engines for armhf are missing: bash ")


@pytest.mark.parametrize(
    ("cpu", "lines", "midr"),
    [
        ("cortex-a76", ("architecture: 8", "variant\t: 0x4", "part\t: 0xd0b"), 0xD0B),
        ("cortex-a15", ("architecture: 7", "variant\t: 0x2", "part\t: 0xc0f"), 0xC0F),
    ],
)
def test_a_guest_sees_its_processor(
    cpu: str, lines: tuple[str, ...], midr: int
) -> None:
    view = engines._view(cpu)
    info = (view / "proc/cpuinfo").read_text()
    assert all(f"CPU {line}\n" in info for line in lines)
    register = "sys/devices/system/cpu/cpu0/regs/identification/midr_el1"
    value = int((view / register).read_text(), 16)
    assert value >> 24 == 0x41 and value >> 4 & 0xFFF == midr
    assert (view / "usr").is_symlink() and not (view / "proc").is_symlink()
