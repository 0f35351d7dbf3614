# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Which devices can run a deployment."""

from __future__ import annotations

from pathlib import Path

from mace.python.tools.config.deployment import Abi
from mace.python.tools.devices.device import Device
from mace.python.tools.devices.host import HostDevice
from mace.python.tools.errors import UnsupportedError


def find_devices(abi: Abi, work_root: Path) -> list[Device]:
    """The devices for an ABI.

    Args:
        abi: what the programs are built for.
        work_root: local folder below which a host device works.

    Raises:
        UnsupportedError: no driver reaches such devices.
    """
    if abi is Abi.HOST:
        return [HostDevice(work_root / "host")]
    raise UnsupportedError(
        f"target_abis names {abi.value}, and models run on this computer only "
        "(ABI host) so far; set target_abis: [host] in the deployment file or give "
        "--target_abis=host"
    )
