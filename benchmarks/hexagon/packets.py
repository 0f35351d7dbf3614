# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Packets that layers of MobileNet v1 and others take on a Hexagon DSP, in qemu.

Usage: python -m benchmarks.hexagon.packets [--require-goals]

A packet is one step of the processor, unless it waits for memory. Two vrmpy of 128
multiply-adds fit into one. With several threads, what the longest one takes counts,
as each layer ends when all have done their part.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from mace.python.tools.bazel_command import bazel_command

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parents[1]
_TARGET = "//mace/kernels/hexagon:layers_benchmark"
_COUNTS = re.compile(r"^packets (\d+) one (\d+) two (\d+)$", re.MULTILINE)
_THREAD = re.compile(r"^thread (\d+) packets (\d+)$", re.MULTILINE)
_THREADS = (2, 4)
_MACS_OF_PACKET = 256
_MOST_MILLIONS = 4.4
_LEAST_BUSY = 0.6
# Name, and millions of multiply-adds, of the layers of layers_benchmark.cc.
LAYERS = (
    ("3x3 by 2, 3 to 32", 10.84),
    ("depthwise 112, 32", 3.61),
    ("1x1 112, 32 to 64", 25.69),
    ("depthwise 112 by 2, 64", 1.81),
    ("1x1 56, 64 to 128", 25.69),
    ("depthwise 56, 128", 3.61),
    ("1x1 56, 128 to 128", 51.38),
    ("depthwise 56 by 2, 128", 0.90),
    ("1x1 28, 128 to 256", 25.69),
    ("depthwise 28, 256", 1.81),
    ("1x1 28, 256 to 256", 51.38),
    ("depthwise 28 by 2, 256", 0.45),
    ("1x1 14, 256 to 512", 25.69),
    ("depthwise 14, 512", 0.90),
    ("1x1 14, 512 to 512", 51.38),
    ("depthwise 14 by 2, 512", 0.23),
    ("1x1 7, 512 to 1024", 25.69),
    ("depthwise 7, 1024", 0.45),
    ("1x1 7, 1024 to 1024", 51.38),
    ("fully connected, 1024 to 1024", 1.05),
)
# How often a layer comes.
_TIMES = {13: 5, 14: 5}
# Layers of other networks, which follow those of MobileNet v1.
OTHERS = (
    ("3x3 56, 64", 115.61),
    ("3x3 14, 256", 115.61),
    ("1x1 112, 16 to 96", 19.27),
    ("depthwise 56 by 2, 96", 2.71),
    ("1x1 56, 24 to 144", 10.84),
    ("depthwise 56, 144", 4.06),
    ("1x1 56, 144 to 24", 10.84),
    ("1x1 28, 40 to 240", 7.53),
    ("depthwise 5x5 28, 240", 4.70),
    ("depthwise 5x5 28 by 2, 72", 1.41),
    ("1x1 14, 384 to 96", 7.23),
    ("1x1 14, 96 to 576", 10.84),
    ("fully connected, 1280 to 1000", 1.28),
)


@dataclass(frozen=True)
class Packets:
    """Executed packets: all, and those with one and with two vrmpy; all by thread."""

    packets: int
    one: int
    two: int
    by_thread: dict[int, int]


def _run(program: Path, plugin: Path, layer: int, rounds: int, threads: int) -> Packets:
    numbers = map(str, (layer, rounds, threads))
    done = subprocess.run(
        ["qemu-hexagon", "-plugin", plugin, program, *numbers],
        capture_output=True,
        text=True,
        check=False,
    )
    found = _COUNTS.search(done.stderr)
    if done.returncode or found is None:
        sys.exit(f"layer {layer}: status {done.returncode}: {done.stderr[-200:]}")
    packets, one, two = map(int, found.groups())
    by_thread = {int(i): int(count) for i, count in _THREAD.findall(done.stderr)}
    return Packets(packets, one, two, by_thread)


