# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Packets that layers of MobileNet v1, v2 and others take on a Hexagon DSP, in qemu.

    python -m benchmarks.hexagon.packets [--require-goals]
        [--versions v67 v68 v73] [--emulator PATH] [--peer OBJECT]

A packet is one step of the processor, unless it waits for memory. Two vrmpy of 128
multiply-adds fit into one. With several threads, what the longest one takes counts, as
each layer ends when all have done their part. With an object of XNNPACK's kernels for
HVX, the packets of its fastest kernel for each layer are beside ours (README.md).
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.hexagon.layers import MOBILENET_V1, MOBILENET_V2, OTHERS, Layer
from benchmarks.hexagon.peer import Peer
from benchmarks.record import ROOT, add_arguments, recorder
from benchmarks.tables import Table
from mace.python.tools.build_tools import bazel_command

_HERE = Path(__file__).resolve().parent
_TARGET = "//mace/kernels/hexagon:layers_benchmark"
_ROUND = re.compile(r"^round (\d+)$", re.MULTILINE)
_BUSY = re.compile(r"^packets \d+ one (\d+) two (\d+)$", re.MULTILINE)
_MACS_OF_PACKET = 256
_THREADS = (2, 4)
_MOST_MILLIONS = 4.4
_LEAST_BUSY = 0.6
# The only core that emulators before 9.0 have.
_USUAL = "v67"
_EMULATOR = "qemu-hexagon"
_VERSIONS = ("v66", "v67", "v68", "v69", "v73")
_NETWORKS = {
    "MobileNet v1": MOBILENET_V1,
    "MobileNet v2": MOBILENET_V2,
    "others": OTHERS,
}


