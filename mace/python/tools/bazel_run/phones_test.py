# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""`bazel_adb_run.py` with a stand-in for Bazel, on emulated phones."""

from __future__ import annotations

import subprocess
import threading
import time

import pytest

from mace.python.tools.bazel_run.conftest import Stand
from mace.python.tools.devices.adb import AdbDevice, find_adb
from mace.python.tools.devices.lock import device_lease
from test.device_farm.farm import Running

_WORK = "/data/local/tmp/mace_run"
_WAIT_S = 600.0


def _phone_flags(phone: Running) -> tuple[str, ...]:
    return ("--run_target=True", f"--devices_to_run={phone.address}")


def test_phones_by_soc(
    stand: Stand, phones: list[Running], capsys: pytest.CaptureFixture[str]
) -> None:
    stand.builds("getprop ro.board.platform", "/system/bin/sh")
    assert stand.run("--run_target=True", "--target_socs=MSM8937") == 0
    assert stand.log("Redmi_Go_armeabi-v7a") == "msm8937\n"
    assert len(list(stand.output.glob("*.log"))) == 1
    assert stand.run("--run_target=True", "--target_socs=no_such") == 2
    message = capsys.readouterr().err
    assert "on SoC no_such (target_socs)" in message
    assert "SoC msm8998" in message


def test_any_one_phone(stand: Stand, phones: list[Running]) -> None:
    stand.builds("getprop ro.board.platform", "/system/bin/sh")
    assert stand.run("--run_target=True", "--target_socs=random") == 0
    (log,) = stand.output.glob("*.log")
    assert log.read_text() in ("msm8998\n", "msm8937\n")


def test_simpleperf_of_a_phone(stand: Stand, phones: list[Running]) -> None:
    path = "/data/local/tmp/simpleperf"
    script = '#!/system/bin/sh\\necho "counting $3"\\nshift 3\\nexec "$@"\\n'
    device = AdbDevice(find_adb(), phones[0].address)
    device.probe()
    device.shell(f"printf '{script}' >{path}; chmod 755 {path}")
    stand.builds("echo counted", "/system/bin/sh")
    try:
        assert stand.run(*_phone_flags(phones[0]), "--simpleperf") == 0
    finally:
        device.shell(f"rm -f {path}")
        device.close()
    counting, counted = stand.log("MI_6_arm64-v8a").splitlines()
    assert counting.startswith("counting cpu-cycles,instructions,cache-references")
    assert counted == "counted"


def test_no_profiler(
    stand: Stand, phones: list[Running], capsys: pytest.CaptureFixture[str]
) -> None:
    stand.builds("echo run", "/system/bin/sh")
    assert stand.run(*_phone_flags(phones[0]), "--simpleperf") == 1
    assert "MI 6 has no simpleperf" in " ".join(capsys.readouterr().out.split())


# Troubles


def test_a_crash_on_a_phone(
    stand: Stand, phones: list[Running], capsys: pytest.CaptureFixture[str]
) -> None:
    stand.builds("log -t MACE close to the end; kill -ABRT $$", "/system/bin/sh")
    assert stand.run(*_phone_flags(phones[0])) == 1
    assert "crashed (signal 6)" in capsys.readouterr().out
    log = stand.log("MI_6_arm64-v8a")
    assert "--- log of MI 6 ---" in log
    assert "MACE: close to the end" in log


def test_another_abi(
    stand: Stand, phones: list[Running], capsys: pytest.CaptureFixture[str]
) -> None:
    flags = (*_phone_flags(phones[1]), "--target_abis=arm64-v8a")
    assert stand.run(*flags) == 2
    message = capsys.readouterr().err
    assert "no device runs programs for arm64-v8a" in message
    assert "armeabi-v7a" in message
    # Nothing was built for nothing.
    assert not stand.log_of_bazel.exists()


def test_a_program_that_cannot_be_started(
    stand: Stand, phones: list[Running], capsys: pytest.CaptureFixture[str]
) -> None:
    stand.builds("echo run", "/no/such/shell")
    assert stand.run(*_phone_flags(phones[0])) == 1
    output = " ".join(capsys.readouterr().out.split())
    assert "the program for arm64-v8a cannot be started on a device that" in output


def test_a_full_phone(
    stand: Stand, phones: list[Running], capsys: pytest.CaptureFixture[str]
) -> None:
    stand.builds("echo run", "/system/bin/sh", size=2_000_000)
    phones[0].fault("full", free_bytes=1_000_000)
    # The other phone is not kept from its work.
    assert stand.run("--run_target=True") == 1
    output = " ".join(capsys.readouterr().out.split())
    assert "cannot copy look (2.0 MB) to MI 6" in output
    assert "no space left on the device" in output
    assert stand.log("Redmi_Go_armeabi-v7a") == "run\n"
    phones[0].clear()
    assert stand.run(*_phone_flags(phones[0])) == 0


def test_a_phone_in_use(
    stand: Stand,
    phones: list[Running],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("MACE_DEVICE_WAIT_S", "0")
    stand.builds("echo run", "/system/bin/sh")
    device = AdbDevice(find_adb(), phones[0].address)
    device.probe()
    with device_lease(device):
        assert stand.run(*_phone_flags(phones[0])) == 1
    device.close()
    assert "is in use by" in " ".join(capsys.readouterr().out.split())
    assert stand.run(*_phone_flags(phones[0])) == 0


def test_a_phone_that_is_lost(
    stand: Stand, phones: list[Running], capsys: pytest.CaptureFixture[str]
) -> None:
    """In the middle of a run; the other phone goes on, and so does the next run."""
    text = "getprop ro.board.platform; touch started; "
    text += '[ "$(getprop ro.board.platform)" = msm8937 ] || sleep 60'
    stand.builds(text, "/system/bin/sh")
    trouble = threading.Thread(target=_crash_once_started, args=(phones[0],))
    trouble.start()
    assert stand.run("--run_target=True") == 1
    trouble.join()
    output = " ".join(capsys.readouterr().out.split())
    assert "look on MI 6 (arm64-v8a): FAILED, lost MI 6" in output
    # What it had said until then.
    log = stand.log("MI_6_arm64-v8a")
    assert log.startswith("msm8998\n--- log of MI 6 ---\n")
    assert stand.log("Redmi_Go_armeabi-v7a") == "msm8937\n"
    find_adb().revive(phones[0].address)
    stand.builds("rm started; echo again", "/system/bin/sh")
    assert stand.run("--run_target=True") == 0
    assert stand.log("MI_6_arm64-v8a") == "again\n"


def _crash_once_started(phone: Running) -> None:
    look = ["adb", "-s", phone.address, "shell", f"ls {_WORK}/started"]
    end = time.monotonic() + _WAIT_S
    while time.monotonic() < end:
        done = subprocess.run(
            look,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode == 0:
            break
        time.sleep(0.1)
    phone.fault("crash", away_s=1)
