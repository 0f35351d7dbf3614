# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Interleaved timing: sides take turns, so that a slow moment hits all.

Also the time of one call, and the memory of this process.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Times:
    """The times of one side, in milliseconds."""

    minimum: float
    median: float
    rounds: int


def interleave(
    sides: Mapping[str, Callable[[], None]],
    seconds: float,
    warm_up: int = 3,
    at_least: int = 10,
) -> dict[str, Times]:
    """Calls every side in turn until the time is over.

    Args:
        sides: what to time, by name.
        seconds: of the whole measurement.
        warm_up: uncounted calls of each side first.
        at_least: counted calls of each side, whatever the time.
    """
    for call in sides.values():
        for _ in range(warm_up):
            call()
    samples: dict[str, list[float]] = {name: [] for name in sides}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(samples[next(iter(sides))]) < at_least:
        for name, call in sides.items():
            start = time.perf_counter()
            call()
            samples[name].append((time.perf_counter() - start) * 1e3)
    return {
        name: Times(min(s), statistics.median(s), len(s)) for name, s in samples.items()
    }


def microseconds(call: Callable[..., object], *of: object) -> float:
    """The time of one call with the arguments `of`."""
    start = time.perf_counter()
    call(*of)
    return (time.perf_counter() - start) * 1e6


def resident_bytes() -> int:
    """Memory of this process that is in RAM."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