def measure(program: Path, plugin: Path, layer: int, threads: int = 1) -> Packets:
    """What one round of a layer takes."""
    without, with_one = (
        _run(program, plugin, layer, rounds, threads) for rounds in (0, 1)
    )
    return Packets(
        with_one.packets - without.packets,
        with_one.one - without.one,
        with_one.two - without.two,
        {
            thread: count - without.by_thread.get(thread, 0)
            for thread, count in with_one.by_thread.items()
        },
    )


def main() -> None:
    """Builds what is needed, and prints a table."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n", maxsplit=1)[0]
    )
    parser.add_argument(
        "--require-goals",
        action="store_true",
        help=f"fail if MobileNet v1 takes more than {_MOST_MILLIONS} million packets, "
        f"or if less than {_LEAST_BUSY:.0%} of those of 1x1 convolutions multiply",
    )
    arguments = parser.parse_args()
    bazel = bazel_command()
    for words in (
        bazel.words("build", "--config=hexagon", _TARGET),
        # Where the program is.
        bazel.words("info", "--config=hexagon", "bazel-bin"),
    ):
        done = subprocess.run(
            words, cwd=_ROOT, check=True, stdout=subprocess.PIPE, text=True
        )
    program = Path(done.stdout.strip()) / _TARGET[2:].replace(":", "/")
    with tempfile.TemporaryDirectory() as folder:
        plugin = Path(folder) / "packets.so"
        source = _HERE / "packets.c"
        subprocess.run(
            ["cc", "-O2", "-shared", "-fPIC", "-o", plugin, source], check=True
        )
        found = [
            measure(program, plugin, index) for index in range(len(LAYERS + OTHERS))
        ]
        longest = {
            threads: sum(
                _TIMES.get(index, 1)
                * max(measure(program, plugin, index, threads).by_thread.values())
                for index in range(len(LAYERS))
            )
            for threads in _THREADS
        }
    table = Table("layer", "Mmacs", "packets", "of the least", "with vrmpy")
    for index, ((name, millions), layer) in enumerate(
        zip(LAYERS + OTHERS, found, strict=True)
    ):
        times = _TIMES.get(index, 1)
        table.add_row(
            f"{name}{f', {times} times' if times > 1 else ''}",
            f"{millions:.2f}",
            str(layer.packets),
            f"{layer.packets * _MACS_OF_PACKET / (millions * 1e6):.2f}",
            f"{(layer.one + layer.two) / layer.packets:.0%}",
            end_section=index + 1 == len(LAYERS),
        )
    Console().print(table)
    millions, busy = print_total(found[: len(LAYERS)])
    for threads, packets in longest.items():
        print(
            f"MobileNet v1 with {threads} threads: {packets / 1e6:.2f} million packets "
            f"of the longest one, {millions * 1e6 / packets:.2f} times fewer"
        )
    if arguments.require_goals and (millions > _MOST_MILLIONS or busy < _LEAST_BUSY):
        sys.exit("a goal is not met")


def print_total(found: list[Packets]) -> tuple[float, float]:
    """Prints what the layers of MobileNet v1 take together.

    Returns the millions of packets, and the share of those of 1x1 convolutions that
    multiply.
    """
    total = pointwise = busy = 0
    for index, ((name, _), layer) in enumerate(zip(LAYERS, found, strict=True)):
        times = _TIMES.get(index, 1)
        total += times * layer.packets
        if name.startswith("1x1"):
            pointwise += times * layer.packets
            busy += times * (layer.one + layer.two)
    macs = sum(
        _TIMES.get(index, 1) * millions for index, (_, millions) in enumerate(LAYERS)
    )
    print(
        f"MobileNet v1: {total / 1e6:.2f} million packets, {macs:.0f} Mmacs; "
        f"{busy / pointwise:.0%} of the packets of 1x1 convolutions multiply by vrmpy"
    )
    return total / 1e6, busy / pointwise


if __name__ == "__main__":
    main()
