# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Exclusive use of a device, with clean-up at the end."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from mace.python.tools.devices.device import Device, DeviceStoppedError
from mace.python.tools.devices.lock import device_lock


@contextlib.contextmanager
def device_lease(device: Device) -> Iterator[None]:
    """Holds the device's lock; after `Device.stop`, cleans up before it is released.

    Raises:
        DeviceError: it stays in use; says by whom.
        DeviceStoppedError: `Device.stop` was called.
    """
    with device_lock(device.identity, device.stop_event, label=device.address):
        try:
            yield
        except DeviceStoppedError:
            device.clean_up()
            raise
