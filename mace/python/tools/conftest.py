# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Emulated devices for tests, reached by the real adb and ssh.

One farm for all rooms: two in one process would share an adb server.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

import pytest

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
