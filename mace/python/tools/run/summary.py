# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Prints the end of a run: validation results, layers, one table."""

from __future__ import annotations

import re

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mace.python.tools.report.results import ModelRun, RunReport, worst_layer


def print_comparisons(
    console: Console, run: ModelRun, with_device: bool = False
) -> None:
    """One line per output, and one for a failed run."""
    where = f"{run.model} on {run.where}"
    name = where if with_device else run.model
    if run.failure:
        console.print(
            f"{where}: FAILED, {run.failure}",
            markup=False,
            highlight=False,
            emoji=False,
            soft_wrap=True,
            style="bold red",
        )
    if run.in_python:
        console.print(
            f"{where}: computed in Python, without MACE's kernels, because of "
            f"--fallback: {run.not_native.splitlines()[0]}\n  {run.in_python}",
            markup=False,
            highlight=False,
            emoji=False,
            soft_wrap=True,
            style="bold yellow",
        )
    for comparison in run.comparisons:
        console.print(
            f"{name}: {comparison.line()}",
            markup=False,
            highlight=False,
            emoji=False,
            soft_wrap=True,
            style=None if comparison.passed else "bold red",
        )
    if text := run.first_wrong or _next_step(run):
        console.print(
            f"{name}: {text}",
            markup=False,
            highlight=False,
            emoji=False,
            soft_wrap=True,
            style="bold red",
        )


def _next_step(run: ModelRun) -> str:
    """What to type next after outputs that are wrong."""
    wrong = [c for c in run.comparisons if not c.passed and c.computed]
    if not wrong or run.in_python:
        return ""
    return "next: add --bisect to this command; it finds the first wrong operator"


# Lines of the tables of `mace_run --benchmark`.
_TABLES = re.compile(r"^I (?:statistics|stability)\.cc:\d+ .*\n", re.MULTILINE)
# What the program is asked to keep for the comparison, on its device.
_KEPT = re.compile(r"^I model_runner\.cc:\d+ output .* written to .*\n", re.MULTILINE)
_LONGEST = 10


def without_kept_outputs(text: str) -> str:
    """The output of `mace_run` without the places of outputs, which are read and then
    removed.
    """
    return _KEPT.sub("", text)


def without_tables(text: str) -> str:
    """The output of `mace_run` without the tables and the verdict of its benchmark."""
    return _TABLES.sub("", text)


def print_benchmark(console: Console, run: ModelRun) -> None:
    """The run times and the operators that take longest, for one benchmark."""
    benchmark = run.report.get("benchmark")
    if run.failure or not benchmark or not benchmark["ops"]:
        return
    _print_times(console, run)
    _print_longest(console, run)


def _print_times(console: Console, run: ModelRun) -> None:
    benchmark, stability = run.report["benchmark"], run.stability
    table = Table(title=f"Times of {run.model} on {run.where} (ms)", box=SIMPLE_HEAD)
    table.add_column("")
    columns = ("min", "median", "p90", "p99", "avg", "max", "runs")
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    for title, key in (
        ("run", "without_statistics_ms"),
        ("with statistics", "with_statistics_ms"),
        ("sum of operators", "ops_ms"),
    ):
        series = benchmark[key]
        values = [_ms(series[name]) for name in columns[:-1]]
        table.add_row(title, *values, f"{series['round']:,}")
    console.print(table)
    for start in run.report.get("restarts", [])[-1:]:
        _line(
            console,
            f"started in {_ms(start['init_ms'])} ms: "
            f"files {_ms(start['files_ms'])} ms, "
            f"engine {_ms(start['engine_ms'])} ms",
        )
    _line(
        console,
        f"first run (cold) {_ms(stability['cold_ms'])} ms, "
        f"warm {_ms(stability['warm_ms'])} ms, "
        f"sustained {_ms(stability['sustained_ms'])} ms",
    )


