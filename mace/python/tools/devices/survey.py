# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds all phones and boards, and queries them at the same time."""

from __future__ import annotations

import concurrent.futures
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.devices.adb import AdbDevice
from mace.python.tools.devices.adb_client import (
    AdbClient,
    ListedDevice,
    find_adb,
    is_address,
)
from mace.python.tools.devices.boards import Board, read_boards
from mace.python.tools.devices.device import Device, DeviceError, DeviceProperties
from mace.python.tools.devices.emulator import EMULATED_ABIS, EmulatorDevice
from mace.python.tools.devices.host import HostDevice
from mace.python.tools.devices.ssh import SshDevice
from mace.python.tools.errors import MaceError

# Names of the devices on this computer.
HOST, EMULATOR = "host", "qemu"


@dataclass(frozen=True)
class Candidate:
    """A device that may match.

    Attributes:
        names: what a user may call it before it has told its own.
        abis: of the wanted ones, those it is expected to run.
    """

    device: Device
    names: tuple[str, ...]
    abis: tuple[Abi, ...]


@dataclass(frozen=True)
class Seen:
    """A device that exists, but was not queried or cannot be used.

    Attributes:
        line: what it is, and why.
    """

    names: tuple[str, ...]
    line: str


@dataclass(frozen=True)
class Trouble:
    """A problem with a wanted device, or with a program needed to reach it.

    Attributes:
        names: of the device; none: all phones.
        abis: of the wanted ones, those that it concerns.
    """

    names: tuple[str, ...]
    abis: tuple[Abi, ...]
    error: MaceError


@dataclass
class Survey:
    """The devices for some ABIs and names.

    Attributes:
        abis: wanted.
        wanted: names; empty: all devices.
        refused: why the phone of a network address cannot be connected.
    """

    abis: tuple[Abi, ...]
    wanted: tuple[str, ...]
    candidates: list[Candidate] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)

    def absent(self, told: Iterable[str] = ()) -> list[str]:
        """Wanted names that no device has.

        Args:
            told: further names, by which devices called themselves.
        """
        known = set(told)
        for here in (self.candidates, self.seen, self.troubles):
            known.update(*(one.names for one in here))
        return [name for name in self.wanted if name not in known]

    def add_local(self, work_root: Path) -> None:
        """This computer and the boards it emulates."""
        if Abi.HOST in self.abis:
            host = HostDevice(work_root / HOST)
            self._candidate(host, (HOST,), (Abi.HOST,))
        elif HOST in self.wanted:
            self.seen.append(Seen((HOST,), f"{HOST} (this computer): {Abi.HOST.value}"))
        for abi in EMULATED_ABIS:
            name = f"{EMULATOR}-{abi.value}"
            if not {EMULATOR, name} & set(self.wanted):
                continue
            if abi in self.abis:
                device = EmulatorDevice(abi, work_root / abi.value)
                self._candidate(device, (name, EMULATOR), (abi,))
            else:
                self.seen.append(Seen((name, EMULATOR), f"{name}: {abi.value}"))

    def add_boards(self, path: Path) -> None:
        """Boards of a `devices.yml`.

        Raises:
            DeviceError: the file is no such list.
        """
        for board in read_boards(path):
            names = (board.name, board.address, f"{board.address}:{board.port}")
            abis = tuple(abi for abi in self.abis if abi in board.abis)
            # A board that cannot match is not contacted: it may be switched off.
            if abis and (not self.wanted or set(names) & set(self.wanted)):
                self._candidate(SshDevice(board), names, abis)
            else:
                self.seen.append(Seen(names, _board_line(board)))

    def add_phones(self) -> None:
        """Phones that adb lists, and those in the network that are wanted.

        adb is not called if all wanted devices are already known.
        """
        abis = tuple(abi for abi in self.abis if abi.is_android)
        if not abis or (self.wanted and not self.absent()):
            return
        try:
            adb = find_adb()
            listed = self._listed(adb)
        except MaceError as error:
            self.troubles.append(Trouble((), abis, error))
            return
        only = "" if self.wanted else os.environ.get("ANDROID_SERIAL", "")
        for serial, device in listed.items():
            if only and serial != only:
                line = f"{serial}: left out (ANDROID_SERIAL={only})"
                self.seen.append(Seen((serial,), line))
            elif device.is_ready:
                self._candidate(AdbDevice(adb, serial), (serial,), abis)
            elif self.wanted and serial not in self.wanted:
                self.seen.append(Seen((serial,), device.advice()))
            else:
                advice = DeviceError(device.advice())
                self.troubles.append(Trouble((serial,), abis, advice))
        if only and only not in listed:
            sees = ", ".join(listed) or "no device"
            text = f"ANDROID_SERIAL is {only}, and adb sees {sees}"
            self.troubles.append(Trouble((only,), abis, DeviceError(text)))

    def _listed(self, adb: AdbClient) -> dict[str, ListedDevice]:
        listed = {device.serial: device for device in adb.devices()}
        for name in self.absent(listed):
            if is_address(name):
                self.refused[name] = adb.connect(name)
                listed = {device.serial: device for device in adb.devices()}
        return listed

    def _candidate(
        self, device: Device, names: tuple[str, ...], abis: tuple[Abi, ...]
    ) -> None:
        self.candidates.append(Candidate(device, names, abis))


def probe_all(
    candidates: Sequence[Candidate],
) -> list[DeviceProperties | MaceError]:
    """Queries all devices at the same time; returns each device's answer or error.

    Those that did not answer are closed; after any other exception all are.
    """
    pool = concurrent.futures.ThreadPoolExecutor(max(1, len(candidates)))
    try:
        with pool:
            futures = [pool.submit(_probe, one.device) for one in candidates]
            try:
                concurrent.futures.wait(futures)
            except BaseException:  # Ctrl-C
                for one in candidates:
                    one.device.stop()
                raise
        return [future.result() for future in futures]
    except BaseException:
        for one in candidates:
            one.device.close()
        raise


def _probe(device: Device) -> DeviceProperties | MaceError:
    try:
        return device.probe()
    except MaceError as error:
        device.close()
        return error


def _board_line(board: Board) -> str:
    can = ", ".join(abi.value for abi in board.abis)
    return f"{board.name} ({board.address}): {can}"
