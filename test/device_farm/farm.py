# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Starts devices, gives their addresses, and stops them.

with Farm(folder, phones=["mi6"], boards=["nanopi"]) as farm:
    subprocess.run(["adb", "connect", farm.phones[0].address], env=farm.env)
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional

import yaml
from filelock import FileLock, Timeout

from test.device_farm import requirements
from test.device_farm.board import make_key
from test.device_farm.control import ask
from test.device_farm.device import Spec
from test.device_farm.errors import FarmError
from test.device_farm.listener import LOOPBACK
from test.device_farm.profile import Profile, find_profile

# The adb server automatically looks for emulators at odd ports from 5555 to 5585.
ADB_PORT = 15555
SSH_PORT = 15022
# The number of ports that are tried; those in use are skipped.
_PORTS_TRIED = 200
_STOP_S = 5
# Marks a folder that the farm may empty.
_MARK = ".device_farm"
_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Running:
    """A device of the farm.

    Attributes:
        spec: what it was asked to be.
        profile: what it is.
        pid: of its process.
    """

    spec: Spec
    profile: Profile
    pid: int

    @property
    def name(self) -> str:
        """Of the device, unique in the farm."""
        return self.spec.name

    @property
    def folder(self) -> Path:
        """Its files on this computer; its log is log.txt."""
        return Path(self.spec.folder)

    @property
    def address(self) -> str:
        """Where it is reached; of a phone, its serial number."""
        return f"{LOOPBACK}:{self.spec.port}"

    def fault(self, kind: str, **values: Any) -> Dict[str, Any]:
        """Sets a fault (see faults.Fault); returns its status."""
        return ask(self.folder, {"do": "fault", "kind": kind, **values})

    def clear(self) -> Dict[str, Any]:
        """Ends its faults; returns its status."""
        return ask(self.folder, {"do": "clear"})

    def status(self) -> Dict[str, Any]:
        """Its faults and what it has moved and run."""
        return ask(self.folder, {"do": "status"})