def _print_longest(console: Console, run: ModelRun) -> None:
    ops = run.report["benchmark"]["ops"]
    # By medians: one interrupted round would make any operator the slowest.
    total = sum(op["median_ms"] for op in ops) or 1.0
    longest = sorted(ops, key=lambda op: -op["median_ms"])[:_LONGEST]
    share = sum(op["median_ms"] for op in longest) / total
    table = Table(
        title=f"The slowest {len(longest)} of {len(ops)} operators, {share:.0%} of the "
        "time",
        box=SIMPLE_HEAD,
    )
    table.add_column("operator", overflow="fold", min_width=12)
    table.add_column("type", no_wrap=True)
    for name in ("median", "avg", "%", "GMAC/s"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("output", no_wrap=True)
    for op in longest:
        shapes = op["output_shape"]
        rate = op["macs"] / op["median_ms"] * 1e-6 if op["median_ms"] else 0.0
        table.add_row(
            Text(op["name"]),
            op["type"],
            _ms(op["median_ms"]),
            _ms(op["avg_ms"]),
            f"{100 * op['median_ms'] / total:.1f}",
            f"{rate:.1f}" if rate else "-",
            "x".join(map(str, shapes[0])) if shapes else "",
        )
    console.print(table)


def _line(console: Console, text: str, style: str | None = None) -> None:
    console.print(
        text, markup=False, highlight=False, emoji=False, soft_wrap=True, style=style
    )


def _ms(value: float) -> str:
    return f"{value:.{4 if value < 1 else 3 if value < 100 else 1}f}"


def print_layers(console: Console, run: ModelRun) -> None:
    """All compared layers, the worst one marked."""
    if not run.layers:
        return
    worst = worst_layer(run.layers)
    table = Table(
        title=f"Layers of {run.model} on {run.where} against {run.reference}",
        box=SIMPLE_HEAD,
    )
    for name in ("layer", "type", "tensor"):
        table.add_column(name, overflow="fold")
    for name in ("cosine similarity", "SQNR", "pixel accuracy", "max abs error"):
        table.add_column(name, justify="right", no_wrap=True)
    for layer in run.layers:
        m = layer.comparison.metrics
        is_worst = layer is worst
        style = "bold red" if not layer.comparison.passed else ""
        table.add_row(
            str(layer.index) + (" (worst)" if is_worst else ""),
            layer.type,
            layer.comparison.name,
            f"{m.similarity:.9f}",
            f"{m.sqnr:.4g}",
            f"{m.pixel_accuracy:.4f}",
            f"{m.max_abs_error:.3g}",
            style="bold yellow" if is_worst and not style else style,
        )
    console.print(table)
    if worst is not None:
        console.print(
            f"worst layer: {worst.index} {worst.type} {worst.comparison.line()}",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )


def print_summary(console: Console, report: RunReport) -> None:
    """One line per model, device and runtime."""
    table = Table(
        title="Summary", box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True
    )
    # Headings with two lines, so that words fit a terminal of 80 columns.
    table.add_column("model", overflow="fold", min_width=12)
    table.add_column("device", overflow="fold", min_width=6)
    table.add_column("runtime", no_wrap=True)
    for name in ("init\n(ms)", "warm-up\n(ms)", "median\n(ms)", "peak\n(MB)"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("result", overflow="fold", min_width=12)
    for run in report.runs:
        times = run.times[-1] if run.times else None
        memory = run.report.get("memory", {}).get("peak_resident_bytes")
        table.add_row(
            run.model,
            run.where,
            run.computed_by,
            f"{times.init:.3f}" if times else "-",
            f"{times.warmup:.3f}" if times else "-",
            f"{run.headline:.3f}" if run.headline is not None else "-",
            f"{memory / 1e6:.1f}" if memory else "-",
            _verdict(run),
            style="" if run.passed else "bold red",
        )
    console.print(table)
    for run in report.runs:
        if run.stability:
            steady = run.stability["verdict"] == "steady"
            _line(
                console,
                f"{run.model} on {run.where}: {run.stability['sentence']}",
                None if steady else "yellow",
            )
    good = sum(run.passed for run in report.runs)
    total = len(report.runs)
    open_ = sum(any(not c.decided for c in run.comparisons) for run in report.runs)
    compared = all(run.comparisons for run in report.runs)
    word = "validated" if compared and not open_ else "ran"
    if good == total:
        more = f", {open_} not decided" if open_ else ""
        _line(console, f"{good} of {total} {word}{more}")
    else:
        _line(console, f"{total - good} of {total} FAILED", "bold red")


def _verdict(run: ModelRun) -> str:
    if run.failure:
        return f"failed: {run.failure.splitlines()[0]}"
    kernels = ", without MACE's kernels" if run.in_python else ""
    if not run.comparisons:
        return f"ran{kernels}"
    least = min(c.metrics.similarity for c in run.comparisons)
    wrong = [c.name for c in run.comparisons if not c.passed]
    if wrong:
        return f"wrong: {', '.join(wrong)}"
    layers = [layer for layer in run.layers if not layer.comparison.passed]
    if layers:
        count = f"{len(layers)} of {len(run.layers)} layers"
        return f"wrong: {count}, the first is {layers[0].comparison.name}"
    undecided = [c.name for c in run.comparisons if not c.decided]
    if undecided:
        return f"not decided: {', '.join(undecided)}, see above"
    noted = [c.name for c in run.comparisons if c.note]
    notes = f"; see the note on {', '.join(noted)} above" if noted else ""
    return f"validated{kernels}, similarity {least:.7f}{notes}"
