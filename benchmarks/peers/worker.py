# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A process with one engine, which executes requests line by line.

    python -m benchmarks.peers.worker ENGINE

Reads a JSON object per line and answers with one:

    {"do": "load", "model": ..., "threads": ..., "image": PATH.npy,
     "input_name": ..., "output_name": ..., "output_shape": [...],
     "output": PATH.npy}
        -> {"first_ms": ..., "peak_mb": ..., "base_mb": ...}
    {"do": "run", "count": N, "clock": "wall"}
        -> {"ms": [N times]}, after one run that is not counted
    {"do": "quit"}

or with {"error": ...}. `first_ms` is from the model's file to the first result. Times
are those of a clock on the wall or, for runs with the clock "cpu", what the process
computed, which other work on the computer changes little. `peak_mb` is the peak
resident memory until the first result, `base_mb` what of it was resident before the
engine's library was imported: Python, numpy and the image.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from benchmarks.peers.adapters import ADAPTERS, Adapter, Job


def resident_mb(field: str) -> float:
    """VmRSS (now) or VmHWM (peak) of this process, in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024 / 1e6
    raise RuntimeError(f"the kernel does not report {field}")


# In seconds, by what a request calls them.
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


class Worker:
    """Answers requests with one engine."""

    def __init__(self, engine: str) -> None:
        self._adapter_class = ADAPTERS[engine]
        self._adapter: Adapter | None = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Executes a request."""
        if request["do"] == "load":
            return self._load(request)
        if request["do"] == "run":
            clock = CLOCKS[request.get("clock", "wall")]
            return {"ms": self._time(int(request["count"]), clock)}
        raise ValueError(f"unknown request {request['do']!r}")

    def _load(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._adapter is not None:
            raise ValueError("a process loads one model")
        job = Job(
            model=Path(request["model"]),
            threads=int(request["threads"]),
            image=self._adapter_class.image(request["image"]),
            input_name=request["input_name"],
            output_name=request["output_name"],
            output_shape=tuple(request["output_shape"]),
        )
        base = resident_mb("VmRSS")
        self._adapter = adapter = self._adapter_class(job)
        # 5 resets VmHWM: importing a package is not part of the peak, but memory that
        # it still uses is.
        Path("/proc/self/clear_refs").write_text("5")
        start = time.perf_counter()
        self._run = adapter.create()
        self._run()
        end = time.perf_counter()
        peak = resident_mb("VmHWM")
        np.save(request["output"], adapter.output())
        # No garbage collection during a measurement.
        gc.collect()
        gc.disable()
        return {
            "first_ms": (end - start) * 1e3,
            "peak_mb": peak,
            "base_mb": base,
        }

    def _time(self, count: int, clock: Callable[[], float]) -> list[float]:
        if self._adapter is None:
            raise ValueError("load comes before run")
        run = self._run
        run()
        times = []
        for _ in range(count):
            start = clock()
            run()
            times.append((clock() - start) * 1e3)
        return times


def serve(engine: str, requests: TextIO, answers: TextIO) -> None:
    """Answers every line until the end or a `quit`."""
    worker = Worker(engine)
    for line in requests:
        request = json.loads(line)
        if request["do"] == "quit":
            break
        try:
            answer = worker.answer(request)
        # Any exception of an engine is its result.
        except Exception as error:
            message = " ".join(str(error).split())
            answer = {"error": f"{type(error).__name__}: {message}"[:400]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def main() -> None:
    # Engines may write to standard output, so answers use another descriptor.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    serve(sys.argv[1], sys.stdin, answers)
    answers.close()
    # Some engines crash at exit.
    os._exit(0)


if __name__ == "__main__":
    main()
