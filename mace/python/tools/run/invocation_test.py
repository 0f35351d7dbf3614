# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The real mace_run through a device, on a model of known arithmetic."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.config.vocabulary import DataFormat, Runtime
from mace.python.tools.data_type import DataType
from mace.python.tools.devices import CommandResult, HostDevice
from mace.python.tools.run.invocation import (
    PROGRAM,
    Array,
    Port,
    Request,
    RunnerError,
    run_on_device,
)
from mace.python.tools.run.options import RunOptions
from mace.python.tools.run.testing.project import (
    BENCHMARK_SECTIONS,
    run_dense,
    write_dense_model,
)

RNG = np.random.default_rng(11)
WEIGHTS = [RNG.standard_normal(shape) for shape in ((20, 7), (33, 20), (5, 33))]
X = RNG.standard_normal((1, 7))


@pytest.fixture
def device(mace_run: Path, tmp_path: Path) -> HostDevice:
    host = HostDevice(tmp_path / "device")
    host.probe()
    host.push(mace_run, PROGRAM)
    return host


def _port(name: str, *shape: int) -> Port:
    return Port(name, shape, DataType.FLOAT32, DataFormat.NONE)


def _request(tmp_path: Path, weights: list[Array], x: Array = X) -> Request:
    return Request(
        model=write_dense_model(tmp_path / "model", weights),
        runtimes={"": Runtime.CPU},
        inputs=[(_port("x", *x.shape), x)],
        outputs=[_port("y", x.shape[0], weights[-1].shape[0])],
    )


def test_outputs_are_right(device: HostDevice, tmp_path: Path) -> None:
    answer = run_on_device(device, _request(tmp_path, WEIGHTS), RunOptions())
    assert answer.failure == ""
    np.testing.assert_allclose(answer.outputs["y"], run_dense(WEIGHTS, X), rtol=1e-4)
    lines = answer.text.splitlines()
    assert lines[-3] == "     capability(CPU)        init      warmup     run_avg"
    words = lines[-1].split()
    assert words[0] == "time" and len(words) == 5
    assert all(float(word) > 0 for word in words[1:])


def test_another_batch_than_converted_for(device: HostDevice, tmp_path: Path) -> None:
    x = RNG.standard_normal((6, 7))
    with pytest.raises(RunnerError, match="dimension 0 is 6, but .* converted for 1 "):
        run_on_device(device, _request(tmp_path, WEIGHTS, x), RunOptions())


