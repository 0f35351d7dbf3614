# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the devices that can run the programs for the target ABIs."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import logging
import os
import random
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.devices.adb import (
    AdbClient,
    AdbDevice,
    ListedDevice,
    find_adb,
    in_network,
    is_address,
)
from mace.python.tools.devices.device import (
    Device,
    DeviceError,
    DeviceProperties,
    DeviceUnsuitedError,
)
from mace.python.tools.devices.host import EMULATED_ABIS, EmulatorDevice, HostDevice
from mace.python.tools.devices.ssh import DEFAULT_FILE, Board, SshDevice, read_boards
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


_LOG = logging.getLogger(__name__)

# In target_socs.
ALL_SOCS, RANDOM = "all", "random"


@dataclass(frozen=True)
class DeviceQuery:
    """What devices are wanted for.

    Attributes:
        abis: what programs are built for.
        work_root: local folder below which devices on this computer work.
        socs: lower case; "all" or nothing for any, "random" for one device of
            those that match, chosen by chance. A device whose SoC is not known
            matches any.
        wanted: names or serials; empty: all. "qemu" emulates ARM boards.
        device_yml: boards reached by ssh; None: `devices.yml` here, if any.
        any_abi: one of `abis` will do, and this computer's where `wanted` names it;
            otherwise those without a device are told.
    """

    abis: tuple[Abi, ...]
    work_root: Path
    socs: tuple[str, ...] = ()
    wanted: tuple[str, ...] = ()
    device_yml: Path | None = None
    any_abi: bool = False


@dataclass(frozen=True)
class FoundDevice:
    """A device that answers, and the wanted ABIs that it runs."""

    device: Device
    properties: DeviceProperties
    abis: tuple[Abi, ...]


@dataclass(frozen=True)
class SilentDevice:
    """A wanted device that cannot be used.

    It is listed, plugged in or named in `DeviceQuery.wanted`, and it does not
    answer, is not ready or is not there at all.

    Attributes:
        abis: of the wanted ones, those it may have run.
        named: `DeviceQuery.wanted` names it.
    """

    name: str
    abis: tuple[Abi, ...]
    reason: str
    named: bool = False


@dataclass
class Devices:
    """What `find_devices` found."""

    found: list[FoundDevice] = field(default_factory=list)
    silent: list[SilentDevice] = field(default_factory=list)


def find_devices(query: DeviceQuery) -> Devices:
    """Finds the matching devices and gives each a unique name.

    A connection to each is open; `close_all` ends it. Devices that were meant
    and cannot be used are told apart, unless there are no others.

    Raises:
        DeviceError: none matches; says what there is, and what it can run.
        MissingToolError: a program needed to reach such devices is missing.
    """
    if query.any_abi and HOST in query.wanted:
        abis = tuple(dict.fromkeys((*query.abis, Abi.HOST)))
        query = dataclasses.replace(query, abis=abis)
    survey = Survey(query.abis, query.wanted)
    survey.add_local(query.work_root)
    _add_boards(survey, query)
    survey.add_phones()
    search = _Search(query, survey)
    search.judge(probe_all(survey.candidates))
    result = search.result
    if not result.found:
        raise search.nothing_found()
    if RANDOM in query.socs:
        # One device is enough, so devices that are off or missing are not reported.
        _choose_one(result)
    else:
        search.tell_the_rest()
    result.found = _with_own_names(result.found)
    return result


def close_all(devices: Devices) -> None:
    """Ends all connections."""
    for item in devices.found:
        item.device.close()


def _add_boards(survey: Survey, query: DeviceQuery) -> None:
    if query.device_yml is not None:
        survey.add_boards(query.device_yml)
    elif DEFAULT_FILE.is_file():
        _LOG.info("boards are those of %s", DEFAULT_FILE)
        survey.add_boards(DEFAULT_FILE)


