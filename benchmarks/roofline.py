# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The rate of each operator of a network compared with the processor's peak.

    python -m benchmarks.roofline [--model resnet50] [--threads 1] [--winograd 0]
    python -m benchmarks.roofline --int8 [--model resnet50]
    python -m benchmarks.roofline --isa avx2 [--model resnet50]

`mace_run` measures the peak rates of multiply-adds and of memory in the same process as
the operators. `of peak` is the share of the peak rate of multiply-adds that an operator
reaches. The time of an operator is at least the longer of two times: the one for its
multiply-adds and the one for the bytes that it must read and write, both at peak rate.
`bound` names the longer one, `of bound` is the share of its rate. Winograd convolutions
need fewer multiply-adds than are counted, and may exceed 100 % of both. With --int8,
the network is the one of `int8.py`; a quantized operator is compared with the peak rate
of multiply-adds of 8-bit integers. With --isa, operators and peaks use the instructions
of a lesser processor, as with MACE_CPU_ISA.

Other work of the computer slows down the measurement of a peak, too: while direct
convolutions are faster than the peak, more processes are measured.
With --require SHARE the exit status is 1 if a direct convolution (neither
Winograd nor depthwise) of at least --large million multiply-adds has less of
the peak. Several processes are measured; each operator counts by its least time,
a peak by its highest rate.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.networks import NAMES, make_network
from benchmarks.peers.formats import require_engines
from benchmarks.quantized import quantized
from benchmarks.record import add_arguments, recorder
from benchmarks.runner import MACE_RUN, model_arguments, report, require_program
from benchmarks.tables import Table

# A line of `mace_run --explain`: number, type, name, device, kernel, outputs.
_EXPLAINED = re.compile(
    r"^I \S+ \d+ \w+ '(?P<name>.*)' [A-Z]+ (?P<kernel>.*?) ?\b[a-z]+\d+\[", re.MULTILINE
)
LARGE_MMAC = 50.0
# A direct convolution cannot exceed the peak, except if the clock rate changes.
_ABOVE_PEAK = 1.03
_MOST_PROCESSES = 12


@dataclass(frozen=True)
class Peak:
    """The peak rates of the processor, per ms.

    Attributes:
        macs: multiply-adds of floats.
        int8_macs: and of 8-bit integers; 0 if that was not measured.
    """

    macs: float
    # Data in the caches is read faster than from memory: the lower bound uses the rate
    # of data that fits the caches.
    cache_bytes: float
    memory_bytes: float
    int8_macs: float = 0.0

    def rate(self, quantized: bool) -> float:
        """Multiply-adds per ms of the arithmetic of an operator."""
        return self.int8_macs if quantized else self.macs


@dataclass(frozen=True)
class Row:
    """An operator, and its minimum time.

    Attributes:
        kernel: what computes it, as `--explain` has it; may be empty.
        filter: shape of a convolution's filter, or empty.
        quantized: whether it computes in 8-bit integers.
    """

    kind: str
    kernel: str
    output: str
    filter: str
    macs: int
    bytes: int
    ms: float
    quantized: bool = False

    @property
    def direct(self) -> bool:
        """Whether it does all multiply-adds of a convolution that is no
        depthwise one."""
        return self.kind == "Conv2D" and not self.kernel.startswith("winograd")

    def compute_ms(self, peak: Peak) -> float:
        """The time of its multiply-adds at the peak rate."""
        return self.macs / peak.rate(self.quantized) if self.macs else 0.0

    def of_peak(self, peak: Peak) -> float:
        """Share of the rate of multiply-adds."""
        return self.compute_ms(peak) / self.ms

    def bound(self, peak: Peak) -> tuple[str, float]:
        """The limiting resource at the peak rates, and the least time."""
        compute = self.compute_ms(peak)
        memory = self.bytes / peak.cache_bytes
        return ("compute", compute) if compute >= memory else ("memory", memory)


def kernels(log: str) -> dict[str, str]:
    """The kernel of each operator, from the output of `--explain`."""
    return {found["name"]: found["kernel"] for found in _EXPLAINED.finditer(log)}


def rows(report: dict[str, Any], log: str = "") -> list[Row]:
    """Operators in a report of `mace_run --report_json`."""
    chosen = kernels(log)
    return [
        Row(
            kind=op["type"],
            kernel=chosen.get(op["name"], ""),
            output=_dims(op["output_shape"][0]),
            filter=_dims(op.get("filter_shape", ())),
            macs=op["macs"],
            bytes=op["bytes"],
            ms=op["min_ms"],
            quantized=op["quantized"],
        )
        for op in report["benchmark"]["ops"]
        if op["min_ms"] > 0
    ]