def test_inner_tensors_can_be_had(device: HostDevice, tmp_path: Path) -> None:
    request = dataclasses.replace(
        _request(tmp_path, WEIGHTS), outputs=[_port("h1", 1, 33), _port("h0", 1, 20)]
    )
    answer = run_on_device(device, request, RunOptions())
    h0 = np.maximum(X @ WEIGHTS[0].T, 0)
    np.testing.assert_allclose(answer.outputs["h0"], h0, rtol=1e-4, atol=1e-6)
    h1 = np.maximum(h0 @ WEIGHTS[1].T, 0)
    np.testing.assert_allclose(answer.outputs["h1"], h1, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_the_first_operator_with_nan_or_inf_is_named(
    device: HostDevice, tmp_path: Path, bad: float
) -> None:
    weights = [w.copy() for w in WEIGHTS]
    # Every output of fc1 is 0 * NaN or Inf at least; fc0 is clean.
    weights[0][:] = np.abs(weights[0])
    weights[1][3, :] = bad
    request = _request(tmp_path, weights, np.abs(X))
    answer = run_on_device(device, request, RunOptions())
    assert "output y has" in answer.failure
    assert "fc1" in answer.failure
    assert "fc0" not in answer.failure and "fc2" not in answer.failure
    unchecked = dataclasses.replace(request, out_of_range_check=False)
    assert run_on_device(device, unchecked, RunOptions()).failure == ""


def test_nan_in_the_input_is_told_from_nan_by_the_model(
    device: HostDevice, tmp_path: Path
) -> None:
    answer = run_on_device(
        device, _request(tmp_path, WEIGHTS, np.full((1, 7), np.nan)), RunOptions()
    )
    assert "input x already has such values" in answer.failure


def test_benchmark_counts_and_times_operators(
    device: HostDevice, tmp_path: Path
) -> None:
    request = dataclasses.replace(
        _request(tmp_path, WEIGHTS), benchmark=True, rounds=20
    )
    answer = run_on_device(device, request, RunOptions(num_threads=1))
    benchmark = answer.report["benchmark"]
    assert [op["name"] for op in benchmark["ops"]] == ["fc0", "fc1", "fc2"]
    assert [op["macs"] for op in benchmark["ops"]] == [w.size for w in WEIGHTS]
    assert benchmark["macs"] == sum(w.size for w in WEIGHTS)
    assert benchmark["without_statistics_ms"]["round"] == 20
    assert len(benchmark["with_statistics_ms"]["values"]) == 20
    (dense,) = benchmark["types"]
    assert (dense["type"], dense["count"], dense["calls"]) == ("FullyConnected", 3, 60)
    assert dense["avg_ms"] == pytest.approx(benchmark["ops_ms"]["avg"])
    position = 0
    for title in BENCHMARK_SECTIONS:
        position = answer.text.index(title, position) + 1


def test_percentiles_are_those_of_numpy(device: HostDevice, tmp_path: Path) -> None:
    request = dataclasses.replace(
        _request(tmp_path, WEIGHTS), benchmark=True, rounds=33
    )
    answer = run_on_device(device, request, RunOptions(num_threads=1))
    benchmark = answer.report["benchmark"]
    for name in ("without_statistics_ms", "with_statistics_ms", "ops_ms"):
        series = benchmark[name]
        values = series["values"]
        expected = np.percentile(values, [0, 50, 90, 99, 100])
        found = [series[key] for key in ("min", "median", "p90", "p99", "max")]
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        assert series["avg"] == pytest.approx(np.mean(values))
        assert series["std"] == pytest.approx(np.std(values))
    stability = benchmark["stability"]
    plain = benchmark["without_statistics_ms"]["values"]
    assert stability["warm_ms"] == pytest.approx(np.median(plain[:6]))
    assert stability["sustained_ms"] == pytest.approx(np.median(plain[-6:]))
    assert stability["cold_ms"] == answer.report["restarts"][0]["warmup_ms"]
    assert stability["verdict"] in ("steady", "noisy", "slowing", "speeding")
    assert stability["sentence"].endswith(".")


def test_a_duration_replaces_rounds(device: HostDevice, tmp_path: Path) -> None:
    heard: list[str] = []
    options = RunOptions(num_threads=1, duration=1.5, warmup_rounds=4)
    answer = run_on_device(device, _request(tmp_path, WEIGHTS), options, heard.append)
    (times,) = answer.report["restarts"]
    assert len(times["warmup_runs_ms"]) == 4
    assert times["warmup_ms"] == times["warmup_runs_ms"][0]
    run = times["run_ms"]
    assert 0.5e3 < run["round"] * run["avg"] < 1.6e3
    # A line of progress came while it ran, and is no part of the output.
    assert heard and re.fullmatch(r"runs: \d+ rounds, \d s left", heard[0])
    assert "s left" not in answer.text
    assert device.heard is None


def test_with_json_standard_output_has_nothing_else(
    mace_run: Path, tmp_path: Path
) -> None:
    model = write_dense_model(tmp_path / "model", WEIGHTS)
    command = [
        *(str(mace_run), f"--model_file={model.graph_path}"),
        *(f"--model_data_file={model.data_path}", "--benchmark", "--round=3"),
        *("--input_node=x", "--input_shape=1,7", "--json=-"),
        *("--output_node=y", "--output_shape=1,5", "--progress_seconds=0.001"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    assert report["status"]["code"] == 0
    assert report["benchmark"]["stability"]["verdict"] == "unknown"
    for title in (*BENCHMARK_SECTIONS, "capability(CPU)"):
        assert title in done.stderr
    # Neither has control characters: both are pipes.
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", done.stdout + done.stderr)


def test_memory_is_reported(device: HostDevice, tmp_path: Path) -> None:
    answer = run_on_device(device, _request(tmp_path, WEIGHTS), RunOptions())
    memory = answer.report["memory"]
    assert memory["peak_resident_bytes"] > 1_000_000
    assert memory["arena_bytes"] >= 4 * (20 + 33)
    # 20, 33 and 5 rows are 2, 3 and 1 blocks of 16.
    assert memory["constant_bytes"] == 4 * 16 * (2 * 7 + 3 * 20 + 1 * 33)
    assert [p["label"] for p in memory["timeline"]][-1] == "end"


def test_it_recovers_from_runtime_errors(device: HostDevice, tmp_path: Path) -> None:
    request = dataclasses.replace(_request(tmp_path, WEIGHTS), rounds=30)
    answer = run_on_device(device, request, RunOptions(runtime_failure_ratio=0.3))
    assert answer.failure == ""
    assert answer.report["recoveries"] > 0
    np.testing.assert_allclose(answer.outputs["y"], run_dense(WEIGHTS, X), rtol=1e-4)
    hopeless = run_on_device(device, request, RunOptions(runtime_failure_ratio=1.0))
    assert "MACE_RUNTIME_FAILURE_RATIO" in hopeless.failure


def test_what_is_wrong_is_named(device: HostDevice, tmp_path: Path) -> None:
    good = _request(tmp_path, WEIGHTS)
    wrong_input = dataclasses.replace(good, inputs=[(_port("xx", 1, 7), X)])
    with pytest.raises(RunnerError, match="xx"):
        run_on_device(device, wrong_input, RunOptions())
    wrong_shape = dataclasses.replace(good, inputs=[(_port("x", 1, 8), np.ones(8))])
    with pytest.raises(RunnerError, match="'x' has the shape .* converted for 7 "):
        run_on_device(device, wrong_shape, RunOptions())
    too_small = dataclasses.replace(good, outputs=[_port("y", 1, 2)])
    with pytest.raises(RunnerError, match="y"):
        run_on_device(device, too_small, RunOptions())


def test_damaged_files_are_refused(device: HostDevice, tmp_path: Path) -> None:
    request = _request(tmp_path, WEIGHTS)
    data = request.model.data_path.read_bytes()
    request.model.data_path.write_bytes(data[:-4])
    with pytest.raises(RunnerError, match=r"tiny\.pb"):
        run_on_device(device, request, RunOptions())


def test_nothing_is_left_but_program_and_model(
    device: HostDevice, tmp_path: Path
) -> None:
    run_on_device(device, _request(tmp_path, WEIGHTS), RunOptions())
    work = Path(device.work_dir)
    files = sorted(str(p.relative_to(work)) for p in work.rglob("*") if p.is_file())
    assert files == ["mace_run", "tiny/model.data", "tiny/model.pb"]


class _AcceleratedDevice(HostDevice):
    """Notes the flags, and leaves what an accelerator would have stored."""

    flags: Sequence[str] = ()
    pushed = b""

    def run(
        self,
        command: Sequence[str],
        env: Mapping[str, str] | None = None,
        time_limit_s: float | None = None,
        watch_memory_s: int = 0,
    ) -> CommandResult:
        self.flags = command
        for flag in command:
            name, _, path = flag.partition("=")
            if name == "--accelerator_storage_file":
                (Path(self.work_dir) / path).write_bytes(b"compiled")
            if name == "--accelerator_binary_file":
                self.pushed = (Path(self.work_dir) / path).read_bytes()
        return super().run(command, env, time_limit_s, watch_memory_s)


@pytest.fixture
def accelerated(mace_run: Path, tmp_path: Path) -> _AcceleratedDevice:
    host = _AcceleratedDevice(tmp_path / "device")
    host.probe()
    host.push(mace_run, PROGRAM)
    return host


def test_an_accelerator_that_is_not_there_leaves_all_to_the_cpu(
    device: HostDevice, tmp_path: Path
) -> None:
    request = dataclasses.replace(
        _request(tmp_path, WEIGHTS), runtimes={"": Runtime.APU}
    )
    answer = run_on_device(device, request, RunOptions())
    assert answer.failure == ""
    np.testing.assert_allclose(answer.outputs["y"], run_dense(WEIGHTS, X), rtol=1e-4)
    # Once for the check of the weights, once for the run: one engine each.
    (line,) = {line for line in answer.text.splitlines() if "left out" in line}
    assert "APU is left out: the library has no APU runtime; it has: CPU" in line


def test_the_compiled_model_is_fetched_and_brought_back(
    accelerated: _AcceleratedDevice, tmp_path: Path
) -> None:
    request = dataclasses.replace(
        _request(tmp_path, WEIGHTS), runtimes={"": Runtime.APU}
    )
    file = tmp_path / "stored.bin"
    options = RunOptions(
        accelerator_cache_policy=1, accelerator_storage_file=file, apu_boost_hint=40
    )
    run_on_device(accelerated, request, options)
    assert file.read_bytes() == b"compiled"
    assert "--runtime=apu+cpu" in accelerated.flags
    assert "--accelerator_cache_policy=1" in accelerated.flags
    assert "--apu_boost_hint=40" in accelerated.flags
    assert "--apu_preference_hint=1" in accelerated.flags
    options = RunOptions(accelerator_cache_policy=2, accelerator_binary_file=file)
    run_on_device(accelerated, request, options)
    assert accelerated.pushed == b"compiled"


def test_a_run_on_the_cpu_has_no_flags_of_accelerators(
    accelerated: _AcceleratedDevice, tmp_path: Path
) -> None:
    run_on_device(accelerated, _request(tmp_path, WEIGHTS), RunOptions())
    assert not [f for f in accelerated.flags if "accelerator" in f or "apu" in f]


class _Listener(HostDevice):
    """Keeps the variables that a program would have; starts none."""

    is_far = True
    variables: Mapping[str, str]

    @property
    def is_local(self) -> bool:
        return not self.is_far

    def run(
        self,
        command: Sequence[str],
        env: Mapping[str, str] | None = None,
        time_limit_s: float | None = None,
        watch_memory_s: int = 0,
    ) -> CommandResult:
        self.variables = dict(env or {})
        return CommandResult(126, "not started")


@pytest.mark.parametrize(
    ("runtime", "is_far", "names"),
    [
        (Runtime.HTP, True, {"MACE_QNN_LIBRARY", "LD_LIBRARY_PATH"}),
        # A program on this computer has its variables anyway.
        (Runtime.HTP, False, set()),
        (Runtime.CPU, True, set()),
    ],
)
def test_devices_are_told_of_the_vendors_library(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    runtime: Runtime,
    is_far: bool,
    names: set[str],
) -> None:
    monkeypatch.setenv("MACE_QNN_LIBRARY", "/data/q/libQnnHtp.so")
    device = _Listener(tmp_path / "device")
    device.is_far = is_far
    device.probe()
    request = dataclasses.replace(_request(tmp_path, WEIGHTS), runtimes={"": runtime})
    assert not run_on_device(device, request, RunOptions()).started
    assert {"MACE_QNN_LIBRARY", "LD_LIBRARY_PATH"} & set(device.variables) == names
