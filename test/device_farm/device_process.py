# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The process of one device: python -m test.device_farm.device_process PARENT SPEC

Prints "ready", or "failed" and why. Ends with its parent, at the latest.
"""

from __future__ import annotations

import json
import logging
import resource
import signal
import sys
from typing import Any, Dict

from test.device_farm import lifetime
from test.device_farm.board import Board
from test.device_farm.control import ControlServer
from test.device_farm.device import Device, Spec
from test.device_farm.errors import FarmError
from test.device_farm.phone import Phone
from test.device_farm.profile import find_profile


def _make(values: Dict[str, Any]) -> Device:
    spec = Spec(**values)
    if spec.kind == "phone":
        return Phone(spec, find_profile(spec.profile, "phone"))
    return Board(spec, find_profile(spec.profile, "board"))


def main() -> int:
    """Runs the device until SIGTERM."""
    lifetime.die_with(int(sys.argv[1]))
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(threadName)s %(message)s"
    )
    # A crash on the device must not leave core files of its emulator.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Ctrl-C at a terminal is for the farm, which ends its devices in order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        device = _make(json.loads(sys.argv[2]))
        device.start()
    except FarmError as error:
        print("failed " + str(error).replace("\n", " "), flush=True)
        return 1
    ControlServer(device)
    signal.signal(signal.SIGTERM, lambda *_: device.end())
    print("ready", flush=True)
    try:
        device.wait()
    finally:
        device.shut_down()
    return 0


if __name__ == "__main__":
    sys.exit(main())
