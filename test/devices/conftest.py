# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Two phones, two boards, and a converted model with its programs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.errors import MissingToolError
from mace.python.tools.run.options import RunOptions
from mace.python.tools.run.program import find_program
from test.device_farm.farm import Farm, Running
from test.devices.tool import DIGITS, ROOT, Inside, Place, Tool

PHONES = ("mi6", "redmi_go")
BOARDS = ("nanopi", "up_squared")
ABIS = (Abi.ARM64_V8A, Abi.ARMEABI_V7A, Abi.ARM64, Abi.ARMHF, Abi.HOST)


@pytest.fixture(scope="session")
def farm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Farm]:
    """Two phones, connected, and two boards where root runs the tests."""
    boards = BOARDS if os.geteuid() == 0 else ()
    folder = tmp_path_factory.mktemp("devices") / "farm"
    # Far from the ports of other farms on this computer.
    first = 8555 + 20 * (os.getpid() % 150)
    with Farm(folder, PHONES, boards, adb_port=first, ssh_port=first + 3500) as one:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in one.variables.items():
                patch.setenv(name, value)
            patch.delenv("ANDROID_SERIAL", raising=False)
            patch.delenv("MACE_DEVICE_WAIT_S", raising=False)
            yield one


@pytest.fixture(autouse=True)
def well(farm: Farm) -> Iterator[None]:
    """Phones are connected, and all faults end with the test."""
    for phone in farm.phones:
        subprocess.run(
            ["adb", "connect", phone.address],
            env=farm.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            check=True,
        )
    yield
    for device in farm.devices:
        device.clear()


@pytest.fixture(scope="session")
def programs() -> dict[Abi, Path]:
    """`mace_run` for every ABI, built if need be."""
    options = RunOptions(build_dir=ROOT / "build")
    try:
        return {abi: find_program(abi, options) for abi in ABIS}
    except MissingToolError as error:
        pytest.skip(f"cannot build mace_run: {error}")


@pytest.fixture(scope="session")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build folder with the digits, without programs."""
    folder = tmp_path_factory.mktemp("converted")
    convert(DIGITS, folder)
    return folder


def convert(config: str, build_dir: Path) -> None:
    """Runs `converter.py convert`."""
    command = [sys.executable, "tools/converter.py", "convert", f"--config={config}"]
    command.append(f"--build_dir={build_dir}")
    subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, check=True)


def give_programs(build_dir: Path, programs: dict[Abi, Path]) -> None:
    """Copies programs to the place where `converter.py run` looks for them."""
    for abi, program in programs.items():
        path = build_dir / "bin" / abi.value / "mace_run"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(program.read_bytes())
        path.chmod(0o755)


@pytest.fixture
def tool(
    farm: Farm, converted: Path, programs: dict[Abi, Path], tmp_path: Path
) -> Tool:
    """The digits and all programs in a folder that the test may modify."""
    build_dir = tmp_path / "build"
    model = build_dir / "digits" / "model"
    model.parent.mkdir(parents=True)
    model.symlink_to(converted / "digits" / "model")
    give_programs(build_dir, programs)
    return Tool(build_dir, farm)


@pytest.fixture
def phone(farm: Farm) -> Running:
    """The 64-bit phone."""
    return farm.phones[0]


@pytest.fixture(params=[PHONES[0], BOARDS[0]])
def place(request: pytest.FixtureRequest, farm: Farm) -> Iterator[Place]:
    """A 64-bit phone and a 64-bit board in turn."""
    found = [device for device in farm.devices if device.name == request.param]
    if not found:
        pytest.skip("boards of the farm need root")
    inside = Inside(farm, found[0])
    yield Place(found[0], inside)
    inside.close()
