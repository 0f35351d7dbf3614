#!/usr/bin/env python3
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Simplifies an ONNX file before it is converted: see ``-h``.

The entry point of mace/python/tools/rewrite/onnx_optimizer.py.
"""

from __future__ import annotations

import _signal  # what `signal` is made of; that one takes long to import

# Nothing must be cleaned up yet, so Ctrl-C ends this immediately, without a traceback.
if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

import os
import sys


def main() -> int:
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from tools.door import run_room

    return run_room("rewrite.onnx_optimizer", __file__)


if __name__ == "__main__":
    sys.exit(main())
