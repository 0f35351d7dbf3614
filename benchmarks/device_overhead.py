# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""How much longer a run on a device takes than `mace_run` itself.

    python -m benchmarks.device_overhead [--rounds 7]

The digits example runs on a phone and, where root runs it, on a board of the
device farm (`test/device_farm`); program and model are there already, as they are
from the second run on. Three times are told, in seconds:

command   `converter.py run` from its start to its end
mace_run  the program alone, as the device takes for it: what five more starts in
          one shell take longer, divided by five
overhead  the difference: Python, the search for devices, files there and back

The farm emulates the device's shell and tools, so that a command there takes longer
than on a phone; what USB or a network takes is not in it. With a board, run it as
root, or give --board=none. The exit status is 1 when an overhead is above 1.5 s.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.devices import DeviceQuery, FoundDevice, close_all, find_devices
from test.device_farm.farm import Farm

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
CONFIG = "mace/examples/digits/digits.yml"
LIMIT_S = 1.5
_STARTS = 6
_MACE_RUN = (
    "./mace_run --model_file=digits/model.pb --model_data_file=digits/model.data "
    "--input_node=image --input_shape=1,8,8,1 "
    "--output_node=probability --output_shape=1,10"
)


@dataclass(frozen=True)
class Place:
    """One device, and the ABI that runs there."""

    name: str
    abi: Abi
    command: list[str]
    query: DeviceQuery
    environment: dict[str, str]


@dataclass(frozen=True)
class Times:
    """The times of one device, in seconds."""

    command: list[float]
    mace_run: float

    @property
    def overhead(self) -> float:
        return min(self.command) - self.mace_run


def places(farm: Farm) -> list[Place]:
    """The first phone and the first board of a farm."""
    found = []
    for devices, abi in ((farm.phones, Abi.ARM64_V8A), (farm.boards, Abi.ARM64)):
        for device in devices[:1]:
            boards = farm.devices_yml if farm.boards else None
            command = [
                *(sys.executable, "tools/converter.py", "run", f"--config={CONFIG}"),
                *(f"--target_abis={abi.value}", f"--build_dir={BUILD}"),
                f"--devices_to_run={device.address}",
                *([f"--device_yml={boards}"] if boards else []),
            ]
            query = DeviceQuery((abi,), BUILD, (), (device.address,), boards)
            model = device.profile.model
            found.append(Place(model, abi, command, query, farm.env))
    return found


def call(place: Place) -> float:
    """Runs the command and returns its wall time."""
    begin = time.perf_counter()
    done = subprocess.run(
        place.command,
        cwd=ROOT,
        env=place.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(f"{place.name}: {done.stdout}{done.stderr}")
    return time.perf_counter() - begin


def starts(item: FoundDevice, count: int) -> float:
    """The wall time of several starts of mace_run in one shell of the device."""
    script = (
        f"i=0; while [ $i -lt {count} ]; do {_MACE_RUN} || exit 1; i=$((i+1)); done"
    )
    begin = time.perf_counter()
    result = item.device.run(["sh", "-c", script])
    if result.status != 0:
        raise SystemExit(f"mace_run on {item.properties.name}: {result.output}")
    return time.perf_counter() - begin


def measure(place: Place, rounds: int) -> Times:
    """Runs the command and the program in turns."""
    call(place)
    devices = find_devices(place.query)
    try:
        (item,) = devices.found
        item.device.prepare()
        command, alone = [], []
        for _ in range(rounds):
            command.append(call(place))
            more = starts(item, _STARTS) - starts(item, 1)
            alone.append(more / (_STARTS - 1))
    finally:
        close_all(devices)
    return Times(command, min(alone))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--phone", default="mi6", help="its profile (default mi6)")
    parser.add_argument(
        "--board", default="nanopi", help="its profile (default nanopi); none: no board"
    )
    args = parser.parse_args()
    convert = [sys.executable, "tools/converter.py", "convert", f"--config={CONFIG}"]
    subprocess.run(
        [*convert, f"--build_dir={BUILD}"], cwd=ROOT, check=True, capture_output=True
    )
    boards = [] if args.board == "none" else [args.board]
    with tempfile.TemporaryDirectory() as folder:
        with Farm(Path(folder) / "farm", [args.phone], boards) as farm:
            for phone in farm.phones:
                connect = ["adb", "connect", phone.address]
                subprocess.run(connect, env=farm.env, check=True, capture_output=True)
            # The search for devices in this process must find these phones.
            os.environ.update(farm.variables)
            found = {one.name: measure(one, args.rounds) for one in places(farm)}
    _show(found, args.rounds)
    slow = [name for name, times in found.items() if times.overhead > LIMIT_S]
    if slow:
        print(f"more than {LIMIT_S} s beyond mace_run: {', '.join(slow)}")
    return 1 if slow else 0


def _show(found: dict[str, Times], rounds: int) -> None:
    table = Table(title=f"digits, seconds: minimum (median) of {rounds}")
    for title in ("device", "command", "mace_run", "overhead"):
        table.add_column(title, justify="left" if title == "device" else "right")
    for name, times in found.items():
        table.add_row(
            name,
            f"{min(times.command):.2f} ({statistics.median(times.command):.2f})",
            f"{times.mace_run:.2f}",
            f"{times.overhead:.2f}",
            style="" if times.overhead <= LIMIT_S else "bold red",
        )
    Console().print(table)


if __name__ == "__main__":
    sys.exit(main())
