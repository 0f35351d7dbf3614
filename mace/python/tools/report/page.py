# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The HTML page of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mace.python.tools.html_template import html_template
from mace.python.tools.report import plots
from mace.python.tools.report.analysis import Analysis, OpFigures
from mace.python.tools.report.placement import placement_of
from mace.python.tools.report.results import ModelRun, worst_layer
from mace.python.tools.report.units import common_prefix, elided, size_text, time_text

_LONGEST = 20
_TEMPLATE = Path(__file__).with_name("page.html.jinja2")


@dataclass(frozen=True)
class _Card:
    label: str
    value: str


def html_page(run: ModelRun, analysis: Analysis | None, graph: str = "") -> str:
    """One self-contained page; nothing in it is fetched.

    Args:
        graph: name of the page beside it that draws the graph, if there is one.
    """
    report = run.report
    return html_template(_TEMPLATE).render(
        run=run,
        report=report,
        machine=report["machine"],
        threads=_threads(report),
        cards=_cards(run, analysis),
        analysis=analysis,
        plots=_plots(report, analysis),
        headline=None if run.headline is None else time_text(run.headline),
        longest=_longest(analysis),
        time_text=time_text,
        short=_shortener(run, analysis),
        colours=plots.type_colours(analysis) if analysis else {},
        worst=worst_layer(run.layers),
        placement=placement_of(report),
        graph=graph,
    )


def _longest(analysis: Analysis | None) -> list[OpFigures]:
    """The operators that take most of the time."""
    ops = analysis.ops if analysis else ()
    return sorted(ops, key=lambda op: -op.median_ms)[:_LONGEST]


def _shortener(run: ModelRun, analysis: Analysis | None) -> Callable[..., str]:
    """Short forms of the names of operators and tensors, `(name, most characters)`."""
    names = [op.name for op in analysis.ops] if analysis else []
    prefix = common_prefix(names or (layer.operator for layer in run.layers))

    def short(name: str, most: int = 40) -> str:
        return elided(name, prefix, most)

    return short


def _threads(report: dict[str, Any]) -> str:
    if "peak" in report:
        return str(report["peak"]["threads"])
    chosen = report["options"]["num_threads"]
    return str(chosen) if chosen > 0 else "chosen by the library"


def _cards(run: ModelRun, analysis: Analysis | None) -> list[_Card]:
    cards = []
    if run.series:
        cards.append(_Card("p90", time_text(run.series["p90"])))
        cards.append(_Card("fastest run", time_text(run.series["min"])))
        cards.append(_Card("average run", time_text(run.series["avg"])))
    if run.stability:
        cards.append(_Card("warm", time_text(run.stability["warm_ms"])))
        cards.append(_Card("sustained", time_text(run.stability["sustained_ms"])))
    if run.times:
        times = run.times[-1]
        cards.append(_Card("first run (cold)", time_text(times.warmup)))
        cards.append(_Card("engine creation", time_text(times.init)))
    memory = run.report["memory"]
    cards += [
        _Card("peak memory", size_text(memory["peak_resident_bytes"])),
        _Card("arena", size_text(memory["arena_bytes"])),
        _Card("weights in place", size_text(memory["constant_bytes"])),
    ]
    if analysis is not None:
        cards.append(_Card("multiply-accumulates", f"{analysis.macs / 1e6:.1f} M"))
        peak = analysis.peak
        if peak is not None and peak.most_round_trip_ns:
            trip = f"{peak.least_round_trip_ns:.0f} to {peak.most_round_trip_ns:.0f} ns"
            cards.append(_Card("to another core and back", trip))
    if run.comparisons:
        least = min(c.metrics.similarity for c in run.comparisons)
        cards.append(_Card("least similarity", f"{least:.7f}"))
    return cards


def _plots(report: dict[str, Any], analysis: Analysis | None) -> dict[str, str]:
    found = {"process_memory": plots.process_memory(report["memory"]["timeline"])}
    if analysis is None:
        return found
    benchmark = report["benchmark"]
    found.update(
        time_per_op=plots.time_per_op(analysis),
        live_memory=plots.live_memory(analysis, report["memory"]["arena_bytes"]),
        roofline=plots.roofline(analysis, "cpu"),
        gpu_roofline=plots.roofline(analysis, "gpu"),
        run_times=plots.run_times(
            {
                "without statistics": benchmark["without_statistics_ms"]["values"],
                "with statistics": benchmark["with_statistics_ms"]["values"],
            },
            benchmark["without_statistics_ms"]["median"],
        ),
    )
    return found
