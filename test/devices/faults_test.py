# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests that any fault leads to a message, an exit status and a usable device."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from test.device_farm.farm import Farm
from test.devices.programs import make_program
from test.devices.tool import Ended, Inside, Place, Tool, await_that, finish

# Files that stay on a device, so that they need not be copied again.
STAYS = {"./digits/model.data", "./digits/model.pb", "./mace_run"}
# So do the programs and models of other tests.
_STAYS = re.compile(r"\./(mace_run|\w+/model\.(pb|data)|bazel_run/bin/\w+)")
FOREVER = "--round=100000000"


def _is_tidy(place: Place) -> None:
    files = place.inside.files()
    assert [name for name in files if not _STAYS.fullmatch(name)] == []
    assert not place.inside.runs()


def _is_usable(tool: Tool, place: Place) -> None:
    _is_tidy(place)
    ended = tool.run(*place.flags, "--validate")
    assert ended.status == 0, ended.text
    assert "validated, similarity 1.0000000" in ended.text
    assert set(place.inside.files()) >= STAYS


def _log(tool: Tool, ended: Ended) -> str:
    """The log of the run that failed; the message names the file."""
    (log,) = (tool.build_dir / "digits/run/logs").iterdir()
    assert f"log: {log}" in ended.text
    return log.read_text()


def _running(tool: Tool, place: Place, *flags: str) -> subprocess.Popen[str]:
    """A run that continues until a fault occurs."""
    process = tool.start(*place.flags, FOREVER, *flags)
    try:
        await_that(lambda: place.inside.runs() or process.poll() is not None)
        assert process.poll() is None, process.communicate()[0]
    except BaseException:
        process.kill()
        raise
    return process


def test_lost_in_a_push(tool: Tool, place: Place) -> None:
    place.inside.shell("rm -rf /data/local/tmp/mace_run $HOME/mace_run")
    place.running.fault("disconnect", during="push", after_bytes=1_000_000, away_s=1)
    ended = tool.run(*place.flags)
    assert ended.status == 1
    assert re.search(r"cannot copy mace_run \(\d\.\d ", ended.text)
    assert f"MB) to {place.name}" in ended.text
    _is_usable(tool, place)


@pytest.mark.parametrize("kind", ["crash", "disconnect"])
def test_lost_in_a_run(tool: Tool, place: Place, kind: str) -> None:
    program = tool.build_dir / "bin" / place.abi.value / "mace_run"
    good = program.read_bytes()
    make_program("hang", program)
    process = _running(tool, place)
    await_that(lambda: "./.scratch/begun" in place.inside.files())
    place.inside.shell("log -t test words of the system 2>/dev/null")
    # A lost connection leaves the program running; a crash ends both.
    if kind == "crash":
        place.running.fault("crash", away_s=1)
    else:
        place.running.fault("disconnect", during="run", away_s=1)
        place.start_another_program()
    ended = finish(process)
    assert ended.status == 1
    assert f"lost {place.name}" in ended.text
    assert "(while ./mace_run ran)" in ended.text
    # The program's output, and the system log once the device was back.
    said, _, system = _log(tool, ended).partition(f"--- log of {place.name} ---\n")
    assert said == "begun\n"
    if place.running.spec.kind == "phone":
        assert "words of the system" in system
    await_that(lambda: not place.inside.runs())
    program.write_bytes(good)
    _is_usable(tool, place)


def test_lost_in_a_pull(tool: Tool, place: Place) -> None:
    process = tool.start(*place.flags, "--round=3000")
    await_that(lambda: place.inside.runs() or process.poll() is not None)
    place.running.fault("disconnect", during="pull", after_bytes=6000, away_s=1)
    ended = finish(process)
    assert ended.status == 1
    assert f"cannot copy .scratch/io/report.json from {place.name}" in ended.text
    _is_usable(tool, place)


def test_devices_that_hang(tool: Tool, farm: Farm) -> None:
    """Devices that hang are waited for at the same time."""
    for device in farm.devices:
        device.fault("hang")
    process = tool.start("--target_abis=arm64-v8a,arm64")
    await_that(lambda: all(phone.status()["held"] for phone in farm.phones))
    ended = finish(process)
    assert ended.status == 2
    silent = ended.text.count("does not answer (a command took more than 20 s)")
    assert silent == len(farm.phones), ended.text
    if farm.boards:
        assert "cannot reach nanopi (pi@127.0.0.1): Connection timed out" in ended.text


