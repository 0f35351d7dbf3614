# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Ends processes with their parent, and identifies processes."""

from __future__ import annotations

import ctypes
import os
import signal
from pathlib import Path
from typing import Optional

_PR_SET_PDEATHSIG = 1


def die_with(parent: int) -> None:
    """Makes the kernel kill this process when its parent ends.

    Args:
        parent: process that started this one; if it is gone already, so are we.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def start_time(pid: int) -> Optional[str]:
    """When a process started, in ticks since boot; None if there is none.

    A pid may be reused for another process; together with this it is unique.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The program's name, in parentheses, may hold blanks and parentheses.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in ("Z", "X") else fields[19]
