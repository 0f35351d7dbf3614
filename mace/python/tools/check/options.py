# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The options of ``converter.py check``."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from mace.python.tools.command_line.options import (
    CommandOptions,
    Group,
    add_options,
    flag,
    format_flag,
    read_options,
)

_CHECK = Group("check")


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
