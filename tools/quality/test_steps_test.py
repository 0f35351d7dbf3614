# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Dict, List, Optional, Sequence, Set, Tuple

import pytest

from tools.quality import run_steps
from tools.quality.skips import (
    EXPECTED,
    Skip,
    find_native_skips,
    find_skips,
    is_expected,
)
from tools.quality.step_flags import main as step_flags
from tools.quality.step_flags import parse_flags
from tools.quality.test_steps import (
    Counts,
    Step,
    Tier,
    count_bazel,
    count_one,
    count_pytest,
    steps,
)

BAZEL = """\
//mace/core/base:base_test                              (cached) PASSED in 0.0s
//mace/ops:ops_test                                         FAILED in 0.1s
  /cache/testlogs/mace/ops/ops_test/test.log
//mace/ops:slow_test                                        TIMEOUT in 60.0s
//toolchains/test:toolchain_test                            PASSED in 0.0s

Executed 3 out of 4 tests: 2 tests pass, 1 fails locally.
"""


def test_bazel_results_are_counted() -> None:
    assert count_bazel(BAZEL, 3) == Counts(2, 2)
    assert count_bazel("ERROR: no such package", 1) == Counts(0, 1)


@pytest.mark.parametrize(
    ("line", "status", "counts"),
    [
        ("=== 12 passed in 0.34s ===", 0, Counts(12, 0)),
        ("3 failed, 9 passed, 2 skipped, 1 error in 4s", 1, Counts(9, 4)),
        ("2 errors in 0.1s", 2, Counts(0, 2)),
        ("no tests ran in 0.01s", 5, Counts(0, 1)),
        ("5 passed in 1s", 3, Counts(5, 1)),
    ],
)
def test_pytest_results_are_counted(line: str, status: int, counts: Counts) -> None:
    assert count_pytest(f"test 4 passed of old\n{line}\n", status) == counts


def test_step_names_are_unique() -> None:
    names = [step.name for step in steps({})]
    assert len(names) == len(set(names))


