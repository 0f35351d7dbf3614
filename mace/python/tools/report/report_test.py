# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Figures, trace and files of a run made up by hand."""

from __future__ import annotations

import html.parser
import json
import math
import re
import xml.etree.ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mace.python.tools.config.vocabulary import Abi, Runtime
from mace.python.tools.data_type import DataType
from mace.python.tools.export.model_file import ModelFile, OperatorInfo, TensorInfo
from mace.python.tools.html_template import breakable
from mace.python.tools.report import plots
from mace.python.tools.report.analysis import Analysis, analyse
from mace.python.tools.report.overview import write_overview
from mace.python.tools.report.page import html_page
from mace.python.tools.report.placement import (
    Copy,
    Refusal,
    graph_places,
    placement_of,
)
from mace.python.tools.report.results import ModelRun, RunReport, Times
from mace.python.tools.report.testing import placed, two_devices
from mace.python.tools.report.units import common_prefix, elided, size_text, time_text
from mace.python.tools.report.write import chrome_trace, write_reports
from mace.python.tools.validate import compare_tensor


def _tensor(name: str, *shape: int) -> TensorInfo:
    return TensorInfo(name, shape, DataType.FLOAT32)


def _model() -> ModelFile:
    """a -> conv -> b -> relu -> c -> add(b, c) -> d; the sizes in floats."""
    return ModelFile(
        name="m",
        graph_path=Path("m.pb"),
        data_path=Path("m.data"),
        inputs=(_tensor("a", 1, 10),),
        outputs=(_tensor("d", 1, 100),),
        operators=(
            OperatorInfo("conv", "Conv2D", ("a", "w"), (_tensor("b", 1, 100),)),
            OperatorInfo("relu", "Activation", ("b",), (_tensor("c", 1, 100),)),
            OperatorInfo("add", "Eltwise", ("b", "c"), (_tensor("d", 1, 100),)),
        ),
    )


def _op(name: str, kind: str, start: float, avg: float, macs: int) -> dict[str, Any]:
    return {
        "name": name,
        "type": kind,
        "device": "cpu",
        "quantized": False,
        "output_shape": [[1, 100]],
        "macs": macs,
        "bytes": 4000,
        "last_start_ms": start,
        "last_ms": avg,
        "avg_ms": avg,
        "min_ms": avg / 2,
        "median_ms": avg,
    }


def _series(*values: float) -> dict[str, Any]:
    return {
        "round": len(values),
        "min": min(values),
        "avg": sum(values) / len(values),
        "median": float(np.median(values)),
        "p90": float(np.percentile(values, 90)),
        "values": values,
    }


def _report() -> dict[str, Any]:
    kinds = (("Conv2D", 3.0, 6000), ("Activation", 1.0, 0), ("Eltwise", 0.0, 0))
    return {
        "mace_version": "1",
        "machine": {"processor": "a <processor> & more", "isa": "sse41"},
        "options": {"num_threads": 2},
        "peak": {
            "threads": 2,
            "gflops": 0.016,
            "int8_gops": 0.05,
            "gbytes_per_s": 0.002,
            "cache_gbytes_per_s": 0.02,
            "least_round_trip_ns": 79.6,
            "most_round_trip_ns": 412.2,
        },
        "memory": {
            "peak_resident_bytes": 5_000_000,
            "arena_bytes": 1200,
            "constant_bytes": 4000,
            "timeline": [
                {"label": "start", "ms": 0.0, "resident_bytes": 1_000_000},
                {"label": "engine created", "ms": 2.0, "resident_bytes": 4_000_000},
            ],
        },
        "benchmark": {
            "macs": 6000,
            "without_statistics_ms": _series(4.0, 3.0),
            "with_statistics_ms": _series(4.1, 4.2),
            "stability": {
                "verdict": "noisy",
                "sentence": "Noisy: <why>.",
                "warm_ms": 4.0,
                "sustained_ms": 3.0,
            },
            "ops": [
                _op("conv", "Conv2D", 0.0, 3.0, 6000),
                _op("relu", "Activation", 3.0, 1.0, 0),
                _op("add", "Eltwise", 4.0, 0.0, 0),
            ],
            "types": [
                {"type": t, "count": 1, "avg_ms": ms, "macs": macs, "calls": 2}
                for t, ms, macs in kinds
            ],
        },
    }


def _analysis() -> Analysis:
    analysis = analyse(_report(), _model())
    assert analysis is not None
    return analysis


