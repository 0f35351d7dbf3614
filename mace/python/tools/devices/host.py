# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""This computer as a device."""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.devices import memory
from mace.python.tools.devices.device import (
    SCRATCH,
    CommandResult,
    Device,
    DeviceError,
    DeviceProperties,
    DeviceStoppedError,
)
from mace.python.tools.devices.process import ProcessRequest, run_process
from mace.python.tools.errors import MissingToolError


class HostDevice(Device):
    """Runs programs here, in a folder of the build tree.

    Args:
        work_dir: made by `prepare`, and by `probe`, if missing.
    """

    def __init__(self, work_dir: Path) -> None:
        super().__init__()
        self._work_dir = work_dir.resolve()

    @property
    def address(self) -> str:
        return "host"

    @property
    def is_local(self) -> bool:
        return True

    @property
    def work_dir(self) -> PurePosixPath:
        return PurePosixPath(self._work_dir)

    def prepare(self) -> None:
        self._make_work_dir()
        self.remove(SCRATCH)
        self.make_folder(SCRATCH)

    def probe(self) -> DeviceProperties:
        # Not `prepare`: another process may be using the folder.
        self._make_work_dir()
        return DeviceProperties(
            name="host",
            serial="host",
            abis=(Abi.HOST,),
            processor=_processor(),
        )

    def push(self, local: Path, remote: PurePosixPath) -> None:
        target = self._local(remote)
        with self._errors(f"copy {local} to {target}"):
            target.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                target.unlink()
            try:
                # A link: weights have hundreds of megabytes, so they are not copied.
                os.link(local.resolve(), target)
            except OSError:
                shutil.copy2(local, target)

    def pull(self, remote: PurePosixPath, local: Path) -> None:
        with self._errors(f"copy {self._local(remote)} to {local}"):
            local.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self._local(remote), local)

    def make_folder(self, remote: PurePosixPath) -> None:
        target = self._local(remote)
        with self._errors(f"make {target}"):
            target.mkdir(parents=True, exist_ok=True)

    def has_file(self, remote: PurePosixPath) -> bool:
        return self._local(remote).is_file()

    def remove(self, remote: PurePosixPath) -> None:
        target = self._local(remote)
        with self._errors(f"remove {target}"):
            if target.is_dir() and not target.is_symlink():
                shutil.rmtree(target)
            else:
                target.unlink(missing_ok=True)

    def run(
        self,
        command: Sequence[str],
        env: Mapping[str, str] | None = None,
        time_limit_s: float | None = None,
        watch_memory_s: int = 0,
    ) -> CommandResult:
        with self._errors(f"start {command[0]}"):
            result = run_process(
                ProcessRequest(
                    memory.watched(command, watch_memory_s),
                    cwd=self._work_dir,
                    env=env or {},
                    time_limit_s=time_limit_s,
                    stop=self._stop,
                    heard=self.heard,
                )
            )
        if result.interrupted:
            raise DeviceStoppedError(f"{self.address}: {command[0]} was ended")
        return CommandResult(result.status, result.output, result.timed_out)

    def clean_up(self) -> None:
        with contextlib.suppress(DeviceError):
            self.remove(SCRATCH)

    def _make_work_dir(self) -> None:
        try:
            self._work_dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DeviceError(
                f"cannot make the work folder {self._work_dir}: {error.strerror}"
            ) from error

    def _local(self, remote: PurePosixPath) -> Path:
        return self._work_dir / remote

    @contextlib.contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise DeviceError(f"cannot {what}: {error.strerror}") from error


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


# An ARM board emulated on this computer by QEMU's user mode.
#
# Its results are right, but its times say nothing about a board's speed.


@dataclass(frozen=True)
class _Target:
    emulator: str
    sysroot: str


# The sysroots of the distribution's cross compilers.
_TARGETS = {
    Abi.ARM64: _Target("qemu-aarch64", "/usr/aarch64-linux-gnu"),
    Abi.ARMHF: _Target("qemu-arm", "/usr/arm-linux-gnueabihf"),
}

EMULATED_ABIS = frozenset(_TARGETS)


class EmulatorDevice(HostDevice):
    """Runs programs of an ARM ABI; its files are those of this computer.

    The model of the core is ``$MACE_QEMU_CPU``, by default one with every
    extension.
    """

    def __init__(self, abi: Abi, work_dir: Path) -> None:
        super().__init__(work_dir)
        self._abi = abi
        self._target = _TARGETS[abi]
        self._emulator = ""

    @property
    def address(self) -> str:
        return f"qemu-{self._abi.value}"

    def probe(self) -> DeviceProperties:
        name = self._target.emulator
        # The static build of QEMU has the same options.
        found = shutil.which(name) or shutil.which(f"{name}-static")
        if found is None or not Path(self._target.sysroot).is_dir():
            missing = name if found is None else self._target.sysroot
            raise MissingToolError(
                missing,
                f"emulating {self._abi.value}",
                "bash tools/setup.sh --for cross",
            )
        self._emulator = found
        host = super().probe()
        return DeviceProperties(
            name=f"qemu-{self._abi.value}",
            serial=f"qemu-{self._abi.value}",
            abis=(self._abi,),
            processor=f"{self._model()}, emulated on {host.processor}",
        )

    def run(
        self,
        command: Sequence[str],
        env: Mapping[str, str] | None = None,
        time_limit_s: float | None = None,
        watch_memory_s: int = 0,
    ) -> CommandResult:
        wrapper = [self._emulator, "-cpu", self._model(), "-L", self._target.sysroot]
        emulated = [*wrapper, *command]
        return super().run(emulated, env, time_limit_s, watch_memory_s)

    def _model(self) -> str:
        return os.environ.get("MACE_QEMU_CPU", "max")
