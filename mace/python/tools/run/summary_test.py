# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import dataclasses
import io
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from mace.python.tools.config.vocabulary import Abi, Runtime
from mace.python.tools.report.results import (
    LayerComparison,
    ModelRun,
    RunReport,
    Times,
)
from mace.python.tools.run import summary
from mace.python.tools.run.invocation import Answer
from mace.python.tools.run.model_run import tell_of_threads
from mace.python.tools.validate import Comparison, Metrics, compare_tensor


def test_summary_fits_80_columns() -> None:
    run = ModelRun(
        "mobilenet_v2",
        Abi.HOST,
        "host",
        Runtime.CPU,
        times=(Times(2.1, 12.345, 123.456, 1234.567),),
        report={
            "memory": {"peak_resident_bytes": 1234.5e6},
            "restarts": [{"run_ms": {"median": 1234.567}}],
        },
    )
    stream = io.StringIO()
    summary.print_summary(Console(file=stream, width=80), RunReport((run,)))
    row = next(line for line in stream.getvalue().splitlines() if "cpu" in line)
    assert row.split() == [
        *("mobilenet_v2", "host", "cpu"),
        *("12.345", "123.456", "1234.567", "1234.5", "ran"),
    ]


_X = np.array([3.0, 4.0, 0.5])


def _verdict(*outputs: Comparison, layers: tuple[Comparison, ...] = ()) -> str:
    """The result of a run, as the table shows it, between 'passed' or 'failed' and the
    last line.
    """
    run = ModelRun(
        *("m", Abi.HOST, "host", Runtime.CPU),
        comparisons=outputs,
        layers=tuple(
            LayerComparison(i, f"op{i}", "Conv2D", layer)
            for i, layer in enumerate(layers)
        ),
    )
    stream = io.StringIO()
    summary.print_summary(Console(file=stream, width=200), RunReport((run,)))
    lines = stream.getvalue().splitlines()
    row = next(line for line in lines if "cpu" in line).partition(" - ")[2]
    return f"{'passed' if run.passed else 'failed'}: {row}; {lines[-1]}"


def test_a_layer_that_fails_makes_the_run_fail() -> None:
    good = compare_tensor("y", _X, _X, 0.999)
    bad = compare_tensor("h", _X, _X[::-1], 0.999)
    assert "passed: " in _verdict(good, layers=(good, good))
    text = _verdict(good, layers=(good, bad, bad))
    assert text.startswith("failed: ")
    assert "wrong: 2 of 3 layers, the first is h" in text
    assert "wrong: h" in _verdict(bad, layers=(bad,))


def test_what_passes_with_a_reservation_is_told() -> None:
    wild = Metrics(0.1, 0.5, 1.0, 0.5, 0.25, 0)
    undecided = compare_tensor("y", _X, -_X[::-1], 0.999, variation=wild)
    text = _verdict(undecided)
    assert text.startswith("passed: ")
    assert "not decided: y, see above" in text
    assert "1 of 1 ran, 1 not decided" in text
    equal = compare_tensor("y", np.ones(4), np.ones(4), 0.999)
    assert "not decided: y, see above" in _verdict(equal)
    single = compare_tensor("y", np.ones(1), np.ones(1), 0.999)
    text = _verdict(single)
    assert "similarity 1.0000000; see the note on y above" in text
    assert "1 of 1 validated" in text


@pytest.mark.parametrize(("asked", "told"), [(1000, True), (2, False), (-1, False)])
def test_more_threads_than_cores_are_told(
    asked: int, told: bool, caplog: pytest.LogCaptureFixture
) -> None:
    report = {"machine": {"usable_cores": 2}}
    tell_of_threads(asked, Answer("", report))
    assert ("--num_threads=1000: the device has 2 usable cores" in caplog.text) == told
    tell_of_threads(asked, Answer("", {}, failure="it crashed"))


def _series(*values: float) -> dict[str, Any]:
    names = ("min", "median", "p90", "p99", "avg", "max")
    return dict(zip(names, values), round=1234)


def _benchmarked(verdict: str) -> ModelRun:
    ops = [
        {
            "name": f"block/conv_{i}",
            "type": "Conv2D",
            "avg_ms": float(i),
            "median_ms": float(i),
            "macs": 2_000_000 * i,
            "output_shape": [[1, 7, 7, i]],
        }
        for i in range(15)
    ]
    stability = {
        "verdict": verdict,
        "sentence": "The sentence.",
        "cold_ms": 200.25,
        "warm_ms": 101.5,
        "sustained_ms": 0.51,
    }
    benchmark = {
        "without_statistics_ms": _series(1, 2, 3, 4, 5, 6.5),
        "with_statistics_ms": _series(1, 2, 3, 4, 5, 6.5),
        "ops_ms": _series(1, 2, 3, 4, 5, 6.5),
        "ops": ops,
        "stability": stability,
    }
    starts = [
        {"init_ms": 9.0, "files_ms": 2.0, "engine_ms": 7.0},
        {"init_ms": 8.5, "files_ms": 1.25, "engine_ms": 7.25},
    ]
    report = {"benchmark": benchmark, "restarts": starts}
    return ModelRun("m", Abi.HOST, "host", Runtime.CPU, report=report)


def test_a_benchmark_shows_totals_and_the_ten_slowest_operators() -> None:
    stream = io.StringIO()
    summary.print_benchmark(Console(file=stream, width=100), _benchmarked("steady"))
    text = stream.getvalue()
    lines = [line.split() for line in text.splitlines()]
    assert ["min", "median", "p90", "p99", "avg", "max", "runs"] in lines
    assert [
        "run",
        "1.000",
        "2.000",
        "3.000",
        "4.000",
        "5.000",
        "6.500",
        "1,234",
    ] in lines
    assert "started in 8.500 ms: files 1.250 ms, engine 7.250 ms" in text
    assert "first run (cold) 200.2 ms, warm 101.5 ms, sustained 0.5100 ms" in text
    assert "The slowest 10 of 15 operators, 90% of the time" in text
    found = [line[0] for line in lines if line and line[0].startswith("block/")]
    assert found == [f"block/conv_{i}" for i in range(14, 4, -1)]
    assert [
        "block/conv_14",
        "Conv2D",
        "14.000",
        "14.000",
        "13.3",
        "2.0",
        "1x7x7x14",
    ] in lines


@pytest.mark.parametrize(
    ("failure", "last"), [("", "1 of 1 ran"), ("no memory", "1 of 1 FAILED")]
)
def test_the_verdict_is_last(failure: str, last: str) -> None:
    stream = io.StringIO()
    run = dataclasses.replace(_benchmarked("noisy"), failure=failure)
    summary.print_summary(Console(file=stream, width=100), RunReport((run,)))
    *_, noise, verdict = stream.getvalue().splitlines()
    assert noise == "m on host: The sentence."
    assert verdict == last


def test_places_on_the_device_are_left_out() -> None:
    text = "I model_runner.cc:434 output y written to .scratch/io/out_y\ntime 1 2\n"
    assert summary.without_kept_outputs(text) == "time 1 2\n"


def test_tables_of_the_program_are_left_out() -> None:
    text = (
        "I model_runner.cc:7 inputs are random\n"
        "I statistics.cc:89 | Op Type |\nI statistics.cc:91 \n"
        "I stability.cc:5 Steady.\nW statistics.cc:7 a warning\ntime 1 2\n"
    )
    assert summary.without_tables(text) == (
        "I model_runner.cc:7 inputs are random\nW statistics.cc:7 a warning\ntime 1 2\n"
    )
