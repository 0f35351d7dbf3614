# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Faults of devices, for the tests of programs that use devices."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import Callable, Dict, Iterator, List, Literal, Optional

from pydantic import BaseModel, ConfigDict, Field

Activity = Literal["push", "pull", "run"]
FaultKind = Literal[
    "disconnect", "slow", "full", "offline", "unauthorized", "hang", "crash"
]


class SeveredError(Exception):
    """A fault has cut the connection."""


class Fault(BaseModel):
    """One trouble.

    Attributes:
        kind: disconnect: the device goes away in the middle of something;
            slow: so many bytes per second; full: so little space is left;
            offline: it is listed but does not answer; unauthorized: it refuses the
            computer's key; hang: programs start and say nothing; crash: the device
            goes away now, with all that runs on it.
        during: (disconnect) of what.
        after_bytes: (disconnect of push and pull) when so many have passed.
        after_s: (disconnect of run) so long after its start.
        away_s: (disconnect, crash) until the device can be reached again; None:
            until the fault is cleared.
        bytes_per_s: (slow) in each direction.
        free_bytes: (full) what is left.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: FaultKind
    during: Activity = "push"
    after_bytes: int = Field(default=0, ge=0)
    after_s: float = Field(default=0, ge=0)
    away_s: Optional[float] = Field(default=1, ge=0)
    bytes_per_s: int = Field(default=1_000_000, gt=0)
    free_bytes: int = Field(default=0, ge=0)


class Faults:
    """The current faults of a device, and counts of its transfers.

    Threads of many connections use it.
    """

    def __init__(self, sever: Callable[[Optional[float]], None]) -> None:
        """`sever` drops all connections and is told for how long."""
        self._sever = sever
        self._lock = threading.Lock()
        self._faults: Dict[str, Fault] = {}
        self._moved: Dict[str, int] = {"push": 0, "pull": 0}
        self._since_armed = 0
        self._runs = 0
        self._held = 0

    def set(self, fault: Fault) -> None:
        """Adds a fault; one of the same kind is replaced."""
        with self._lock:
            self._faults[fault.kind] = fault
            self._since_armed = 0

    def clear(self) -> None:
        """Ends all faults."""
        with self._lock:
            self._faults.clear()

    def get(self, kind: FaultKind) -> Optional[Fault]:
        """A fault that is set."""
        return self._faults.get(kind)

    def active(self) -> List[str]:
        """The kinds of faults that are set."""
        with self._lock:
            return sorted(self._faults)

    def counts(self) -> Dict[str, int]:
        """Bytes moved and programs run since the device started, and how many it
        leaves without an answer now.
        """
        with self._lock:
            return {**self._moved, "run": self._runs, "held": self._held}

    @contextlib.contextmanager
    def holding(self) -> Iterator[None]:
        """While somebody waits for an answer that does not come."""
        with self._lock:
            self._held += 1
        try:
            yield
        finally:
            with self._lock:
                self._held -= 1

    def passed(self, activity: Activity, size: int) -> None:
        """To be called before this many bytes of a push or pull are passed on.

        Raises:
            SeveredError: they will not.
        """
        with self._lock:
            self._moved[activity] += size
            fault = self._faults.get("disconnect")
            severs = False
            if fault is not None and fault.during == activity:
                self._since_armed += size
                severs = self._since_armed > fault.after_bytes
            if severs:
                del self._faults["disconnect"]
            slow = self._faults.get("slow")
        if severs and fault is not None:
            self._sever(fault.away_s)
            raise SeveredError
        if slow is not None:
            time.sleep(size / slow.bytes_per_s)

    def started(self) -> None:
        """To be called when a program starts."""
        with self._lock:
            self._runs += 1
            fault = self._faults.get("disconnect")
            if fault is None or fault.during != "run":
                return
            del self._faults["disconnect"]
        timer = threading.Timer(fault.after_s, self._sever, [fault.away_s])
        timer.daemon = True
        timer.start()
