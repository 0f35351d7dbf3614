# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The last benchmark round as a Chrome trace.

The format is the JSON array of trace events that Perfetto and
chrome://tracing read: "X" a span, "C" a counter, "M" a name.
"""

from __future__ import annotations

from typing import Any

from mace.python.tools.report.analysis import Analysis

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