def test_devices_with_slow_links(tool: Tool, farm: Farm) -> None:
    """Three megabytes take three seconds, which must not be treated as a failure."""
    for device in farm.devices:
        inside = Inside(farm, device)
        inside.shell("rm -rf /data/local/tmp/mace_run $HOME/mace_run")
        inside.close()
        device.fault("slow", bytes_per_s=1_000_000)
    begin = time.monotonic()
    ended = tool.run("--target_abis=arm64-v8a,arm64", "--validate")
    assert time.monotonic() - begin > 3
    assert ended.status == 0, ended.text


def test_gone_for_good(tool: Tool, place: Place) -> None:
    process = _running(tool, place)
    place.running.fault("crash", away_s=None)
    ended = finish(process)
    assert ended.status == 1
    assert f"lost {place.name}" in ended.text
    place.running.clear()
    # The device could not be cleaned up; the next run does it.
    assert tool.run(*place.flags).status == 0
    _is_usable(tool, place)


def test_full(tool: Tool, place: Place) -> None:
    place.inside.shell("rm -rf /data/local/tmp/mace_run $HOME/mace_run")
    place.running.fault("full", free_bytes=1_000_000)
    ended = tool.run(*place.flags)
    assert ended.status == 1
    assert re.search(r"cannot copy mace_run \(\d\.\d ", ended.text)
    assert "no space left on the device; 1." in ended.text
    assert "MB are free, free some, for example remove /" in ended.text
    place.running.clear()
    _is_usable(tool, place)


def test_full_in_a_run(tool: Tool, place: Place) -> None:
    """There is room only for the inputs."""
    assert tool.run(*place.flags).status == 0
    pushed = place.running.status()["push"]
    place.running.fault("full", free_bytes=4096)
    ended = tool.run(*place.flags)
    assert ended.status == 1
    assert f"mace_run cannot write its results on {place.name} (" in ended.text
    assert re.search(
        r"no space left on the device; \d+ bytes are free, free", ended.text
    )
    assert "No space left on device" in _log(tool, ended)
    place.running.clear()
    _is_usable(tool, place)
    # Program and model are still on the device.
    assert place.running.status()["push"] - pushed < 100_000


def test_another_abi(tool: Tool, farm: Farm) -> None:
    ended = tool.run("--target_abis=arm64-v8a", "--devices_to_run=Redmi Go")
    assert ended.status == 2
    assert "no device runs programs for arm64-v8a among Redmi Go" in ended.text
    assert "armeabi-v7a, SoC msm8937" in ended.text


def test_a_program_that_the_device_cannot_execute(tool: Tool, farm: Farm) -> None:
    """As if the phone reported wrong ABIs."""
    wide = tool.build_dir / "bin" / "arm64-v8a" / "mace_run"
    wide.replace(tool.build_dir / "bin" / "armeabi-v7a" / "mace_run")
    ended = tool.run("--target_abis=armeabi-v7a", "--devices_to_run=Redmi Go")
    assert ended.status == 1
    assert "mace_run cannot be started" in ended.text
    assert "not executable: 64-bit ELF file" in ended.text
    assert "a program for armeabi-v7a, and Redmi Go says that it runs" in ended.text


def test_two_at_once_take_turns(tool: Tool, place: Place) -> None:
    both = [tool.start(*place.flags, "--validate", "--verbose") for _ in range(2)]
    ended = [finish(process) for process in both]
    assert [one.status for one in ended] == [0, 0], ended
    waited = [one for one in ended if "waiting for " in one.text]
    assert len(waited) == 1, ended
    assert "in use by converter.py of" in waited[0].text
    _is_usable(tool, place)


def test_a_device_that_stays_in_use(tool: Tool, place: Place) -> None:
    process = _running(tool, place)
    other = tool.run(*place.flags, env={"MACE_DEVICE_WAIT_S": "0"})
    assert other.status == 1
    assert "is in use by converter.py of" in other.text
    # The process that uses the device is not disturbed.
    assert place.inside.runs()
    process.send_signal(signal.SIGINT)
    assert finish(process).status == 130
    _is_usable(tool, place)


def test_a_key_that_is_refused(tool: Tool, place: Place, farm: Farm) -> None:
    if place.running.spec.kind == "phone":
        pytest.skip("a phone asks on its screen; see the next test")
    place.running.fault("unauthorized")
    ended = tool.run(*place.flags)
    assert ended.status == 2
    assert "it refuses this computer's key" in ended.text
    assert '.ssh/authorized_keys"' in ended.text
    place.running.clear()
    _is_usable(tool, place)


