# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The commands of python -m test.device_farm."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Dict, List, NoReturn, Optional

from rich.console import Console
from rich.table import Table

from mace.python.tools.errors import MaceError
from test.device_farm import state as states
from test.device_farm.errors import FarmError
from test.device_farm.farm import ADB_PORT, SSH_PORT, Farm, Running, stop_adb_server
from test.device_farm.faults import Fault
from test.device_farm.profile import Kind, find_profile, profile_names

ROOT = Path(__file__).resolve().parents[2]
# A 64-bit phone, then a 32-bit one, so that two of them cover both.
_PHONES = ("mi6", "redmi_go", "pixel6", "p20", "xperia1_ii", "nexus5")
_BOARDS = ("nanopi", "raspberry", "up_squared")
_MANY = 16
_STOP_S = 15


def parser() -> argparse.ArgumentParser:
    """The command line."""
    main = argparse.ArgumentParser(
        prog="python -m test.device_farm",
        description="Emulated phones (adb) and boards (ssh) on this computer.",
    )
    main.add_argument(
        "--folder",
        type=Path,
        default=ROOT / "build" / "device_farm",
        help="of the farm's files (default build/device_farm)",
    )
    commands = main.add_subparsers(dest="command", required=True, metavar="COMMAND")
    up = commands.add_parser("up", help="start a farm")
    up.add_argument("--phones", type=int, metavar="N", help="so many phones")
    up.add_argument("--boards", type=int, metavar="N", help="so many boards")
    for kind in ("phone", "board"):
        up.add_argument(
            f"--{kind}",
            action="append",
            default=[],
            metavar="PROFILE",
            help=f"this {kind} (repeatable): see profiles",
        )
    up.add_argument(
        "--adb-port", type=int, default=ADB_PORT, help="first of the phones"
    )
    up.add_argument(
        "--ssh-port", type=int, default=SSH_PORT, help="first of the boards"
    )
    up.add_argument(
        "--foreground", action="store_true", help="end with Ctrl-C, not with down"
    )
    up.add_argument("--report-to", type=int, help=argparse.SUPPRESS)
    commands.add_parser("down", help="end the farm")
    status = commands.add_parser("status", help="say how the devices are")
    status.add_argument("--json", action="store_true", help="print JSON, not a table")
    commands.add_parser("env", help="print the environment, for a shell to eval")
    fault = commands.add_parser("fault", help="give a device a trouble")
    fault.add_argument("device")
    kinds = Fault.model_fields["kind"].annotation
    fault.add_argument("kind", choices=kinds.__args__ if kinds else ())
    fault.add_argument("--during", choices=("push", "pull", "run"))
    fault.add_argument("--after-bytes", type=int, metavar="N")
    fault.add_argument("--after-s", type=float, metavar="SECONDS")
    away = fault.add_mutually_exclusive_group()
    away.add_argument("--away-s", type=float, metavar="SECONDS")
    away.add_argument("--stay-away", action="store_true", help="until clear")
    fault.add_argument("--bytes-per-s", type=int, metavar="N")
    fault.add_argument("--free-bytes", type=int, metavar="N")
    clear = commands.add_parser("clear", help="end the troubles of a device")
    clear.add_argument("device")
    commands.add_parser("profiles", help="list the devices that can be had")
    return main


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Runs a command; 0, or 2 and one message."""
    args = parser().parse_args(argv)
    try:
        return _COMMANDS[args.command](args)
    except MaceError as error:
        Console(stderr=True, soft_wrap=True).print(
            f"device_farm: {error}", markup=False, highlight=False
        )
        return error.exit_status


def _chosen(named: List[str], count: Optional[int], all_of: Sequence[str]) -> List[str]:
    if count is None:
        return named
    if named or not 0 <= count <= _MANY:
        raise FarmError(
            f"give a number of devices from 0 to {_MANY}, or profiles by name, not both"
        )
    return [all_of[number % len(all_of)] for number in range(count)]


def _farm(args: argparse.Namespace) -> Farm:
    phones = _chosen(args.phone, args.phones, _PHONES)
    boards = _chosen(args.board, args.boards, _BOARDS)
    if not phones and not boards:
        raise FarmError("a farm of no devices? Give --phones 2 --boards 1, for example")
    return Farm(args.folder, phones, boards, args.adb_port, args.ssh_port)


def _up(args: argparse.Namespace) -> int:
    farm = _farm(args)
    if not args.foreground:
        return _up_in_background(args)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        with farm:
            states.write_state(farm)
            _report(args.report_to, "ready")
            if args.report_to is None:
                _explain(states.running(farm.folder))
                print("The farm runs until Ctrl-C.", flush=True)
            while True:
                signal.pause()
    except KeyboardInterrupt:
        return 0
    except MaceError as error:
        if args.report_to is None:
            raise
        _report(args.report_to, f"failed {error}")
        return error.exit_status


def _interrupt(*_: object) -> NoReturn:
    # Once is enough: the end of the farm is not to be interrupted.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def _report(handle: Optional[int], text: str) -> None:
    if handle is not None:
        os.write(handle, text.encode())
        os.close(handle)


def _up_in_background(args: argparse.Namespace) -> int:
    read_end, write_end = os.pipe()
    command = [
        *(sys.executable, "-m", "test.device_farm", "--folder", str(args.folder)),
        *("up", "--foreground", "--report-to", str(write_end)),
        *("--adb-port", str(args.adb_port), "--ssh-port", str(args.ssh_port)),
    ]
    for kind, names in (
        ("phone", _chosen(args.phone, args.phones, _PHONES)),
        ("board", _chosen(args.board, args.boards, _BOARDS)),
    ):
        command += [word for name in names for word in (f"--{kind}", name)]
    log = Path(f"{args.folder}.log")
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "wb") as stream:
        subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            pass_fds=[write_end],
            start_new_session=True,
        )
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        word, _, reason = pipe.read().partition(" ")
    if word != "ready":
        raise FarmError(reason or f"the farm ended without a word; see {log}")
    _explain(states.running(args.folder.resolve()))
    return 0


def _exports(state: states.State) -> str:
    return "\n".join(f"export {key}={value}" for key, value in state.variables.items())


def _explain(state: states.State) -> None:
    """Says how to reach the devices."""
    phones = [one for one in state.devices if one.spec.kind == "phone"]
    boards = [one for one in state.devices if one.spec.kind == "board"]
    if phones:
        print("# Phones")
        print(_exports(state))
        for one in phones:
            print(f"adb connect {one.address}   # {_title(one)}")
    if boards:
        print(f"# Boards, also in {state.folder / 'devices.yml'}")
        for one in boards:
            print(f"ssh -F {state.folder}/ssh/config {one.name}   # {_title(one)}")
    print(flush=True)


def _title(one: Running) -> str:
    profile = one.profile
    return f"{profile.model}, {profile.soc}, {', '.join(profile.abis)}"


def _down(args: argparse.Namespace) -> int:
    folder = args.folder.resolve()
    state = states.read_state(folder)
    if state is None:
        print("No farm runs.")
        return 0
    if state.runs:
        os.kill(state.pid, signal.SIGTERM)
        end = time.monotonic() + _STOP_S
        while state.runs and time.monotonic() < end:
            time.sleep(0.05)
        if state.runs:
            # Its devices end with it.
            os.kill(state.pid, signal.SIGKILL)
    if state.variables:
        stop_adb_server(int(state.variables["ANDROID_ADB_SERVER_PORT"]))
    shutil.rmtree(folder, ignore_errors=True)
    print("The farm has ended.")
    return 0


def _device_status(one: Running) -> Dict[str, Any]:
    with contextlib.suppress(FarmError):
        return one.status()
    return {"error": f"does not answer; see {one.folder / 'log.txt'}"}


def _status(args: argparse.Namespace) -> int:
    state = states.running(args.folder.resolve())
    found = {one.name: _device_status(one) for one in state.devices}
    if args.json:
        json.dump(found, sys.stdout, indent=2)
        print()
        return 0
    table = Table("device", "what", "address", "faults", "runs", "pushed", "pulled")
    for one in state.devices:
        status = found[one.name]
        faults = status.get("error") or ", ".join(status["faults"]) or "none"
        counts = [str(status.get(key, "")) for key in ("run", "push", "pull")]
        table.add_row(one.name, _title(one), one.address, faults, *counts)
    Console(width=None if sys.stdout.isatty() else 140).print(table)
    return 0


def _env(args: argparse.Namespace) -> int:
    print(_exports(states.running(args.folder.resolve())))
    return 0


def _fault(args: argparse.Namespace) -> int:
    values = {
        name: getattr(args, name)
        for name in Fault.model_fields
        if name != "kind" and getattr(args, name) is not None
    }
    if args.stay_away:
        values["away_s"] = None
    device = states.running(args.folder.resolve()).device(args.device)
    print(json.dumps(device.fault(args.kind, **values)))
    return 0


def _clear(args: argparse.Namespace) -> int:
    device = states.running(args.folder.resolve()).device(args.device)
    print(json.dumps(device.clear()))
    return 0


def _profiles(args: argparse.Namespace) -> int:
    del args
    table = Table("profile", "kind", "model", "SoC", "ABIs", "cores")
    kinds: Sequence[Kind] = ("phone", "board")
    for kind in kinds:
        for name in profile_names(kind):
            one = find_profile(name, kind)
            cores = ", ".join(f"{part.cores} {part.name}" for part in one.clusters)
            table.add_row(name, kind, one.model, one.soc, ", ".join(one.abis), cores)
    Console(width=None if sys.stdout.isatty() else 140).print(table)
    return 0


_COMMANDS = {
    "up": _up,
    "down": _down,
    "status": _status,
    "env": _env,
    "fault": _fault,
    "clear": _clear,
    "profiles": _profiles,
}
