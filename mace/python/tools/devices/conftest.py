# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Emulated devices for tests, reached by the real adb and ssh."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mace.python.tools.devices.adb import AdbDevice
from mace.python.tools.devices.adb_client import find_adb
from mace.python.tools.devices.boards import read_boards
from mace.python.tools.devices.remote import RemoteDevice
from mace.python.tools.devices.ssh import SshDevice
from test.device_farm.errors import FarmError
from test.device_farm.farm import Farm, Running

PHONES = ("mi6", "redmi_go")
BOARDS = ("nanopi", "raspberry")


@pytest.fixture(scope="session")
def farm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Farm]:
    """Two phones, and two boards where root runs the tests."""
    boards = BOARDS if os.geteuid() == 0 else ()
    # Far from the ports of other farms on this computer.
    first = 17555 + 20 * (os.getpid() % 300)
    folder = tmp_path_factory.mktemp("farm") / "farm"
    try:
        started = Farm(folder, PHONES, boards, adb_port=first, ssh_port=first + 10000)
        started.start()
    except FarmError as error:
        pytest.skip(f"no device farm: {error}")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in started.variables.items():
            patch.setenv(name, value)
        patch.delenv("ANDROID_SERIAL", raising=False)
        try:
            yield started
        finally:
            started.stop()


@pytest.fixture
def phones(farm: Farm) -> Iterator[list[Running]]:
    """Both phones, connected; their troubles end with the test."""
    for phone in farm.phones:
        subprocess.run(
            ["adb", "connect", phone.address],
            stdout=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            check=True,
        )
    yield farm.phones
    for phone in farm.phones:
        phone.clear()


@pytest.fixture
def boards(farm: Farm) -> Iterator[list[Running]]:
    """Both boards; their troubles end with the test."""
    if not farm.boards:
        pytest.skip("boards of the farm need root")
    yield farm.boards
    for board in farm.boards:
        board.clear()


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


@pytest.fixture(params=[*PHONES, *BOARDS])
def rig(request: pytest.FixtureRequest, farm: Farm) -> Iterator[Rig]:
    """Each device of the farm in turn."""
    name = request.param
    device: RemoteDevice
    if name in PHONES:
        running = request.getfixturevalue("phones")[PHONES.index(name)]
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
