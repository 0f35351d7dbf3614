# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The hottest loops of a network compared with the peak of ARM cores, by llvm-mca.

    python -m benchmarks.arm.loops --mace_run PROGRAM --network mobilenet_v1

The loops come from a run in the emulator, so they are what the library really executes.
llvm-mca simulates issue and latency with all loads in L1; a core's peak is its result
for multiply-adds alone. Its model for Cortex-A76 and X1 is that of A57; Neoverse N1 and
V1, which are the same cores for servers, have their own models.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchmarks.arm.emulator import Block, EmulationError, missing_tools
from benchmarks.arm.engines import (
    MACE,
    measure_mace,
    network_for,
    reference_output,
)
from benchmarks.networks import NAMES, make_network
from benchmarks.record import add_arguments, recorder
from benchmarks.tables import Table

# Names in llvm-mca: in-order cores, A76-class and X1-class.
CORES = ("cortex-a53", "cortex-a55", "neoverse-n1", "neoverse-v1")
# fmla v0.4s, v24.4s, v25.4s and so on: more than any core has in flight.
_SUMS = tuple(0x4E39CF00 | register for register in range(24))
_ITERATIONS = 100
_CPU = "cortex-a76"


class AnalysisError(Exception):
    """llvm-mca could not simulate the code; the message says why."""


@dataclass(frozen=True)
class Loop:
    """A hot block, and its multiply-adds relative to each core's peak."""

    block: Block
    of_peak: dict[str, float]


def analyse(block: Block) -> Loop:
    """Simulates a block that jumps back to its start.

    Raises:
        AnalysisError: a tool is missing or fails.
    """
    text = _disassemble(block.words)
    rates = {core: block.macs / _cycles(text, core) for core in CORES}
    return Loop(block, {core: rate / _peak(core) for core, rate in rates.items()})


def hottest_loops(blocks: Iterable[Block], count: int) -> list[Block]:
    """Blocks with multiply-adds that are executed repeatedly. The emulator translates a
    block again if it is entered in its middle or after its page was dropped: equal
    blocks are joined. It divides long code into several blocks: those that a loop runs
    through are joined to one.
    """
    joined: dict[tuple[int, tuple[int, ...]], Block] = {}
    for block in blocks:
        key = (block.address, block.words)
        seen = joined.get(key)
        executed = block.instructions + (seen.instructions if seen else 0)
        joined[key] = replace(block, instructions=executed)
    heaviest: dict[int, Block] = {}  # by address
    for block in sorted(joined.values(), key=lambda block: block.instructions):
        heaviest[block.address] = block
    loops = (_whole(block, heaviest) for block in heaviest.values())
    found = [block for block in loops if block.macs and _jumps_back(block)]
    found.sort(key=lambda block: -block.instructions)
    return found[:count]


def _whole(block: Block, at: Mapping[int, Block]) -> Block:
    """The block joined with those after it, up to a branch."""
    while block.words and not _is_branch(block.words[-1]):
        following = at.get(block.address + 4 * block.size)
        if following is None or not following.words:
            break
        block = replace(
            block,
            instructions=block.instructions + following.instructions,
            size=block.size + following.size,
            macs=block.macs + following.macs,
            words=block.words + following.words,
        )
    return block


def _is_branch(word: int) -> bool:
    return word >> 26 & 7 == 5


def _jumps_back(block: Block) -> bool:
    """Whether it ends in a conditional branch to its first instruction."""
    if not block.words:
        return False
    word = block.words[-1]
    distance = (1 - block.size) & 0x7FFFF
    if word >> 24 in (0x54, 0x34, 0x35, 0xB4, 0xB5):  # B.cond, CBZ, CBNZ
        return word >> 5 & 0x7FFFF == distance
    if word >> 24 & 0x7F in (0x36, 0x37):  # TBZ, TBNZ
        return word >> 5 & 0x3FFF == distance & 0x3FFF
    return False


