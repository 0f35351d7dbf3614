# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import gzip
import json
from pathlib import Path

from tools.quality.time_spent import Spent, of_bazel, of_pytest


def test_time_of_bazel(tmp_path: Path) -> None:
    def event(name: str, seconds: float, category: str = "action processing") -> object:
        return {"name": name, "cat": category, "dur": seconds * 1e6}

    events = [
        event("Compiling mace/a.cc", 2),
        event("Compiling mace/b.cc", 3.5),
        event("Linking mace/a_test", 1),
        event("Testing //mace:a_test (shard 1 of 2)", 4),
        event("Testing //mace:a_test (shard 2 of 2)", 3),
        event("Copying files", 0.5),
        event("subprocess.run", 60, "local action execution"),
    ]
    path = tmp_path / "profile.gz"
    with gzip.open(path, "wt", encoding="utf-8") as stream:
        json.dump({"traceEvents": events}, stream)
    assert of_bazel(path) == [
        Spent("testing //mace:a_test", 7),
        Spent("compiling", 5.5),
        Spent("linking", 1),
        Spent("other actions", 0.5),
    ]


def test_half_a_profile(tmp_path: Path) -> None:
    path = tmp_path / "profile.gz"
    assert of_bazel(path) == []
    path.write_bytes(gzip.compress(b'{"traceEvents": [')[:-9])
    assert of_bazel(path) == []


def test_time_of_pytest() -> None:
    output = """\
============================= slowest 20 durations =============================
12.50s call     test/a_test.py::test_one[x y]
3.00s setup    test/b_test.py::test_two
 0.50s teardown test/a_test.py::test_one[x y]
(5 durations < 0.005s hidden.)
2 passed in 16.00s
"""
    assert of_pytest(output) == [
        Spent("test/a_test.py", 13),
        Spent("test/b_test.py", 3),
    ]