def test_calls_run_steps_of_their_tiers(capsys: pytest.CaptureFixture[str]) -> None:
    known = steps({})
    usual = [step.name for step in known if step.tier is Tier.USUAL]
    assert usual == ["host", "commands", "importers", "networks", "python"]
    plain = parse_flags(known, [])
    assert [step.name for step in plain.steps] == usual
    everything = parse_flags(known, ["--all"])
    by_name = [step.name for step in known if step.tier is Tier.BY_NAME]
    assert by_name == ["images"]
    assert everything.steps == tuple(s for s in known if s.name not in by_name)
    assert everything.left_out == ()
    assert {*plain.left_out, *(s for s in known if s.name in usual)} == {
        *everything.steps
    }
    named = parse_flags(known, ["--only", "images", "--only", "docs"])
    assert [step.name for step in named.steps] == ["docs", "images"]
    assert named.left_out == ()
    assert step_flags(["--list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed] == [step.name for step in known]
    assert [line for line in listed if "(by name alone)" in line] == listed[-1:]
    assert listed[0] == "host        native tests on this computer"


def test_plain_calls_ask_about_this_computer() -> None:
    known = {step.name: step.command for step in steps({})}
    for flags in ([], ["--changed"], ["--changed", "HEAD"]):
        chosen = {
            step.name: step.command for step in parse_flags([*steps({})], flags).steps
        }
        assert "MACE_TEST_THIS_COMPUTER=1" in chosen["python"]
        assert "MACE_TEST_THIS_COMPUTER=1" in chosen["commands"]
        assert "--ignore=test/device_farm" in chosen["python"]
        assert "--nobuild_tests_only" not in chosen["host"]
        assert "-//mace/kernels/hexagon/..." in chosen["host"]
    for flags in (["--all"], ["--only", "python", "--only", "host"]):
        chosen = {
            step.name: step.command for step in parse_flags([*steps({})], flags).steps
        }
        assert chosen["python"] == known["python"]
        assert not [word for word in chosen["python"] if "THIS_COMPUTER" in word]
        assert "--nobuild_tests_only" in chosen["host"]
        assert not [word for word in chosen["host"] if word.startswith("-//")]


def test_tests_of_opencl_run_in_a_step_of_their_own() -> None:
    commands = {step.name: step.command for step in steps({})}
    filters = {
        name: [word for word in command if word.startswith("--test_tag_filters")]
        for name, command in commands.items()
    }
    assert filters["host"] == ["--test_tag_filters=-opencl"]
    assert filters["gpu"] == ["--test_tag_filters=opencl"]
    assert commands["gpu"][-1] == commands["host"][-1] == "//..."


def ignored_by(command: Sequence[str]) -> Set[str]:
    words = (word.partition("=") for word in command)
    return {path for flag, _, path in words if flag == "--ignore"}


def runs(command: Sequence[str], path: str) -> bool:
    """Whether pytest's command has a file or folder among what it runs."""
    named = [word for word in command if word in POSSIBLE]
    chosen = any(path == name or path.startswith(f"{name}/") for name in named)
    return (chosen or not named) and path not in ignored_by(command)


# What a command of pytest may name: the other words of one are no paths.
POSSIBLE = {
    path.relative_to(run_steps.ROOT).as_posix()
    for top in ("mace/python", "test")
    for path in [run_steps.ROOT / top, *(run_steps.ROOT / top).rglob("*")]
    if path.is_dir() or path.suffix == ".py"
}


def test_what_one_step_of_pytest_leaves_out_is_in_another() -> None:
    # The step `lowest` repeats others.
    own = [step for step in steps({}) if step.name != "lowest"]
    commands = [step.command for step in own if "pytest" in step.command]
    ignored = {path for command in commands for path in ignored_by(command)}
    assert {"mace/python/tools/importers", "mace/python/rare_ops"} <= ignored
    for path in ignored:
        assert (run_steps.ROOT / path).exists()
        assert sum(runs(command, path) for command in commands) == 1


def make_step(*command: str) -> Step:
    return Step("step", "a step", command, count_one, Tier.USUAL)


def results_of(folder: Path, *chosen: Step) -> List[run_steps.Result]:
    """Runs steps; their logs are in the folder."""
    events = run_steps.run_all(chosen, folder)
    return [event for event in events if isinstance(event, run_steps.Result)]


def test_step_is_judged_by_its_status(tmp_path: Path) -> None:
    log = tmp_path / "step.log"
    (good,) = results_of(tmp_path, make_step("sh", "-c", "echo hello"))
    assert good.counts == Counts(1, 0)
    assert log.read_text(encoding="utf-8") == "hello\n"
    (bad,) = results_of(tmp_path, make_step("sh", "-c", "exit 3"))
    assert bad.counts == Counts(0, 1)


def test_python_of_steps_keeps_what_it_compiles(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setattr(run_steps, "ROOT", tmp_path)
    step = make_step("sh", "-c", 'test -z "$PYTHONDONTWRITEBYTECODE"')
    monkeypatch.setattr(run_steps, "steps", lambda environment: (step,))
    assert run_steps.main([]) == 0


def test_step_without_its_program_fails(tmp_path: Path) -> None:
    log = tmp_path / "step.log"
    (result,) = results_of(tmp_path, make_step("/nonexistent/program"))
    assert result.counts == Counts(0, 1)
    assert "/nonexistent/program" in log.read_text(encoding="utf-8")


def test_closing_line_and_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    good = make_step("true")
    bad = Step("bad", "fails", ("sh", "-c", "echo why; exit 1"), count_one, Tier.USUAL)
    monkeypatch.setattr(run_steps, "ROOT", tmp_path)
    later = Step("later", "", ("true",), count_one)
    monkeypatch.setattr(run_steps, "steps", lambda environment: (good, bad, later))
    assert run_steps.main([]) == 1
    output = capsys.readouterr().out
    assert "    why" in output
    assert output.splitlines()[-1] == "1 passed, 1 failed"
    assert "left out: later (bash tools/test.sh --all runs them)" in output
    assert run_steps.main(["--only", "step"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 passed, 0 failed"


@pytest.fixture(name="checkout")
def checkout_fixture(tmp_path: Path) -> Path:
    """One with no Python environment, whose set-up fails."""
    for place in ("mace", "tools/quality", "tools/test.sh"):
        link = tmp_path / place
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(run_steps.ROOT / place)
    (tmp_path / "tools" / "setup.sh").write_text('echo "setting up $*"; exit 9\n')
    return tmp_path


def run_script(checkout: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ("bash", checkout / "tools" / "test.sh", *flags),
        env={**os.environ, "MACE_VENV": str(checkout / "none")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_help_and_list_need_no_set_up(checkout: Path) -> None:
    for flags in (("--help",), ("--only", "host", "-h")):
        done = run_script(checkout, *flags)
        assert done.returncode == 0
        assert done.stdout.startswith("Usage: bash tools/test.sh")
        assert done.stdout.splitlines()[-1].startswith("  --list ")
    done = run_script(checkout, "--list", "--only=docs", "--only", "host")
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["host", "docs"]


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (("--only", "hots"), "--only hots: no such step; there are host, gpu, "),
        (("--only",), "argument --only: expected one argument"),
        (("--lst",), "unrecognized arguments: --lst"),
        (("--all", "--changed"), "--all, --changed and --only exclude each other"),
        (("--all", "--only", "docs"), "--all, --changed and --only exclude each other"),
    ],
)
def test_wrong_flags_are_told_before_the_set_up(
    checkout: Path, flags: Tuple[str, ...], reason: str
) -> None:
    done = run_script(checkout, *flags)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"test.sh: error: {reason}" in done.stderr


@pytest.mark.parametrize(
    ("step", "tasks"),
    [("docs", "test,docs"), ("host", "test"), ("images", "test,images")],
)
def test_set_up_comes_before_the_steps(checkout: Path, step: str, tasks: str) -> None:
    done = run_script(checkout, "--only", step)
    assert (done.returncode, done.stdout) == (9, f"setting up --for {tasks}\n")


PYTEST_SKIPS = """\
=========================== short test summary info ============================
SKIPPED [2] mace/python/tools/devices/remote_test.py:121: this one runs both
SKIPPED [1] benchmarks/peers/tflite_test.py:15: could not import 'tensorflow': no
1572 passed, 3 skipped in 183.21s (0:03:03)
"""


def test_skips_are_found() -> None:
    assert find_skips(PYTEST_SKIPS) == [
        Skip("mace/python/tools/devices/remote_test.py", "this one runs both", 2),
        Skip("benchmarks/peers/tflite_test.py", "could not import 'tensorflow': no"),
    ]
    bazel = BAZEL + "//mace/a:b_test                      SKIPPED\n"
    assert find_skips(bazel) == [Skip("//mace/a:b_test")]
    assert not is_expected("arm64", Skip("//mace/a:b_test"))
    gemm = Skip("//mace/kernels/cpu/gemm:amx_gemm_isa_symbols_test")
    assert is_expected("arm64", gemm)
    assert not is_expected("sanitize", gemm)
    file = "test/conformance/onnx/isas_test.py"
    assert is_expected("python", Skip(file, "this CPU has no avx512"))
    assert not is_expected("python", Skip(file, "bazel is not installed"))
    script = "ok      x\nskipped arm64 gcc: no aarch64-linux-gnu-g++ here\n"
    assert find_skips(script) == [Skip("arm64 gcc", "no aarch64-linux-gnu-g++ here")]


TEST_XML = """\
<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="2" failures="0" disabled="0" errors="0" name="AllTests">
  <testsuite name="Isa" tests="2" failures="0" skipped="1" errors="0">
    <testcase name="neon" status="run" result="completed" classname="Isa" />
    <testcase name="amx" status="run" result="skipped" classname="Isa">
      <skipped message="isa_test.cc:9&#x0A;this CPU has no amx&#x0A;"><![CDATA[]]>
      </skipped>
    </testcase>
  </testsuite>
</testsuites>
"""


def write_events(folder: Path, report: str) -> Path:
    (folder / "test.xml").write_text(report, encoding="utf-8")
    uri = (folder / "test.xml").as_uri()
    log = {"name": "test.log", "uri": "file:///nowhere"}
    outputs = [log, {"name": "test.xml", "uri": uri}]
    lines: List[Dict[str, object]] = [
        {"id": {"started": {}}},
        {
            "id": {"testResult": {"label": "//mace:isa_test"}},
            "testResult": {"testActionOutput": outputs, "status": "PASSED"},
        },
    ]
    events = folder / "events.json"
    events.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return events


def test_skips_inside_of_native_programs_are_found(tmp_path: Path) -> None:
    skips = find_native_skips(write_events(tmp_path, TEST_XML))
    assert skips == [Skip("//mace:isa_test Isa.amx", "this CPU has no amx")]
    # Ended before it had written all.
    assert find_native_skips(write_events(tmp_path, TEST_XML[:200])) == []


def test_native_skips_are_counted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(run_steps, "ROOT", tmp_path)
    (tmp_path / "old.json").write_text("of another run", encoding="utf-8")
    events = write_events(tmp_path, TEST_XML).name
    copy = ("cp", str(tmp_path / events), str(tmp_path / "old.json"))
    step = Step("host", "a step", copy, count_one, Tier.USUAL, "old.json")
    (result,) = results_of(tmp_path, step)
    assert result.skipped == 1
    assert result.gaps == [Skip("//mace:isa_test Isa.amx", "this CPU has no amx")]
    broken = Step("host", "a step", ("false",), count_one, Tier.USUAL, "old.json")
    assert results_of(tmp_path, broken)[0].skipped == 0


def partner(folder: Path, mine: str, other: str, writes: str = "") -> Step:
    """A step of one core that fails unless the other one begins before it ends."""
    script = (
        f"touch {folder / mine}; for i in $(seq 20); do "
        f"test -e {folder / other} && exit 0; sleep 0.05; done; exit 1"
    )
    return Step(mine, "", ("sh", "-c", script), count_one, cores=1, writes=writes)


def test_steps_of_one_core_run_side_by_side(tmp_path: Path) -> None:
    wide = Step("wide", "", ("test", "-e", str(tmp_path / "a")), count_one, Tier.USUAL)
    pair = partner(tmp_path, "a", "b"), partner(tmp_path, "b", "a")
    results = results_of(tmp_path, pair[0], wide, pair[1])
    assert [result.counts for result in results] == [Counts(1, 0)] * 3
    # The one that needs all cores came last.
    assert results[-1].step is wide


def test_some_steps_overtake_none(tmp_path: Path) -> None:
    pair = partner(tmp_path, "a", "b"), partner(tmp_path, "b", "a")
    narrow = Step("narrow", "", ("sleep", "0.3"), count_one, cores=1)
    wide = make_step("true")
    late = [replace(step, overtakes=False) for step in pair]
    results = results_of(tmp_path, narrow, wide, *late)
    assert [result.step for result in results[:2]] == [narrow, wide]
    # Beside each other they run all the same.
    assert [result.counts for result in results] == [Counts(1, 0)] * 4


def test_steps_that_write_the_same_run_one_by_one(tmp_path: Path) -> None:
    pair = partner(tmp_path, "a", "b", "it"), partner(tmp_path, "b", "a", "it")
    results = results_of(tmp_path, *pair)
    # The second one finds what the first one left.
    assert [result.counts for result in results] == [Counts(0, 1), Counts(1, 0)]


def test_steps_that_run_are_ended_with_the_run(tmp_path: Path) -> None:
    marks = tmp_path / "began", tmp_path / "ended"
    script = f"trap 'touch {marks[1]}; exit' TERM; touch {marks[0]}; sleep 9 & wait"
    events = run_steps.run_all([make_step("sh", "-c", script)], tmp_path)
    next(events)
    while not marks[0].exists():
        time.sleep(0.01)
    events.close()
    assert marks[1].exists()


def source_of(place: str) -> Optional[Path]:
    """The file with the words of a skip; None for a pattern of many."""
    if place == "*":
        return None
    if place.startswith("//"):
        target, _, test = place[2:].partition(" ")
        place = target.replace(":", "/") + ".cc"
        if not test:
            return None
    return run_steps.ROOT / place


def test_expected_skips_name_steps_and_tests_that_are_there() -> None:
    names = {step.name for step in steps({})}
    for known in EXPECTED:
        assert set(known.steps) <= names
        if source := source_of(known.place):
            text = source.read_text(encoding="utf-8")
            assert f'"{known.reason.rstrip("*")}' in text
        skip = Skip(known.place, known.reason)
        assert [name for name in names if is_expected(name, skip)]
        assert not is_expected(known.steps[0], Skip(known.place, "another reason"))


@pytest.mark.parametrize(
    ("skip", "status"),
    [
        ("test/devices/faults_test.py:1: a phone asks on its screen; "
         "see the next test", 0),
        ("test/devices/faults_test.py:1: adb is missing", 1),
    ],
)  # fmt: skip
def test_a_gap_is_named_and_may_be_a_failure(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    skip: str,
    status: int,
) -> None:
    script = f"echo 'SKIPPED [2] {skip}'; echo '3 passed, 2 skipped in 1.0s'"
    step = Step("devices", "devices", ("sh", "-c", script), count_pytest, Tier.USUAL)
    monkeypatch.setattr(run_steps, "ROOT", tmp_path)
    monkeypatch.setattr(run_steps, "steps", lambda environment: (step,))
    monkeypatch.delenv("MACE_TEST_NO_GAPS", raising=False)
    assert run_steps.main([]) == 0
    output = capsys.readouterr().out
    assert "3 passed, 0 failed, 2 skipped" in output
    assert ("skipped: test/devices" in output) == bool(status)
    assert output.splitlines()[-1] == "3 passed, 0 failed"
    assert run_steps.main(["--no-gaps"]) == status
    output = capsys.readouterr().out
    assert output.splitlines()[-1] == f"3 passed, {2 * status} failed"
    monkeypatch.setenv("MACE_TEST_NO_GAPS", "1")
    assert run_steps.main([]) == status
