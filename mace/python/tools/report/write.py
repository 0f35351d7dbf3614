# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the report files of a run."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from pathlib import Path
from typing import Any

from mace.python.tools.atomic import atomic_write
from mace.python.tools.export.graph_page import graph_page
from mace.python.tools.export.model_file import ModelFile, read_message
from mace.python.tools.report.analysis import Analysis, analyse
from mace.python.tools.report.page import html_page
from mace.python.tools.report.placement import graph_places, placement_of
from mace.python.tools.report.results import ModelRun, RunReport
from mace.python.tools.validate import Comparison


def write_reports(folder: Path, run: ModelRun, model: ModelFile) -> list[Path]:
    """Writes `<model>_<device>_<runtime>.{json,html,graph.html,trace.json}`.

    The trace is there when operators were timed, the page when the program
    lived long enough to say anything, and the drawing of the graph when it
    lived long enough to say where operators ran.
    """
    stem = report_stem(run)
    files = [folder / f"{stem}.json"]
    with atomic_write(files[0], "w") as stream:
        json.dump(run_json(run), stream, indent=1, allow_nan=False)
        stream.write("\n")
    if not run.report:
        return files
    analysis = analyse(run.report, model)
    files.append(folder / f"{stem}.html")
    placement = placement_of(run.report)
    graph = folder / f"{stem}.graph.html"
    with atomic_write(files[-1], "w") as stream:
        stream.write(html_page(run, analysis, graph.name if placement else ""))
    if placement is not None:
        files.append(graph)
        with atomic_write(graph, "w") as stream:
            message = read_message(model.graph_path)
            stream.write(graph_page(message, graph_places(placement)))
    if analysis is not None:
        files.append(folder / f"{stem}.trace.json")
        with atomic_write(files[-1], "w") as stream:
            json.dump(chrome_trace(run.model, analysis), stream)
    return files


def report_stem(run: ModelRun) -> str:
    """The common prefix of the files of a run. It contains the ABI unless the device's
    name is sufficient: a phone has two ABIs.
    """
    device = run.device
    if run.abi.value not in device:
        device += f"_{run.abi.value}"
    return re.sub(r"[^0-9A-Za-z.+-]", "_", f"{run.model}_{device}_{run.runtime.value}")


def report_json(name: str, report: RunReport) -> dict[str, Any]:
    """All data of all runs of a deployment."""
    return {
        "deployment": name,
        "passed": report.passed,
        "runs": [run_json(run) for run in report.runs],
    }


def run_json(run: ModelRun) -> dict[str, Any]:
    """All data of a run in a form for JSON. Numbers that JSON cannot represent become
    the texts 'nan', 'inf' or '-inf'.
    """
    return {
        "model": run.model,
        "abi": run.abi.value,
        "device": run.device,
        "runtime": run.runtime.value,
        "computed_by": run.computed_by,
        "in_python": run.in_python,
        "not_native": run.not_native,
        "passed": run.passed,
        "failure": run.failure,
        "reference": run.reference,
        "first_wrong": run.first_wrong,
        "outputs": [_comparison(c) for c in run.comparisons],
        "layers": [
            {
                "index": layer.index,
                "operator": layer.operator,
                "type": layer.type,
                **_comparison(layer.comparison),
            }
            for layer in run.layers
        ],
        "accuracy": run.accuracy,
        "memory_samples": [dataclasses.asdict(sample) for sample in run.memory],
        "mace_run": run.report,
    }


def _comparison(comparison: Comparison) -> dict[str, Any]:
    m = comparison.metrics
    return {
        "name": comparison.name,
        "similarity": _number(m.similarity),
        "sqnr": _number(m.sqnr),
        "sqnr_db": _number(m.sqnr_db),
        "pixel_accuracy": _number(m.pixel_accuracy),
        "max_abs_error": _number(m.max_abs_error),
        "max_rel_error": _number(m.max_rel_error),
        "threshold": comparison.threshold,
        "passed": comparison.passed,
        "failure": comparison.failure,
        "decided": comparison.decided,
        "note": comparison.note,
        "own_variation": None
        if comparison.variation is None
        else _number(comparison.variation.max_rel_error),
    }


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


# The last benchmark round as a Chrome trace.
#
# The format is the JSON array of trace events that Perfetto and
# chrome://tracing read: "X" a span, "C" a counter, "M" a name.


_PROCESS = 1
_THREAD = 1


def chrome_trace(model: str, analysis: Analysis) -> dict[str, Any]:
    """Operators as spans, live memory as a counter; times in microseconds."""
    events: list[dict[str, Any]] = [
        _name("process_name", f"mace_run {model}"),
        _name("thread_name", "operators"),
    ]
    for op, live in zip(analysis.ops, analysis.live_bytes):
        start = op.start_ms * 1e3
        events.append(
            {
                "name": op.name,
                "cat": op.type,
                "ph": "X",
                "pid": _PROCESS,
                "tid": _THREAD,
                "ts": start,
                "dur": op.last_ms * 1e3,
                "args": {
                    "type": op.type,
                    "output shape": list(op.output_shape),
                    "MACs": op.macs,
                    "bytes": op.bytes,
                    "average ms": op.avg_ms,
                },
            }
        )
        events.append(
            {
                "name": "live activations",
                "ph": "C",
                "pid": _PROCESS,
                "tid": _THREAD,
                "ts": start,
                "args": {"bytes": live},
            }
        )
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def _name(kind: str, name: str) -> dict[str, Any]:
    return {
        "name": kind,
        "ph": "M",
        "pid": _PROCESS,
        "tid": _THREAD,
        "args": {"name": name},
    }
