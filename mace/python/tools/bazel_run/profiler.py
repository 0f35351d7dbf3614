# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Profilers that count hardware events on a device: simpleperf; perf on boards."""

from __future__ import annotations

from pathlib import PurePosixPath

from mace.python.tools.android_ndk import find_ndk
from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.devices import DeviceError, FoundDevice

_PUSHED = PurePosixPath("bazel_run") / "simpleperf"
# The usual place of a manual installation.
_BY_HAND = "/data/local/tmp/simpleperf"
_NDK_FOLDERS = {Abi.ARM64_V8A: "arm64", Abi.ARMEABI_V7A: "arm"}


def find_profiler(item: FoundDevice) -> str:
    """The profiler to call on a prepared device; the NDK's is taken along.

    Raises:
        DeviceError: there is none; says how to get one.
    """
    device, abi = item.device, item.abis[0]
    if not abi.is_android:
        found = device.run(["sh", "-c", "command -v perf"])
        if found.status == 0:
            return "perf"
        raise DeviceError(
            f"--simpleperf: {item.properties.name} has no perf; install it there "
            "(apt install linux-perf)"
        )
    search = f"command -v simpleperf || {{ test -x {_BY_HAND} && echo {_BY_HAND}; }}"
    found = device.run(["sh", "-c", search])
    if found.status == 0:
        return found.output.strip()
    ndk = find_ndk()
    if ndk is not None:
        folder = ndk.home / "simpleperf" / "bin" / "android" / _NDK_FOLDERS[abi]
        if (folder / "simpleperf").is_file():
            device.push(folder / "simpleperf", _PUSHED)
            return f"./{_PUSHED}"
    raise DeviceError(
        f"--simpleperf: {item.properties.name} has no simpleperf, and ANDROID_NDK_HOME "
        f"names no NDK to take it from; or push one to {_BY_HAND}"
    )