def _run(report: dict[str, Any]) -> ModelRun:
    x = np.ones((1, 4))
    bad = np.full((1, 4), np.nan)
    return ModelRun(
        model="a/model",
        abi=Abi.HOST,
        device="host",
        runtime=Runtime.CPU,
        times=(Times(2.0, 1.0, 5.0, 4.0),),
        report=report,
        reference="framework 1",
        comparisons=(
            compare_tensor("<good>", x, x, 0.9),
            compare_tensor("bad", x, bad, 0.9),
        ),
    )


def test_rates_by_hand() -> None:
    conv, relu, add = _analysis().ops
    # 12,000 operations and 4,000 bytes in 3 ms.
    assert conv.gflops == pytest.approx(0.004)
    assert conv.gbytes_per_s == pytest.approx(4e-3 / 3)
    assert conv.intensity == 3.0
    assert conv.peak_share == pytest.approx(0.25)
    assert [op.share for op in (conv, relu, add)] == [0.75, 0.25, 0.0]
    # No time is no rate, rather than an infinite one.
    assert (add.gflops, add.gbytes_per_s) == (0.0, 0.0)


def test_an_interrupted_round_changes_no_order() -> None:
    report = _report()
    report["benchmark"]["ops"][1]["avg_ms"] = 500.0
    analysis = analyse(report, _model())
    assert analysis is not None
    assert [(t.type, t.share) for t in analysis.types] == [
        ("Conv2D", 0.75),
        ("Activation", 0.25),
        ("Eltwise", 0.0),
    ]


def test_live_memory_by_hand() -> None:
    # b while conv runs; b and c; b and c are still read while d is written.
    assert _analysis().live_bytes == (400, 800, 1200)


def test_without_benchmark_there_is_no_analysis() -> None:
    report = _report()
    del report["benchmark"]
    assert analyse(report, _model()) is None
    page = html_page(_run(report), None)
    assert "Process memory" in page and "Roofline" not in page


def test_trace_is_what_viewers_read() -> None:
    trace = chrome_trace("m", _analysis())
    events = trace["traceEvents"]
    spans = [event for event in events if event["ph"] == "X"]
    assert [(s["name"], s["ts"], s["dur"]) for s in spans] == [
        ("conv", 0.0, 3000.0),
        ("relu", 3000.0, 1000.0),
        ("add", 4000.0, 0.0),
    ]
    counters = [e["args"]["bytes"] for e in events if e["ph"] == "C"]
    assert counters == [400, 800, 1200]
    assert all({"ph", "pid", "tid", "name"} <= set(event) for event in events)


def test_pictures_are_svg() -> None:
    analysis = _analysis()
    pictures = (
        plots.time_per_op(analysis),
        plots.live_memory(analysis, 1200),
        plots.roofline(analysis, "cpu"),
        plots.run_times({"a": [1.0, 2.0], "b": [3.0]}, 1.5),
        plots.process_memory(_report()["memory"]["timeline"]),
    )
    for picture in pictures:
        root = xml.etree.ElementTree.fromstring(picture)
        assert root.tag.endswith("svg")


def test_small_times_and_sizes_have_small_units() -> None:
    assert [time_text(t) for t in (0.0123, 0.5, 12.34)] == [
        "12.3 \u00b5s",
        "0.500 ms",
        "12.3 ms",
    ]
    assert [size_text(b) for b in (30_100, 2_500_000)] == ["30.1 kB", "2.50 MB"]
    picture = plots.run_times({"a": [0.01, 0.02]}, 0.015)
    assert "time (\u00b5s)" in picture and "median, 15.0 \u00b5s" in picture


def test_interrupted_runs_do_not_hide_the_others() -> None:
    usual = [1.0 + i / 100 for i in range(50)]
    assert "longer" not in plots.run_times({"a": usual}, 1.2)
    picture = plots.run_times({"a": [*usual, 800.0]}, 1.2)
    assert "1 run takes longer, at most 800.0 ms" in picture
    # The axis ends near the others.
    assert ">3.0<" in picture.replace(" ", "") or ">2.5<" in picture.replace(" ", "")
    assert ">800<" not in picture.replace(" ", "")


