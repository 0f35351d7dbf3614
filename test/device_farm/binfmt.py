# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Registers the emulator of a device's programs with the kernel's binfmt_misc. Since
Linux 6.7 each device has its own binfmt_misc, and the computer's is not changed. On
older kernels the computer's own is used, if it starts ARM programs; then a device that
should refuse 64-bit programs runs them.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import List

from test.device_farm.errors import FarmError

# Selects "own" or "computer"; if it is not set, the first one that works.
VARIABLE = "MACE_FARM_BINFMT"
_CHOICES = ("", "own", "computer")
_FOLDER = "/proc/sys/fs/binfmt_misc"
_MOUNT = f"mount -t binfmt_misc farm {_FOLDER}\n"
_REGISTER = (
    r":%s:M::\x7fELF%s\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00%s\x00:"
    r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff"
    r"\xff:%s:%s"
)


@dataclass(frozen=True)
class Machine:
    """A kind of programs.

    Attributes:
        name: as qemu has it.
        elf_class, elf_machine: of the ELF header, as binfmt_misc wants them.
        triple: names the folder of the C library.
    """

    name: str
    elf_class: str
    elf_machine: str
    triple: str

    @property
    def emulator(self) -> str:
        """The program that runs them."""
        return f"qemu-{self.name}-static"


ARM64 = Machine("aarch64", r"\x02", r"\xb7", "aarch64-linux-gnu")
ARM32 = Machine("arm", r"\x01", r"\x28", "arm-linux-gnueabihf")


def choice() -> str:
    """The choice in the environment.

    Raises:
        FarmError: there is no such choice.
    """
    value = os.environ.get(VARIABLE, "")
    if value not in _CHOICES:
        raise FarmError(f"{VARIABLE} is {value!r}; accepted: own, computer")
    return value


def rule(machine: Machine, program: str, flags: str) -> str:
    """A line for the file `register` of binfmt_misc."""
    return _REGISTER % (
        f"qemu-{machine.name}",
        machine.elf_class,
        machine.elf_machine,
        program,
        flags,
    )


def private_rules(machines: Sequence[Machine], refusal: str) -> str:
    """Shell commands that create a separate binfmt_misc for a device.

    Args:
        machines: whose programs it executes.
        refusal: the program, of the device, for those it does not.
    """
    lines = [_MOUNT]
    for machine in (ARM64, ARM32):
        text = rule(machine, refusal, "")
        if machine in machines:
            program = shutil.which(machine.emulator) or machine.emulator
            # P: the program sees its own name; F: opened now, outside of its root.
            text = rule(machine, program, "PF")
        lines.append(f"printf %s {shlex.quote(text)} >{_FOLDER}/register\n")
    return "".join(lines)


def not_started(machines: Sequence[Machine]) -> List[str]:
    """The machines whose programs the computer's own binfmt_misc does not start."""
    missing = []
    for machine in machines:
        try:
            text = Path(f"{_FOLDER}/qemu-{machine.name}").read_text()
        except OSError:
            text = ""
        flags = text.partition("flags: ")[2].partition("\n")[0]
        # Without F the emulator would be looked for below the device's root.
        if not text.startswith("enabled") or "F" not in flags:
            missing.append(machine.name)
    return missing


_ADVICE = (
    "apt-get install qemu-user-static binfmt-support, then update-binfmts --enable "
    "(root only; in a container: on the computer that runs it)"
)


def not_started_text(missing: Sequence[str]) -> str:
    """Advice if the computer's own must be used but does not start the programs."""
    names = " and ".join(missing)
    return (
        f"{VARIABLE}=computer, and the binfmt_misc of this computer does not start "
        f"programs for {names} anywhere (flag F): {_ADVICE}"
    )


def no_private_text(trouble: str) -> str:
    """Advice if a device cannot have its own."""
    return (
        f"Linux {os.uname().release} gives a user namespace no binfmt_misc of its own "
        f"({trouble}); that takes 6.7 or newer. Or let the computer's own run ARM "
        f"programs: {_ADVICE}"
    )
