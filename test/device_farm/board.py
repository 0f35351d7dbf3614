# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A board: a real sshd; logins run in a container with the board's programs. Each
connection has its own sshd (as with inetd). This process is between it and the host, so
that it can count, delay and cut data.
"""

from __future__ import annotations

import contextlib
import shlex
import socket
import subprocess
import threading
from pathlib import Path
from typing import Set

from test.device_farm.container import Plan
from test.device_farm.device import Device, Spec
from test.device_farm.faults import Activity, SeveredError
from test.device_farm.linux_root import LOGIN_USER, linux_storage, make_linux_root
from test.device_farm.profile import Profile

SSHD = "/usr/sbin/sshd"
_BLOCK = 65536
# In the container, at a path that no folder of this computer hides.
_INSIDE = "/run/farm"
# The key of the farm, and those that the user added on the board.
_KEYS = f"{_INSIDE}/ssh/authorized_keys {_INSIDE}/root/home/%u/.ssh/authorized_keys"

_CONFIG = f"""
HostKey {_INSIDE}/ssh/host_key
ChrootDirectory {_INSIDE}/root
AuthorizedKeysFile {_KEYS}
Subsystem sftp internal-sftp
AllowUsers {{user}}
PasswordAuthentication no
KbdInteractiveAuthentication no
StrictModes no
UsePAM no
UseDNS no
PrintMotd no
PrintLastLog no
PidFile none
"""
# The users of the board, as the sshd of this computer sees them.
_SETUP = f"""
for name in passwd group shadow; do
  mount --bind {{etc}}/"$name" "/etc/$name"
done
mount -t tmpfs -o mode=755 farm /run
mkdir -m 755 -p /run/sshd {_INSIDE}/root {_INSIDE}/ssh
mount --bind {{ssh}} {_INSIDE}/ssh
mount --rbind "$R" {_INSIDE}/root
"""


def make_key(path: Path, comment: str) -> str:
    """Makes a key pair without a password; the public half."""
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", path],
        stdin=subprocess.DEVNULL,
        check=True,
    )
    return path.with_suffix(".pub").read_text(encoding="ascii").strip()


class Board(Device):
    """One board. Whose key may log in, the farm writes into its ssh folder."""

    def __init__(self, spec: Spec, profile: Profile) -> None:
        self._sockets: Set[socket.socket] = set()
        super().__init__(spec, profile)

    def plan(self) -> Plan:
        """See Device."""
        root, etc, ssh = (self.folder / name for name in ("root", "etc", "ssh"))
        make_linux_root(root, self.profile, self.spec.name)
        etc.mkdir()
        user = self.profile.user
        for name, line in (
            ("passwd", f"{user}:x:{LOGIN_USER}:{LOGIN_USER}::/home/{user}:/bin/sh"),
            ("group", f"{user}:x:{LOGIN_USER}:"),
            ("shadow", f"{user}:*:19000:0:99999:7:::"),
        ):
            known = Path("/etc", name).read_text(encoding="utf-8").splitlines()
            kept = [one for one in known if not one.startswith(f"{user}:")]
            (etc / name).write_text("\n".join([line, *kept]) + "\n", encoding="utf-8")
        (etc / "shadow").chmod(0o600)
        config = _CONFIG.format(user=user)
        (ssh / "sshd_config").write_text(config, encoding="utf-8")
        return Plan(
            self.spec.name,
            root,
            self.profile.is_64_bit,
            self.profile.is_32_bit,
            linux_storage(self.profile),
            _SETUP.format(etc=shlex.quote(str(etc)), ssh=shlex.quote(str(ssh))),
        )

    def serve(self, connection: socket.socket) -> None:
        """See Device."""
        ours, theirs = socket.socketpair()
        both = {connection, ours}
        self._sockets |= both
        process = None
        try:
            if not self._hangs(connection):
                process = self._start_sshd(theirs)
                theirs.close()
                self.faults.started()
                up = threading.Thread(
                    target=self._relay, args=(connection, ours, "push"), daemon=True
                )
                up.start()
                self._relay(ours, connection, "pull")
        finally:
            self._sockets -= both
            theirs.close()
            for one in both:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
                one.close()
            if process is not None:
                process.wait()

    def _start_sshd(self, theirs: socket.socket) -> subprocess.Popen[bytes]:
        options = []
        if self.faults.get("unauthorized") is not None:
            options = ["-o", "AuthorizedKeysFile=none"]
        sshd = [SSHD, "-i", "-e", *options, "-f", f"{_INSIDE}/ssh/sshd_config"]
        with open(self.folder / "sshd.log", "ab") as log:
            return subprocess.Popen(
                self.container.inside(*sshd),
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=log,
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
                start_new_session=True,
            )

    def _hangs(self, connection: socket.socket) -> bool:
        """Holds the connection while the fault lasts; returns whether it did."""
        if self.faults.get("hang") is None:
            return False
        with self.faults.holding():
            while self.faults.get("hang") is not None and connection in self._sockets:
                threading.Event().wait(0.05)
        return True

    def _relay(
        self, source: socket.socket, target: socket.socket, activity: Activity
    ) -> None:
        try:
            while True:
                data = source.recv(_BLOCK)
                if not data:
                    break
                self.faults.passed(activity, len(data))
                target.sendall(data)
        except (OSError, SeveredError):
            pass
        for one, way in ((target, socket.SHUT_WR), (source, socket.SHUT_RD)):
            with contextlib.suppress(OSError):
                one.shutdown(way)

    def drop_connections(self) -> None:
        """See Device."""
        for one in list(self._sockets):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._sockets.clear()

    def fault_changed(self) -> None:
        """See Device."""
        if self.faults.get("offline") is not None:
            self.sever(None)