def test_marks_tell_their_values_and_colours_are_the_pages() -> None:
    analysis = _analysis()
    picture = plots.time_per_op(analysis)
    titles = re.findall(r"<title>([^<]*)</title>", picture)
    assert titles == [
        "0 conv (Conv2D): 3.000 ms, 75.0% of all, 0.004 GOP/s",
        "1 relu (Activation): 1.000 ms, 25.0% of all",
        "2 add (Eltwise): 0.0 \u00b5s, 0.0% of all",
    ]
    for variable in ("--ink", "--soft", "--line"):
        assert f"var({variable})" in picture
    # Light text would not be seen on a white page, nor dark text on a dark one.
    assert not re.search(r"<text [^>]*fill: #", picture)
    roof = plots.roofline(analysis, "cpu")
    assert "peak, at least 0.016 GFLOP/s, threads: 2" in roof
    assert "0 conv (Conv2D): 3.000 ms, 75.0% of all, 0.004 GOP/s, 3 operations" in roof


def _style_and_rest(page: str) -> tuple[str, str]:
    style = page[page.index("<style>") : page.index("</style>")]
    return style, page.replace(style, "")


def test_pages_load_nothing_and_follow_the_colour_scheme(tmp_path: Path) -> None:
    run = _run(_report())
    write_overview(tmp_path, "lib", RunReport((run,)))
    overview = (tmp_path / "all_runs.html").read_text(encoding="utf-8")
    for page in (overview, html_page(run, _analysis())):
        style, rest = _style_and_rest(page)
        assert "prefers-color-scheme: dark" in style
        assert "url(" not in style and "@import" not in style
        loaded = re.findall(r"<(?:link|script|img|iframe)\b[^>]*>", rest)
        assert loaded == ["<script>"]
        assert not re.search(r"\b(?:src|fetch|import)\b ?[=(]", rest)
        # Every colour that the rest names is defined, in the light and in the dark.
        defined = set(re.findall(r"(--[a-z-]+):", page))
        assert set(re.findall(r"var\((--[a-z-]+)\)", page)) <= defined
        assert 'name="viewport"' in page


def test_the_median_is_the_headline() -> None:
    page = html_page(_run(_report()), _analysis())
    assert "<b>3.500 ms</b> median of 2 runs" in page
    assert '<p class="noisy">Noisy: &lt;why&gt;.</p>' in page
    cards = re.findall(r'<div class="card"><b>([^<]*)</b><span>([^<]*)<', page)
    assert ("3.900 ms", "p90") in cards and ("3.000 ms", "sustained") in cards


def test_names_are_short_and_whole_when_pointed_at() -> None:
    report = _report()
    for op in report["benchmark"]["ops"]:
        op["name"] = f"some/long/scope/{op['name']}"
    analysis = analyse(report, _model())
    page = html_page(_run(report), analysis)
    cell = '<td class="left" title="some/long/scope/conv">\u2026conv</td>'
    assert cell in page
    # As the longest operator, it fills the width.
    assert re.search(r"0  \u2026conv</span>\n.*width: 100.00%", page)


def test_there_is_no_roofline_without_a_peak() -> None:
    report = _report()
    del report["peak"]
    analysis = analyse(report, _model())
    assert analysis is not None
    assert plots.roofline(analysis, "cpu") == ""


def test_each_device_has_its_peak_and_its_roofline() -> None:
    report = _report()
    gpu = {"gflops": 0.008, "gbytes_per_s": 0.004, "cache_gbytes_per_s": 0.04}
    report["gpu_peak"] = {"name": "Some GPU 1", **gpu}
    analysis = analyse(report, _model())
    assert analysis is not None
    # No operator of it.
    assert plots.roofline(analysis, "gpu") == ""
    assert "Roofline of the GPU" not in html_page(_run(report), analysis)
    report["benchmark"]["ops"][0]["device"] = "gpu"
    analysis = analyse(report, _model())
    assert analysis is not None
    assert analysis.ops[0].peak_share == pytest.approx(0.5)
    assert plots.roofline(analysis, "cpu") == ""
    assert "Some GPU 1" in plots.roofline(analysis, "gpu")
    page = html_page(_run(report), analysis)
    assert "Roofline of the GPU" in page
    assert '<td>0</td><td class="left">gpu</td>' in page
    assert '<td>1</td><td class="left">cpu</td>' in page


