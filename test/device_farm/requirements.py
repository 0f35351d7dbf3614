# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The farm's requirements on this computer; reports everything that is missing."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from typing import List

from test.device_farm.android_root import DSP_EMULATOR
from test.device_farm.board import SSHD
from test.device_farm.errors import FarmError
from test.device_farm.profile import Profile

_SETUP = "bash tools/setup.sh --for farm"
_ALWAYS = {
    "nsenter": "util-linux",
    "mount": "mount",
    "chroot": "coreutils",
}
_PHONE = {"adb": "adb"}
_BOARD = {
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "ldd": "libc-bin",
}


def check(profiles: List[Profile]) -> None:
    """Looks for the programs that these devices need.

    Raises:
        FarmError: some are missing, or this computer cannot have such devices.
    """
    if not sys.platform.startswith("linux") or platform.machine() != "x86_64":
        raise FarmError(
            "the device farm runs on Linux on x86-64, not on "
            f"{sys.platform} on {platform.machine()}"
        )
    wanted = dict(_ALWAYS)
    boards = [profile for profile in profiles if profile.kind == "board"]
    if len(boards) < len(profiles):
        wanted.update(_PHONE)
    if boards:
        wanted.update(_BOARD)
        if any(profile.rsync for profile in boards):
            wanted["rsync"] = "rsync"
    if any(profile.is_64_bit for profile in profiles):
        wanted["qemu-aarch64-static"] = "qemu-user-static"
    if any(profile.is_32_bit for profile in profiles):
        wanted["qemu-arm-static"] = "qemu-user-static"
    if any(profile.dsp for profile in profiles):
        wanted[DSP_EMULATOR] = "qemu-user-static"
    missing = {
        name: package for name, package in wanted.items() if not shutil.which(name)
    }
    if boards and not os.access(SSHD, os.X_OK):
        missing["sshd"] = "openssh-server"
    if missing:
        names = ", ".join(missing)
        packages = " ".join(dict.fromkeys(missing.values()))
        raise FarmError(
            f"the device farm needs {names}. To install: {_SETUP} "
            f"(or apt-get install {packages})"
        )
    if boards and os.geteuid() != 0:
        raise FarmError(
            "boards need root, as sshd changes users: run the farm with sudo, or "
            "without boards (--boards 0)"
        )
