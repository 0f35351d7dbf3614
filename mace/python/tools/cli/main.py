# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The main function of `tools/converter.py`."""

from __future__ import annotations

import gc
import logging
import sys
from collections.abc import Sequence

from mace.python.installation import install
from mace.python.tools.command_line import guard
from mace.python.tools.command_line.guard import guarded
from mace.python.tools.errors import MissingToolError

# Python looks for garbage each time that so many more objects exist, 700 by default.
# A command makes classes, messages and graphs, which stay: looking for garbage among
# them took a twelfth of the time of a conversion.
_OBJECTS_BETWEEN_COLLECTIONS = 50_000


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit status.

    Args:
        argv: the arguments; None: those of this process, which ends afterwards.
    """
    if argv is not None:
        return guarded(list(argv), _run)
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    status = guarded(sys.argv[1:], _run)
    # Nor does the interpreter look through all objects when it ends.
    gc.freeze()
    return status


def _run(arguments: list[str]) -> int:
    from mace.python.tools.cli import commands, parser
    from mace.python.tools.command_line.flags import NOTES_DEST

    try:
        args = parser.parse(arguments)
        guard.set_verbose(args.verbose or getattr(args, "vlog_level", 0) > 0)
        for note in getattr(args, NOTES_DEST):
            logging.getLogger(__name__).warning("%s", note)
        return commands.execute(args)
    except ModuleNotFoundError as error:
        package = (error.name or "").split(".")[0]
        if not package or package == "mace":
            raise
        raise MissingToolError(
            f"the Python package {package}",
            f"this command ({sys.executable})",
            install(),
        ) from error
