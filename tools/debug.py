#!/usr/bin/env python3
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Looks at programs on devices (gdb, logcat, symbolize, memory): see ``-h``.

A thin door to mace/python/tools/debug.
"""

from __future__ import annotations

import os
import sys

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_VENV = os.path.join(_ROOT, ".venv")


def main() -> int:
    sys.path.insert(0, _ROOT)
    try:
        from mace.python.tools.debug import main as run
    except ModuleNotFoundError as error:
        python = os.path.join(_VENV, "bin", "python")
        inside = os.path.realpath(sys.prefix) == os.path.realpath(_VENV)
        if os.access(python, os.X_OK) and not inside:
            arguments = [python, os.path.abspath(__file__), *sys.argv[1:]]
            os.execv(python, arguments)
        sys.stderr.write(
            f"error: the Python package {error.name} is missing; run: "
            "bash tools/setup.sh\n"
        )
        return 2
    return run()


if __name__ == "__main__":
    sys.exit(main())
