# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the devices that can run the programs for the target ABIs."""

from __future__ import annotations

import dataclasses
import logging
import random
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.devices.adb import AdbDevice
from mace.python.tools.devices.adb_client import in_network
from mace.python.tools.devices.boards import DEFAULT_FILE
from mace.python.tools.devices.device import (
    Device,
    DeviceError,
    DeviceProperties,
    DeviceUnsuitedError,
)
from mace.python.tools.devices.emulator import EMULATED_ABIS
from mace.python.tools.devices.survey import (
    EMULATOR,
    HOST,
    Candidate,
    Seen,
    Survey,
    Trouble,
    probe_all,
)
from mace.python.tools.errors import MaceError

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
