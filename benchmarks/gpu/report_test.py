# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import record
from benchmarks.gpu import report
from benchmarks.gpu.report import Goal, ResultError, condense, tables
from benchmarks.gpu.run import STARTS, VERSION
from benchmarks.tables import Table


def _times(minimum: float) -> dict[str, Any]:
    return {"minimum": minimum, "median": minimum * 2, "runs": 9, "medians": [1.0]}


def _mace(minimum: float) -> dict[str, Any]:
    start = {"init_ms": 300.0, "beyond_ms": 100.0, "programs": 7}
    start.update(programs_ms=60.0, first_ms=2.5)
    slower = dict(start, init_ms=500.0, beyond_ms=140.0)
    return {
        "similarity": 0.99995,
        "device": "G",
        "launches": 20,
        "named_launches": 20,
        "operators": 30,
        "on_cpu": [],
        "context_ms": [200.0],
        "memory": {
            "stored": 4_000_000,
            "weights": 4_100_000,
            "arena": 1_000_000,
            "cpu_arena": 2_000_000,
            "anonymous": 30_000_000,
            "cpu_anonymous": 2_000_000,
            "context_anonymous": 25_000_000,
            "peak_resident": 1,
            "cpu_peak_resident": 1,
        },
        "starts": {name: [start, slower] for name in STARTS},
        "times": _times(minimum),
        "floor": _times(0.2),
    }


def _peer(minimum: float) -> dict[str, Any]:
    starts = {"cold": [{"first_ms": 900.0}], "warm": [{"first_ms": 400.0}]}
    return {"similarity": 0.9, "starts": starts, "times": _times(minimum)}


def _result() -> dict[str, Any]:
    sides = {
        "mace_fp16": _mace(0.4),
        "mace_fp32": _mace(0.6),
        "ncnn_vulkan": _peer(1.0),
        "ncnn_vulkan_fp16": _peer(0.5),
    }
    return {
        "version": VERSION,
        "date": "2026-01-02",
        "machine": "a processor",
        "commit": "abc",
        "versions": {"ncnn": "1.0", "tqdm": "4"},
        "settings": {"rounds": 3, "runs": 50},
        "networks": {
            "mobilenet_v1": {
                "sides": sides,
                "absent": {"litert_gpu": "no rule", "litert_gpu_fp16": "no rule"},
                "gpu": {"device": "G", "driver": "1.2"},
            }
        },
    }


def _tables(result: dict[str, Any]) -> dict[str, Table]:
    return {table.name: table for table in tables(condense([result]).data)}


def _goal(found: dict[str, Table], start: str) -> tuple[str, ...]:
    (row,) = [row for row in found["goals"].rows if row[0].startswith(start)]
    return row


def test_the_record_names_the_gpu_and_the_engines() -> None:
    made = condense([_result()])
    assert made.machine == "G, driver 1.2, a processor"
    assert made.versions == {"ncnn": "1.0"}
    assert (made.date, made.commit) == ("2026-01-02", "abc")


def test_ratios_are_to_the_best_peer() -> None:
    found = _tables(_result())
    row = found["time"].rows[0]
    assert row[:3] == ("mobilenet_v1", "0.400 (0.800)", "0.600 (1.200)")
    assert row[-4:] == ("-", "-", "0.80", "0.60")
    assert _goal(found, "time")[1:] == ("yes", "mobilenet_v1", "≤ 0.80", "0.80")


def test_the_floor_start_and_memory_are_shown() -> None:
    found = _tables(_result())
    assert found["floor"].rows[0][2:] == (
        *("20", "0", "0.400 (0.800)", "0.200 (0.400)", "2.00"),
    )
    assert found["start"].rows[0][2:] == (
        *("cold", "200 (280)", "100 (120)", "60", "7", "2.5 (2.5)"),
    )
    # In half, the plan of the CPU counts half.
    half, full = found["memory"].rows
    assert half[2:] == ("4.00", "4.10", "1.025", "1.00", "1.00", "1.00", "25.0", "3.0")
    assert full[6:8] == ("2.00", "0.50")
    assert found["peer_start"].rows[0] == (
        *("mobilenet_v1", "ncnn fp32", "900 (900)", "400 (400)"),
    )


