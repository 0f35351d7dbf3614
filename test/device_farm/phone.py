# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A phone: adbd's services for an Android-like container."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
import time
from collections.abc import Sequence
from typing import Callable, Optional, Set

from test.device_farm.adb_connection import Connection, Services, Stream
from test.device_farm.adb_shell import ShellSession
from test.device_farm.adb_sync import SyncService
from test.device_farm.android_root import (
    ENVIRONMENT,
    SHELL_GROUPS,
    SHELL_USER,
    android_setup,
    android_storage,
    make_android_root,
    properties,
)
from test.device_farm.container import Plan, act_as
from test.device_farm.device import Device, Spec
from test.device_farm.listener import LOOPBACK
from test.device_farm.profile import Profile

_LOG = logging.getLogger(__name__)

_SIGNALS = {4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 11: "SIGSEGV"}
# A service has ended only when the host has read the answer; the connection must stay
# open until then.
_FAREWELL_S = 0.2

Serve = Callable[[Stream], None]


class Phone(Device, Services):
    """One phone."""

    def __init__(self, spec: Spec, profile: Profile) -> None:
        self._properties = properties(profile, f"{LOOPBACK}:{spec.port}")
        self._connections: Set[Connection] = set()
        self._is_root = False
        super().__init__(spec, profile)

    def plan(self) -> Plan:
        """See Device."""
        import os

        root = self.folder / "root"
        make_android_root(root, self.profile, self._properties)
        return Plan(
            self.spec.name,
            root,
            self.profile.is_64_bit,
            self.profile.is_32_bit,
            android_storage(self.profile),
            android_setup(self.profile, os.geteuid() == 0),
        )

    def serve(self, connection: socket.socket) -> None:
        """See Device."""
        one = Connection(self, connection)
        self._connections.add(one)
        try:
            one.serve()
        finally:
            self._connections.discard(one)

    def drop_connections(self) -> None:
        """See Device."""
        for one in list(self._connections):
            one.close()

    def fault_changed(self) -> None:
        """See Device."""
        if not (self.authorizes() and self.answers()):
            self.drop_connections()
            return
        for one in list(self._connections):
            with contextlib.suppress(OSError):
                one.greet()

    # --- Services --------------------------------------------------------------

    def banner(self) -> str:
        """See Services."""
        names = ("ro.product.name", "ro.product.model", "ro.product.device")
        text = "".join(f"{name}={self._properties[name]};" for name in names)
        return f"device::{text}features={','.join(self.profile.features)}"

    def authorizes(self) -> bool:
        """See Services."""
        return self.faults.get("unauthorized") is None

    def answers(self) -> bool:
        """See Services."""
        return self.faults.get("offline") is None

    def service(self, name: str) -> Optional[Serve]:
        """See Services."""
        kind, _, argument = name.partition(":")
        if kind.split(",")[0] == "shell":
            flags = kind.split(",")[1:]
            return lambda stream: self._shell(stream, argument, flags)
        if kind == "exec":
            return lambda stream: self._exec(stream, argument)
        if kind == "sync":
            return self._sync
        if kind == "tcp" and argument.isdigit():
            return lambda stream: self._forward(stream, argument)
        if kind in ("root", "unroot"):
            return lambda stream: self._become(stream, kind == "root")
        if kind == "remount":
            return self._remount
        if kind == "reboot":
            return lambda stream: self.reboot()
        return None

    @property
    def _user(self) -> int:
        return 0 if self._is_root else SHELL_USER

    def _command(self, program: Sequence[str]) -> list[str]:
        groups = "0" if self._is_root else SHELL_GROUPS
        return self.container.command(program, self._user, groups)

    def _shell(self, stream: Stream, command: str, flags: Sequence[str]) -> None:
        packets = "v2" in flags
        # Version 2 requests a terminal explicitly. Version 1 uses a terminal if no
        # command is given; before Android 7, which introduced version 2, always.
        is_old = "shell_v2" not in self.profile.features
        terminal = "pty" in flags or (not packets and (is_old or not command))
        self._run(ShellSession(stream, packets, terminal), stream, command)

    def _exec(self, stream: Stream, command: str) -> None:
        self._run(ShellSession(stream, packets=False, merge=False), stream, command)

    def _run(self, session: ShellSession, stream: Stream, command: str) -> None:
        self._hang(stream)
        self.faults.started()
        words = ["/system/bin/sh", "-c", command] if command else ["/system/bin/sh"]
        status = session.serve(self._command(words), ENVIRONMENT)
        if status - 128 in _SIGNALS:
            self._log_crash(status - 128, command)

    def _log_crash(self, number: int, command: str) -> None:
        when = time.strftime("%m-%d %H:%M:%S.000")
        line = f"{when}  1000  1000 F libc: Fatal signal {number} ({_SIGNALS[number]})"
        with contextlib.suppress(OSError):
            path = self.container.host_path("/data/misc/logd/main")
            with open(path, "a", encoding="utf-8") as stream:
                stream.write(f"{line} in: {command}\n")

    def _hang(self, stream: Stream) -> None:
        if self.faults.get("hang") is None:
            return
        gone = threading.Event()
        stream.on_close = gone.set
        with self.faults.holding():
            while self.faults.get("hang") is not None and not gone.wait(0.05):
                pass

    def _sync(self, stream: Stream) -> None:
        owner = None
        if self.container.all_ids:
            owner = self._user
            act_as(owner)
        SyncService(stream, self.container.host_path, self.faults, owner).serve()

    def _forward(self, stream: Stream, port: str) -> None:
        # The phone has its own network, so a process that connects to its ports must
        # run inside.
        command = self._command(["/system/bin/nc", LOOPBACK, port])
        ShellSession(stream, packets=False, merge=False).serve(command, ENVIRONMENT)

    def _become(self, stream: Stream, root: bool) -> None:
        if root and self._properties["ro.debuggable"] != "1":
            stream.send(b"adbd cannot run as root in production builds\n")
        elif root and self._is_root:
            stream.send(b"adbd is already running as root\n")
        elif not root and not self._is_root:
            stream.send(b"adbd not running as root\n")
        else:
            self._is_root = root
            text = "root" if root else "non root"
            stream.send(f"restarting adbd as {text}\n".encode())
            timer = threading.Timer(_FAREWELL_S, self.sever, [_FAREWELL_S])
            timer.daemon = True
            timer.start()

    def _remount(self, stream: Stream) -> None:
        if not self._is_root:
            stream.send(b'Not running as root. Try "adb root" first.\n')
            return
        self.container.setup('mount -o remount,bind,rw,nosuid,nodev "$R"')
        stream.send(b"remount succeeded\n")
