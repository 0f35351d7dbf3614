# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Forwards ports of a device, and gives the equivalent commands for users."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from mace.python.tools.devices import Device, DeviceError
from mace.python.tools.devices.adb import AdbDevice
from mace.python.tools.devices.process import ProcessRequest, run_process
from mace.python.tools.devices.ssh import SshDevice

_LIMIT_S = 30.0


@dataclass(frozen=True)
class Reach:
    """Ways to a device behind a client program, as command lines.

    Attributes:
        forward: makes a port there one of ours; None: they are the same.
        unforward: ends that.
        shell, copy: the words before a script, and before the two files.
        prefix: before a path there, in a copy.
    """

    forward: list[str] | None = None
    unforward: list[str] | None = None
    shell: str = "sh -c"
    copy: str = "cp"
    fetch: str = "cp"
    prefix: str = ""

    def shell_line(self, script: str) -> str:
        """The command that starts a script on the device."""
        return f"{self.shell} {shlex.quote(script)}"

    def push_line(self, local: Path, remote: PurePosixPath) -> str:
        """The command that copies a file to the device."""
        return f"{self.copy} {shlex.quote(str(local))} {self.prefix}{remote}"

    def pull_line(self, remote: PurePosixPath, local: Path) -> str:
        """The command that copies a file from the device."""
        return f"{self.fetch} {self.prefix}{remote} {shlex.quote(str(local))}"


def reach(device: Device, port: int) -> Reach:
    """How this device is reached."""
    if isinstance(device, AdbDevice):
        adb = device.client_command()
        words = shlex.join(adb)
        return Reach(
            forward=[*adb, "forward", f"tcp:{port}", f"tcp:{port}"],
            unforward=[*adb, "forward", "--remove", f"tcp:{port}"],
            shell=f"{words} shell",
            copy=f"{words} push",
            fetch=f"{words} pull",
        )
    if isinstance(device, SshDevice):
        tunnel = f"{port}:127.0.0.1:{port}"
        flags, login = device.login_words()
        return Reach(
            forward=device.control_command("forward", "-L", tunnel),
            unforward=device.control_command("cancel", "-L", tunnel),
            shell=shlex.join(["ssh", *flags, login]),
            copy=shlex.join(["scp", *flags]),
            fetch=shlex.join(["scp", *flags]),
            prefix=f"{login}:",
        )
    return Reach()


def call(command: list[str], what: str) -> None:
    """Runs a client program.

    Raises:
        DeviceError: it fails.
    """
    result = run_process(ProcessRequest(command, time_limit_s=_LIMIT_S))
    if result.status != 0:
        text = result.output.strip().rpartition("\n")[2] or f"status {result.status}"
        raise DeviceError(f"{what}: {text}")