class Counter:
    """Runs programs for a DSP, which say how many packets a round takes.

    Args:
        emulator: the program, a path or a name.
        version: of the DSP.
        folder: for a plugin, which counts those that multiply.
    """

    def __init__(self, emulator: str, version: str, folder: Path) -> None:
        self._command = [emulator, "-cpu", version]
        self._plugin: Path | None = None
        told = subprocess.run(
            [emulator, "-h"], check=False, capture_output=True, text=True
        ).stdout
        # Some are built without plugins.
        if "-plugin" in told:
            self._plugin = folder / "packets.so"
            compiler = ["cc", "-O2", "-shared", "-fPIC"]
            source = _HERE / "packets.c"
            subprocess.run([*compiler, "-o", self._plugin, source], check=True)

    def packets(
        self, program: Path, arguments: list[str], threads: int | None = None
    ) -> int:
        """What one round takes: of the calling thread, of which none has more; with 0
        threads, of the kernel without an instruction.
        """
        more = [] if threads is None else [str(threads)]
        return int(self._run(_ROUND, [], program, [*arguments, "1", *more])[1])

    def busy(self, program: Path, arguments: list[str]) -> int | None:
        """How many of these multiply by vrmpy; None if the emulator can't say."""
        if self._plugin is None:
            return None
        plugin = ["-plugin", str(self._plugin)]
        none, one = (
            sum(map(int, self._run(_BUSY, plugin, program, [*arguments, n]).groups()))
            for n in "01"
        )
        return one - none

    def _run(
        self,
        pattern: re.Pattern[str],
        options: list[str],
        program: Path,
        arguments: list[str],
    ) -> re.Match[str]:
        done = subprocess.run(
            [*self._command, *options, str(program), *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        found = pattern.search(done.stderr)
        if done.returncode or found is None:
            sys.exit(
                f"{program.name} {' '.join(arguments)}: status {done.returncode}: "
                f"{done.stderr[-200:]}"
            )
        return found


@dataclass(frozen=True)
class Counted:
    """A layer on a version of the DSP.

    Attributes:
        network: that has it.
        busy: packets that multiply; None if the emulator can't count them.
        kernel: packets of our kernel without the instruction that calls it, as the
            peer's are counted; None without one of the peer's.
        peer: packets of the peer's fastest kernel; None without one.
        tile: of that kernel.
        longest: packets of the longest thread, of as many as _THREADS says.
    """

    network: str
    layer: str
    macs: int
    times: int
    packets: int
    busy: int | None = None
    kernel: int | None = None
    peer: int | None = None
    tile: str = ""
    longest: tuple[int, ...] = ()

    @property
    def ratio(self) -> float | None:
        """Of our kernel's packets to the peer's."""
        if self.kernel is None or self.peer is None:
            return None
        return self.kernel / self.peer


def _pixel_bytes(layer: Layer) -> int:
    # Pixels of up to 4 channels have 4 bytes, where they enter the DSP.
    unit = 4 if layer.inputs <= 4 else 8
    return (layer.inputs + unit - 1) // unit * unit


def count(
    counter: Counter, program: Path, peer: Peer | None, network: str, layer: Layer
) -> Counted:
    """Counts a layer, with our kernels and with all of the peer's that take it."""
    kind = "1" if layer.depthwise else "0"
    arguments = [kind, *layer.numbers(_pixel_bytes(layer))]
    theirs: list[tuple[int, str]] = []
    if peer is not None:
        numbers = layer.numbers(layer.inputs)
        theirs = [
            (counter.packets(peer.program(kernel), numbers), kernel.tile)
            for kernel in peer.kernels
            if kernel.takes(layer)
        ]
    least, tile = min(theirs) if theirs else (None, "")
    return Counted(
        network,
        layer.name,
        layer.macs,
        layer.times,
        counter.packets(program, arguments),
        counter.busy(program, arguments),
        None if least is None else counter.packets(program, arguments, 0),
        least,
        tile,
        tuple(counter.packets(program, arguments, n) for n in _THREADS)
        if network == "MobileNet v1"
        else (),
    )


def build(version: str) -> Path:
    """The program of our kernels."""
    bazel = bazel_command()
    config = f"--config=hexagon_{version}"
    for words in (
        bazel.words("build", config, _TARGET),
        # Where the program is.
        bazel.words("info", config, "bazel-bin"),
    ):
        done = subprocess.run(
            words, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
        )
    return Path(done.stdout.strip()) / _TARGET[2:].replace(":", "/")


def tables(data: Any) -> list[Table]:
    """What each version takes, and how all together compare."""
    made = []
    summary = Table(
        "totals",
        "MobileNet v1: millions of packets, and the share of those of 1x1 "
        "convolutions that multiply; ratio of our kernels' packets to the peer's, over "
        "all layers that it computes, and the worst",
        ("version", "packets", "with vrmpy", "ratio", "worst"),
    )
    for version, rows in data.items():
        counted = [Counted(**row) for row in rows]
        millions, busy = total(counted)
        ratios = [row.ratio for row in counted if row.ratio]
        sums = [(row.kernel, row.peer) for row in counted if row.kernel and row.peer]
        mean = sum(p for p, _ in sums) / sum(q for _, q in sums) if sums else None
        summary.add(
            version,
            f"{millions:.2f}",
            "" if busy is None else f"{busy:.0%}",
            "" if mean is None else f"{mean:.2f}",
            f"{max(ratios):.2f}" if ratios else "",
        )
        made.append(_layers(version, counted))
    return [summary, *made, *_threads(data)]


def _threads(data: Any) -> list[Table]:
    """A table if several threads were counted."""
    table = Table(
        "threads",
        "MobileNet v1: millions of packets of the longest of so many threads",
        ("version", *(f"{threads} threads" for threads in _THREADS)),
    )
    for version, rows in data.items():
        counted = [row for row in (Counted(**row) for row in rows) if row.longest]
        if counted:
            sums = (
                sum(row.times * row.longest[i] for row in counted)
                for i in range(len(_THREADS))
            )
            table.add(version, *(f"{packets / 1e6:.2f}" for packets in sums))
    return [table] if table.rows else []


def _layers(version: str, counted: Iterable[Counted]) -> Table:
    table = Table(
        version,
        f"{version}: packets of a layer, as an instruction of a program, to the least "
        "that its multiply-adds can take, share of those with vrmpy; packets of the "
        "kernel alone, of XNNPACK's fastest kernel, its tile, and the ratio",
        (
            "layer",
            "packets",
            "of the least",
            "vrmpy",
            "kernel",
            "XNNPACK",
            "tile",
            "ratio",
        ),
    )
    network = ""
    for row in counted:
        if network not in ("", row.network):
            table.add()
        network = row.network
        table.add(
            row.layer + (f", {row.times} times" if row.times > 1 else ""),
            str(row.packets),
            f"{row.packets * _MACS_OF_PACKET / row.macs:.2f}",
            "" if row.busy is None else f"{row.busy / row.packets:.0%}",
            "" if row.kernel is None else str(row.kernel),
            "" if row.peer is None else str(row.peer),
            row.tile,
            "" if row.ratio is None else f"{row.ratio:.2f}",
        )
    return table


def total(counted: Iterable[Counted]) -> tuple[float, float | None]:
    """Millions of packets that the layers of MobileNet v1 take together, and the share
    of those of 1x1 convolutions that multiply, if it was counted.
    """
    rows = [row for row in counted if row.network == "MobileNet v1"]
    points = [row for row in rows if row.layer.startswith("1x1")]
    busy = [row.times * row.busy for row in points if row.busy is not None]
    share = None
    if len(busy) == len(points):
        share = sum(busy) / sum(row.times * row.packets for row in points)
    return sum(row.times * row.packets for row in rows) / 1e6, share


def main() -> None:
    """Builds what is needed, counts, and prints tables."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n", maxsplit=1)[0]
    )
    parser.add_argument(
        "--versions",
        nargs="+",
        choices=_VERSIONS,
        default=[_USUAL],
        help=f"of the DSP ({_USUAL}); others need QEMU 9.0 or later",
    )
    parser.add_argument(
        "--emulator",
        default=_EMULATOR,
        help=f"the program, for versions other than {_USUAL} ({_EMULATOR})",
    )
    parser.add_argument(
        "--peer",
        metavar="OBJECT",
        help="compiled kernels of XNNPACK; {version} in the path is the version",
    )
    parser.add_argument(
        "--peer-version", metavar="NAME", help="of XNNPACK, for the record"
    )
    parser.add_argument(
        "--require-goals",
        action="store_true",
        help=f"fail if MobileNet v1 takes more than {_MOST_MILLIONS} million packets, "
        f"if less than {_LEAST_BUSY:.0%} of those of 1x1 convolutions multiply, or if "
        "the kernel takes as many as the peer's or more for a layer of MobileNet v1 "
        "or v2",
    )
    add_arguments(parser)
    args = parser.parse_args()
    output = recorder("benchmarks.hexagon.packets", args)
    data: dict[str, list[dict[str, Any]]] = {}
    is_good = True
    with tempfile.TemporaryDirectory() as name:
        for version in args.versions:
            program = build(version)
            emulator = _EMULATOR if version == _USUAL else args.emulator
            counter = Counter(emulator, version, Path(name))
            peer = None
            if args.peer:
                path = Path(args.peer.replace("{version}", version))
                peer = Peer(path, version, Path(name))
            counted = [
                count(counter, program, peer, network, layer)
                for network, layers in _NETWORKS.items()
                for layer in layers
            ]
            data[version] = [asdict(row) for row in counted]
            millions, busy = total(counted)
            is_good = is_good and millions <= _MOST_MILLIONS
            is_good = is_good and (busy is None or busy >= _LEAST_BUSY)
            is_good = is_good and all(
                row.ratio < 1
                for row in counted
                if row.ratio is not None and row.network != "others"
            )
    output.finish(data, {"XNNPACK": args.peer_version} if args.peer_version else None)
    if args.require_goals and not is_good:
        sys.exit("a goal is not met")


if __name__ == "__main__":
    main()
