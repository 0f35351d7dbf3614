# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Which devices can run what was built."""

from __future__ import annotations

import dataclasses
import logging
import os
import random
import re
from dataclasses import dataclass, field
from pathlib import Path

from mace.python.tools.config.deployment import Abi
from mace.python.tools.devices.adb import AdbDevice
from mace.python.tools.devices.adb_client import AdbClient, find_adb
from mace.python.tools.devices.boards import DEFAULT_FILE, read_boards
from mace.python.tools.devices.device import Device, DeviceError, DeviceProperties
from mace.python.tools.devices.emulator import EMULATED_ABIS, EmulatorDevice
from mace.python.tools.devices.host import HostDevice
from mace.python.tools.devices.ssh import SshDevice

_LOG = logging.getLogger(__name__)

# In --devices_to_run: emulate what is not there.
EMULATOR = "qemu"
# In target_socs.
ALL, RANDOM = "all", "random"

_NETWORK_SERIAL = re.compile(r"^[^\s,]+:\d+$")


@dataclass(frozen=True)
class DeviceQuery:
    """What devices are wanted for.

    Attributes:
        abis: what programs are built for.
        work_root: local folder below which devices on this computer work.
        socs: lower case; "all" or nothing for any, "random" for one device of
            those that match, chosen by chance.
        wanted: names or serials; empty: all. "qemu" emulates ARM boards.
        device_yml: boards reached by ssh; None: `devices.yml` here, if any.
        any_abi: one of `abis` will do; otherwise those without a device are told.
    """

    abis: tuple[Abi, ...]
    work_root: Path
    socs: tuple[str, ...] = ()
    wanted: tuple[str, ...] = ()
    device_yml: Path | None = None
    any_abi: bool = False


@dataclass(frozen=True)
class FoundDevice:
    """A device that answers, and those of the wanted ABIs it runs."""

    device: Device
    properties: DeviceProperties
    abis: tuple[Abi, ...]


@dataclass(frozen=True)
class SilentDevice:
    """A device that was meant and does not answer."""

    name: str
    abis: tuple[Abi, ...]
    reason: str


@dataclass
class Devices:
    """What `find_devices` found."""

    found: list[FoundDevice] = field(default_factory=list)
    silent: list[SilentDevice] = field(default_factory=list)


@dataclass
class _Survey:
    """Everything seen, for the message when nothing matches."""

    query: DeviceQuery
    result: Devices = field(default_factory=Devices)
    seen: list[str] = field(default_factory=list)

    def offer(self, device: Device, names: tuple[str, ...] = ()) -> None:
        """Probes a device; takes it if it matches."""
        try:
            properties = device.probe()
        except BaseException:
            device.close()
            raise
        names = (*names, properties.name, properties.serial)
        abis = tuple(abi for abi in self.query.abis if abi in properties.abis)
        if abis and self._is_wanted(names) and self._has_soc(properties):
            self.result.found.append(FoundDevice(device, properties, abis))
            return
        device.close()
        can = ", ".join(abi.value for abi in properties.abis)
        soc = f", SoC {properties.soc}" if properties.soc else ""
        self.seen.append(f"{properties.name} ({properties.serial}): {can}{soc}")

    def _is_wanted(self, names: tuple[str, ...]) -> bool:
        return not self.query.wanted or bool(set(names) & set(self.query.wanted))

    def _has_soc(self, properties: DeviceProperties) -> bool:
        socs = set(self.query.socs) - {RANDOM}
        if not socs or ALL in socs or not properties.soc_names:
            return True
        return bool(socs & set(properties.soc_names))


def find_devices(query: DeviceQuery) -> Devices:
    """The devices that match, each under a name of its own.

    A connection to each is open; `close` ends it. A board that is listed and
    does not answer is told apart, unless it is the only one.

    Raises:
        DeviceError: none matches; says what there is, and what it can run.
        MissingToolError: a program needed to reach such devices is missing.
    """
    survey = _Survey(query)
    try:
        if Abi.HOST in query.abis:
            survey.offer(HostDevice(query.work_root / "host"))
        _emulators(survey)
        _boards(survey)
        if any(abi.is_android for abi in query.abis):
            _phones(survey)
    except BaseException:
        close_all(survey.result)
        raise
    result = survey.result
    if not result.found:
        raise DeviceError(_nothing_found(survey))
    served = {abi for item in result.found for abi in item.abis}
    served |= {abi for device in result.silent for abi in device.abis}
    for abi in query.abis:
        if abi not in served and not query.any_abi:
            _LOG.warning("%s: %s", abi.value, _no_device(abi))
    if RANDOM in query.socs:
        chosen = random.choice(result.found)
        for item in result.found:
            if item is not chosen:
                item.device.close()
        result.found = [chosen]
    result.found = _with_own_names(result.found)
    return result


