#!/usr/bin/env python3
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes one range of each tensor from a log of ranges: see ``-h``.

The entry point of mace/python/tools/quantize/stat_command.py.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what `signal` is made of

# Nothing must be cleaned up yet, so Ctrl-C ends this immediately, without a traceback.
if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

import os
import sys

_ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "..", ".."))


def main() -> int:
    sys.path.insert(0, _ROOT)
    from tools.door import run_room

    return run_room("quantize.stat_command", __file__)


if __name__ == "__main__":
    sys.exit(main())
