# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Saves the output and the system log of a program that failed on a device."""

from __future__ import annotations

from pathlib import Path

from mace.python.tools.atomic import atomic_write
from mace.python.tools.devices.device import (
    Device,
    DeviceError,
    DeviceStoppedError,
)


def trouble_of(device: Device) -> str:
    """Why a device that failed cannot be used for the next program.

    Empty if it answers (again) and has been cleaned up.

    Raises:
        DeviceStoppedError: `Device.stop` was called.
    """
    try:
        device.prepare()
    except DeviceStoppedError:
        raise
    except DeviceError as error:
        return str(error)
    return ""


def write_log(path: Path, device: Device, name: str, output: str) -> None:
    """Saves a program's output, and the system log if the device still answers.

    Args:
        name: of the device.
        output: the program's, as far as it came.
    """
    if output and not output.endswith("\n"):
        output += "\n"
    with atomic_write(path, "w") as stream:
        stream.write(output)
        stream.write(f"--- log of {name} ---\n")
        stream.write(device.system_log() or "(nothing)\n")