def test_a_phone_that_does_not_trust_us(tool: Tool, farm: Farm) -> None:
    phone = farm.phones[0]
    phone.fault("unauthorized")
    for word in ("disconnect", "connect"):
        subprocess.run(["adb", word, phone.address], env=farm.env, check=True)
    ended = tool.run("--target_abis=arm64-v8a")
    assert ended.status == 2
    assert "unauthorized: allow USB debugging for this computer" in ended.text


def test_no_adb(tool: Tool, tmp_path: Path) -> None:
    ended = tool.run("--target_abis=arm64-v8a", env={"PATH": str(tmp_path)})
    assert ended.status == 2
    assert "adb is missing" in ended.text
    assert "sudo apt install adb" in ended.text


def test_an_adb_that_is_too_old(tool: Tool, tmp_path: Path) -> None:
    adb = tmp_path / "adb"
    adb.write_text("#!/bin/sh\necho Android Debug Bridge version 1.0.31\n")
    adb.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    ended = tool.run("--target_abis=arm64-v8a", env={"PATH": path})
    assert ended.status == 2
    assert "is version 1.0.31, and at least 1.0.32 is needed" in ended.text


@pytest.mark.parametrize(("kind", "number"), [("segfault", 11), ("abort", 6)])
def test_a_program_that_crashes(
    tool: Tool, place: Place, kind: str, number: int
) -> None:
    program = tool.build_dir / "bin" / place.abi.value / "mace_run"
    good = program.read_bytes()
    make_program(kind, program)
    place.inside.shell("log -t test last words before it 2>/dev/null")
    ended = tool.run(*place.flags)
    assert ended.status == 1
    assert f"mace_run crashed (signal {number}); last output: begun" in ended.text
    text = _log(tool, ended)
    assert text.startswith("begun\n")
    assert f"--- log of {place.name} ---" in text
    if place.running.spec.kind == "phone":
        assert "last words before it" in text
    _is_tidy(place)
    program.write_bytes(good)
    _is_usable(tool, place)


def test_the_time_limit(tool: Tool, place: Place) -> None:
    ended = tool.run(*place.flags, FOREVER, "--time_limit=2")
    assert ended.status == 1
    assert "ended after 2 s without result; --time_limit=SECONDS" in ended.text
    assert f"--- log of {place.name} ---" in _log(tool, ended)
    _is_usable(tool, place)


def test_ctrl_c(tool: Tool, place: Place) -> None:
    process = _running(tool, place)
    process.send_signal(signal.SIGINT)
    ended = finish(process)
    assert ended.status == 130
    assert "interrupted" in ended.text
    _is_usable(tool, place)


def test_a_killed_tool_leaves_no_program_behind(tool: Tool, place: Place) -> None:
    process = _running(tool, place)
    process.kill()
    finish(process)
    await_that(lambda: not place.inside.runs())
    # The next run removes the remaining files of this one.
    ended = tool.run(*place.flags)
    assert ended.status == 0, ended.text
    _is_tidy(place)


def test_one_of_several_fails(tool: Tool, place: Place, farm: Farm) -> None:
    """The others continue, and the combined report says which device failed and why."""
    make_program("segfault", tool.build_dir / "bin" / place.abi.value / "mace_run")
    ended = tool.run(
        "--target_abis=arm64-v8a,armeabi-v7a,arm64,armhf", "--validate", "--report"
    )
    assert ended.status == 1
    table = (tool.build_dir / "digits/report/all_runs.csv").read_text()
    results = {}
    for line in table.splitlines()[1:]:
        if line.startswith("digits,"):
            results[tuple(line.split(",")[1:3])] = line.split(",")
    failed = {key for key, row in results.items() if "passed" not in row}
    assert failed == {(place.name, place.abi.value)}
    assert len(results) == (5 if farm.boards else 3)
    assert "mace_run crashed (signal 11)" in table
    page = (tool.build_dir / "digits/report/all_runs.html").read_text()
    assert "mace_run crashed (signal 11)" in page
    assert f"digits on {place.name} ({place.abi.value}): FAILED" in ended.text


def test_one_of_several_does_not_answer(tool: Tool, farm: Farm) -> None:
    if not farm.boards:
        pytest.skip("boards of the farm need root")
    farm.boards[0].fault("offline")
    ended = tool.run("--target_abis=arm64-v8a,arm64", "--report")
    assert ended.status == 1
    table = (tool.build_dir / "digits/report/all_runs.csv").read_text()
    assert "digits,MI 6,arm64-v8a" in table
    assert "Connection refused; is it on, and are address and port of" in table
