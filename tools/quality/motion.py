# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a step still moves, and what it is doing.

A slow or busy computer makes a step longer, so no step is ended for how long it takes.
It is ended if nothing has moved for long: it wrote nothing new, and its processes used
hardly any processor time.
"""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List

# Bazel repeats a line such as "[1,234 / 2,345] Compiling a.cc; 60s" while it waits:
# only the numbers in brackets say that something ended.
WAITING = re.compile(r"^(\[[\d,]+ / [\d,]+\]) .*$", re.MULTILINE)
# Processes that wait for each other use less than this share of a core.
_IDLE_SHARE = 0.01
# How often a step is looked at.
_EVERY_S = 5.0
# Output may be silent for this many times as long while processors are busy: a test
# that computes for hours is a defect, too.
_BUSY_FACTOR = 4
# Of a log that is looked at: more than Bazel prints between two looks.
_TAIL_BYTES = 1 << 16
_SHOWN_PROCESSES = 12


@dataclass(frozen=True)
class Process:
    """One process of a session.

    Attributes:
        number: its process ID.
        cpu_s: the processor time that it has used, in seconds.
        command: its command line.
    """

    number: int
    cpu_s: float
    command: str


def processes_of(session: int, checkout: Path) -> List[Process]:
    """The processes of a session (setsid), those with the most processor time first.

    Bazel's server, which works for all sessions, and what it started are among them.
    """
    found: Dict[int, Process] = {}
    parents: Dict[int, int] = {}
    ours = set()
    ticks = os.sysconf("SC_CLK_TCK")
    server = f"--workspace_directory={checkout}"
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # The program's name, in parentheses, may contain anything.
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            words = (folder / "cmdline").read_bytes().decode(errors="replace")
        except (OSError, UnicodeDecodeError):  # it has just ended
            continue
        number = int(folder.name)
        # Its own time, and that of its children that ended.
        used = sum(map(int, fields[11:15])) / ticks
        command = words.replace("\0", " ").strip()
        found[number] = Process(number, used, command)
        parents[number] = int(fields[1])
        if int(fields[3]) == session or server in words.split("\0"):
            ours.add(number)
    for number in found:
        line = []
        while number in parents and number not in ours:
            line.append(number)
            number = parents[number]
        if number in ours:
            ours.update(line)
    chosen = [found[number] for number in ours]
    return sorted(chosen, key=lambda one: one.cpu_s, reverse=True)


def _said(log: Path) -> str:
    """What the end of a log says, without what Bazel repeats."""
    with log.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - _TAIL_BYTES))
        tail = stream.read().decode(errors="replace")
    waiting = [match.group(1) for match in WAITING.finditer(tail)]
    rest = WAITING.sub("", tail)
    return f"{''.join(waiting[-1:])}{rest.strip()[-_TAIL_BYTES // 2 :]}"


class Motion:
    """Watches one step of a checkout, whose processes are a session, and its log."""

    def __init__(self, session: int, log: Path, checkout: Path) -> None:
        self._session = session
        self._checkout = checkout
        self._log = log
        now = time.monotonic()
        self._looked = now
        self._spoke = now
        self._moved = now
        self._cpu_s = 0.0
        self._text = ""

    def still_s(self) -> float:
        """For how many seconds nothing has moved.

        Silence while processors are busy counts a quarter.
        """
        now = time.monotonic()
        if now - self._looked >= _EVERY_S:
            text = _said(self._log)
            found = processes_of(self._session, self._checkout)
            cpu_s = sum(one.cpu_s for one in found)
            if text != self._text:
                self._spoke = self._moved = now
            elif abs(cpu_s - self._cpu_s) > _IDLE_SHARE * (now - self._looked):
                self._moved = now
            self._text, self._cpu_s, self._looked = text, cpu_s, now
        return max(now - self._moved, (now - self._spoke) / _BUSY_FACTOR)

    def doing(self) -> str:
        """What the step's processes are, for whoever reads why it was ended."""
        found = processes_of(self._session, self._checkout)[:_SHOWN_PROCESSES]
        lines = [f"  {one.number} ({one.cpu_s:.0f} s): {one.command}" for one in found]
        return "\n".join(("its processes, with their processor time:", *lines))
