# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Code shared by phones and boards: a container behind a port, with faults."""

from __future__ import annotations

import abc
import socket
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Dict, Optional

from test.device_farm.container import Container, Plan
from test.device_farm.faults import Fault, Faults
from test.device_farm.listener import Listener
from test.device_farm.profile import Profile


@dataclass(frozen=True)
class Spec:
    """A device to be started.

    Attributes:
        name: unique in the farm.
        profile: name of its profile, or path of its file.
        kind: phone or board.
        port: on loopback.
        folder: of its own, for files of this computer.
    """

    name: str
    profile: str
    kind: str
    port: int
    folder: str

    def as_json(self) -> Dict[str, Any]:
        """The form in which another process is told."""
        return asdict(self)


class Device(abc.ABC):
    """One emulated device.

    Start it in the main thread: its container ends with the thread that started it.
    """

    def __init__(self, spec: Spec, profile: Profile) -> None:
        self.spec = spec
        self.profile = profile
        self.folder = Path(spec.folder)
        self.faults = Faults(self.sever)
        self._listener = Listener(spec.port, self.serve)
        self._ended = threading.Event()
        self._timer: Optional[threading.Timer] = None
        self._severed = 0
        self.container = Container(self.plan())

    @abc.abstractmethod
    def plan(self) -> Plan:
        """The plan of its container; also creates the root folder."""

    @abc.abstractmethod
    def serve(self, connection: socket.socket) -> None:
        """Serves one connection to its end."""

    @abc.abstractmethod
    def drop_connections(self) -> None:
        """Drops all connections."""

    @abc.abstractmethod
    def fault_changed(self) -> None:
        """Called after faults were set or cleared."""

    def start(self) -> None:
        """Boots it and opens its port."""
        self.container.start()
        self._listener.resume()

    def wait(self) -> None:
        """Waits until somebody calls `end`."""
        self._ended.wait()

    def end(self) -> None:
        """Makes `wait` return."""
        self._ended.set()

    def shut_down(self) -> None:
        """Closes the port and ends all its programs."""
        self._listener.pause()
        self.drop_connections()
        self.container.stop()

    def sever(self, away_s: Optional[float]) -> None:
        """Disconnects for a while; its programs continue."""
        self._severed += 1
        self._listener.pause()
        self.drop_connections()
        if away_s is not None:
            self._come_back(away_s)

    def _come_back(self, after_s: float) -> None:
        self._timer = threading.Timer(after_s, self._listener.resume)
        self._timer.daemon = True
        self._timer.start()

    def reboot(self, away_s: Optional[float] = 1) -> None:
        """Disconnects and ends all its programs; its files stay."""
        self.sever(None)
        self.container.kill_all()
        if away_s is not None:
            self._come_back(away_s)

    def set_fault(self, fault: Fault) -> None:
        """Sets a fault."""
        if fault.kind == "crash":
            self.reboot(fault.away_s)
            return
        self.faults.set(fault)
        if fault.kind == "full":
            self.container.limit_storage(fault.free_bytes)
        self.fault_changed()

    def clear_faults(self) -> None:
        """Ends all faults; the device can be reached again."""
        was_full = self.faults.get("full") is not None
        self.faults.clear()
        if was_full:
            self.container.limit_storage(None)
        self.fault_changed()
        self._listener.resume()

    def status(self) -> Dict[str, Any]:
        """Faults, and what it has done since it started."""
        return {
            "faults": self.faults.active(),
            "severed": self._severed,
            **self.faults.counts(),
        }
