# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the device for a debugging command."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.devices import (
    Device,
    DeviceError,
    DeviceQuery,
    FoundDevice,
    close_all,
    find_devices,
)
from mace.python.tools.devices.adb import AdbDevice
from mace.python.tools.devices.process import ProcessRequest, run_process
from mace.python.tools.devices.remote import RemoteDevice
from mace.python.tools.devices.ssh import SshDevice

_LOG = logging.getLogger(__name__)

# Most capable first.
_ABIS = (Abi.ARM64_V8A, Abi.ARM64, Abi.ARMEABI_V7A, Abi.ARMHF)

_SHELL_LIMIT_S = 20.0


@dataclass(frozen=True)
class TargetOptions:
    """What to look for.

    Attributes:
        devices_to_run: names or serials; empty: the only one there is. "host"
            is this computer.
        abi: of the program; None: what the device runs best.
        folder: where local files of a session go.
    """

    devices_to_run: tuple[str, ...] = ()
    device_yml: Path | None = None
    abi: Abi | None = None
    folder: Path = Path("build") / "debug"


@contextmanager
def devices(options: TargetOptions) -> Iterator[list[FoundDevice]]:
    """All devices that match; connections end with the block.

    Raises:
        DeviceError: none does, or one that was named cannot be used.
    """
    found = find_devices(
        DeviceQuery(
            abis=_ABIS if options.abi is None else (options.abi,),
            work_root=options.folder / "work",
            wanted=options.devices_to_run,
            device_yml=options.device_yml,
            any_abi=options.abi is None,
        )
    )
    try:
        for silent in found.silent:
            if silent.named:
                raise DeviceError(silent.reason)
            _LOG.warning("left out: %s", silent.reason)
        yield found.found
    finally:
        close_all(found)


@contextmanager
def one_device(options: TargetOptions) -> Iterator[FoundDevice]:
    """The only device that matches.

    Raises:
        DeviceError: none does, or several.
    """
    with devices(options) as found:
        if len(found) > 1:
            names = ", ".join(
                f"{item.properties.name} ({item.properties.serial})" for item in found
            )
            raise DeviceError(
                f"there are {len(found)} devices: {names}; choose one by "
                "--devices_to_run=NAME"
            )
        yield found[0]


def shell_output(device: Device, script: str) -> str:
    """Returns the output of a shell script on the device. Works while another process
    uses the device, because it does not use our files there.
    """
    if isinstance(device, RemoteDevice):
        return device.shell(script).output
    command = ["sh", "-c", script]
    return run_process(ProcessRequest(command, time_limit_s=_SHELL_LIMIT_S)).output


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