def close_all(devices: Devices) -> None:
    """Ends all connections."""
    for item in devices.found:
        item.device.close()


def _emulators(survey: _Survey) -> None:
    query = survey.query
    for abi in query.abis:
        name = f"{EMULATOR}-{abi.value}"
        if abi in EMULATED_ABIS and {EMULATOR, name} & set(query.wanted):
            survey.offer(
                EmulatorDevice(abi, query.work_root / abi.value), (EMULATOR, name)
            )


def _boards(survey: _Survey) -> None:
    query = survey.query
    path = query.device_yml
    if path is None:
        if not DEFAULT_FILE.is_file():
            return
        path = DEFAULT_FILE
        _LOG.info("boards are those of %s", path)
    for board in read_boards(path):
        abis = tuple(abi for abi in query.abis if abi in board.abis)
        wanted = not query.wanted or {
            board.name,
            board.address,
            f"{board.address}:{board.port}",
        } & set(query.wanted)
        # One that cannot match is not called up: it may well be off.
        if not abis or not wanted:
            can = ", ".join(abi.value for abi in board.abis)
            survey.seen.append(f"{board.name} ({board.address}): {can}")
            continue
        try:
            survey.offer(SshDevice(board), (board.address,))
        except DeviceError as error:
            survey.result.silent.append(SilentDevice(board.name, abis, str(error)))


def _phones(survey: _Survey) -> None:
    adb = find_adb()
    wanted = set(survey.query.wanted)
    listed = {device.serial: device for device in adb.devices()}
    for serial in wanted - set(listed):
        if _NETWORK_SERIAL.match(serial):
            adb.connect(serial)
            listed = {device.serial: device for device in adb.devices()}
    only = os.environ.get("ANDROID_SERIAL", "")
    for serial, device in listed.items():
        if only and not wanted and serial != only:
            survey.seen.append(f"{serial}: left out (ANDROID_SERIAL={only})")
        elif device.is_ready:
            _offer_phone(survey, adb, serial)
        elif serial in wanted or serial == only:
            raise DeviceError(device.advice())
        else:
            _LOG.warning("%s", device.advice())
            survey.seen.append(device.advice())
    if only and not wanted and only not in listed:
        raise DeviceError(
            f"ANDROID_SERIAL is {only}, and adb sees {', '.join(listed) or 'no device'}"
        )


def _offer_phone(survey: _Survey, adb: AdbClient, serial: str) -> None:
    try:
        survey.offer(AdbDevice(adb, serial))
    except DeviceError as error:
        if serial in survey.query.wanted:
            raise
        _LOG.warning("%s", error)
        survey.seen.append(str(error))


def _nothing_found(survey: _Survey) -> str:
    query = survey.query
    silent = [f"{device.name}: {device.reason}" for device in survey.result.silent]
    asked = "programs for " + ", ".join(abi.value for abi in query.abis)
    if query.socs and ALL not in query.socs and RANDOM not in query.socs:
        asked += f" on SoC {', '.join(query.socs)} (target_socs)"
    if query.wanted:
        asked += f" among {', '.join(query.wanted)} (--devices_to_run)"
    lines = [f"no device runs {asked}"]
    lines += [f"found {line}" for line in (*silent, *survey.seen)]
    lines += [f"{abi.value}: {_no_device(abi)}" for abi in query.abis]
    return "\n  ".join(lines)


def _no_device(abi: Abi) -> str:
    """What to do to have one."""
    if abi.is_android:
        return (
            "no such phone; plug one in (adb devices lists it), or give "
            "--target_abis with what your device runs"
        )
    if abi in EMULATED_ABIS:
        return (
            f"no such board; list it in {DEFAULT_FILE} or --device_yml, or emulate "
            f"one: --devices_to_run={EMULATOR}"
        )
    return "this computer, called host in --devices_to_run"


def _with_own_names(found: list[FoundDevice]) -> list[FoundDevice]:
    """Devices of one model get their serial into the name."""
    names = [item.properties.name for item in found]
    result = []
    for item in found:
        properties = item.properties
        if names.count(properties.name) > 1:
            properties = dataclasses.replace(
                properties, name=f"{properties.name} ({properties.serial})"
            )
        result.append(dataclasses.replace(item, properties=properties))
    return result
