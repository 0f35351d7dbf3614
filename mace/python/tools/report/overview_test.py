# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The page, table and JSON of several runs made up by hand."""

from __future__ import annotations

import csv
import html.parser
import json
from pathlib import Path

import numpy as np

from mace.python.tools.config.vocabulary import Abi, Runtime
from mace.python.tools.devices.memory import MemorySample
from mace.python.tools.report.overview import write_overview
from mace.python.tools.report.results import ModelRun, RunReport, Times
from mace.python.tools.validate import compare_tensor

_FAILURE = "mace_run crashed (signal 11); last output: <begun>\nlog: a.log"


def _run(
    device: str,
    abi: Abi,
    actual: float = 1.0,
    failure: str = "",
    median: float = 4.0,
) -> ModelRun:
    want = np.array([1.0, 2.0], np.float32)
    have = np.array([actual, 2.0], np.float32)
    return ModelRun(
        "m",
        abi,
        device,
        Runtime.CPU,
        failure=failure,
        times=() if failure else (Times(1.0, 2.0, 3.0, 4.12345678),),
        report={}
        if failure
        else {
            "machine": {"processor": "msm<8998>", "isa": "neon"},
            "memory": {"peak_resident_bytes": 5_000_000},
            "restarts": [{"run_ms": {"median": median, "p90": 2 * median}}],
        },
        comparisons=()
        if failure
        else (
            compare_tensor("y", want, want, 0.999),
            compare_tensor("z", want, have, 0.999),
        ),
        memory=(MemorySample(0.0, 10, 20, 2),),
    )


def _report() -> RunReport:
    return RunReport(
        (
            _run("MI 6", Abi.ARM64_V8A),
            _run("nanopi", Abi.ARM64, failure=_FAILURE),
            _run("MI 6", Abi.ARMEABI_V7A, actual=-7.0, median=8.0),
            _run("qemu", Abi.ARMHF, actual=np.nan, median=2.0),
        )
    )


class _Cells(html.parser.HTMLParser):
    """Rows of cells of the table, and the links."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.styles: list[str] = []
        self.links: list[str] = []
        self._in_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self._in_cell = True
            self.rows[-1].append("")
            self.styles.append(dict(attrs).get("style") or "")
        elif tag == "a":
            self.links.append(str(dict(attrs)["href"]))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._in_cell = False

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.rows[-1][-1] += data.strip()


def test_the_table(tmp_path: Path) -> None:
    paths = write_overview(tmp_path, "lib", _report())
    assert [path.name for path in paths] == [
        "all_runs.csv",
        "all_runs.json",
        "all_runs.html",
    ]
    with open(paths[0], encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["device"], row["abi"], row["result"]) for row in rows] == [
        ("MI 6", "arm64-v8a", "passed"),
        ("nanopi", "arm64", "failed"),
        ("MI 6", "armeabi-v7a", "wrong"),
        ("qemu", "armhf", "wrong"),
    ]
    assert rows[0]["similarity"] == "1.0"
    # The worse one of the two outputs decides: (-7 + 4) / sqrt(5 * 53).
    assert abs(float(rows[2]["similarity"]) + 3 / 265**0.5) < 1e-6
    assert rows[3]["similarity"] == "nan"
    assert rows[0]["run_ms"] == "4.123457"
    assert (rows[0]["median_ms"], rows[0]["p90_ms"]) == ("4.0", "8.0")
    assert rows[0]["peak_memory"] == "5000000"
    assert rows[0]["failure"] == ""
    assert rows[1]["failure"] == _FAILURE
    assert rows[2]["failure"] == "z: cosine similarity is below 0.999"
    assert rows[1]["run_ms"] == rows[1]["similarity"] == ""


def test_the_json(tmp_path: Path) -> None:
    path = write_overview(tmp_path, "lib", _report())[1]
    content = json.loads(path.read_text(encoding="utf-8"))
    assert (content["deployment"], content["passed"]) == ("lib", False)
    assert [run["passed"] for run in content["runs"]] == [True, False, False, False]
    assert content["runs"][1]["failure"] == _FAILURE
    assert content["runs"][3]["outputs"][1]["similarity"] == "nan"
    assert content["runs"][0]["memory_samples"][0]["peak_resident"] == 20


def test_the_page_has_one_table_over_devices(tmp_path: Path) -> None:
    (tmp_path / "m_MI_6_arm64-v8a_cpu.html").touch()
    path = write_overview(tmp_path, "lib & co", _report())[2]
    text = path.read_text(encoding="utf-8")
    page = _Cells()
    page.feed(text)
    head, *rows = page.rows
    assert head[:5] == ["model", "result", "device", "ABI", "runtime"]
    assert head[5:8] == ["median", "p90", "times are"]
    assert [row[2:4] for row in rows] == [
        ["MI 6", "arm64-v8a"],
        ["nanopi", "arm64"],
        ["MI 6", "armeabi-v7a"],
        ["qemu", "armhf"],
    ]
    assert rows[0][1] == "passed"
    assert rows[1][1] == f"failed{_FAILURE}"
    assert rows[2][1] == "wrongz: cosine similarity is below 0.999"
    assert [row[5] for row in rows] == ["4.000", "", "8.000", "2.000"]
    # Bars are parts of the longest time.
    assert [style for style in page.styles if style] == [
        "--part: 0.5000",
        "--part: 1.0000",
        "--part: 0.2500",
    ]
    assert rows[0][12] == "msm<8998>"
    assert page.links == ["m_MI_6_arm64-v8a_cpu.html", "all_runs.csv", "all_runs.json"]
    assert "3 devices:\n1 of 4 runs passed" in text
    assert "<h1>lib &amp; co</h1>" in text


def test_all_is_well(tmp_path: Path) -> None:
    report = RunReport((_run("MI 6", Abi.ARM64_V8A),))
    text = write_overview(tmp_path, "lib", report)[2].read_text(encoding="utf-8")
    assert "1 device:\nevery run passed" in text
