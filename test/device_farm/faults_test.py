# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests every fault with the client programs, and that the device recovers."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Dict

import pytest
from pydantic import ValidationError

from test.device_farm.conftest import LIMIT_S, Adb, Ssh, run
from test.device_farm.errors import FarmError
from test.device_farm.farm import Farm
from test.device_farm.faults import Fault

WORK = "/data/local/tmp"
SIZE = 20_000_000
AWAY_S = 0.3


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that takes more than one packet."""
    path = tmp_path_factory.mktemp("big") / "big"
    path.write_bytes(bytes(range(250)) * (SIZE // 250))
    return path


def _is_well(adb: Adb) -> None:
    adb.connect()
    assert adb.shell("echo well") == "well\n"


# --- Phones -----------------------------------------------------------------------


def test_phone_goes_away_during_a_push(mi6: Adb, big: Path) -> None:
    mi6.phone.fault("disconnect", during="push", after_bytes=SIZE // 2, away_s=AWAY_S)
    done = mi6("push", big, f"{WORK}/big")
    assert done.returncode != 0
    assert "error" in done.stdout + done.stderr
    _is_well(mi6)
    # As on a phone, the part that arrived stays.
    assert int(mi6.shell(f"stat -c %s {WORK}/big")) < SIZE
    assert mi6("push", big, f"{WORK}/big").returncode == 0
    assert int(mi6.shell(f"stat -c %s {WORK}/big")) == SIZE


def test_phone_goes_away_during_a_pull(mi6: Adb, big: Path, tmp_path: Path) -> None:
    assert mi6("push", big, f"{WORK}/big").returncode == 0
    mi6.phone.fault("disconnect", during="pull", after_bytes=SIZE // 2, away_s=AWAY_S)
    assert mi6("pull", f"{WORK}/big", tmp_path / "big").returncode != 0
    _is_well(mi6)
    assert mi6("pull", f"{WORK}/big", tmp_path / "big").returncode == 0
    assert (tmp_path / "big").read_bytes() == big.read_bytes()


def test_phone_goes_away_during_a_run(mi6: Adb) -> None:
    mi6.phone.fault("disconnect", during="run", after_s=1.5, away_s=AWAY_S)
    start = time.monotonic()
    done = mi6("shell", "echo begun; sleep 30; echo ended")
    assert time.monotonic() - start < LIMIT_S
    # The client does not fail, so a driver has to look for the end itself.
    assert done.stdout == "begun\n"
    _is_well(mi6)
    # Programs continue: only the connection was lost.
    assert "sleep 30" in mi6.shell("ps")
    mi6.shell("pkill -f 'sleep 30'")


def test_phone_stays_away_until_cleared(farm: Farm, mi6: Adb) -> None:
    mi6.phone.fault("disconnect", during="run", away_s=None)
    mi6("shell", "sleep 5")
    for _ in range(2):
        run(["adb", "disconnect", mi6.phone.address], farm)
        done = run(["adb", "connect", mi6.phone.address], farm)
        assert "connected to" not in done.stdout
    mi6.phone.clear()
    _is_well(mi6)


def test_full_phone(mi6: Adb, big: Path) -> None:
    mi6.phone.fault("full", free_bytes=SIZE // 2)
    done = mi6("push", big, f"{WORK}/full")
    assert done.returncode == 1
    assert "No space left on device" in done.stdout + done.stderr
    assert mi6("shell", f"ls {WORK}/full").returncode == 1
    done = mi6("shell", f"dd if=/dev/zero of={WORK}/zero bs=1000000 count=20")
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    mi6.shell(f"rm {WORK}/zero")
    mi6.phone.clear()
    assert mi6("push", big, f"{WORK}/full").returncode == 0


def test_slow_phone(mi6: Adb, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(200_000))
    mi6.phone.fault("slow", bytes_per_s=400_000)
    start = time.monotonic()
    assert mi6("push", tmp_path / "a", f"{WORK}/slow").returncode == 0
    assert mi6("pull", f"{WORK}/slow", tmp_path / "b").returncode == 0
    assert time.monotonic() - start >= 1


def test_offline_phone(mi6: Adb) -> None:
    mi6.phone.fault("offline")
    end = time.monotonic() + LIMIT_S
    while mi6("get-state").stdout == "device\n" and time.monotonic() < end:
        time.sleep(0.05)
    done = mi6("shell", "echo well")
    assert done.returncode == 1
    assert "device offline" in done.stderr
    mi6.phone.clear()
    assert mi6("wait-for-device").returncode == 0
    assert mi6.shell("echo well") == "well\n"


def test_phone_that_does_not_trust_us(farm: Farm, mi6: Adb) -> None:
    mi6.phone.fault("unauthorized")
    run(["adb", "disconnect", mi6.phone.address], farm)
    run(["adb", "connect", mi6.phone.address], farm)
    end = time.monotonic() + LIMIT_S
    done = mi6("shell", "echo well")
    while "unauthorized" not in done.stderr and time.monotonic() < end:
        time.sleep(0.05)
        done = mi6("shell", "echo well")
    assert done.returncode == 1
    assert "device unauthorized" in done.stderr
    # Somebody confirms the key on the phone.
    mi6.phone.clear()
    assert mi6("wait-for-device").returncode == 0
    assert mi6.shell("echo well") == "well\n"


def test_phone_that_hangs(farm: Farm, mi6: Adb) -> None:
    mi6.phone.fault("hang")
    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.run(
            ["adb", "-s", mi6.phone.address, "shell", "echo well"],
            env=farm.env,
            stdin=subprocess.DEVNULL,
            timeout=1,
            check=False,
        )
    mi6.phone.clear()
    assert mi6.shell("echo well") == "well\n"


def test_phone_that_crashes(mi6: Adb) -> None:
    mi6.shell(f"echo kept >{WORK}/kept; sleep 88 >/dev/null 2>&1 &")
    mi6.phone.fault("crash", away_s=AWAY_S)
    _is_well(mi6)
    assert "sleep 88" not in mi6.shell("ps")
    assert mi6.shell(f"cat {WORK}/kept") == "kept\n"


def test_fault_of_one_phone_is_not_the_others(mi6: Adb, redmi: Adb, big: Path) -> None:
    mi6.phone.fault("disconnect", during="push", after_bytes=1000, away_s=AWAY_S)
    assert redmi("push", big, f"{WORK}/other").returncode == 0
    assert mi6("push", big, f"{WORK}/other").returncode != 0
    assert redmi.shell("echo well") == "well\n"
    _is_well(mi6)


def _tells_of_a_lost_connection(done: subprocess.CompletedProcess[str]) -> None:
    # It is random which of the two processes of scp notices the fault first.
    assert done.returncode != 0
    words = ("closed", "lost connection", "Connection reset")
    assert any(word in done.stderr for word in words), done


# --- Boards -----------------------------------------------------------------------


def test_board_goes_away_during_a_push(nanopi: Ssh, big: Path) -> None:
    nanopi.board.fault(
        "disconnect", during="push", after_bytes=SIZE // 2, away_s=AWAY_S
    )
    done = nanopi.scp(big, "HERE:big")
    _tells_of_a_lost_connection(done)
    nanopi.await_return()
    assert int(nanopi.shell("stat -c %s big")) < SIZE
    assert nanopi.scp(big, "HERE:big").returncode == 0


def test_board_goes_away_during_a_pull(nanopi: Ssh, big: Path, tmp_path: Path) -> None:
    assert nanopi.scp(big, "HERE:big").returncode == 0
    nanopi.board.fault(
        "disconnect", during="pull", after_bytes=SIZE // 2, away_s=AWAY_S
    )
    done = nanopi.scp("HERE:big", tmp_path / "big")
    _tells_of_a_lost_connection(done)
    nanopi.await_return()
    assert nanopi.scp("HERE:big", tmp_path / "big").returncode == 0


def test_board_goes_away_during_a_run(nanopi: Ssh) -> None:
    nanopi.board.fault("disconnect", during="run", after_s=4, away_s=AWAY_S)
    done = nanopi("echo begun; sleep 31; echo ended")
    assert (done.stdout, done.returncode) == ("begun\n", 255)
    nanopi.await_return()
    assert "sleep 31" in nanopi.shell("ps")
    nanopi.shell("pkill -f 'sleep 31'")


def test_full_board(nanopi: Ssh, big: Path) -> None:
    nanopi.board.fault("full", free_bytes=SIZE // 2)
    done = nanopi.scp(big, "HERE:full")
    assert done.returncode == 1
    assert nanopi("dd if=/dev/zero of=/tmp/a bs=1000000 count=20").returncode == 1
    nanopi.shell("rm /tmp/a")
    nanopi.board.clear()
    assert nanopi.scp(big, "HERE:full").returncode == 0


def test_board_that_is_off(nanopi: Ssh) -> None:
    nanopi.board.fault("offline")
    done = nanopi("true")
    assert done.returncode == 255
    assert "Connection refused" in done.stderr
    nanopi.board.clear()
    assert nanopi("true").returncode == 0


def test_board_that_does_not_trust_us(nanopi: Ssh) -> None:
    nanopi.board.fault("unauthorized")
    done = nanopi("true")
    assert done.returncode == 255
    assert "Permission denied (publickey)" in done.stderr
    nanopi.board.clear()
    assert nanopi("true").returncode == 0


def test_board_that_hangs(farm: Farm, nanopi: Ssh) -> None:
    nanopi.board.fault("hang")
    command = ["ssh", "-F", farm.ssh_config, "-o", "ConnectTimeout=1", "nanopi", "true"]
    done = run(command, farm)
    assert done.returncode == 255
    assert "timed out" in done.stderr
    nanopi.board.clear()
    assert nanopi("true").returncode == 0


def test_slow_board(nanopi: Ssh, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(200_000))
    nanopi.board.fault("slow", bytes_per_s=200_000)
    start = time.monotonic()
    assert nanopi.scp(tmp_path / "a", "HERE:slow").returncode == 0
    assert time.monotonic() - start >= 1


# --- Requests ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "values",
    [{"kind": "rain"}, {"kind": "full", "free_bytes": -1}, {"kind": "slow", "x": 1}],
)
def test_bad_faults_are_refused(mi6: Adb, values: Dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Fault.model_validate(values)
    kind = str(values["kind"])
    rest = {key: value for key, value in values.items() if key != "kind"}
    with pytest.raises(FarmError, match="device mi6"):
        mi6.phone.fault(kind, **rest)
    assert mi6.phone.status()["faults"] == []
