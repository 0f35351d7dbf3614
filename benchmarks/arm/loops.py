# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The hottest loops of a network against the peak of ARM cores, by llvm-mca.

    python -m benchmarks.arm.loops --mace_run PROGRAM --network mobilenet_v1

The loops are taken from a run under the emulator, so they are what the library
really executes. llvm-mca simulates issue and latency with all loads in L1; a
core's peak is what it says of multiply-adds alone. Its model for Cortex-A76 and
X1 is that of A57; Neoverse N1 and V1, the same cores made for servers, have
models of their own.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.arm.counts import Block
from benchmarks.arm.emulator import EmulationError, missing_tools
from benchmarks.arm.engines import measure_mace, reference_output
from benchmarks.networks import NAMES, make_network

# As llvm-mca names them: in-order ones, A76-class and X1-class.
CORES = ("cortex-a53", "cortex-a55", "neoverse-n1", "neoverse-v1")
# fmla v0.4s, v24.4s, v25.4s and so on: more than any core has in flight.
_SUMS = tuple(0x4E39CF00 | register for register in range(24))
_ITERATIONS = 100
_CPU = "cortex-a76"


class AnalysisError(Exception):
    """llvm-mca could not simulate the code; the message says why."""


@dataclass(frozen=True)
class Loop:
    """A hot block, and its multiply-adds over a core's peak, by core."""

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
    """Blocks with multiply-adds that are executed again and again.

    The emulator translates a block anew where it is entered in its middle or
    after its page was dropped: equal ones are joined.
    """
    joined: dict[tuple[int, ...], Block] = {}
    for block in blocks:
        if not block.macs or not _jumps_back(block):
            continue
        seen = joined.get(block.words)
        executed = block.instructions + (seen.instructions if seen else 0)
        joined[block.words] = Block(
            block.function, executed, block.size, block.macs, block.words
        )
    ranked = sorted(joined.values(), key=lambda block: -block.instructions)
    return ranked[:count]


def _jumps_back(block: Block) -> bool:
    """Whether it ends in a conditional branch to its first instruction."""
    if not block.words:
        return False
    word = block.words[-1]
    if word >> 24 not in (0x54, 0x34, 0x35, 0xB4, 0xB5):  # B.cond, CBZ, CBNZ
        return False
    distance = word >> 5 & 0x7FFFF
    return distance == (1 - block.size) & 0x7FFFF


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
        "--mattr=+v8.2a,+fullfp16",
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


def main() -> None:
    """Prints a row per loop."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mace_run", type=Path, required=True)
    parser.add_argument("--network", choices=NAMES, default="mobilenet_v1")
    parser.add_argument("--loops", type=int, default=5)
    options = parser.parse_args()
    missing = missing_tools([_CPU])
    if missing:
        sys.stderr.write("\n".join(missing) + "\n")
        raise SystemExit(2)
    network = make_network(options.network)
    try:
        measured = measure_mace(
            options.mace_run,
            _CPU,
            network,
            reference_output(network),
            hottest=1000,
        )
        blocks = hottest_loops(measured.blocks, options.loops)
        loops = [analyse(block) for block in blocks]
    except (AnalysisError, EmulationError) as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(1) from error
    table = Table(title=f"{network.name}: multiply-adds of a core's peak")
    for title in ("function", "of all", "instructions", "multiply-adds", *CORES):
        table.add_column(title, justify="left" if title == "function" else "right")
    executed = sum(block.instructions for block in measured.blocks)
    for loop in loops:
        block = loop.block
        table.add_row(
            _run(["llvm-cxxfilt", block.function], "").strip(),
            f"{block.instructions / executed:.1%}",
            str(block.size),
            str(block.macs),
            *(f"{loop.of_peak[core]:.0%}" for core in CORES),
        )
    Console().print(table)


if __name__ == "__main__":
    main()