class _Search:
    """The devices that answered a query, and why the others did not match."""

    def __init__(self, query: DeviceQuery, survey: Survey) -> None:
        self.result = Devices()
        self._query = query
        self._survey = survey
        self._seen = list(survey.seen)
        self._troubles = list(survey.troubles)
        self._told: set[str] = set()

    def judge(self, answers: Sequence[DeviceProperties | MaceError]) -> None:
        """Adds a device if it matches; otherwise records why it does not."""
        for candidate, answer in zip(self._survey.candidates, answers):
            if isinstance(answer, MaceError):
                self._note(candidate, answer)
            else:
                self._match(candidate, answer)
        self._use_each_phone_once()

    def _match(self, candidate: Candidate, properties: DeviceProperties) -> None:
        query = self._query
        names = (*candidate.names, properties.name, properties.serial)
        self._told |= set(names)
        abis = tuple(abi for abi in query.abis if abi in properties.abis)
        if abis and self._is_meant(names) and _has_soc(properties, query):
            found = FoundDevice(candidate.device, properties, abis)
            self.result.found.append(found)
            return
        candidate.device.close()
        can = ", ".join(abi.value for abi in properties.abis)
        soc = f", SoC {properties.soc}" if properties.soc else ""
        line = f"{properties.name} ({properties.serial}): {can}{soc}"
        self._seen.append(Seen(names, line))

    def _use_each_phone_once(self) -> None:
        """Keeps each phone once: the connection that was named, otherwise USB."""
        wanted = set(self._query.wanted)
        phones = [one for one in self.result.found if isinstance(one.device, AdbDevice)]
        phones.sort(key=lambda one: _rank(one, wanted))
        used: dict[str, FoundDevice] = {}
        for item in phones:
            first = used.setdefault(item.device.identity, item)
            if first is item or item.properties.serial in wanted:
                continue
            item.device.close()
            self.result.found.remove(item)
            _LOG.info("%s is the phone %s", item.device.label, first.device.label)

    def _note(self, candidate: Candidate, error: MaceError) -> None:
        named = bool(set(candidate.names) & set(self._query.wanted))
        unsuited = isinstance(error, DeviceUnsuitedError) and not named
        # The name of a phone that does not answer is unknown.
        if unsuited or not self._is_meant(candidate.names):
            self._seen.append(Seen(candidate.names, str(error)))
            _LOG.warning("%s", error)
        else:
            trouble = Trouble(candidate.names, candidate.abis, error)
            self._troubles.append(trouble)

    def _is_meant(self, names: Iterable[str]) -> bool:
        return not self._query.wanted or bool(set(names) & set(self._query.wanted))

    def tell_the_rest(self) -> None:
        """Completes `Devices.silent`; warns of other devices that are not used."""
        query, result = self._query, self.result
        for trouble in self._troubles:
            if trouble.names:
                named = bool(set(trouble.names) & set(query.wanted))
                result.silent.append(
                    SilentDevice(
                        trouble.names[0], trouble.abis, str(trouble.error), named
                    )
                )
        for name in self._survey.absent(self._told):
            reason = self._why_absent(name)
            result.silent.append(SilentDevice(name, query.abis, reason, named=True))
        for seen in self._seen:
            if set(seen.names) & set(query.wanted):
                _LOG.warning("left out: %s", seen.line)
        served = {abi for item in result.found for abi in item.abis}
        served |= {abi for device in result.silent for abi in device.abis}
        for abi in query.abis:
            if abi not in served and not query.any_abi:
                _LOG.warning("%s: %s", abi.value, self._remedy(abi))

    def nothing_found(self) -> MaceError:
        """The error if no device matches: lists other devices, and what to do."""
        query = self._query
        if len(self._troubles) == 1 and not self._seen:
            (trouble,) = self._troubles
            if set(query.abis) <= set(trouble.abis):
                return trouble.error
        asked = "programs for " + ", ".join(abi.value for abi in query.abis)
        if query.socs and ALL_SOCS not in query.socs and RANDOM not in query.socs:
            asked += f" on SoC {', '.join(query.socs)} (target_socs)"
        if query.wanted:
            asked += f" among {', '.join(query.wanted)} (--devices_to_run)"
        lines = [f"no device runs {asked}"]
        lines += [str(trouble.error) for trouble in self._troubles if trouble.names]
        lines += self._survey.refused.values()
        lines += [f"found {seen.line}" for seen in self._seen]
        lines += [f"{abi.value}: {self._remedy(abi)}" for abi in query.abis]
        if Abi.HOST not in query.abis:
            lines.append("--target_abis=host runs the models on this computer")
        return DeviceError("\n  ".join(lines))

    def _why_absent(self, name: str) -> str:
        if name in self._survey.refused:
            return self._survey.refused[name]
        no_phones = [str(t.error) for t in self._troubles if not t.names]
        lines = [item.properties.name for item in self.result.found]
        lines += [seen.names[0] for seen in self._seen]
        there = ", ".join(dict.fromkeys(lines))
        return "; ".join(
            [f"there is no device {name} (--devices_to_run), but {there}", *no_phones]
        )

    def _remedy(self, abi: Abi) -> str:
        """How to get a device for an ABI."""
        for trouble in self._troubles:
            if not trouble.names and abi in trouble.abis:
                return str(trouble.error)
        return _no_device(abi)


def _rank(item: FoundDevice, wanted: Set[str]) -> tuple[bool, bool]:
    named = item.properties.serial in wanted
    return (not named, in_network(item.properties.serial))


def _has_soc(properties: DeviceProperties, query: DeviceQuery) -> bool:
    socs = set(query.socs) - {RANDOM}
    if not socs or ALL_SOCS in socs or not properties.soc_names:
        return True
    return bool(socs & set(properties.soc_names))


def _choose_one(result: Devices) -> None:
    chosen = random.choice(result.found)
    for item in result.found:
        if item is not chosen:
            item.device.close()
    result.found = [chosen]


def _no_device(abi: Abi) -> str:
    """How to get a device."""
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
    return f"this computer, called {HOST} in --devices_to_run"


def _with_own_names(found: list[FoundDevice]) -> list[FoundDevice]:
    """Adds the serial to the names of devices of the same model."""
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
