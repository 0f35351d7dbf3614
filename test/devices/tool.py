# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs `converter.py` as a separate process; inspects what it leaves on a device."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.devices import DeviceError
from mace.python.tools.devices.adb import AdbDevice, find_adb
from mace.python.tools.devices.remote import RemoteDevice
from mace.python.tools.devices.ssh import SshDevice, read_boards
from test.device_farm.farm import Farm, Running

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 1200.0
DIGITS = "mace/examples/digits/digits.yml"


@dataclass(frozen=True)
class Ended:
    """How the tool ended; its messages and results together."""

    status: int
    text: str


class Tool:
    """One build folder, and `converter.py run` with it.

    Args:
        build_dir: holds a converted model and the programs.
        farm: whose devices are meant.
    """

    def __init__(self, build_dir: Path, farm: Farm, config: str = DIGITS) -> None:
        self.build_dir = build_dir
        self.farm = farm
        self.config = config

    def start(
        self, *flags: str, env: Mapping[str, str] | None = None
    ) -> subprocess.Popen[str]:
        """Starts a run; the tool has a process group of its own."""
        boards = [f"--device_yml={self.farm.devices_yml}"] if self.farm.boards else []
        return subprocess.Popen(
            [
                *(sys.executable, "tools/converter.py", "run"),
                *(f"--config={self.config}", f"--build_dir={self.build_dir}"),
                *boards,
                *flags,
            ],
            cwd=ROOT,
            env={**self.farm.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(
        self,
        *flags: str,
        env: Mapping[str, str] | None = None,
        limit_s: float = LIMIT_S,
    ) -> Ended:
        """A run from its start to its end."""
        return finish(self.start(*flags, env=env), limit_s)


def finish(process: subprocess.Popen[str], limit_s: float = LIMIT_S) -> Ended:
    """Waits for a tool; ends it, with all it started, if it hangs."""
    try:
        text, _ = process.communicate(timeout=limit_s)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    assert "Traceback" not in text, text
    return Ended(process.returncode, text)


def driver(farm: Farm, running: Running) -> RemoteDevice:
    """A driver of our own for a device of the farm."""
    if running.spec.kind == "phone":
        return AdbDevice(find_adb(), running.address)
    listed = {board.name: board for board in read_boards(farm.devices_yml)}
    return SshDevice(listed[running.name])


def await_that(true: Callable[[], bool], limit_s: float = 40.0) -> None:
    """Checks a condition repeatedly; fails if it stays false."""
    end = time.monotonic() + limit_s
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.1)


class Inside:
    """A device, inspected from inside with a driver of our own."""

    def __init__(self, farm: Farm, running: Running) -> None:
        self.farm = farm
        self.device = driver(farm, running)
        self.device.probe()

    def close(self) -> None:
        """Ends the connection."""
        self.device.close()

    def shell(self, script: str) -> str:
        """The output of a command; repeated while the device is disconnected."""
        end = time.monotonic() + 20
        while True:
            try:
                return self.device.shell(script).output
            except DeviceError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)
                self._reach_again()

    def _reach_again(self) -> None:
        if isinstance(self.device, AdbDevice):
            self.device._adb.revive(self.device._serial)

    def runs(self, program: str = "mace_run") -> bool:
        """Whether such a program is running now."""
        listed = self.shell("ps -ef 2>/dev/null || ps").splitlines()
        # Excludes the shell with the program's name in its arguments, and dead
        # processes.
        return any(f"./{program}" in line and "sh -c" not in line for line in listed)

    def files(self) -> list[str]:
        """All files in our folder on the device, except the list of them."""
        folder = "/data/local/tmp/mace_run"
        if not isinstance(self.device, AdbDevice):
            folder = "mace_run"
        found = self.shell(f"cd {folder} 2>/dev/null && find . -type f").split()
        return sorted(name for name in found if name != "./.manifest")


class Place:
    """A device with everything to control and inspect it.

    Attributes:
        running: gives it trouble.
        inside: looks at its files and processes.
        flags: choose it and its 64-bit ABI.
    """

    def __init__(self, running: Running, inside: Inside) -> None:
        self.running = running
        self.inside = inside
        is_phone = running.spec.kind == "phone"
        self.abi = Abi.ARM64_V8A if is_phone else Abi.ARM64
        self.name = running.profile.model if is_phone else running.name
        self.flags = (
            f"--target_abis={self.abi.value}",
            f"--devices_to_run={running.address}",
        )

    def start_another_program(self) -> None:
        """Starts the program that a fault "during run" waits for; the connection may
        be lost.
        """
        farm = self.inside.farm
        client = ["adb", "-s", self.running.address, "shell"]
        if self.running.spec.kind == "board":
            client = ["ssh", "-F", str(farm.ssh_config), self.running.name]
        subprocess.run(
            [*client, "true"],
            env=farm.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=LIMIT_S,
            check=False,
        )
