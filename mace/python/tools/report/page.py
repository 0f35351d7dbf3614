# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The HTML page of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mace.python.tools.html_template import html_template
from mace.python.tools.report import plots
from mace.python.tools.report.analysis import Analysis
from mace.python.tools.report.placement import placement_of
from mace.python.tools.report.results import ModelRun, worst_layer

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
        colours=plots.type_colours(analysis) if analysis else {},
        worst=worst_layer(run.layers),
        placement=placement_of(report),
        graph=graph,
    )


def _threads(report: dict[str, Any]) -> str:
    if "peak" in report:
        return str(report["peak"]["threads"])
    chosen = report["options"]["num_threads"]
    return str(chosen) if chosen > 0 else "chosen by the library"


def _cards(run: ModelRun, analysis: Analysis | None) -> list[_Card]:
    cards = []
    if run.times:
        times = run.times[-1]
        cards += [
            _Card("engine creation", _ms(times.init)),
            _Card("first run", _ms(times.warmup)),
            _Card("average run", _ms(times.run)),
        ]
    memory = run.report["memory"]
    cards += [
        _Card("peak memory", _mega(memory["peak_resident_bytes"])),
        _Card("arena", _mega(memory["arena_bytes"])),
        _Card("weights in place", _mega(memory["constant_bytes"])),
    ]
    if analysis is not None:
        cards.append(_Card("multiply-accumulates", f"{analysis.macs / 1e6:.1f} M"))
        best = run.report["benchmark"]["without_statistics_ms"]["min"]
        cards.append(_Card("fastest run", _ms(best)))
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
        time_per_type=plots.time_per_type(analysis),
        longest_ops=plots.longest_ops(analysis),
        live_memory=plots.live_memory(analysis, report["memory"]["arena_bytes"]),
        roofline=plots.roofline(analysis, "cpu"),
        gpu_roofline=plots.roofline(analysis, "gpu"),
        run_times=plots.run_times(
            {
                "without statistics": benchmark["without_statistics_ms"]["values"],
                "with statistics": benchmark["with_statistics_ms"]["values"],
            }
        ),
    )
    return found


def _ms(time: float) -> str:
    # A measurement has no more than four significant digits.
    return f"{time:.3f} ms" if time < 10 else f"{time:.1f} ms"


def _mega(size: float) -> str:
    return f"{size / 1e6:.2f} MB"
