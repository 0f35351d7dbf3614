# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Which devices can run a deployment."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from mace.python.tools.config.deployment import Abi
from mace.python.tools.devices.device import Device
from mace.python.tools.devices.emulator import EMULATED_ABIS, EmulatorDevice
from mace.python.tools.devices.host import HostDevice
from mace.python.tools.errors import UnsupportedError

# In --devices_to_run: emulate what is not there.
EMULATOR = "qemu"


def find_devices(
    abi: Abi, work_root: Path, wanted: Collection[str] = ()
) -> list[Device]:
    """The devices for an ABI.

    Args:
        abi: what the programs are built for.
        work_root: local folder below which devices on this computer work.
        wanted: names the user asked for; "qemu" emulates ARM boards.

    Raises:
        UnsupportedError: no driver reaches such devices.
    """
    if abi is Abi.HOST:
        return [HostDevice(work_root / "host")]
    if abi in EMULATED_ABIS:
        if EMULATOR in wanted or f"{EMULATOR}-{abi.value}" in wanted:
            return [EmulatorDevice(abi, work_root / abi.value)]
        raise UnsupportedError(
            f"target_abis names {abi.value}: no driver reaches boards yet; emulate one "
            f"by --devices_to_run={EMULATOR}, or give --target_abis=host"
        )
    raise UnsupportedError(
        f"target_abis names {abi.value}, and no driver reaches such devices yet; "
        "set target_abis: [host] in the deployment file or give --target_abis=host"
    )
