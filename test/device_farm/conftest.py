# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A farm for all tests of this folder, and programs to run on it."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Dict, Sequence

import pytest

from test.device_farm.farm import Farm, Running

# Of one client program, on a computer that does something else as well.
LIMIT_S = 600
_TARGETS = {64: "aarch64-linux-gnu", 32: "arm-linux-gnueabihf"}


@pytest.fixture(scope="session")
def farm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Farm]:
    """Four phones, and three boards where root runs the tests."""
    # Its server writes keys to HOME.
    os.environ.setdefault("HOME", str(tmp_path_factory.mktemp("home")))
    boards = ["nanopi", "raspberry", "up_squared"] if os.geteuid() == 0 else []
    folder = tmp_path_factory.mktemp("farm") / "a farm"
    phones = ["mi6", "redmi_go", "pixel6", "nexus5"]
    # Far from the ports of a farm that somebody has up, or tests.
    first = 25555 + 20 * (os.getpid() % 500)
    with Farm(folder, phones, boards, adb_port=first, ssh_port=first + 11000) as one:
        yield one


@pytest.fixture(scope="session")
def probes(tmp_path_factory: pytest.TempPathFactory) -> Dict[int, Path]:
    """testdata/probe.c for 64-bit and 32-bit ARM."""
    source = Path(__file__).parent / "testdata" / "probe.c"
    built = {}
    for bits, target in _TARGETS.items():
        built[bits] = tmp_path_factory.mktemp("probes") / f"probe{bits}"
        subprocess.run(
            [
                *("clang-19", f"--target={target}", "-static", "-fuse-ld=lld-19"),
                *("-O1", source, "-o", built[bits]),
            ],
            check=True,
        )
    return built


def run(command: Sequence[object], farm: Farm) -> subprocess.CompletedProcess[str]:
    """Runs a client program to its end."""
    return subprocess.run(
        [str(word) for word in command],
        env=farm.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=LIMIT_S,
        check=False,
    )


class Adb:
    """The adb client, for one phone."""

    def __init__(self, farm: Farm, phone: Running) -> None:
        self.farm = farm
        self.phone = phone

    def __call__(self, *words: object) -> subprocess.CompletedProcess[str]:
        """Runs adb -s SERIAL WORDS..."""
        return run(["adb", "-s", self.phone.address, *words], self.farm)

    def shell(self, command: str) -> str:
        """What a command prints, which has to succeed."""
        done = self("shell", command)
        assert done.returncode == 0, done
        return done.stdout

    def connect(self) -> None:
        """Connects it, once it is there, whatever the server thinks of it."""
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            run(["adb", "disconnect", self.phone.address], self.farm)
            done = run(["adb", "connect", self.phone.address], self.farm)
            if f"connected to {self.phone.address}" in done.stdout:
                assert self("wait-for-device").returncode == 0
                return
            time.sleep(0.1)
        pytest.fail(f"{self.phone.name} cannot be connected: {done}")


class Ssh:
    """The OpenSSH client programs, for one board."""

    def __init__(self, farm: Farm, board: Running) -> None:
        self.farm = farm
        self.board = board

    def __call__(self, command: str) -> subprocess.CompletedProcess[str]:
        """Runs a command on the board."""
        words = ["ssh", "-F", self.farm.ssh_config, self.board.name, command]
        return run(words, self.farm)

    def shell(self, command: str) -> str:
        """What a command prints, which has to succeed."""
        done = self(command)
        assert done.returncode == 0, done
        return done.stdout

    def await_return(self) -> None:
        """Waits until the board answers again."""
        end = time.monotonic() + LIMIT_S
        while self("true").returncode != 0:
            assert time.monotonic() < end, f"{self.board.name} stays away"
            time.sleep(0.1)

    def scp(self, source: object, target: object) -> subprocess.CompletedProcess[str]:
        """Copies; HERE: is the board."""
        words = [
            str(word).replace("HERE:", f"{self.board.name}:")
            for word in (source, target)
        ]
        return run(["scp", "-q", "-F", self.farm.ssh_config, *words], self.farm)


def _phone(farm: Farm, number: int) -> Iterator[Adb]:
    adb = Adb(farm, farm.phones[number])
    adb.connect()
    yield adb
    adb.phone.clear()


@pytest.fixture
def mi6(farm: Farm) -> Iterator[Adb]:
    """A 64-bit phone, connected; its faults end with the test."""
    yield from _phone(farm, 0)


@pytest.fixture
def redmi(farm: Farm) -> Iterator[Adb]:
    """A 32-bit phone."""
    yield from _phone(farm, 1)


@pytest.fixture
def pixel(farm: Farm) -> Iterator[Adb]:
    """A 64-bit phone with a userdebug build."""
    yield from _phone(farm, 2)


@pytest.fixture
def nexus5(farm: Farm) -> Iterator[Adb]:
    """A phone with Android 6."""
    yield from _phone(farm, 3)


def _board(farm: Farm, number: int) -> Iterator[Ssh]:
    if not farm.boards:
        pytest.skip("boards need root")
    ssh = Ssh(farm, farm.boards[number])
    yield ssh
    ssh.board.clear()


@pytest.fixture
def nanopi(farm: Farm) -> Iterator[Ssh]:
    """A 64-bit board with rsync."""
    yield from _board(farm, 0)


@pytest.fixture
def raspberry(farm: Farm) -> Iterator[Ssh]:
    """A 32-bit board without rsync."""
    yield from _board(farm, 1)


@pytest.fixture
def up_squared(farm: Farm) -> Iterator[Ssh]:
    """A board with an x86-64 processor."""
    yield from _board(farm, 2)
