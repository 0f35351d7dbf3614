# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The errors that a user of the tools may see.

Every problem with the user's input or computer (a file, a key, a shape, a
device, a missing program) is raised as a `MaceError`. The command line prints
its message without a traceback and exits with `exit_status`. Any other
exception is a defect of MACE and is reported as one.

Each room derives its own error beside its code, for example
`mace.python.tools.config.ConfigError`.
"""

from __future__ import annotations

from typing import ClassVar


class MaceError(Exception):
    """A problem that the user can solve, with a message that says how.

    The message names what was found, what would be accepted and the key,
    node, tensor or file it is about. It may have several lines; the first one
    must make sense alone.
    """

    exit_status: ClassVar[int] = 2


class UsageError(MaceError):
    """The command line cannot be understood or its flags contradict."""


class MissingToolError(MaceError):
    """A program or a Python package that the task needs is missing.

    Args:
        what: the thing that is missing, for example ``adb``.
        needed_for: the task that cannot go on.
        mend: the command that installs it.
    """

    def __init__(self, what: str, needed_for: str, mend: str) -> None:
        super().__init__(
            f"{what} is missing; it is needed for {needed_for}. To install it: {mend}"
        )
        self.what = what
        self.needed_for = needed_for
        self.mend = mend


class UnsupportedError(MaceError):
    """MACE understands the request but cannot do it (yet)."""


class CheckFailedError(MaceError):
    """The work was done, and its result is not good enough.

    Raised when a validation misses its threshold, so that scripts can tell a
    wrong result (status 1) from a wrong request (status 2).
    """

    exit_status: ClassVar[int] = 1
