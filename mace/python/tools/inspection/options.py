# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The options of ``converter.py explain``, ``check`` and ``inspect``."""

from __future__ import annotations

import argparse
import dataclasses
from dataclasses import dataclass
from pathlib import Path

from mace.python.tools.command_line.options import (
    CommandOptions,
    Group,
    add_options,
    flag,
    format_flag,
    read_options,
    same_flag,
)
from mace.python.tools.errors import UsageError
from mace.python.tools.run.options import (
    CpuAffinityPolicy,
    RunOptions,
    check_device_file,
)

_EXPLAIN = Group("explain")
_CHECK = Group("check")


@dataclass(frozen=True)
class ExplainOptions(CommandOptions):
    """What an explanation is asked for, besides the deployment."""

    format: str = format_flag(_EXPLAIN)
    benchmark: bool = flag(
        False, "measure every operator, to compare with its estimate", group=_EXPLAIN
    )
    plan_only: bool = flag(
        False,
        "run nothing: tell the placement and the memory that a run will take, for "
        "every ABI of the file without its devices (this computer emulates ARM), "
        "unless --devices_to_run names some",
        group=_EXPLAIN,
    )
    time_limit: int = same_flag(RunOptions, "time_limit")
    device_yml: Path | None = same_flag(RunOptions, "device_yml")
    devices_to_run: tuple[str, ...] = same_flag(RunOptions, "devices_to_run")
    num_threads: int = same_flag(RunOptions, "num_threads")
    cpu_affinity_policy: CpuAffinityPolicy = same_flag(
        RunOptions, "cpu_affinity_policy"
    )

    def run_options(self) -> RunOptions:
        """The run that tells what is asked for."""
        shared = {
            item.name: getattr(self, item.name)
            for item in dataclasses.fields(self)
            if item.name != "format"
        }
        return RunOptions(**shared)


def add_explain_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the flags of `explain`."""
    add_options(parser, ExplainOptions)


def explain_options(args: argparse.Namespace) -> ExplainOptions:
    """The options that a command line asks for.

    Raises:
        UsageError: flags that name what is not there.
    """
    options = read_options(ExplainOptions, args)
    check_device_file(options.device_yml)
    if options.plan_only and options.benchmark:
        raise UsageError(
            "--plan_only and --benchmark exclude each other: a plan has no times"
        )
    return options


@dataclass(frozen=True)
class CheckOptions(CommandOptions):
    """What a check is asked for, besides the deployment."""

    format: str = format_flag(_CHECK)
    only_problems: bool = flag(
        False, "leave out the nodes that can be converted", group=_CHECK
    )


def add_check_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the flags of `check`."""
    add_options(parser, CheckOptions)


def check_options(args: argparse.Namespace) -> CheckOptions:
    """The options that a command line asks for."""
    return read_options(CheckOptions, args)


@dataclass(frozen=True)
class InspectOptions(CommandOptions):
    """What an inspection is asked for, besides the deployment."""

    format: str = same_flag(CheckOptions, "format")


def add_inspect_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the flags of `inspect`."""
    add_options(parser, InspectOptions)


def inspect_options(args: argparse.Namespace) -> InspectOptions:
    """The options that a command line asks for."""
    return read_options(InspectOptions, args)
