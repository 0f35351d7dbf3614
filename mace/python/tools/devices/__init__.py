# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Machines on which models run, behind one interface."""

from __future__ import annotations

from mace.python.tools.devices.device import (
    NO_SPACE,
    SCRATCH,
    CommandResult,
    Device,
    DeviceError,
    DeviceFullError,
    DeviceLostError,
    DeviceProperties,
    DeviceStoppedError,
    DeviceUnsuitedError,
)
from mace.python.tools.devices.discover import (
    ALL_SOCS,
    EMULATOR,
    DeviceQuery,
    Devices,
    FoundDevice,
    SilentDevice,
    close_all,
    find_devices,
)
from mace.python.tools.devices.host import EmulatorDevice, HostDevice
from mace.python.tools.devices.lock import device_lease, device_lock
from mace.python.tools.devices.postmortem import trouble_of, write_log

__all__ = [
    "ALL_SOCS",
    "EMULATOR",
    "NO_SPACE",
    "SCRATCH",
    "CommandResult",
    "Device",
    "DeviceError",
    "DeviceFullError",
    "DeviceLostError",
    "DeviceProperties",
    "DeviceQuery",
    "DeviceStoppedError",
    "DeviceUnsuitedError",
    "Devices",
    "EmulatorDevice",
    "FoundDevice",
    "HostDevice",
    "SilentDevice",
    "close_all",
    "device_lease",
    "device_lock",
    "find_devices",
    "trouble_of",
    "write_log",
]
