# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The options of ``converter.py convert``."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from mace.python.tools.command_line import flags
from mace.python.tools.command_line.options import (
    DEPLOYMENT,
    CommandOptions,
    Group,
    add_options,
    flag,
    read_options,
)
from mace.python.tools.config.effect import refused
from mace.python.tools.config.vocabulary import Runtime
from mace.python.tools.errors import UsageError

_CONVERSION = Group("conversion")


@dataclass(frozen=True)
class ConvertOptions(CommandOptions):
    """What a conversion is asked for, besides the deployment."""

    dump_passes: Path | None = flag(
        None,
        "write the graph after every pass into DIR",
        flags.path,
        group=_CONVERSION,
        metavar="DIR",
    )
    quantize_stat: bool = flag(
        False,
        "also print the range of every tensor for each sample in --input_dir",
        group=_CONVERSION,
    )
    input_dir: Path | None = flag(
        None,
        "the samples of --quantize_stat",
        flags.path,
        group=_CONVERSION,
        metavar="DIR",
    )
    enable_micro: bool = flag(
        False,
        "also make the microcontroller form",
        None,
        refused("the microcontroller form is not in this release; leave it out"),
        group=_CONVERSION,
    )
    cl_binary_to_code: bool = flag(
        False,
        "also write the compiled kernels and tuned parameters of OpenCL that `run` "
        "has copied as C++ code",
        group=_CONVERSION,
        on={Runtime.GPU: "the code that is written"},
    )


def add_convert_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the flags of `convert`."""
    add_options(parser, ConvertOptions)
    groups = {group.title: group for group in parser._action_groups}
    groups[DEPLOYMENT.title].add_argument(
        "--output_dir",
        dest="build_dir",
        type=flags.path,
        default=argparse.SUPPRESS,
        metavar="DIR",
        help="the same as --build_dir",
    )


def convert_options(args: argparse.Namespace) -> ConvertOptions:
    """The options that a command line asks for.

    Raises:
        UsageError: flags that contradict, or name what is not there.
    """
    options = read_options(ConvertOptions, args)
    if options.quantize_stat != (options.input_dir is not None):
        raise UsageError("--quantize_stat and --input_dir go together")
    if options.input_dir is not None and not options.input_dir.is_dir():
        raise UsageError(f"--input_dir={options.input_dir}: no such folder")
    return options
