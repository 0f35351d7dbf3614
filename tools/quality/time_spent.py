# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Where the time of a run went: what in each step took longest."""

from __future__ import annotations

import collections
import gzip
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List

# "12.34s call     test/<file>::test_b[x]", as pytest prints with --durations.
DURATION = re.compile(
    r"^ *(\d+\.\d+)s (?:call|setup|teardown) +([^:\s]+)", re.MULTILINE
)
# Bazel's descriptions of actions: "Compiling mace/<file>", "Testing //mace/a:a_test
# (shard 1 of 4)".
_ACTION = re.compile(r"^(Compiling|Linking|Testing)\b(?: (\S+))?")
_OTHER = "other actions"
# What Bazel's profile calls the actions, each with its time from start to end.
_CATEGORY = "action processing"


@dataclass(frozen=True)
class Spent:
    """Time of one thing that a step did.

    Attributes:
        what: a kind of Bazel's actions, a test target, or a file of tests.
        seconds: added up over what ran side by side.
    """

    what: str
    seconds: float


def of_bazel(profile: Path) -> List[Spent]:
    """From what Bazel wrote to --profile: kinds of actions, and each test target."""
    seconds: Dict[str, float] = collections.defaultdict(float)
    try:
        with gzip.open(profile, "rt", encoding="utf-8") as stream:
            events = json.load(stream)["traceEvents"]
    except (OSError, EOFError, ValueError, KeyError):
        return []  # it was ended before it had written all
    for event in events:
        if event.get("cat") == _CATEGORY:
            match = _ACTION.match(event.get("name", ""))
            kind = match.group(1) if match else _OTHER
            if match and kind == "Testing":
                kind = f"testing {match.group(2)}"
            seconds[kind.lower()] += event.get("dur", 0) / 1e6
    return _sorted(seconds)


def of_pytest(output: str) -> List[Spent]:
    """From the lines of --durations: each file of tests."""
    seconds: Dict[str, float] = collections.defaultdict(float)
    for number, place in DURATION.findall(output):
        seconds[place] += float(number)
    return _sorted(seconds)


def _sorted(seconds: Dict[str, float]) -> List[Spent]:
    found = [Spent(what, number) for what, number in seconds.items()]
    return sorted(found, key=lambda one: one.seconds, reverse=True)