def peak_of(report: dict[str, Any]) -> Peak:
    """The rates in a report."""
    peak = report["peak"]
    return Peak(
        peak["gflops"] / 2 * 1e6,
        peak["cache_gbytes_per_s"] * 1e6,
        peak["gbytes_per_s"] * 1e6,
        peak["int8_gops"] / 2 * 1e6,
    )


def _dims(shape: Iterable[int]) -> str:
    return "x".join(map(str, shape))


def least(runs: list[list[Row]]) -> list[Row]:
    """Each operator with its minimum time of all runs."""
    return [min(same, key=lambda row: row.ms) for same in zip(*runs)]


def grouped(found: Iterable[Row]) -> list[list[Row]]:
    """Groups operators that do the same work, in the order of the first ones."""
    return _by(found, lambda row: (row.kind, row.kernel, row.output, row.filter))


def _by(found: Iterable[Row], key: Callable[[Row], object]) -> list[list[Row]]:
    groups: dict[object, list[Row]] = {}
    for row in found:
        groups.setdefault(key(row), []).append(row)
    return list(groups.values())


def large_direct(found: Iterable[Row], mmac: float) -> list[Row]:
    """The operators for which the required share of the peak applies."""
    return [row for row in found if row.direct and row.macs >= mmac * 1e6]


def tables(data: Any) -> list[Table]:
    """Operators; large direct convolutions; and sums by kernel."""
    found, peak = [Row(**row) for row in data["ops"]], Peak(**data["peak"])
    threads, winograd = data["threads"], data["winograd"]
    name = f"{data['network']}, {threads} thread{'s' * (threads != 1)}"
    if winograd is not None:
        name += f", `winograd: {winograd}`"
    if data.get("isa"):  # unknown to older records
        name += f", {data['isa']}"
    if any(row.quantized for row in found):
        name += ", in 8-bit integers"
        rates = (
            f"peak {peak.int8_macs / 1e6:.0f} GMAC/s ({peak.macs / 1e6:.0f} in fp32)"
        )
    else:
        rates = f"peak {peak.macs / 1e6:.0f} GMAC/s"
    large = large_direct(found, data["large"])
    return [
        _operators(found, peak, f"{name}; {rates}, {peak.cache_bytes / 1e6:.0f} GB/s "
        f"in cache, {peak.memory_bytes / 1e6:.0f} GB/s of memory"),
        _large(large, peak, f"{name}, direct convolutions of at least "
        f"{data['large']:.0f} million multiply-adds; {rates}"),
        _sums(found, peak, f"{name}, sums by kernel; {rates}"),
    ]  # fmt: skip


def _operators(found: list[Row], peak: Peak, title: str) -> Table:
    table = Table(
        "operators",
        title,
        (
            *("operator", "kernel", "output", "filter", "bound", "number"),
            *("MMAC", "ms", "GMAC/s", "of peak", "of bound"),
        ),
        labels=5,
    )
    for same in grouped(found):
        row = same[0]
        bound, ms = row.bound(peak)
        mean = sum(one.ms for one in same) / len(same)
        table.add(
            *(row.kind, row.kernel, row.output, row.filter, bound, str(len(same))),
            f"{row.macs / 1e6:.1f}",
            f"{mean:.3f}",
            *_rates(same, peak),
            f"{ms / mean:.0%}",
        )
    total = sum(row.ms for row in found)
    macs = sum(row.macs for row in found)
    possible = sum(row.bound(peak)[1] for row in found)
    table.add()
    table.add(
        *("all", "", "", "", "", str(len(found)), f"{macs / 1e6:.0f}", f"{total:.3f}"),
        *_rates(found, peak),
        f"{possible / total:.0%}",
    )
    return table


def _large(found: list[Row], peak: Peak, title: str) -> Table:
    table = Table(
        "direct",
        title,
        (
            *("kernel", "output", "filter", "number", "MMAC", "ms", "GMAC/s"),
            *("of peak", "least of peak"),
        ),
        labels=3,
    )
    for same in grouped(found):
        row = same[0]
        mean = sum(one.ms for one in same) / len(same)
        table.add(
            *(row.kernel, row.output, row.filter, str(len(same))),
            f"{row.macs / 1e6:.1f}",
            f"{mean:.3f}",
            *_rates(same, peak),
            f"{min(one.of_peak(peak) for one in same):.1%}",
        )
    return table


