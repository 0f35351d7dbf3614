# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""An ARM board emulated on this computer by QEMU's user mode.

Its results are right, but its times say nothing about a board's speed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.devices.device import CommandResult, DeviceProperties
from mace.python.tools.devices.host import HostDevice
from mace.python.tools.errors import MissingToolError


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
