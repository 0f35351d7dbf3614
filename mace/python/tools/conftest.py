# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Where tests run models: in the real program, and on emulated devices.

The devices are reached by the real adb and ssh. All packages share one farm: two in one
process would share an adb server.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

import pytest

from mace.python.tools.run.testing.project import build_dir, mace_run, project
from test.device_farm.errors import FarmError
from test.device_farm.farm import Farm, Running
from test.here import only_with_all

__all__ = ["build_dir", "mace_run", "project"]

PHONES = ("mi6", "redmi_go")
# A phone with Android 6; only connected in tests that ask for it.
OLD_PHONE = "nexus5"
BOARDS = ("nanopi", "raspberry")


@pytest.fixture(scope="session")
def farm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Farm]:
    """Two phones and an old one, and two boards where root runs the tests."""
    only_with_all("phones and boards")
    boards = BOARDS if os.geteuid() == 0 else ()
    # Different from the ports of other farms on this computer.
    first = 17555 + 20 * (os.getpid() % 300)
    folder = tmp_path_factory.mktemp("farm") / "farm"
    try:
        phones = (*PHONES, OLD_PHONE)
        started = Farm(folder, phones, boards, adb_port=first, ssh_port=first + 10000)
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
    """Both phones, connected; their faults end with the test."""
    found = farm.phones[: len(PHONES)]
    for phone in found:
        _adb("connect", phone)
    yield found
    for phone in found:
        phone.clear()


@pytest.fixture
def old_phone(farm: Farm) -> Iterator[Running]:
    """The phone with Android 6; it is disconnected after the test."""
    phone = farm.phones[-1]
    _adb("connect", phone)
    yield phone
    phone.clear()
    _adb("disconnect", phone)


def _adb(command: str, phone: Running) -> None:
    subprocess.run(
        ["adb", command, phone.address],
        stdout=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        check=command == "connect",
    )


@pytest.fixture
def boards(farm: Farm) -> Iterator[list[Running]]:
    """Both boards; their faults end with the test."""
    if not farm.boards:
        pytest.skip("boards of the farm need root")
    yield farm.boards
    for board in farm.boards:
        board.clear()