def _sums(found: list[Row], peak: Peak, title: str) -> Table:
    table = Table(
        "sums",
        title,
        ("operator", "kernel", "number", "MMAC", "ms", "GMAC/s", "of peak"),
        labels=2,
    )
    groups = _by(found, lambda row: (row.kind, row.kernel))
    for same in sorted(groups, key=lambda group: -sum(row.ms for row in group)):
        macs, ms = sum(row.macs for row in same), sum(row.ms for row in same)
        table.add(
            *(same[0].kind, same[0].kernel, str(len(same))),
            f"{macs / 1e6:.0f}",
            f"{ms:.3f}",
            *_rates(same, peak),
        )
    return table


def _rates(found: list[Row], peak: Peak) -> tuple[str, str]:
    """GMAC/s of all together and their share of the peak; empty without
    multiply-adds."""
    macs, ms = sum(row.macs for row in found), sum(row.ms for row in found)
    if not macs:
        return "", ""
    possible = sum(row.compute_ms(peak) for row in found)
    return f"{macs / ms / 1e6:.1f}", f"{possible / ms:.1%}"


def measure(command: list[str], seconds: float) -> tuple[list[Row], Peak]:
    """Runs `mace_run`; SystemExit with its message if it fails."""
    flags = [
        "--cpu_affinity_policy=0",
        "--explain",
        "--benchmark",
        "--measure_peak",
        f"--max_seconds={seconds}",
    ]
    result, printed = report(command, flags)
    return rows(result, printed), peak_of(result)


def settle(
    once: Callable[[], tuple[list[Row], Peak]], processes: int
) -> tuple[list[Row], Peak]:
    """The least times and the highest peaks of so many processes, or of more
    while the peak cannot be true.

    Raises:
        SystemExit: it never is.
    """
    found: list[Row] = []
    peak = Peak(0, 0, 0)
    for done in range(1, _MOST_PROCESSES + 1):
        ops, rates = once()
        found = least([found, ops]) if found else ops
        peak = Peak(*map(max, zip(vars(peak).values(), vars(rates).values())))
        highest = max((r.of_peak(peak) for r in found if r.direct), default=0.0)
        if done >= processes and highest <= _ABOVE_PEAK:
            return found, peak
    raise SystemExit(
        f"a direct convolution reached {highest:.0%} of the measured peak: the "
        "computer was busy while that was measured; try again when it is not"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--model", choices=NAMES, default="resnet50")
    parser.add_argument(
        "--int8", action="store_true", help="the network of benchmarks.int8"
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--winograd", type=int, choices=(0, 2, 4), help="as in a deployment file"
    )
    parser.add_argument(
        "--isa", help="instruction set, as in MACE_CPU_ISA; its value by default"
    )
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each process")
    parser.add_argument(
        "--require",
        type=float,
        metavar="SHARE",
        help="exit status 1 if a large direct convolution has less of the peak",
    )
    parser.add_argument(
        "--large",
        type=float,
        default=LARGE_MMAC,
        metavar="MMAC",
        help="what is large (default: %(default)s)",
    )
    parser.add_argument("--mace_run", type=Path, default=MACE_RUN)
    add_arguments(parser)
    args = parser.parse_args()
    if args.int8 and args.winograd is not None:
        parser.error("--winograd is for networks in floats, without --int8")
    if args.isa:
        os.environ["MACE_CPU_ISA"] = args.isa
    output = recorder("benchmarks.roofline", args)
    require_program(args.mace_run)
    network = make_network(args.model, args.winograd)
    if args.int8:
        require_engines()
        network = quantized(network)
    command = [
        str(args.mace_run),
        *model_arguments(network),
        f"--num_threads={args.threads}",
    ]
    found, peak = settle(lambda: measure(command, args.seconds), args.processes)
    output.finish(
        {
            "network": args.model,
            "threads": args.threads,
            "winograd": args.winograd,
            "isa": os.environ.get("MACE_CPU_ISA"),
            "large": args.large,
            "peak": asdict(peak),
            "ops": [asdict(row) for row in found],
        }
    )
    return missed(large_direct(found, args.large), peak, args.require)


def missed(found: list[Row], peak: Peak, share: float | None) -> int:
    """The exit status; prints which operators are below the share."""
    if share is None:
        return 0
    slow = [row for row in found if row.of_peak(peak) < share]
    for row in slow:
        sys.stderr.write(
            f"{row.kernel} {row.output}, filter {row.filter}: "
            f"{row.of_peak(peak):.1%} of the peak is less than {share:.0%}\n"
        )
    if not found:
        sys.stderr.write("no direct convolution is that large\n")
    return int(bool(slow) or not found)


if __name__ == "__main__":
    sys.exit(main())
