# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import io

from rich.console import Console

from mace.python.tools.config.vocabulary import Abi, Runtime
from mace.python.tools.report.results import ModelRun, RunReport, Times
from mace.python.tools.run import summary


def test_summary_fits_80_columns() -> None:
    run = ModelRun(
        "mobilenet_v2",
        Abi.HOST,
        "host",
        Runtime.CPU,
        times=(Times(2.1, 12.345, 123.456, 1234.567),),
        report={"memory": {"peak_resident_bytes": 1234.5e6}},
    )
    stream = io.StringIO()
    summary.print_summary(Console(file=stream, width=80), RunReport((run,)))
    row = next(line for line in stream.getvalue().splitlines() if "cpu" in line)
    assert row.split() == [
        *("mobilenet_v2", "host", "cpu"),
        *("12.345", "123.456", "1234.567", "1234.5", "ran"),
    ]
