# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The options of ``converter.py quantize``."""

from __future__ import annotations

import argparse
import dataclasses
from dataclasses import dataclass
from pathlib import Path

from mace.python.tools.command_line import flags
from mace.python.tools.command_line.options import (
    CommandOptions,
    Group,
    add_options,
    flag,
    read_options,
)
from mace.python.tools.convert.options import ConvertOptions
from mace.python.tools.errors import UsageError


@dataclass(frozen=True)
class CalibrateOptions(CommandOptions):
    """What a quantization is asked for, besides the deployment."""

    input_dir: Path | None = flag(
        None,
        "the folder of samples: raw files <input><suffix>, one suffix per sample "
        "(default: calibration.input_dir of the model)",
        flags.path,
        group=Group("quantization"),
        metavar="DIR",
    )

    def convert_options(self) -> ConvertOptions:
        """The conversion that follows."""
        shared = dataclasses.asdict(self)
        del shared["input_dir"]
        return ConvertOptions(**shared)


def add_calibrate_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the flags of `quantize`."""
    add_options(parser, CalibrateOptions)


def calibrate_options(args: argparse.Namespace) -> CalibrateOptions:
    """The options that a command line asks for.

    Raises:
        UsageError: the folder of samples is not there.
    """
    options = read_options(CalibrateOptions, args)
    if options.input_dir is not None and not options.input_dir.is_dir():
        raise UsageError(f"--input_dir={options.input_dir}: no such folder")
    return options
