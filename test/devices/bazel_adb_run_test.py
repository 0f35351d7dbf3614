# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""`bazel_adb_run.py`: native tests of operators, on all ABIs."""

from __future__ import annotations

import csv
import os
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

import pytest

from mace.python.tools.build_tools import find_bazel
from mace.python.tools.errors import MissingToolError
from test.device_farm.farm import Farm
from test.devices.tool import ROOT, Ended, Inside, await_that, finish
from tools.quality.test_steps import LONGEST_OPS_TESTS

ALL = "arm64-v8a,armeabi-v7a,arm64,armhf"
# Of operators' tests: steps `arm64` and `armhf` run the same objects with all of them.
SOME = f"A*:E*:P*:S*-{':'.join(LONGEST_OPS_TESTS)}"
# Builds are part of it.
LIMIT_S = 1500.0
# Bazel serves one process at a time.
pytestmark = pytest.mark.xdist_group("bazel")


@pytest.fixture(scope="module", autouse=True)
def bazel() -> None:
    """Skips the tests if Bazel is missing."""
    try:
        find_bazel("the tests")
    except MissingToolError as error:
        pytest.skip(str(error))


def _start(
    farm: Farm, output: Path, target: str, arguments: str, *flags: str
) -> subprocess.Popen[str]:
    boards = [f"--device_yml={farm.devices_yml}"] if farm.boards else []
    return subprocess.Popen(
        [
            *(sys.executable, "tools/bazel_adb_run.py", f"--target={target}"),
            *("--run_target=True", f"--args={arguments}", f"--output_dir={output}"),
            *boards,
            *flags,
        ],
        cwd=ROOT,
        env=farm.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def _run(farm: Farm, output: Path, target: str, arguments: str, *flags: str) -> Ended:
    return finish(_start(farm, output, target, arguments, *flags), LIMIT_S)


def _tidy(farm: Farm) -> None:
    for device in farm.devices:
        inside = Inside(farm, device)
        left = [name for name in inside.files() if "/.scratch" in name]
        inside.close()
        assert left == []


def test_operators_on_every_abi(farm: Farm, tmp_path: Path) -> None:
    ended = _run(
        farm,
        tmp_path,
        "//mace/ops:ops_test",
        f"--gtest_filter={SOME}",
        f"--target_abis={ALL}",
    )
    assert ended.status == 0, ended.text
    expected = {"MI_6_arm64-v8a", "MI_6_armeabi-v7a", "Redmi_Go_armeabi-v7a"}
    if farm.boards:
        expected |= {"nanopi_arm64", "nanopi_armhf"}
    assert {path.stem for path in tmp_path.glob("*.log")} == {
        f"ops_test_{name}" for name in expected
    }
    for name in expected:
        root = xml.etree.ElementTree.parse(tmp_path / f"ops_test_{name}.xml").getroot()
        assert int(root.attrib["tests"]) >= 40
        assert root.attrib["failures"] == root.attrib["errors"] == "0"
        assert f"{root.attrib['tests']} of {root.attrib['tests']}" in ended.text
    _tidy(farm)


def test_what_each_device_runs_best(farm: Farm, tmp_path: Path) -> None:
    arguments = "--gtest_filter=Softmax* --gtest_repeat=2"
    ended = _run(farm, tmp_path, "//mace/ops:ops_test", arguments)
    assert ended.status == 0, ended.text
    expected = {"ops_test_MI_6_arm64-v8a", "ops_test_Redmi_Go_armeabi-v7a"}
    if farm.boards:
        expected.add("ops_test_nanopi_arm64")
    assert {path.stem for path in tmp_path.glob("*.log")} == expected
    log = (tmp_path / "ops_test_MI_6_arm64-v8a.log").read_text()
    assert log.count("Note: Google Test filter = Softmax*") == 2


def test_a_program_that_fails(farm: Farm, tmp_path: Path) -> None:
    ended = _run(
        farm,
        tmp_path,
        "//mace/ops:ops_benchmark",
        "--no_such_flag",
        *("--target_abis=arm64-v8a", "--devices_to_run=MI 6"),
    )
    assert ended.status == 1, ended.text
    assert "exit status" in ended.text
    log = (tmp_path / "ops_benchmark_MI_6_arm64-v8a.log").read_text()
    assert "--no_such_flag" in log


def test_benchmarks(farm: Farm, tmp_path: Path) -> None:
    ended = _run(
        farm,
        tmp_path,
        "//mace/ops:ops_benchmark",
        "--filter=.*SOFTMAX.*",
        "--target_abis=arm64-v8a,armhf",
    )
    assert ended.status == 0, ended.text
    tables = sorted(tmp_path.glob("*.csv"))
    expected = ["ops_benchmark_MI_6_arm64-v8a"]
    if farm.boards:
        expected.append("ops_benchmark_nanopi_armhf")
    assert [path.stem for path in tables] == expected
    for path in tables:
        with open(path, encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        assert rows
        assert all("SOFTMAX" in row["benchmark"] for row in rows)
        assert all(float(row["time_ns"]) > 0 for row in rows)


def test_the_address_sanitizer(farm: Farm, tmp_path: Path) -> None:
    """A read of one float too many is found by programs of both ABIs on a board."""
    if not farm.boards:
        pytest.skip("boards of the farm need root")
    target = "//toolchains/test:overflow"
    flags = ("--address_sanitizer", "--devices_to_run=nanopi")
    ended = _run(farm, tmp_path, target, "5", *flags, "--target_abis=arm64,armhf")
    assert ended.status == 1, ended.text
    found = r"crashed \(signal 6\): AddressSanitizer:\s+heap-buffer-overflow"
    assert len(re.findall(found, ended.text)) == 2, ended.text
    for abi in ("arm64", "armhf"):
        log = (tmp_path / f"overflow_nanopi_{abi}.log").read_text()
        assert re.search(r"READ of size 4 .*\n.* in main .*overflow\.cc:\d+", log), log
    ended = _run(farm, tmp_path, target, "4", *flags)
    assert ended.status == 0, ended.text
    assert "sum 1.00" in ended.text
    _tidy(farm)


def test_ctrl_c_leaves_nothing(farm: Farm, tmp_path: Path) -> None:
    process = _start(
        farm,
        tmp_path,
        "//mace/ops:ops_test",
        "--gtest_repeat=100000",
        *("--target_abis=arm64-v8a", "--devices_to_run=MI 6"),
    )
    inside = Inside(farm, farm.phones[0])
    program = "bazel_run/bin/ops_test"
    await_that(lambda: inside.runs(program) or process.poll() is not None, LIMIT_S)
    os.kill(process.pid, signal.SIGINT)
    assert finish(process).status == 130
    await_that(lambda: not inside.runs(program))
    inside.close()
    _tidy(farm)


def test_the_time_limit(farm: Farm, tmp_path: Path) -> None:
    ended = _run(
        farm,
        tmp_path,
        "//mace/ops:ops_test",
        "--gtest_repeat=100000",
        *("--target_abis=arm64-v8a", "--devices_to_run=MI 6", "--time_limit=3"),
    )
    assert ended.status == 1
    assert "ended after 3 s" in ended.text
    assert (tmp_path / "ops_test_MI_6_arm64-v8a.log").is_file()
    _tidy(farm)
