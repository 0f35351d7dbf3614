# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The Bazel that the user selected, and its flags.

Read from three environment variables, as `tools/run_bazel.sh` does for scripts:

    BAZEL                the program, a name or a path; "bazel" by default
    BAZEL_STARTUP_FLAGS  flags before the command, split at spaces
    BAZEL_FLAGS          flags after it

Imports only the standard library, because the doctor uses it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import List, Optional, Tuple

from mace.python.installation import CHECKOUT
from mace.python.tools.errors import MissingToolError, UnsupportedError


@dataclass(frozen=True)
class BazelCommand:
    """A Bazel and the flags of every call.

    Attributes:
        program: name or path.
        startup: flags before the command.
        flags: flags after it.
    """

    program: str
    startup: Tuple[str, ...] = ()
    flags: Tuple[str, ...] = ()

    def words(self, command: str, *arguments: str) -> List[str]:
        """A command line: ``words("build", "//mace/...")``."""
        return [self.program, *self.startup, command, *self.flags, *arguments]


def bazel_command(environment: Optional[Mapping[str, str]] = None) -> BazelCommand:
    """The Bazel to call, whether or not it exists.

    Args:
        environment: instead of this process's.
    """
    variables = os.environ if environment is None else environment

    def flags(name: str) -> Tuple[str, ...]:
        return tuple(variables.get(name, "").split())

    return BazelCommand(
        variables.get("BAZEL") or "bazel",
        flags("BAZEL_STARTUP_FLAGS"),
        flags("BAZEL_FLAGS"),
    )


def needs_checkout(what: str) -> None:
    """Raises UnsupportedError in an installed package, which builds nothing."""
    if CHECKOUT is None:
        raise UnsupportedError(
            f"{what} needs a checkout of MACE and Bazel; the installed package has "
            "libmace and mace_run for the CPU of this computer alone"
        )


def find_bazel(needed_for: str) -> BazelCommand:
    """The Bazel to call, which must exist.

    Raises:
        MissingToolError: it is not there.
        UnsupportedError: this is no checkout.
    """
    needs_checkout(needed_for)
    bazel = bazel_command()
    if shutil.which(bazel.program) is None:
        chosen = bazel.program
        if os.environ.get("BAZEL"):
            chosen += " (the environment variable BAZEL)"
        raise MissingToolError(chosen, needed_for, "bash tools/setup.sh --for build")
    return bazel
