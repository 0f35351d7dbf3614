# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What a device can do for us, however it is reached."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from mace.python.tools.config.deployment import Abi
from mace.python.tools.errors import MaceError


class DeviceError(MaceError):
    """A device is gone, refuses, or lacks what a command needs."""


@dataclass(frozen=True)
class DeviceProperties:
    """What a device says about itself.

    Attributes:
        name: for people, and for file names after sanitising: "MI6",
            "raspberry", "host".
        serial: how its driver addresses it; unique among its devices.
        abis: what it can execute, most capable first.
        soc: lower case ("msm8998"); empty where there is no such notion.
        processor: as the system names it; may be empty.
    """

    name: str
    serial: str
    abis: tuple[Abi, ...]
    soc: str = ""
    processor: str = ""


@dataclass(frozen=True)
class CommandResult:
    """How a command on a device ended.

    Attributes:
        status: exit status as a shell gives it: 128 + n after signal n.
        output: standard output and error, in the order they came.
        timed_out: the time limit ended it.
    """

    status: int
    output: str
    timed_out: bool = False


class Device(abc.ABC):
    """One machine.

    Paths on the device are given relative to `work_dir`, a folder of ours
    that exists once `probe` has returned. A driver raises `DeviceError` when
    the device does not answer, never for a command that ran and failed.
    """

    @abc.abstractmethod
    def probe(self) -> DeviceProperties:
        """Checks that the device answers and asks what it is."""

    @property
    @abc.abstractmethod
    def work_dir(self) -> PurePosixPath:
        """Absolute folder on the device that belongs to us."""

    @abc.abstractmethod
    def push(self, local: Path, remote: PurePosixPath) -> None:
        """Copies a file to the device; unchanged large files may be kept.

        The execute permission is kept. Missing folders are made.
        """

    @abc.abstractmethod
    def pull(self, remote: PurePosixPath, local: Path) -> None:
        """Copies a file from the device."""

    @abc.abstractmethod
    def run(
        self,
        command: Sequence[str],
        env: Mapping[str, str] | None = None,
        time_limit_s: float | None = None,
    ) -> CommandResult:
        """Runs a program in `work_dir`.

        Args:
            command: the program, absolute or relative to `work_dir`, and its
                arguments, taken literally (no shell expands them).
            env: variables to set besides those the device has.
            time_limit_s: end the program (and what it started) after so long.
        """

    @abc.abstractmethod
    def remove(self, remote: PurePosixPath) -> None:
        """Removes a file or a folder with its contents, if it exists."""
