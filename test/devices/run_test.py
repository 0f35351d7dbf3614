# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Models on all phones and boards and all their ABIs, in one report."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from mace.python.tools.config.deployment import Abi
from test.conformance.models.built import make_built_model
from test.device_farm.farm import Farm
from test.devices.conftest import convert, give_programs
from test.devices.tool import Tool

ALL = "--target_abis=arm64-v8a,armeabi-v7a,arm64,armhf"


def _places(farm: Farm) -> set[tuple[str, str]]:
    """Device and ABI of every run."""
    expected = {
        ("MI 6", "arm64-v8a"),
        ("MI 6", "armeabi-v7a"),
        ("Redmi Go", "armeabi-v7a"),
    }
    if farm.boards:
        expected |= {("nanopi", "arm64"), ("nanopi", "armhf")}
    return expected


def _check_report(folder: Path, model: str, farm: Farm) -> None:
    """All runs passed, with operators timed, and are in every form of the report."""
    with open(folder / "all_runs.csv", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {(row["device"], row["abi"]) for row in rows} == _places(farm)
    for row in rows:
        assert row["result"] == "passed"
        assert float(row["similarity"]) >= 0.99999
        assert float(row["run_ms"]) > 0
        assert int(row["peak_memory"]) > 1_000_000
        assert row["isa"] == "neon"
        assert (folder / row["page"]).is_file()
    content = json.loads((folder / "all_runs.json").read_text(encoding="utf-8"))
    assert content["passed"] is True
    for run in content["runs"]:
        assert run["model"] == model
        assert run["reference"].startswith("onnxruntime")
        assert len(run["mace_run"]["benchmark"]["operators"]) > 3
    page = (folder / "all_runs.html").read_text(encoding="utf-8")
    assert "every run passed" in page
    for device in {device for device, _ in _places(farm)}:
        assert f"<h2>{device}<span>" in page


def test_digits(tool: Tool, farm: Farm) -> None:
    ended = tool.run(ALL, "--validate", "--benchmark", "--report")
    assert ended.status == 0, ended.text
    _check_report(tool.build_dir / "digits/report", "digits", farm)
    for device, abi in _places(farm):
        assert f"digits on {device} ({abi}): probability: cosine" in ended.text


def test_mobilenet_v2(
    tool: Tool, farm: Farm, programs: dict[Abi, Path], tmp_path: Path
) -> None:
    make_built_model("mobilenet_v2")
    config = "test/conformance/models/mobilenet_v2.yml"
    convert(config, tmp_path / "mobilenet")
    give_programs(tmp_path / "mobilenet", programs)
    mobile = Tool(tmp_path / "mobilenet", farm, config)
    ended = mobile.run(ALL, "--validate", "--benchmark", "--report", limit_s=500.0)
    assert ended.status == 0, ended.text
    folder = tmp_path / "mobilenet/mobilenet_v2/report"
    _check_report(folder, "mobilenet_v2", farm)


def test_a_large_file_is_sent_once(tool: Tool, farm: Farm, tmp_path: Path) -> None:
    """100 MB of weights: the second run moves none of them."""
    phones = [f"--devices_to_run={farm.phones[0].address}", "--target_abis=arm64-v8a"]
    path = tmp_path / "build" / "digits" / "model"
    real = path.resolve()
    path.unlink()
    path.mkdir()
    for source in real.iterdir():
        if source.is_file():
            (path / source.name).write_bytes(source.read_bytes())
    # What follows the constants is never read.
    with open(path / "digits.data", "ab") as stream:
        stream.truncate(100_000_000)
    first = farm.phones[0].status()["push"]
    ended = tool.run(*phones)
    assert ended.status == 0, ended.text
    second = farm.phones[0].status()["push"]
    assert second - first > 100_000_000
    ended = tool.run(*phones)
    assert ended.status == 0, ended.text
    # The input, 256 bytes, and the names of files.
    assert farm.phones[0].status()["push"] - second < 10_000
