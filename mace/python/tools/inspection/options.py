# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The options of ``converter.py inspect``."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from mace.python.tools.check.options import CheckOptions
from mace.python.tools.command_line.options import (
    CommandOptions,
    add_options,
    read_options,
    same_flag,
)


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
