# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Machines on which models run, behind one interface."""

from __future__ import annotations

from mace.python.tools.devices.device import (
    CommandResult,
    Device,
    DeviceError,
    DeviceProperties,
)
from mace.python.tools.devices.discover import EMULATOR, find_devices
from mace.python.tools.devices.emulator import EmulatorDevice
from mace.python.tools.devices.host import HostDevice

__all__ = [
    "EMULATOR",
    "CommandResult",
    "Device",
    "DeviceError",
    "DeviceProperties",
    "EmulatorDevice",
    "HostDevice",
    "find_devices",
]
