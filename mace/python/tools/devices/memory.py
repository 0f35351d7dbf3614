# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Measures the memory of a program on a device from outside while it runs.

The figures come from the kernel (``/proc/PID/status``, ``smaps_rollup`` since Linux
4.14) and, on Android, from ``dumpsys meminfo``. Under an emulator they include the
emulator.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from mace.python.tools.atomic import atomic_write
from mace.python.tools.devices.device import SCRATCH

LOG = SCRATCH / "memory"

# $1: seconds between samples. Every Android since 4.3 has grep, but not awk.
_SCRIPT = f"""\
n=$1; shift
: >{LOG}
"$@" & p=$!
( while sleep $n; do
  read -r up rest </proc/uptime && echo "@ $up" &&
  grep -E '^(VmRSS|VmHWM|VmSwap|Threads):' /proc/$p/status || exit
  grep '^Pss:' /proc/$p/smaps_rollup
  ! command -v dumpsys || dumpsys meminfo $p | grep TOTAL
done ) >{LOG} 2>/dev/null & w=$!
wait $p; s=$?
kill $w 2>/dev/null
exit $s"""

_LINE = re.compile(r"^(VmRSS|VmHWM|VmSwap|Threads|Pss):\s+(\d{1,15})\b", re.ASCII)
_TOTAL = re.compile(r"^\s*TOTAL(?: PSS)?:?\s+(\d{1,15})\b", re.ASCII)
_SECONDS = re.compile(r"\d{1,12}(\.\d{1,6})?", re.ASCII)
_KIB = 1024


@dataclass(frozen=True)
class MemorySample:
    """A program's memory at one moment; bytes, None where nobody tells.

    Attributes:
        seconds: since the first sample.
        resident: pages in memory, shared ones included (VmRSS).
        peak_resident: the most of those so far (VmHWM).
        swapped: VmSwap.
        proportional: its own pages and its share of the others (Pss).
        dumpsys: what Android's dumpsys meminfo calls TOTAL.
    """

    seconds: float
    resident: int
    peak_resident: int
    threads: int
    swapped: int | None = None
    proportional: int | None = None
    dumpsys: int | None = None


def watched(command: Sequence[str], seconds: int) -> list[str]:
    """A command that runs another one and writes its memory to LOG."""
    if not seconds:
        return list(command)
    return ["sh", "-c", _SCRIPT, "sh", str(seconds), *command]


def parse_samples(text: str) -> list[MemorySample]:
    """The samples of a LOG; an incomplete last sample is ignored."""
    samples: list[MemorySample] = []
    start: float | None = None
    for block in text.split("@ ")[1:]:
        first, _, rest = block.partition("\n")
        found: dict[str, int] = {}
        total = None
        for line in rest.splitlines():
            if match := _LINE.match(line):
                found[match[1]] = int(match[2])
            elif total is None and (match := _TOTAL.match(line)):
                total = int(match[1]) * _KIB
        if not {"VmRSS", "VmHWM", "Threads"} <= found.keys():
            continue
        if not _SECONDS.fullmatch(first):
            continue
        start = float(first) if start is None else start
        samples.append(
            MemorySample(
                seconds=round(float(first) - start, 2),
                resident=found["VmRSS"] * _KIB,
                peak_resident=found["VmHWM"] * _KIB,
                threads=found["Threads"],
                swapped=_bytes(found, "VmSwap"),
                proportional=_bytes(found, "Pss"),
                dumpsys=total,
            )
        )
    return samples


def _bytes(found: dict[str, int], key: str) -> int | None:
    return found[key] * _KIB if key in found else None


def memory_line(samples: Sequence[MemorySample]) -> str:
    """All samples in one line."""
    if not samples:
        return "ended before the first sample; run it longer (--round)"
    parts = [f"{max(s.resident for s in samples) / 1e6:.1f} MB resident"]
    for name, values in (
        ("proportional (PSS)", [s.proportional for s in samples]),
        ("dumpsys meminfo TOTAL", [s.dumpsys for s in samples]),
        ("swapped", [s.swapped for s in samples if s.swapped]),
    ):
        known = [value for value in values if value is not None]
        if known:
            parts.append(f"{max(known) / 1e6:.1f} MB {name}")
    plural = "" if len(samples) == 1 else "s"
    return f"at most {', '.join(parts)} in {len(samples)} sample{plural}"


def write_samples(path: Path, samples: Sequence[MemorySample]) -> None:
    """A CSV table, one line per sample."""
    names = [field.name for field in fields(MemorySample)]
    with atomic_write(path, "w") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(names)
        for sample in samples:
            values = [getattr(sample, name) for name in names]
            writer.writerow(["" if value is None else value for value in values])