def test_quantized_operators_have_a_peak_of_their_own() -> None:
    report = _report()
    assert "in int8" not in plots.roofline(_analysis(), "cpu")
    report["benchmark"]["ops"][0]["quantized"] = True
    analysis = analyse(report, _model())
    assert analysis is not None
    assert analysis.ops[0].peak_share == pytest.approx(0.08)
    drawn = plots.roofline(analysis, "cpu")
    assert "GOP/s in int8" in drawn
    assert "GFLOP/s" not in drawn
    report["benchmark"]["ops"][1]["macs"] = 100
    analysis = analyse(report, _model())
    assert analysis is not None
    drawn = plots.roofline(analysis, "cpu")
    assert "GOP/s in int8" in drawn
    assert "GFLOP/s" in drawn


def test_rates_above_the_peak_are_explained_and_not_clipped() -> None:
    report = _report()
    report["peak"]["gflops"] = 0.002
    analysis = analyse(report, _model())
    assert analysis is not None
    assert analysis.above_peak == 1
    page = html_page(_run(report), analysis)
    assert "Rates above the peak (1 of 3)" in page
    assert "<td>200.0</td>" in page
    assert "Rates above the peak" not in html_page(_run(_report()), _analysis())


class _Balanced(html.parser.HTMLParser):
    """Checks that elements are closed in order."""

    _VOID = frozenset({"meta", "br", "link", "hr", "img"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in self._VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_page_tells_how_far_apart_cores_are_if_there_are_two() -> None:
    report = _report()
    assert "80 to 412 ns" in html_page(_run(report), analyse(report, _model()))
    report["peak"]["least_round_trip_ns"] = report["peak"]["most_round_trip_ns"] = 0
    page = html_page(_run(report), analyse(report, _model()))
    assert "another core" not in page


def test_page_is_well_formed_and_escapes_names() -> None:
    page = html_page(_run(_report()), _analysis())
    parser = _Balanced()
    parser.feed(page)
    assert parser.open == []
    assert "&lt;good&gt;" in page and "<good>" not in page
    assert "a &lt;processor&gt; &amp; more" in page
    assert "4 NaN and 0 Inf among 4 values" in page


@pytest.mark.parametrize("benchmarked", [True, False])
def test_page_shows_where_operators_run(benchmarked: bool) -> None:
    report = {**_report(), **two_devices()}
    if not benchmarked:
        del report["benchmark"]
    analysis = _analysis() if benchmarked else None
    page = html_page(_run(report), analysis, "a b.graph.html")
    parser = _Balanced()
    parser.feed(page)
    assert parser.open == []
    text = (
        "2 on gpu, 1 on cpu; 2 copies between devices, 800 bytes; estimated 6.0 \u00b5s"
    )
    assert text in page
    assert "<b>apu</b> is left out: this build has no APU runtime" in page
    assert "gpu: no &lt;kernel&gt; of rank 5" in page
    rows = page[page.index("Where operators run") :]
    assert rows.index(">conv<") < rows.index("gpu &rarr; cpu") < rows.index(">relu<")
    assert 'href="a%20b.graph.html"' in page
    assert ("<th>measured (\u00b5s)</th>" in page) == benchmarked
    # Of conv: 3 ms were measured.
    assert ("<td>3000.0</td>" in page) == benchmarked


def test_page_without_placement_says_nothing_of_it() -> None:
    assert "Where operators run" not in html_page(_run(_report()), _analysis())


def test_files(tmp_path: Path) -> None:
    files = write_reports(tmp_path / "out", _run(_report()), _model())
    names = [path.name for path in files]
    assert names == [
        f"a_model_host_cpu.{end}" for end in ("json", "html", "trace.json")
    ]
    data = json.loads(files[0].read_text())
    assert data["passed"] is False
    assert data["outputs"][0]["similarity"] == 1.0
    # JSON has no NaN and no Infinity.
    assert data["outputs"][0]["sqnr"] == "inf"
    assert data["outputs"][1]["similarity"] == "nan"
    assert data["mace_run"]["machine"]["isa"] == "sse41"


def test_a_run_that_never_started_leaves_json_only(tmp_path: Path) -> None:
    run = ModelRun("m", Abi.HOST, "host", Runtime.CPU, failure="crashed")
    (path,) = write_reports(tmp_path, run, _model())
    assert json.loads(path.read_text())["failure"] == "crashed"


def test_an_operator_the_file_does_not_have_takes_no_memory() -> None:
    report = _report()
    report["benchmark"]["ops"][1]["name"] = "elsewhere"
    analysis = analyse(report, _model())
    assert analysis is not None
    assert analysis.live_bytes == (400, 400, 800)
    assert math.isclose(analysis.total_ms, 4.0)


@pytest.mark.parametrize(
    ("names", "prefix"),
    [
        (["net/block_1/conv", "net/block_12/conv"], "net/block_"),
        (["net/a", "net/a"], ""),
        (["conv1", "conv2"], ""),
        (["a/b", "a/c"], ""),
        (["gpu_0/res2", "gpu_0/res3", "gpu_0/fc"], "gpu_0/"),
        ([], ""),
    ],
)
def test_the_prefix_ends_after_a_separator(names: list[str], prefix: str) -> None:
    assert common_prefix(names) == prefix


def test_names_keep_their_ends() -> None:
    assert elided("gpu_0/res2", "gpu_0/") == "\u2026res2"
    assert elided("conv", "gpu_0/") == "conv"
    # Words stay whole.
    assert elided("x" * 30 + "/conv", most=10) == "\u2026conv"
    assert elided("global_average_pooling2d", most=22) == "\u2026average_pooling2d"
    assert elided("a/conv_1", most=7) == "\u2026conv_1"
    assert len(elided("n" * 100, most=12)) == 12


def test_long_names_break_after_separators_only() -> None:
    text = breakable("mace_run <b> wrote build/run/logs/net_a.log: 1.5")
    assert text == (
        "mace_run &lt;b&gt; wrote "
        "build/<wbr>run/<wbr>logs/<wbr>net_<wbr>a.<wbr>log: 1.5"
    )


def test_a_report_without_placement_has_none() -> None:
    assert placement_of({}) is None
    empty: dict[str, Any] = {"operators": [], "copies": [], "left_out": []}
    assert placement_of({"placement": empty}) is None


def test_operators_copies_and_refusals() -> None:
    found = placement_of(two_devices())
    assert found is not None
    assert [op.device for op in found.operators] == ["gpu", "cpu", "gpu"]
    assert found.counts == {"gpu": 2, "cpu": 1}
    assert found.operators[1].refusals == (Refusal("gpu", "no <kernel> of rank 5"),)
    assert found.copies_before(1) == (Copy("b", "gpu", "cpu", 400, 1),)
    assert found.copies_before(0) == ()
    assert found.copied_bytes == 800
    assert found.left_out == (Refusal("apu", "this build has no APU runtime"),)
    assert found.estimated_us == 6.0


def test_an_estimate_of_nothing_is_not_known() -> None:
    report = two_devices()
    report["placement"]["operators"][0]["estimated_us"] = 0.0
    found = placement_of(report)
    assert found is not None
    assert found.operators[0].estimated_us is None
    assert found.estimated_us is None


def test_measured_times_are_those_of_the_same_operator() -> None:
    report = two_devices()
    operators = report["placement"]["operators"]
    # A conversion that a device added, and a name that is given twice.
    operators.insert(0, placed("conv", "Cast", "gpu"))
    operators.append(placed("add", "Eltwise", "cpu"))
    times = (("conv", "Conv2D", 0.5), ("conv", "Cast", 0.25), ("add", "Eltwise", 1.0))
    ops = [{"name": n, "type": t, "median_ms": ms} for n, t, ms in times]
    report["benchmark"] = {"ops": [*ops, {**ops[2], "median_ms": 2.0}]}
    found = placement_of(report)
    assert found is not None
    measured = [op.measured_us for op in found.operators]
    assert measured == [250.0, 500.0, None, 1000.0, 2000.0]
    assert found.measured_us is None


def test_places_for_a_drawing() -> None:
    found = placement_of(two_devices())
    assert found is not None
    places = graph_places(found)
    assert places.copies == {("b", "gpu", "cpu"): 400, ("c", "cpu", "gpu"): 400}
    relu = places.operators["relu", "Activation"]
    assert (relu.device, relu.time) == ("cpu", "estimated 2.0 \u00b5s")
    assert relu.details["not on gpu"] == "no <kernel> of rank 5"


def test_a_drawing_shows_both_times_of_a_benchmark() -> None:
    op = {"name": "relu", "type": "Activation", "median_ms": 0.25}
    found = placement_of({**two_devices(), "benchmark": {"ops": [op]}})
    assert found is not None
    relu = graph_places(found).operators["relu", "Activation"]
    assert relu.time == "measured 250.0 \u00b5s, estimated 2.0 \u00b5s"
    assert relu.details["measured"] == "250.0 \u00b5s"
    assert relu.details["estimated"] == "2.0 \u00b5s"
