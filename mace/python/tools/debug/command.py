# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The command line of `tools/debug.py`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from mace.python.tools.command_line import flags, guard
from mace.python.tools.command_line.guard import guarded
from mace.python.tools.debug.gdb import GdbOptions, debug
from mace.python.tools.debug.memory import MemoryOptions, watch
from mace.python.tools.debug.symbolize import read_symbols, symbolize
from mace.python.tools.debug.target import TargetOptions, devices
from mace.python.tools.devices.ssh import device_abi
from mace.python.tools.errors import UsageError

_PROGRAM = "debug.py"

# The folders of programs built by `run`, `bazel_adb_run.py` and the library script.
_SYMBOLS = (Path("build") / "bin", Path("build") / "lib")

_EXAMPLES = """\
examples:
  python tools/debug.py gdb --devices_to_run="MI 6" -- --model_file=m/model.pb
  python tools/debug.py logcat --lines=50
  python tools/debug.py symbolize --log=crash.txt --symbols=build/bin
  python tools/debug.py memory --dumpsys
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit status."""
    return guarded(sys.argv[1:] if argv is None else list(argv), _run)


def _run(arguments: list[str]) -> int:
    args = make_parser().parse_args(arguments)
    guard.set_verbose(args.verbose)
    status: int = args.handler(args)
    return status


def _target(args: argparse.Namespace) -> TargetOptions:
    return TargetOptions(
        devices_to_run=args.devices_to_run,
        device_yml=args.device_yml,
        abi=args.target_abi,
        folder=args.output_dir,
    )


def _show(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _gdb(args: argparse.Namespace) -> int:
    if args.server == "qemu" and args.attach is not None:
        raise UsageError("--attach: QEMU's own server only starts programs")
    if args.attach is not None and args.program is None:
        raise UsageError(
            "--attach: name the file that the process was started from, unstripped: "
            "--program=FILE"
        )
    status, lines = debug(
        GdbOptions(
            target=_target(args),
            program=args.program,
            arguments=tuple(args.arguments),
            attach=args.attach,
            port=args.port,
            server=args.server,
            server_file=args.gdbserver,
            commands=tuple(args.ex),
            batch=args.batch,
            dry_run=args.dry_run,
        )
    )
    for line in lines:
        _show(line)
    return status


def _logcat(args: argparse.Namespace) -> int:
    with devices(_target(args)) as found:
        for item in found:
            lines = item.device.system_log().splitlines()
            wanted = [line for line in lines if args.grep in line][-args.lines :]
            _show(f"--- {item.properties.name} ({item.properties.serial}) ---")
            for line in wanted or ["(nothing)"]:
                _show(line)
    return 0


def _symbolize(args: argparse.Namespace) -> int:
    if args.log is None:
        text = sys.stdin.read()
    else:
        try:
            text = args.log.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise UsageError(f"--log={args.log}: {error.strerror}") from error
    paths = args.symbols or [path for path in _SYMBOLS if path.is_dir()]
    for line in symbolize(text, read_symbols(paths)):
        _show(line)
    return 0


def _memory(args: argparse.Namespace) -> int:
    options = MemoryOptions(
        target=_target(args),
        process=args.process,
        interval_s=args.interval,
        wait_s=args.wait,
        duration_s=args.duration,
        dumpsys=args.dumpsys,
    )
    for name, sample in watch(options, _show).items():
        _show(f"{name}: peak {sample.peak / 1024:.1f} MiB")
    return 0


def make_parser() -> argparse.ArgumentParser:
    """All commands; docs/user/debugging.md explains them."""
    parser = flags.FlagParser(
        prog=_PROGRAM,
        description="Looks at programs on devices.",
        epilog=_EXAMPLES,
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, text, add, handler in (
        ("gdb", "debug a program on a device", _add_gdb, _gdb),
        ("logcat", "the last lines of devices' system logs", _add_logcat, _logcat),
        ("symbolize", "a backtrace with source lines", _add_symbolize, _symbolize),
        ("memory", "memory of a running program", _add_memory, _memory),
    ):
        sub = commands.add_parser(name, help=text, description=f"Shows {text}.")
        if name == "gdb":
            sub.description = "Debugs a program on a device by a gdb here."
        sub.set_defaults(handler=handler)
        add(sub)
        if name != "symbolize":
            _add_devices(sub)
        sub.add_argument("-v", "--verbose", action="store_true", help="print each step")
    return parser


def _add_devices(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("devices")
    group.add_argument(
        "--devices_to_run",
        type=flags.words,
        default=(),
        metavar="NAME",
        help="by name or serial number; qemu emulates a board, host is this computer",
    )
    flags.add_device_yml(group)
    group.add_argument(
        "--target_abi",
        type=device_abi,
        metavar="ABI",
        help="of the program (default: what the device runs best)",
    )
    group.add_argument(
        "--output_dir",
        type=flags.path,
        default=Path("build") / "debug",
        metavar="DIR",
        help="where local files go (default build/debug)",
    )


def _add_gdb(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--program",
        type=flags.path,
        metavar="FILE",
        help="for the device (default: mace_run, built with symbols)",
    )
    parser.add_argument(
        "arguments", nargs="*", metavar="-- ARGUMENT", help="the program's arguments"
    )
    parser.add_argument(
        "--attach",
        type=flags.integer(1),
        metavar="PID",
        help="to a process that runs; start none",
    )
    parser.add_argument(
        "--port",
        type=flags.integer(1024, 65535),
        default=6000,
        metavar="N",
        help="on the device and here (default 6000)",
    )
    parser.add_argument(
        "--server",
        choices=("gdbserver", "qemu"),
        default="gdbserver",
        help="what gdb talks to: gdbserver, or qemu where that runs the programs "
        "(default gdbserver)",
    )
    parser.add_argument(
        "--gdbserver",
        type=flags.path,
        metavar="FILE",
        help="to take along (default: the NDK's, else the device's)",
    )
    parser.add_argument(
        "--ex",
        action="append",
        default=[],
        metavar="COMMAND",
        help="for gdb, once connected (repeatable)",
    )
    parser.add_argument(
        "--batch", action="store_true", help="end after these instead of asking"
    )
    parser.add_argument(
        "--dry_run", action="store_true", help="say what would be typed, do nothing"
    )


def _add_logcat(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--lines",
        type=flags.integer(1, 200),
        default=100,
        metavar="N",
        help="at most so many (default 100)",
    )
    parser.add_argument(
        "--grep", default="", metavar="TEXT", help="only lines with this text"
    )


def _add_symbolize(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--log",
        type=flags.path,
        metavar="FILE",
        help="that holds a backtrace (default: standard input)",
    )
    parser.add_argument(
        "--symbols",
        type=flags.path,
        action="append",
        default=[],
        metavar="PATH",
        help="file that ran, unstripped, or a folder of such (repeatable; default "
        "build/bin and build/lib)",
    )


def _add_memory(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--process",
        default="mace_run",
        metavar="NAME",
        help="to watch (default mace_run)",
    )
    parser.add_argument(
        "--interval",
        type=_seconds,
        default=1.0,
        metavar="S",
        help="seconds from look to look (default 1)",
    )
    parser.add_argument(
        "--wait",
        type=_seconds,
        default=60.0,
        metavar="S",
        help="seconds to wait for it to appear (default 60)",
    )
    parser.add_argument(
        "--duration",
        type=_seconds,
        metavar="S",
        help="seconds to watch (default: until it ends)",
    )
    parser.add_argument(
        "--dumpsys", action="store_true", help="also ask Android's meminfo, once"
    )


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"found {text!r}, accepted: seconds, above 0")
    return value
