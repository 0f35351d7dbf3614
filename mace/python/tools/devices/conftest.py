# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures: devices of the farm, and programs for them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mace.python.tools.conftest import BOARDS, OLD_PHONE, PHONES
from mace.python.tools.devices.adb import AdbDevice, find_adb
from mace.python.tools.devices.remote import RemoteDevice
from mace.python.tools.devices.ssh import SshDevice, read_boards
from test.device_farm.farm import Farm, Running


class Rig:
    """A device of the farm, from both sides.

    Attributes:
        device: ready for use.
        running: gives it trouble, and knows what it moved.
    """

    def __init__(self, device: RemoteDevice, running: Running) -> None:
        self.device = device
        self.running = running
        device.probe()
        device.prepare()

    def again(self) -> RemoteDevice:
        """Another session with the same device."""
        other = (
            AdbDevice(find_adb(), self.running.address)
            if isinstance(self.device, AdbDevice)
            else SshDevice(self.device._board)  # type: ignore[attr-defined]
        )
        other.probe()
        other.prepare()
        return other


@pytest.fixture(params=[PHONES[0], OLD_PHONE, *BOARDS])
def rig(request: pytest.FixtureRequest, farm: Farm) -> Iterator[Rig]:
    """Two phones and two boards in turn, as different as possible."""
    name = request.param
    device: RemoteDevice
    if name not in BOARDS:
        if name in PHONES:
            running = request.getfixturevalue("phones")[PHONES.index(name)]
        else:
            running = request.getfixturevalue("old_phone")
        device = AdbDevice(find_adb(), running.address)
    else:
        running = request.getfixturevalue("boards")[BOARDS.index(name)]
        listed = {board.name: board for board in read_boards(farm.devices_yml)}
        device = SshDevice(listed[running.name])
    made = Rig(device, running)
    yield made
    device.close()


@pytest.fixture(scope="session")
def probe(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """A program for 64-bit and 32-bit ARM that prints its arguments."""
    folder = tmp_path_factory.mktemp("probe")
    source = folder / "probe.c"
    source.write_text(
        "#include <stdio.h>\n"
        'int main(int c, char **v) { printf("%d %s\\n", 8 * (int)sizeof(v), v[1]);\n'
        "return 5; }\n"
    )
    built = {}
    for bits, triple in ((64, "aarch64-linux-gnu"), (32, "arm-linux-gnueabihf")):
        built[bits] = folder / f"probe{bits}"
        compiler = ["clang-19", f"--target={triple}", "-fuse-ld=lld-19", "-static"]
        try:
            subprocess.run([*compiler, source, "-o", built[bits]], check=True)
        except FileNotFoundError:
            pytest.skip("there is no clang-19 to make an ARM program")
    return built