def test_memory_that_the_kernel_does_not_report_is_not_shown() -> None:
    result = _result()
    for side in ("mace_fp16", "mace_fp32"):
        entry = result["networks"]["mobilenet_v1"]["sides"][side]
        entry["memory"]["context_anonymous"] = 0
    found = _tables(result)
    assert [row[-1] for row in found["memory"].rows] == ["-", "-"]
    assert _goal(found, "host MB")[2] == "not measured"


def test_goals_are_met_or_not() -> None:
    found = _tables(_result())
    assert _goal(found, "launches of mobilenet_v1")[1] == "yes"
    assert _goal(found, "launches of resnet50")[2] == "not measured"
    assert _goal(found, "ms beyond the context, warm")[1] == "yes"
    weights = _goal(found, "weights on the GPU")
    assert weights[1:] == ("no", "mobilenet_v1, fp16_fp32", "≤ 1.020", "1.025")
    assert _goal(found, "host MB")[1] == "yes"
    assert _goal(found, "similarity of fp16_fp32")[1] == "yes"
    assert _goal(found, "similarity of fp32_fp32")[1] == "no"


def test_the_worst_counts() -> None:
    for least, values, worst in ((False, (1, 3, 2), 3), (True, (2, 1, 3), 1)):
        goal = Goal("g", 2.0, least)
        for value in values:
            goal.add(f"at {value}", value)
        assert (goal.worst, goal.where) == (worst, f"at {worst}")
        assert goal.row()[1] == "no"


def test_absent_engines_are_named_with_the_reason() -> None:
    rows = _tables(_result())["remarks"].rows
    assert ("LiteRT fp32", "mobilenet_v1", "no rule") in rows
    assert len(rows) == 2


def test_a_side_that_failed_between_turns_has_no_time() -> None:
    result = _result()
    network = result["networks"]["mobilenet_v1"]
    del network["sides"]["ncnn_vulkan_fp16"]["times"]
    network["absent"]["ncnn_vulkan_fp16"] = "in round 2: ended"
    found = _tables(result)
    assert found["time"].rows[0][-2] == "0.40"
    assert len(found["remarks"].rows) == 3


def test_results_of_different_networks_are_joined() -> None:
    other = _result()
    other["networks"]["resnet50"] = other["networks"].pop("mobilenet_v1")
    made = condense([_result(), other])
    assert list(made.data["networks"]) == ["mobilenet_v1", "resnet50"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, "measured twice"),
        ({"machine": "another"}, "different machine"),
        ({"commit": "def"}, "different commit"),
        ({"version": 99}, "version 99"),
    ],
)
def test_results_that_do_not_fit_are_refused(
    change: dict[str, Any], message: str
) -> None:
    with pytest.raises(ResultError, match=message):
        condense([_result(), {**_result(), **change}])


def test_another_gpu_is_refused() -> None:
    other = copy.deepcopy(_result())
    network = other["networks"].pop("mobilenet_v1")
    network["gpu"]["driver"] = "2"
    other["networks"]["resnet50"] = network
    with pytest.raises(ResultError, match="different GPUs"):
        condense([_result(), other])


def test_the_program_writes_a_record_that_the_page_can_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "result.json").write_text(json.dumps(_result()))
    arguments = [str(tmp_path / "result.json"), "--record", str(tmp_path / "r.json")]
    monkeypatch.setattr("sys.argv", ["report", *arguments, "--commit", "c0ffee"])
    report.main()
    assert "0.400 (0.800)" in capsys.readouterr().out
    kept = record.read("r", tmp_path)
    assert kept.commit == "c0ffee"
    assert [t.rows for t in kept.tables()] == [t.rows for t in tables(kept.data)]
