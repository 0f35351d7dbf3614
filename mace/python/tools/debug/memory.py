# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Measures the memory of a program that runs on a device."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mace.python.tools.debug.target import TargetOptions, devices, shell_output
from mace.python.tools.devices import Device, DeviceError, FoundDevice

_SCRIPT = """\
for p in $(pidof {name}); do
  echo "pid $p"
  cat /proc/$p/status 2>/dev/null
done"""
_FIELD = re.compile(r"^(pid|VmHWM:|VmRSS:|Threads:)\s+(\d+)", re.MULTILINE)


@dataclass(frozen=True)
class MemoryOptions:
    """What to watch.

    Attributes:
        process: its name.
        interval_s: between two looks.
        wait_s: how long it may take to appear.
        duration_s: stop after so long; None: when it ends.
        dumpsys: also ask Android's meminfo, once.
    """

    target: TargetOptions
    process: str = "mace_run"
    interval_s: float = 1.0
    wait_s: float = 60.0
    duration_s: float | None = None
    dumpsys: bool = False


@dataclass(frozen=True)
class Sample:
    """One sample of one process; sizes in KiB.

    Attributes:
        resident: physical memory it has now.
        peak: the most it had so far.
    """

    pid: int
    resident: int
    peak: int
    threads: int


def watch(options: MemoryOptions, show: Callable[[str], None]) -> dict[str, Sample]:
    """Samples the processes on all matching devices until they end.

    Returns:
        the last sample of each process, by "device/pid".

    Raises:
        DeviceError: no device matches, or the process does not appear.
    """
    with devices(options.target) as found:
        return _watch(found, options, show)


def _watch(
    found: Sequence[FoundDevice], options: MemoryOptions, show: Callable[[str], None]
) -> dict[str, Sample]:
    begin = time.monotonic()
    seen: dict[str, Sample] = {}
    asked: set[str] = set()
    while True:
        alive = False
        for item in found:
            name = item.properties.name
            for sample in look(item.device, options.process):
                alive = True
                seen[f"{name}/{sample.pid}"] = sample
                show(_line(time.monotonic() - begin, name, sample))
                if options.dumpsys and name not in asked:
                    asked.add(name)
                    show(_meminfo(item, sample.pid))
        elapsed = time.monotonic() - begin
        if not alive and seen:
            return seen
        if not alive and elapsed > options.wait_s:
            names = ", ".join(item.properties.name for item in found)
            raise DeviceError(
                f"no process {options.process} within {options.wait_s:.0f} s on "
                f"{names}; start it in another terminal: "
                "converter.py run --round=10000 ..."
            )
        if options.duration_s is not None and seen and elapsed > options.duration_s:
            return seen
        time.sleep(options.interval_s)


def look(device: Device, process: str) -> list[Sample]:
    """All processes of that name, now."""
    output = shell_output(device, _SCRIPT.format(name=process))
    samples: list[dict[str, int]] = []
    for key, value in _FIELD.findall(output):
        if key == "pid":
            samples.append({"pid": int(value)})
        elif samples:
            samples[-1][key] = int(value)
    return [
        Sample(one["pid"], one["VmRSS:"], one["VmHWM:"], one.get("Threads:", 0))
        for one in samples
        # A process that ended between two commands has no sizes.
        if "VmRSS:" in one and "VmHWM:" in one
    ]


def _meminfo(item: FoundDevice, pid: int) -> str:
    name = item.properties.name
    if not any(abi.is_android for abi in item.abis):
        return f"--dumpsys: {name} is not an Android device"
    text = shell_output(item.device, f"dumpsys meminfo {pid} 2>&1")
    return f"dumpsys meminfo {pid} on {name}:\n{text.rstrip()}"


def _line(seconds: float, name: str, sample: Sample) -> str:
    return (
        f"{seconds:7.1f} s  {name}  pid {sample.pid}  "
        f"resident {sample.resident / 1024:.1f} MiB  "
        f"peak {sample.peak / 1024:.1f} MiB  {sample.threads} threads"
    )
