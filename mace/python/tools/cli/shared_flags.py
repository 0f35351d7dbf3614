# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Flags that several commands share."""

from __future__ import annotations

import argparse

from mace.python.tools.cli import flags
from mace.python.tools.cli.options import DEFAULT_BUILD_DIR

# In the help of what every command refuses.
NOT_YET = "refused: not in this release yet"


def add_deployment(parser: argparse.ArgumentParser) -> None:
    """The deployment file and what replaces its values."""
    group = parser.add_argument_group("deployment")
    group.add_argument(
        "--config",
        required=True,
        type=flags.path,
        metavar="FILE",
        help="the deployment file (YAML)",
    )
    for key, text in (
        ("target_abis", "such as host,arm64-v8a"),
        ("target_socs", "such as sdm845,rk3399, or all"),
        ("model_graph_format", "file or code"),
        ("model_data_format", "file or code"),
    ):
        group.add_argument(
            f"--{key}", metavar="VALUE", help=f"replaces {key} of the file: {text}"
        )
    group.add_argument(
        "--build_dir",
        type=flags.path,
        default=DEFAULT_BUILD_DIR,
        metavar="DIR",
        help="root of all output (default build); models go to "
        "DIR/<library_name>/model",
    )
    flags.add_switch(group, "--debug_mode", "build and use programs with symbols")
    flags.add_switch(
        group, "--address_sanitizer", "build and use programs with AddressSanitizer"
    )


def add_logging(parser: argparse.ArgumentParser) -> None:
    """How much is told."""
    group = parser.add_argument_group("messages")
    flags.add_switch(group, "--verbose", "tell each step")
    group.add_argument(
        "--vlog_level",
        type=flags.integer(0, 5),
        default=0,
        metavar="0..5",
        help="detail of the library's own log (default 0); above 0 implies --verbose",
    )


def add_quantize_stat(group: argparse._ActionsContainer, samples: str) -> None:
    """Collecting tensor ranges over samples, and where `samples` are."""
    flags.add_switch(
        group,
        "--quantize_stat",
        "log the range of every tensor over the samples in --input_dir, on the host; "
        + NOT_YET,
    )
    group.add_argument("--input_dir", type=flags.path, metavar="DIR", help=samples)


def add_old_switch(
    group: argparse._ActionsContainer, name: str, dest: str, present: str
) -> None:
    """A switch of an earlier version, now written `present` (empty: no effect)."""
    if present:
        advice, text = f"is now written {present}", f"now {present}"
    else:
        advice, text = "has no effect any more", "no effect"
    group.add_argument(
        name,
        action=flags.OldFlag,
        dest=dest,
        advice=advice,
        nargs="?",
        const=True,
        type=flags.boolean,
        metavar="BOOL",
        help=text,
    )
