# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Code shared by the entry points in this folder."""

from __future__ import annotations

import importlib
import os
import sys

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_VENV = os.environ.get("MACE_VENV") or os.path.join(_ROOT, ".venv")


def run_room(room: str, script: str) -> int:
    """Runs ``main`` of a module below mace/python/tools; its exit status.

    Starts again in the virtual environment of the checkout if this Python lacks a
    package.

    Args:
        room: its dotted name.
        script: the entry point, to start over with.
    """
    try:
        main = importlib.import_module(f"mace.python.tools.{room}").main
    except ModuleNotFoundError as error:
        python = os.path.join(_VENV, "bin", "python")
        inside = os.path.realpath(sys.prefix) == os.path.realpath(_VENV)
        if os.access(python, os.X_OK) and not inside:
            os.execv(python, [python, os.path.abspath(script), *sys.argv[1:]])
        sys.stderr.write(
            f"error: the Python package {error.name} is missing; run: "
            "bash tools/setup.sh\n"
        )
        return 2
    status: int = main()
    return status