class Farm:
    """Devices that live as long as the process that started them, at most.

    Start it in the main thread: devices end with the thread that started them.

    Args:
        folder: for its files; must not be in use by another farm.
        phones: profiles of phones, in order; the same may come twice.
        boards: profiles of boards.
        adb_port, ssh_port: where the search for free ports begins.
    """

    def __init__(
        self,
        folder: Path,
        phones: Sequence[str] = (),
        boards: Sequence[str] = (),
        adb_port: int = ADB_PORT,
        ssh_port: int = SSH_PORT,
    ) -> None:
        self.folder = folder.resolve()
        self.devices: List[Running] = []
        self.adb_server_port = 0
        self._profiles = [find_profile(name, "phone") for name in phones]
        self._profiles += [find_profile(name, "board") for name in boards]
        self._adb_port, self._ssh_port = adb_port, ssh_port
        self._wanted = [*phones, *boards]
        self._processes: List[subprocess.Popen[str]] = []
        self._lock: Optional[FileLock] = None

    def __enter__(self) -> Farm:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def phones(self) -> List[Running]:
        """Its phones, in order."""
        return [one for one in self.devices if one.spec.kind == "phone"]

    @property
    def boards(self) -> List[Running]:
        """Its boards, in order."""
        return [one for one in self.devices if one.spec.kind == "board"]

    @property
    def env(self) -> Dict[str, str]:
        """The environment in which adb sees only these phones."""
        return {**os.environ, **self.variables}

    @property
    def variables(self) -> Dict[str, str]:
        """The variables that differ in that environment."""
        if not self.phones:
            return {}
        return {
            "ANDROID_ADB_SERVER_PORT": str(self.adb_server_port),
            # Do not search for emulators, or for phones that somebody is using.
            "ADB_LOCAL_TRANSPORT_MAX_PORT": "5553",
        }

    @property
    def ssh_config(self) -> Path:
        """A file for ssh -F, which knows each board by its name."""
        return self.folder / "ssh" / "config"

    @property
    def devices_yml(self) -> Path:
        """The boards, as --device_yml takes them."""
        return self.folder / "devices.yml"

    def start(self) -> None:
        """Starts all devices; if one fails, stops all.

        Raises:
            FarmError: something is missing, or one does not start.
        """
        requirements.check(self._profiles)
        self._take_folder()
        try:
            key = ""
            if any(one.kind == "board" for one in self._profiles):
                (self.folder / "ssh").mkdir(mode=0o700)
                key = make_key(self.folder / "ssh" / "id_ed25519", "mace device farm")
            specs = self._specs()
            for spec in specs:
                self._prepare(spec, key)
                self._processes.append(self._launch(spec))
            for spec, profile, process in zip(specs, self._profiles, self._processes):
                self._await(spec, process)
                self.devices.append(Running(spec, profile, process.pid))
            if self.phones:
                # Only for this farm, like the port of the phone. The server itself
                # starts with the first client, perhaps much later.
                self.adb_server_port = self.phones[0].spec.port - 1
                (self.folder / _MARK).write_text(str(self.adb_server_port))
            self._write_ssh_files()
        except BaseException:
            self.stop()
            raise

    def _take_folder(self) -> None:
        """Creates or empties the folder, unless it contains other files."""
        other = "choose another folder with --folder"
        try:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(f"{self.folder}.lock")
            self._lock.acquire(timeout=0)
            if self.folder.exists():
                if any(self.folder.iterdir()) and not (self.folder / _MARK).exists():
                    raise FarmError(
                        f"{self.folder} holds files of somebody else; {other}"
                    )
                _stop_left_server(self.folder / _MARK)
                shutil.rmtree(self.folder)
            self.folder.mkdir()
            (self.folder / _MARK).touch()
        except Timeout as error:
            raise FarmError(
                f"a farm runs in {self.folder}; end it (python -m test.device_farm "
                f"down) or {other}"
            ) from error
        except OSError as error:
            raise FarmError(
                f"the farm cannot use {self.folder}: {error.strerror}; {other}"
            ) from error

    def _specs(self) -> List[Spec]:
        # A phone has an odd port and the even one before it.
        ports = {
            "phone": _free_ports(self._adb_port, 2),
            "board": _free_ports(self._ssh_port, 1),
        }
        specs: List[Spec] = []
        for wanted, profile in zip(self._wanted, self._profiles):
            taken = {spec.name for spec in specs}
            name, number = profile.name, 2
            while name in taken:
                name, number = f"{profile.name}_{number}", number + 1
            port = next(ports[profile.kind])
            folder = str(self.folder / name)
            specs.append(Spec(name, wanted, profile.kind, port, folder))
        return specs

    def _prepare(self, spec: Spec, key: str) -> None:
        folder = Path(spec.folder)
        folder.mkdir()
        if spec.kind == "board":
            ssh = folder / "ssh"
            ssh.mkdir()
            (ssh / "authorized_keys").write_text(key + "\n", encoding="ascii")
            make_key(ssh / "host_key", spec.name)

    def _launch(self, spec: Spec) -> subprocess.Popen[str]:
        path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
        module = "test.device_farm.device_process"
        with open(Path(spec.folder) / "log.txt", "wb") as log:
            return subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    module,
                    str(os.getpid()),
                    json.dumps(spec.as_json()),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, "PYTHONPATH": path},
                text=True,
            )

    def _await(self, spec: Spec, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        word, _, reason = process.stdout.readline().strip().partition(" ")
        if word != "ready":
            log = Path(spec.folder, "log.txt").read_text(errors="replace").strip()
            reason = reason or (log.splitlines() or ["it ended without a word"])[-1]
            raise FarmError(f"device {spec.name}: {reason}")

    def _write_ssh_files(self) -> None:
        if not self.boards:
            return
        ssh = self.folder / "ssh"
        hosts, known, rows = [], [], {}
        for one in self.boards:
            hosts.append(
                f"Host {one.name}\n  HostName {LOOPBACK}\n  Port {one.spec.port}\n"
                f"  User {one.profile.user}\n"
            )
            public = (one.folder / "ssh/host_key.pub").read_text().split()
            known.append(f"[{LOOPBACK}]:{one.spec.port} {public[0]} {public[1]}\n")
            rows[one.name] = {
                "target_abis": list(one.profile.abis),
                "target_socs": one.profile.soc,
                "models": one.profile.model,
                "address": LOOPBACK,
                "port": one.spec.port,
                "username": one.profile.user,
                "ssh_config": str(self.ssh_config),
            }
        hosts.append(
            f'Host *\n  IdentityFile "{ssh}/id_ed25519"\n  IdentitiesOnly yes\n'
            f'  UserKnownHostsFile "{ssh}/known_hosts"\n  BatchMode yes\n'
            "  ConnectTimeout 10\n  LogLevel ERROR\n"
        )
        self.ssh_config.write_text("\n".join(hosts), encoding="utf-8")
        (ssh / "known_hosts").write_text("".join(known), encoding="ascii")
        text = yaml.safe_dump({"devices": rows}, sort_keys=False)
        self.devices_yml.write_text(text, encoding="utf-8")

    def stop(self) -> None:
        """Ends all devices and the adb server that was started for them."""
        for process in self._processes:
            process.send_signal(signal.SIGTERM)
        for process in self._processes:
            try:
                process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout is not None:
                process.stdout.close()
        if self.adb_server_port:
            stop_adb_server(self.adb_server_port)
        self._processes.clear()
        self.devices.clear()
        if self._lock is not None:
            if (self.folder / _MARK).exists():
                shutil.rmtree(self.folder, ignore_errors=True)
            self._lock.release()
            self._lock = None


def stop_adb_server(port: int) -> None:
    """Ends the adb server at a port, if one is there."""
    with socket.socket() as one:
        if one.connect_ex((LOOPBACK, port)):
            return
        # The same message as the client's kill-server.
        with contextlib.suppress(OSError):
            one.settimeout(2)
            one.sendall(b"0009host:kill")
            one.recv(4)


def _stop_left_server(mark: Path) -> None:
    """Ends the adb server of a farm that was killed."""
    with contextlib.suppress(OSError, ValueError):
        stop_adb_server(int(mark.read_text()))


def _is_free(port: int) -> bool:
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def _free_ports(first: int, step: int) -> Iterator[int]:
    for port in range(first, first + step * _PORTS_TRIED, step):
        if all(map(_is_free, range(port + 1 - step, port + 1))):
            yield port
    raise FarmError(f"no free port from {first} on; choose another first one")
