# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares two revisions of MACE, in turns, on the same model files.

    python -m benchmarks.revisions --before COMMIT [--after COMMIT]
        [--kinds fp32 bf16 int8 gpu] [--networks NAME ...]

builds mace_run of each in a work tree of its own (`build/benchmarks/revisions`)
and runs the networks with both by turns: time of an engine's creation, of the
first and of every further inference, peak memory, size of the program. Without
--after: this checkout as it is. The models are those of this checkout's
converter; `int8` is by ONNX Runtime's quantizer, and `gpu`, which takes a GPU, stores
float16 and computes in float32. With --limit the exit status is 1 where the ratio of
two minima, or of memory or size, is above it. A program that is built already may
stand in the place of a commit, for a computer without Bazel.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from benchmarks.networks import (
    MEASURED,
    NAMES,
    ROOT,
    Network,
    make_network,
    make_variant,
)
from benchmarks.onnx_quantized import quantized_alone
from benchmarks.runner import MACE_RUN, model_arguments, report
from benchmarks.tables import Table, show
from mace.python.tools.build_tools import bazel_command

_TARGET = "//mace/tools:mace_run"
_TREES = ROOT / "build/benchmarks/revisions"
# What computes: the flags of mace_run.
_KINDS: dict[str, tuple[str, ...]] = {
    "fp32": (),
    "bf16": (),
    "int8": (),
    "gpu": ("--runtime=gpu+cpu",),
}
# The compared values: title, and the function that computes the ratio.
_MEASURES = {
    "create": "create ms",
    "first": "first result ms",
    "run": "inference ms",
    "peak": "peak memory MiB",
}


@dataclass(frozen=True)
class Sample:
    """The measurements of one process, in milliseconds and MiB."""

    create: float
    first: float
    run: Sequence[float]
    peak: float


def build(commit: str | None, gpu: bool) -> Path:
    """mace_run of a commit, or of this checkout for None; a program as it is."""
    tree = ROOT
    if commit is not None:
        if Path(commit).is_file():
            return Path(commit).resolve()
        name = _output("git", "rev-parse", "--short=12", f"{commit}^{{commit}}")
        tree = _TREES / name
        if not tree.exists():
            _output("git", "worktree", "add", "--detach", str(tree), name)
    print(f"building {_TARGET} in {tree}", flush=True)
    flags = ["--define=opencl=true"] if gpu else []
    subprocess.run(
        bazel_command().words("build", *flags, _TARGET), cwd=tree, check=True
    )
    return tree / MACE_RUN.relative_to(ROOT)


def _output(*command: str) -> str:
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return done.stdout.strip()


def of_kind(network: Network, kind: str) -> Network:
    """The network with the MACE model of a kind."""
    if kind == "bf16":
        return replace(network, mace=make_variant(network, "bf16_bf16"))
    if kind == "gpu":
        return replace(network, mace=make_variant(network, "fp16_fp32"))
    return quantized_alone(network) if kind == "int8" else network


@dataclass(frozen=True)
class Case:
    """What both revisions run.

    Attributes:
        flags: of mace_run, besides those that all have.
        runs: inferences of each process.
    """

    network: Network
    threads: int
    runs: int
    flags: Sequence[str] = ()


def sample(program: Path, case: Case) -> Sample:
    """Runs one process that creates an engine and runs it."""
    flags = [
        *case.flags,
        f"--num_threads={case.threads}",
        f"--round={case.runs}",
        # Like an application: chains of operators, no checks of values.
        "--out_of_range_check=false",
        "--check_weights=false",
    ]
    data, _ = report([str(program)], [*model_arguments(case.network), *flags])
    engine = data["restarts"][0]
    return Sample(
        engine["init_ms"],
        engine["init_ms"] + engine["warmup_ms"],
        engine["run_ms"]["values"],
        data["memory"]["peak_resident_bytes"] / 2**20,
    )


def compare(
    programs: Mapping[str, Path], case: Case, rounds: int
) -> dict[str, list[Sample]]:
    """Samples of both revisions, taken in turns."""
    samples: dict[str, list[Sample]] = {name: [] for name in programs}
    for number in range(rounds):
        # Alternates which revision runs first.
        order = list(programs)[:: 1 if number % 2 == 0 else -1]
        for name in order:
            samples[name].append(sample(programs[name], case))
    return samples


def figures(samples: Sequence[Sample], measure: str) -> tuple[float, float]:
    """Minimum and median; every inference counts separately."""
    if measure == "run":
        values = [value for one in samples for value in one.run]
    else:
        values = [getattr(one, measure) for one in samples]
    return min(values), statistics.median(values)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.revisions",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--before", required=True, metavar="COMMIT")
    parser.add_argument("--after", metavar="COMMIT", help="default: this checkout")
    parser.add_argument("--kinds", nargs="+", choices=_KINDS, default=["fp32"])
    parser.add_argument("--networks", nargs="+", choices=NAMES, default=list(MEASURED))
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--rounds", type=int, default=10, help="processes of each")
    parser.add_argument("--runs", type=int, default=30, help="inferences of each")
    parser.add_argument("--limit", type=float, metavar="RATIO")
    return parser.parse_args()


def main() -> int:
    """Measures and prints; returns 1 if --limit is exceeded."""
    args = _parse()
    gpu = "gpu" in args.kinds
    programs = {"before": build(args.before, gpu), "after": build(args.after, gpu)}
    sizes = {name: path.stat().st_size for name, path in programs.items()}
    table = Table(
        "revisions",
        f"{args.before} and what came after, by turns; minimum / median",
        ("network", "threads", "measure", "before", "after", "ratio of minima"),
        labels=3,
    )
    worst = sizes["after"] / sizes["before"]
    networks = {name: make_network(name) for name in args.networks}
    for (name, made), kind in itertools.product(networks.items(), args.kinds):
        network = of_kind(made, kind)
        for threads in args.threads:
            case = Case(network, threads, args.runs, _KINDS[kind])
            samples = compare(programs, case, args.rounds)
            for measure, title in _MEASURES.items():
                before = figures(samples["before"], measure)
                after = figures(samples["after"], measure)
                ratio = after[0] / before[0]
                worst = max(worst, ratio)
                table.add(
                    f"{name} {kind}",
                    str(threads),
                    title,
                    *(f"{low:.2f} / {mid:.2f}" for low, mid in (before, after)),
                    f"{ratio:.3f}",
                )
    show([table], Console())
    print(
        f"size of mace_run: {sizes['before']} and {sizes['after']} bytes, "
        f"{sizes['after'] / sizes['before']:.3f}"
    )
    if args.limit is not None and worst > args.limit:
        print(f"a ratio of {worst:.3f} is above {args.limit}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
