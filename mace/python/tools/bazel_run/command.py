# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The command line of `tools/bazel_adb_run.py`."""

from __future__ import annotations

import argparse
import logging
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from mace.python.tools.bazel_run.bazel_run import BazelRunOptions, Outcome, bazel_run
from mace.python.tools.command_line import flags
from mace.python.tools.command_line import guard as messages
from mace.python.tools.command_line.guard import guarded
from mace.python.tools.command_line.results import make_console
from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.devices.ssh import device_abi

_PROGRAM = "bazel_adb_run.py"

_EXAMPLES = """\
examples:
  python tools/bazel_adb_run.py --target=//mace/ops:ops_test --run_target=True \\
      --args="--gtest_filter=Conv2D*"
  python tools/bazel_adb_run.py --target=//mace/ops:ops_benchmark --run_target=True \\
      --args="--filter=.*BM_CONV.*" --target_abis=arm64-v8a
  python tools/bazel_adb_run.py --target=//mace/ops:ops_benchmark --run_target=True \\
      --args="--filter=MACE_BM_CONV_2D_*_GPU"

Booleans are written --flag, --flag=true or --flag=false.

exit status: 0 it ended with 0 on every device; 1 it did not; 2 the request is
wrong, or no device matches.
"""

# Options that are now chosen at run time, and that earlier versions chose at build
# time.
_OLD_SWITCHES = (
    "--enable_neon",
    "--enable_quantize",
    "--enable_bfloat16",
    "--enable_fp16",
    "--enable_rpcmem",
    "--enable_hta",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit status."""
    return guarded(sys.argv[1:] if argv is None else list(argv), _run)


def _run(arguments: list[str]) -> int:
    args = make_parser().parse_args(arguments)
    messages.set_verbose(args.verbose)
    for note in getattr(args, flags.NOTES_DEST, ()):
        logging.getLogger(__name__).warning("%s", note)
    options = BazelRunOptions(
        target=args.target,
        run_target=args.run_target,
        arguments=tuple(args.args),
        abis=args.target_abis,
        socs=tuple(soc.lower() for soc in args.target_socs),
        devices_to_run=args.devices_to_run,
        device_yml=args.device_yml,
        output_dir=args.output_dir,
        debug=args.debug_mode,
        address_sanitizer=args.address_sanitizer,
        simpleperf=args.simpleperf,
        gpu=args.enable_opencl,
        dsp=args.enable_hexagon,
        processor=args.stdout_processor,
        time_limit_s=args.time_limit,
        vlog_level=args.vlog_level,
    )
    console = make_console(sys.stdout)
    outcomes = bazel_run(options, console)
    if outcomes:
        _print_outcomes(console, args.target, outcomes)
    return 0 if all(outcome.passed for outcome in outcomes) else 1


def _print_outcomes(console: Console, target: str, outcomes: Sequence[Outcome]) -> None:
    for outcome in outcomes:
        if outcome.status is None:
            # As one unwrapped text: a narrow column of the table is hard to search.
            console.print(
                f"{target} on {outcome.device} ({outcome.abi.value}): FAILED, "
                f"{outcome.message}",
                style="bold red",
                markup=False,
                highlight=False,
                emoji=False,
                soft_wrap=True,
            )
    table = Table(title=target, box=box.SIMPLE_HEAD)
    for name in ("device", "ABI", "result", "files"):
        table.add_column(name, overflow="fold")
    for outcome in outcomes:
        table.add_row(
            outcome.device,
            outcome.abi.value,
            outcome.message,
            "\n".join(map(str, outcome.files)),
            style="" if outcome.passed else "bold red",
        )
    console.print(table)


def make_parser() -> argparse.ArgumentParser:
    """All flags; docs/user/run_on_phone.md explains them."""
    parser = flags.FlagParser(
        prog=_PROGRAM,
        description="Builds a C++ test or benchmark and runs it on devices.",
        epilog=_EXAMPLES,
    )
    parser.add_argument(
        "--target",
        required=True,
        metavar="LABEL",
        help="Bazel's label of the program, such as //mace/ops:ops_test",
    )
    flags.add_switch(
        parser, "--run_target", "run it once it is built (default false: only build it)"
    )
    parser.add_argument(
        "--args",
        type=_arguments,
        default=[],
        metavar="TEXT",
        help='its arguments, such as "--gtest_filter=Conv2D*"',
    )
    parser.add_argument(
        "--stdout_processor",
        choices=("auto", "none", "unittest", "ops_benchmark"),
        default="auto",
        help="what to make of its output (default auto: both where they fit)",
    )
    parser.add_argument(
        "--output_dir",
        type=flags.path,
        default=Path("build") / "bazel_run",
        metavar="DIR",
        help="where logs and results go (default build/bazel_run)",
    )
    parser.add_argument(
        "--time_limit",
        type=flags.integer(1),
        default=3600,
        metavar="SECONDS",
        help="end it after so long (default 3600)",
    )
    _add_devices(parser)
    _add_build(parser)
    parser.add_argument(
        "--vlog_level",
        type=flags.integer(0, 5),
        default=0,
        metavar="0..5",
        help="detail of the library's own log (default 0)",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="print each step")
    return parser


def _add_devices(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("devices")
    group.add_argument(
        "--target_abis",
        type=_abis,
        default=(),
        metavar="ABI[,ABI]",
        help="build for these, and run on every device that can "
        "(default: what each device runs best)",
    )
    group.add_argument(
        "--target_socs",
        type=flags.words,
        default=("all",),
        metavar="SOC[,SOC]",
        help="only devices with these; all, or random for any one (default all)",
    )
    group.add_argument(
        "--devices_to_run",
        type=flags.words,
        default=(),
        metavar="NAME[,NAME]",
        help="only these devices, by name or serial number; qemu emulates a board, "
        "host is this computer",
    )
    flags.add_device_yml(group)


def _add_build(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("build")
    flags.add_switch(group, "--debug_mode", "with symbols, not optimised")
    flags.add_switch(group, "--address_sanitizer", "check every memory access")
    flags.add_switch(
        group,
        "--enable_opencl",
        "with the GPU runtime (default: if --args names benchmarks on the GPU)",
        default=None,
    )
    flags.add_switch(
        group,
        "--enable_hexagon",
        "with the DSP runtime (default: if --args names benchmarks on the DSP)",
        default=None,
    )
    flags.add_switch(
        group, "--simpleperf", "count hardware events (simpleperf or perf stat)"
    )
    old = parser.add_argument_group("accepted from earlier versions")
    for name in _OLD_SWITCHES:
        old.add_argument(
            name,
            action=flags.OldFlag,
            dest=argparse.SUPPRESS,
            advice="has no effect: it is chosen when the program runs",
            nargs="?",
            const=True,
            type=flags.boolean,
            metavar="BOOL",
            help="no effect",
        )


def _arguments(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"found {text!r}: {error}") from error


def _abis(text: str) -> tuple[Abi, ...]:
    found = []
    for word in flags.words(text):
        found.append(device_abi(word))
    return tuple(dict.fromkeys(found))