def _run(command: list[str], text: str) -> str:
    program = shutil.which(command[0]) or shutil.which(command[0] + "-19")
    if program is None:
        raise AnalysisError(f"{command[0]} is missing: apt-get install llvm-19")
    done = subprocess.run(
        [program, *command[1:]], input=text, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise AnalysisError(f"{command[0]}: {done.stderr.strip()[-300:]}")
    return done.stdout


def _disassemble(words: tuple[int, ...]) -> str:
    data = b"".join(word.to_bytes(4, "little") for word in words)
    command = [
        "llvm-mc",
        "--disassemble",
        "--triple=aarch64",
        "--mattr=+v8.2a,+fullfp16,+dotprod",
    ]
    return _run(command, " ".join(f"{byte:#04x}" for byte in data))


def _cycles(text: str, core: str) -> float:
    command = ["llvm-mca", "-mtriple=aarch64", f"-mcpu={core}"]
    report = _run([*command, f"-iterations={_ITERATIONS}"], text)
    found = re.search(r"^Total Cycles:\s+(\d+)", report, re.MULTILINE)
    if found is None:
        raise AnalysisError(f"llvm-mca tells no cycles for {core}")
    return int(found[1]) / _ITERATIONS


@lru_cache
def _peak(core: str) -> float:
    """Multiply-adds per cycle."""
    return len(_SUMS) / _cycles(_disassemble(_SUMS), core)


def tables(data: dict[str, Any]) -> list[Table]:
    """One table per network: its hottest loops, and the share of each core's peak."""
    made = []
    for name, loops in data["networks"].items():
        title = f"{name}: multiply-adds of a core's peak in the hottest loops"
        head = ("loop", "of all", "instructions", "multiply-adds", *data["cores"])
        table = Table(name, title, head)
        for loop in loops:
            table.add(
                loop["function"],
                f"{loop['share']:.1%}",
                str(loop["instructions"]),
                str(loop["multiply_adds"]),
                *(f"{loop['of_peak'][core]:.0%}" for core in data["cores"]),
            )
        made.append(table)
    return made


def short_name(demangled: str) -> str:
    """A function's name without its parameters and what all kernels share."""
    name = demangled.removeprefix("void ").replace("(anonymous namespace)::", "")
    return name.split("(", 1)[0].removeprefix("mace::")


def _measure(name: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    network = network_for(options.engine, make_network(name))
    expected = reference_output(network)
    measured = measure_mace(
        options.mace_run,
        _CPU,
        network,
        expected,
        data_type=MACE[options.engine],
        hottest=1000,
    )
    executed = sum(block.instructions for block in measured.blocks)
    loops = [analyse(b) for b in hottest_loops(measured.blocks, options.loops)]
    return [
        {
            "function": short_name(
                _run(["llvm-cxxfilt", loop.block.function], "").strip()
            ),
            "share": loop.block.instructions / executed,
            "instructions": loop.block.size,
            "multiply_adds": loop.block.macs,
            "of_peak": loop.of_peak,
        }
        for loop in loops
    ]


def main() -> None:
    """Prints a table per network, a row per loop."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mace_run", type=Path, required=True, help="built for arm64")
    parser.add_argument("--network", nargs="+", choices=NAMES, default=["mobilenet_v1"])
    parser.add_argument(
        "--engine", choices=MACE, default="mace", help="arithmetic: fp32, fp16 or int8"
    )
    parser.add_argument("--loops", type=int, default=5, help="rows of a table")
    add_arguments(parser)
    options = parser.parse_args()
    output = recorder("benchmarks.arm.loops", options)
    missing = missing_tools([_CPU])
    if missing:
        sys.stderr.write("\n".join(missing) + "\n")
        raise SystemExit(2)
    try:
        networks = {name: _measure(name, options) for name in options.network}
    except (AnalysisError, EmulationError) as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(1) from error
    output.finish({"cores": list(CORES), "networks": networks})


if __name__ == "__main__":
    main()
