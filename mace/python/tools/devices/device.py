# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The interface of a device, independent of the connection."""

from __future__ import annotations

import abc
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.errors import MaceError
from mace.python.tools.wording import on_one_line

# The folder in `Device.work_dir` for files that only one run needs.
SCRATCH = PurePosixPath(".scratch")

# Characters of a name or model.
_LONGEST_ANSWER = 80
LONGEST_MESSAGE = 300

# Messages of programs and systems if a file does not fit.
NO_SPACE = re.compile(r"no space left|disk quota exceeded", re.IGNORECASE)


class DeviceError(MaceError):
    """A device has disconnected, refuses, or lacks what a command needs.

    Attributes:
        output: of the program that ran there, as far as it came.
    """

    def __init__(self, message: str, output: str = "") -> None:
        super().__init__(message)
        self.output = output


class DeviceLostError(DeviceError):
    """The connection to a device ended in the middle of an operation."""


class DeviceFullError(DeviceError):
    """A file does not fit on a device."""


class DeviceUnsuitedError(DeviceError):
    """A device answers, but cannot run our programs."""


class DeviceStoppedError(DeviceError):
    """`Device.stop` ended the current operation."""


def short_answer(text: str, length: int = _LONGEST_ANSWER) -> str:
    """What a device says of itself or of an error, as it is shown and used in names:
    devices may be broken, or a stranger's.
    """
    return on_one_line(text[: 4 * length].strip())[:length]


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
        soc_names: further names of the SoC, lower case; a deployment's
            target_socs may use any of them.
    """

    name: str
    serial: str
    abis: tuple[Abi, ...]
    soc: str = ""
    processor: str = ""
    soc_names: tuple[str, ...] = ()


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
    that exists once `prepare` has returned. Between `prepare` and `close` the
    device must be ours alone (`device_lock`). A driver raises `DeviceError` when
    the device does not answer, never for a command that ran and failed.

    One thread at a time uses a device; `stop` may come from any.

    Attributes:
        heard: gets the output so far of a program that `run` waits for, now and then.
    """

    def __init__(self) -> None:
        self._stop = threading.Event()
        self.heard: Callable[[str], None] | None = None

    @property
    @abc.abstractmethod
    def address(self) -> str:
        """The address that the driver uses, unique among all devices."""

    @property
    def identity(self) -> str:
        """Tells the machine from others, however it is reached; after `probe`.

        One that is reached in two ways has two addresses and one identity.
        """
        return self.address

    @property
    def label(self) -> str:
        """The device in messages: its name, if known, and its address."""
        return self.address

    @property
    def is_local(self) -> bool:
        """Whether it shares this computer's processor with others."""
        return False

    @abc.abstractmethod
    def probe(self) -> DeviceProperties:
        """Checks that the device answers, and reads its properties.

        Changes nothing that another process may be using.
        """

    @abc.abstractmethod
    def prepare(self) -> None:
        """Makes `work_dir`, and an empty SCRATCH in it."""

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
        watch_memory_s: int = 0,
    ) -> CommandResult:
        """Runs a program in `work_dir`.

        Args:
            command: the program, absolute or relative to `work_dir`, and its
                arguments, taken literally (no shell expands them).
            env: variables to set besides those the device has.
            time_limit_s: end the program (and what it started) after so long.
            watch_memory_s: write its memory to `memory.LOG` this often; 0: never.
        """

    @abc.abstractmethod
    def make_folder(self, remote: PurePosixPath) -> None:
        """Makes a folder, and those above it, unless it exists."""

    @abc.abstractmethod
    def has_file(self, remote: PurePosixPath) -> bool:
        """Whether there is a file of that name."""

    @abc.abstractmethod
    def remove(self, remote: PurePosixPath) -> None:
        """Removes a file or a folder with its contents, if it exists."""

    @property
    def stop_event(self) -> threading.Event:
        """Set once `stop` was called."""
        return self._stop

    def stop(self) -> None:
        """Ends the current operation, and all later ones.

        A program that runs is ended, and the call that waits for it, or for
        any other command, raises `DeviceStoppedError`.
        """
        self._stop.set()

    def full(self, what: str) -> DeviceFullError:
        """The error if `what` found no space left."""
        return DeviceFullError(
            f"{what}: no space left on the device; {self._space_advice()}"
        )

    def _space_advice(self) -> str:
        """The free space, and what the user can do."""
        return "free some"

    def clean_up(self) -> None:
        """After `stop`: ends our program and empties SCRATCH, if it can.

        Never raises: a device that is gone is cleaned by the next `prepare`.
        """
        return

    def system_log(self) -> str:
        """The last lines of the system's log, to explain a crash.

        Empty where there is none, or where it cannot be read.
        """
        return ""

    def close(self) -> None:
        """Ends the connection; the device's files stay."""
        return
