# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests the environment of an emulated processor, without running it."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from benchmarks.arm import engines
from benchmarks.networks import Network


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


def test_engines_have_one_arithmetic() -> None:
    kinds = {engine: engines.arithmetic(engine) for engine in engines.PEERS}
    assert {engine for engine, kind in kinds.items() if kind == "int8"} == {
        "litert_int8",
        "ncnn_int8",
        "onnxruntime_s8s8",
        "onnxruntime_u8s8",
    }
    assert kinds["ncnn_fp16"] == "fp16" and kinds["mnn"] == "fp32"
    assert set(kinds.values()) == set(engines.ARITHMETICS)
    assert engines.arithmetic("mace_int8") == "int8"


def test_an_output_step_is_the_scale_of_the_last_node(tmp_path: Path) -> None:
    helper = onnx.helper
    node = helper.make_node("DequantizeLinear", ["q", "scale"], ["y"])
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("q", onnx.TensorProto.UINT8, [1])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1])],
        [helper.make_tensor("scale", onnx.TensorProto.FLOAT, [], [0.25])],
    )
    path = tmp_path / "network.onnx"
    onnx.save(helper.make_model(graph), str(path))
    network = Network("n", path, tmp_path / "n", "q", "y", (1,))
    assert engines.output_step(network) == 0.25
