# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs work on several devices at the same time."""

from __future__ import annotations

import concurrent.futures
import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from mace.python.tools.devices.discover import FoundDevice

_T = TypeVar("_T")


def on_each_device(
    found: Sequence[FoundDevice], work: Callable[[FoundDevice], _T]
) -> list[_T]:
    """What `work` returns for each device, in their order.

    Devices work at the same time, except those that share this computer's processor,
    which take turns because they would affect each other's times.

    If `work` raises, or on Ctrl-C, all devices are stopped, and the first exception is
    raised after all have ended.
    """
    here = threading.Lock()

    def one(item: FoundDevice) -> _T:
        with here if item.device.is_local else contextlib.nullcontext():
            return work(item)

    pool = concurrent.futures.ThreadPoolExecutor(max_workers=max(1, len(found)))
    with pool:
        futures = [pool.submit(one, item) for item in found]
        try:
            done, _ = concurrent.futures.wait(
                futures, return_when=concurrent.futures.FIRST_EXCEPTION
            )
            for future in done:
                future.result()
        except BaseException:
            for item in found:
                item.device.stop()
            raise
    return [future.result() for future in futures]
