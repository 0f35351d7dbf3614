# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests that every option that concerns devices takes effect on the device."""

from __future__ import annotations

import csv
import json
from typing import Any

import pytest

from test.device_farm.farm import Farm
from test.devices.tool import Inside, Place, Tool


def _report(tool: Tool) -> list[dict[str, Any]]:
    path = tool.build_dir / "digits/report/all_runs.json"
    runs: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["runs"]
    return runs


def _ran_on(tool: Tool) -> list[tuple[str, str]]:
    return [(run["device"], run["abi"]) for run in _report(tool)]


def test_rounds_threads_and_logs(tool: Tool, place: Place) -> None:
    ended = tool.run(
        *place.flags,
        "--round=3",
        "--restart_round=2",
        "--num_threads=1",
        "--cpu_affinity_policy=2",
        "--vlog_level=2",
        "--report",
    )
    assert ended.status == 0, ended.text
    # Once for each start of the program.
    assert ended.text.count("capability(CPU)") == 2
    # Level 2 prints the time of each operator, level 1 does not.
    assert "cpu_report.cc" in ended.text
    (run,) = _report(tool)
    options = run["mace_run"]["options"]
    assert options["num_threads"] == 1
    assert options["cpu_affinity_policy"] == 2
    assert len(run["mace_run"]["restarts"][-1]["run_ms"]["values"]) == 3
    assert run["mace_run"]["memory"]["peak_resident_bytes"] > 1_000_000
    quiet = tool.run(*place.flags)
    assert "cpu_report.cc" not in quiet.text


def test_memory_over_a_long_run(tool: Tool, farm: Farm) -> None:
    """The recipe with dumpsys, as an option."""
    ended = tool.run(
        "--target_abis=arm64-v8a,arm64",
        *("--round=100000000", "--time_limit=15", "--watch_memory=1", "--report"),
    )
    assert ended.status == 1
    runs = _report(tool)
    assert len(runs) == (2 if farm.boards else 1)
    assert ended.text.count("ended after 15 s without") >= len(runs)
    assert ended.text.count("memory of mace_run: at most ") == len(runs)
    # Of the phone alone.
    assert ended.text.count("dumpsys meminfo TOTAL") == 1
    for run in runs:
        name = f"digits_{run['device']}_{run['abi']}_memory.csv".replace(" ", "_")
        path = tool.build_dir / "digits/run/logs" / name
        with open(path, encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        assert len(rows) >= 2
        assert all(int(row["resident"]) > 1_000_000 for row in rows)
        assert len(run["memory_samples"]) == len(rows)
    for device in (*farm.phones[:1], *farm.boards[:1]):
        inside = Inside(farm, device)
        assert not inside.runs()
        inside.close()


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (["--target_socs=msm8937"], [("Redmi Go", "armeabi-v7a")]),
        (["--target_socs=MSM8998"], [("MI 6", "armeabi-v7a")]),
        (["--devices_to_run=Redmi Go"], [("Redmi Go", "armeabi-v7a")]),
        (["--target_abis=arm64-v8a"], [("MI 6", "arm64-v8a")]),
    ],
)
def test_which_phones(
    tool: Tool, flags: list[str], expected: list[tuple[str, str]]
) -> None:
    abis = [] if "abis" in flags[0] else ["--target_abis=armeabi-v7a"]
    ended = tool.run(*flags, *abis, "--report")
    assert ended.status == 0, ended.text
    assert _ran_on(tool) == expected


def test_a_phone_by_its_serial_number(tool: Tool, farm: Farm) -> None:
    serial = farm.phones[1].address
    ended = tool.run(
        "--target_abis=armeabi-v7a", f"--devices_to_run={serial}", "--report"
    )
    assert ended.status == 0, ended.text
    assert _ran_on(tool) == [("Redmi Go", "armeabi-v7a")]


def test_boards_of_a_file(tool: Tool, farm: Farm) -> None:
    if not farm.boards:
        pytest.skip("boards of the farm need root")
    ended = tool.run("--target_abis=armhf", "--target_socs=rk3399", "--report")
    assert ended.status == 0, ended.text
    assert _ran_on(tool) == [("nanopi", "armhf")]
    wrong = tool.run("--target_abis=armhf", "--target_socs=bcm2837")
    assert wrong.status == 2
    assert "no device runs programs for armhf on SoC bcm2837" in wrong.text
    assert "found nanopi" in wrong.text


def test_a_board_that_is_another_machine(tool: Tool, farm: Farm) -> None:
    """The entry says x86-64, but the board is not."""
    if not farm.boards:
        pytest.skip("boards of the farm need root")
    text = farm.devices_yml.read_text(encoding="utf-8")
    path = tool.build_dir / "wrong.yml"
    path.write_text(text.replace("- arm64\n", "- x86_64\n"), encoding="utf-8")
    ended = tool.run("--target_abis=armhf", f"--device_yml={path}")
    assert ended.status == 2
    assert "is an aarch64 machine, which runs arm64, armhf" in ended.text
    assert "correct devices.nanopi.target_abis" in ended.text


def test_an_abi_that_nobody_runs_is_named_beside_the_others(tool: Tool) -> None:
    ended = tool.run(
        "--target_abis=arm64-v8a,armeabi-v7a", "--devices_to_run=Redmi Go", "--report"
    )
    assert ended.status == 0, ended.text
    assert "arm64-v8a: no such phone" in ended.text
    assert _ran_on(tool) == [("Redmi Go", "armeabi-v7a")]
