# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Lists all runs of a deployment: as CSV, as JSON, and as a page with one table."""

from __future__ import annotations

import csv
import functools
import json
import math
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Optional

from mace.python.tools.atomic import atomic_write
from mace.python.tools.html_template import html_template
from mace.python.tools.report.results import ModelRun, RunReport
from mace.python.tools.report.units import common_prefix, elided
from mace.python.tools.report.write import report_json, report_stem

_TEMPLATE = Path(__file__).with_name("overview.html.jinja2")
_STEM = "all_runs"


@dataclass(frozen=True)
class Row:
    """One run. Times in ms, memory in bytes; None where there is none.

    Attributes:
        run_ms: the average.
        median_ms, p90_ms: of the runs, or of a benchmark's runs without statistics.
        stability: of a benchmark, in a word; `sentence` says more.
        similarity: the least of all outputs; NaN if one has NaN.
        page: the run's own page, beside this one.
    """

    model: str
    device: str
    abi: str
    runtime: str
    processor: str
    isa: str
    init_ms: Optional[float]
    warmup_ms: Optional[float]
    run_ms: Optional[float]
    median_ms: Optional[float]
    p90_ms: Optional[float]
    stability: str
    sentence: str
    peak_memory: Optional[int]
    similarity: Optional[float]
    result: str
    failure: str
    page: str


def write_overview(folder: Path, name: str, report: RunReport) -> list[Path]:
    """Writes `all_runs.{csv,json,html}`; returns their paths.

    Args:
        name: of the deployment.
    """
    rows = [_row(run, folder) for run in report.runs]
    files = [folder / f"{_STEM}{suffix}" for suffix in (".csv", ".json", ".html")]
    with atomic_write(files[0], "w") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        names = [field.name for field in fields(Row)]
        writer.writerow(names)
        for row in rows:
            values = [getattr(row, name) for name in names]
            writer.writerow(["" if value is None else value for value in values])
    with atomic_write(files[1], "w") as stream:
        json.dump(report_json(name, report), stream, indent=1, allow_nan=False)
        stream.write("\n")
    with atomic_write(files[2], "w") as stream:
        stream.write(_page(name, report, rows))
    return files


def _row(run: ModelRun, folder: Path) -> Row:
    times = run.times[-1] if run.times else None
    machine = run.report.get("machine", {})
    similarities = [c.metrics.similarity for c in run.comparisons]
    lowest = None
    if similarities:
        broken = any(math.isnan(value) for value in similarities)
        lowest = math.nan if broken else min(similarities)
    page = f"{report_stem(run)}.html"
    return Row(
        model=run.model,
        device=run.device,
        abi=run.abi.value,
        runtime=run.runtime.value,
        processor=machine.get("processor", ""),
        isa=machine.get("isa", ""),
        init_ms=round(times.init, 6) if times else None,
        warmup_ms=round(times.warmup, 6) if times else None,
        run_ms=round(times.run, 6) if times else None,
        median_ms=round(run.headline, 6) if run.headline is not None else None,
        p90_ms=round(run.series["p90"], 6) if run.series else None,
        stability=run.stability.get("verdict", ""),
        sentence=run.stability.get("sentence", ""),
        peak_memory=run.report.get("memory", {}).get("peak_resident_bytes"),
        similarity=lowest,
        result="passed" if run.passed else "failed" if run.failure else "wrong",
        failure=run.failure or _wrong(run),
        page=page if (folder / page).is_file() and run.report else "",
    )


def _wrong(run: ModelRun) -> str:
    """Each output or layer that fails, with the reason; empty if none fails."""
    return "\n".join(f"{c.name}: {c.failure}" for c in run.wrong)


def _page(name: str, report: RunReport, rows: list[Row]) -> str:
    models = {row.model for row in rows}
    prefix = common_prefix(models)
    return html_template(_TEMPLATE).render(
        name=name,
        stem=_STEM,
        passed=report.passed,
        good=sum(run.passed for run in report.runs),
        total=len(rows),
        devices={row.device for row in rows},
        rows=rows,
        longest=max((row.median_ms or 0.0 for row in rows), default=0.0) or 1.0,
        short=functools.partial(elided, prefix=prefix, most=28),
    )
