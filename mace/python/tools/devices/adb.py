# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Android devices, through the program `adb`."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeVar

from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.devices.device import (
    LONGEST_MESSAGE,
    DeviceError,
    DeviceProperties,
    DeviceUnsuitedError,
    short_answer,
)
from mace.python.tools.devices.process import (
    ProcessRequest,
    ProcessResult,
    run_process,
)
from mace.python.tools.devices.remote import BOOT_ID, PROBE_LIMIT_S, RemoteDevice
from mace.python.tools.errors import MissingToolError

# Also the minimum in the documentation of earlier versions.
MINIMUM = (1, 0, 32)

_LIMIT_S = 30.0
# A device that has just come back is listed as offline for about a second.
_SETTLE_S = 3.0
_INSTALL = "sudo apt install adb, or the platform-tools of the Android SDK"

# Advice for each state in `adb devices`.
_ADVICE = {
    "unauthorized": "allow USB debugging for this computer on its screen",
    "offline": "it does not answer; plug it in again or restart it",
    "no permissions": "this user may not use it: add a udev rule for it "
    "(apt install android-sdk-platform-tools-common), then plug it in again",
    "recovery": "it is in recovery mode; start Android",
    "sideload": "it is in sideload mode; start Android",
    "bootloader": "it is in its boot loader; start Android",
    "authorizing": "it is about to ask for permission on its screen",
    "connecting": "it is being connected; try again",
}

# Of a device. It is no flag, and nothing that a terminal obeys; adb writes question
# marks or "(no serial number)" for a device without one.
_SERIAL = re.compile(r"(?!-)[\x20-\x7e\xa0-\uffff]{1,256}")
_MOST_DEVICES = 256

_ADDRESS = re.compile(r"^[^\s,]+:\d+$")
# Phones with wireless debugging, which adb finds automatically.
_SERVICE = "._tcp"


def is_address(serial: str) -> bool:
    """Whether it is a network address to which adb may connect."""
    return _ADDRESS.match(serial) is not None


def in_network(serial: str) -> bool:
    """Whether the device is in the network, not on USB and not an emulator."""
    return is_address(serial) or serial.rstrip(".").endswith(_SERVICE)


@dataclass(frozen=True)
class ListedDevice:
    """One line of `adb devices`."""

    serial: str
    state: str

    @property
    def is_ready(self) -> bool:
        return self.state == "device"

    def advice(self) -> str:
        """What the user can do about a device that is not ready."""
        for state, advice in _ADVICE.items():
            if self.state.startswith(state):
                return f"{self.serial} is {state}: {advice}"
        return f"{self.serial} is in state {self.state!r}"


class AdbClient:
    """Calls `adb`; its server is started if need be."""

    def __init__(self, path: str) -> None:
        self.path = path

    def devices(self) -> list[ListedDevice]:
        """All devices `adb` sees, ready or not.

        Raises:
            DeviceError: adb or its server does not work.
        """
        # Start the server separately: as a child it would keep our pipe open.
        started = self.call("start-server")
        if started.status != 0:
            raise DeviceError(
                f"the server of adb does not start: {first_line(started.output)}"
            )
        end = time.monotonic() + _SETTLE_S
        while True:
            listed = self._list()
            waiting = [d for d in listed if d.state in ("offline", "connecting")]
            if not waiting or time.monotonic() > end:
                return listed
            for device in waiting:
                self._reconnect(device.serial)
            time.sleep(0.3)

    def revive(self, serial: str) -> bool:
        """Whether a device that was lost can be used (again), after a while."""
        end = time.monotonic() + _SETTLE_S
        while True:
            states = {device.serial: device for device in self._list()}
            if serial in states and states[serial].is_ready:
                return True
            if time.monotonic() > end:
                return False
            self._reconnect(serial)
            time.sleep(0.3)

    def connect(self, address: str) -> str:
        """Connects to a device in the network.

        Returns:
            what to say of it should it not be listed then.
        """
        return (
            f"{address}: adb says: {first_line(self.call('connect', address).output)}"
        )

    def call(self, *arguments: str) -> ProcessResult:
        """Runs adb with these arguments, output and errors together."""
        try:
            result = run_process(
                ProcessRequest([self.path, *arguments], time_limit_s=_LIMIT_S)
            )
        except OSError as error:
            raise DeviceError(f"cannot start {self.path}: {error.strerror}") from error
        if result.excessive:
            raise DeviceError(f"{self.path} {arguments[0]} prints without end")
        return result

    def _list(self) -> list[ListedDevice]:
        result = self.call("devices")
        if result.status != 0:
            raise DeviceError(f"adb devices failed: {first_line(result.output)}")
        _, _, lines = result.output.partition("List of devices attached")
        listed = []
        for line in lines.splitlines():
            serial, _, state = line.strip().partition("\t")
            if _SERIAL.fullmatch(serial) and state:
                listed.append(ListedDevice(serial, short_answer(state)))
        if len(listed) > _MOST_DEVICES:
            raise DeviceError(
                f"adb lists {len(listed)} devices; at most {_MOST_DEVICES} are used at "
                "the same time"
            )
        return listed

    def _reconnect(self, serial: str) -> None:
        if is_address(serial):
            self.call("disconnect", serial)
            self.call("connect", serial)


def find_adb() -> AdbClient:
    """The `adb` of PATH.

    Raises:
        MissingToolError: there is none.
        DeviceError: it does not run, or it is too old.
    """
    path = shutil.which("adb")
    if path is None:
        raise MissingToolError("adb", "reaching Android devices", _INSTALL)
    client = AdbClient(path)
    version = client.call("version")
    found = re.search(r"version (\d{1,6})\.(\d{1,6})\.(\d{1,6})", version.output)
    if version.status != 0 or found is None:
        raise DeviceError(
            f"{path} does not print its version: {first_line(version.output)}; "
            f"to install another: {_INSTALL}"
        )
    numbers = tuple(int(part) for part in found.groups())
    if numbers < MINIMUM:
        raise DeviceError(
            f"{path} is version {found[0][8:]}, and at least "
            f"{'.'.join(map(str, MINIMUM))} is needed; to install it: {_INSTALL}"
        )
    return client


def explain(text: str, serial: str) -> str:
    """Explains an error of adb and says what to do."""
    for word, advice in (
        ("unauthorized", _ADVICE["unauthorized"]),
        ("device offline", "it went offline; plug it in again or restart it"),
        (
            "not found",
            f"it is not connected; plug it in (adb devices, serial {serial})",
        ),
        (
            "no devices",
            f"it is not connected; plug it in (adb devices, serial {serial})",
        ),
        ("insufficient permissions", _ADVICE["no permissions"]),
    ):
        # "sh: tool: not found" is about a program, not about the device.
        if word in text and ("device" in text or word != "not found"):
            return advice
    if not text:
        return (
            "the connection ended: the phone was unplugged or restarted, or adb's "
            f"server was restarted (serial {serial})"
        )
    return first_line(text)


def first_line(text: str) -> str:
    """The first line that is not empty."""
    for line in text.splitlines():
        if line.strip() and not line.startswith("* daemon"):
            said = line.strip().removeprefix("adb: ").removeprefix("error: ")
            return short_answer(said, LONGEST_MESSAGE)
    return "there was no message"


# This path is documented; debuggers and profilers use it, too.
WORK_DIR = PurePosixPath("/data/local/tmp/mace_run")

_ABIS = {"arm64-v8a": Abi.ARM64_V8A, "armeabi-v7a": Abi.ARMEABI_V7A}

# Vendors use different properties for their SoC; the most common one is first.
_SOC_KEYS = (
    "ro.board.platform",
    "ro.soc.model",
    "ro.mediatek.platform",
    "ro.hardware.chipname",
    "ro.chipname",
    "ro.hardware",
)
_ABI_KEYS = ("ro.product.cpu.abilist", "ro.product.cpu.abi", "ro.product.cpu.abi2")
_SERIAL_KEY = "ro.serialno"
_MODEL_KEY = "ro.product.model"
_MAKER_KEY = "ro.soc.manufacturer"

_LOG_LINES = 200
_BOOT = re.compile(r"^[0-9a-f-]{36}$", re.MULTILINE)
_PROPERTY = re.compile(r"^\[(\S+)\]: \[(.*)\]\s*$", re.MULTILINE)

_T = TypeVar("_T")


class AdbDevice(RemoteDevice):
    """One Android device.

    Args:
        client: the adb to call.
        serial: as `adb devices` lists it.
    """

    def __init__(self, client: AdbClient, serial: str) -> None:
        super().__init__()
        self._adb = client
        self._serial = serial
        self._name = ""
        self._identity = ""

    @property
    def address(self) -> str:
        return f"adb:{self._serial}"

    @property
    def identity(self) -> str:
        return self._identity or self.address

    @property
    def label(self) -> str:
        return f"{self._name} ({self._serial})" if self._name else self._serial

    @property
    def work_dir(self) -> PurePosixPath:
        return WORK_DIR

    def probe(self) -> DeviceProperties:
        # One call for all: separate calls would take longer than everything else.
        script = f"getprop; cat {BOOT_ID} 2>/dev/null"
        told = self.shell(script, limit_s=PROBE_LIMIT_S).output
        found = dict(_PROPERTY.findall(told))
        self._name = short_answer(found.get(_MODEL_KEY, "")) or self._serial
        # Over USB a phone has another serial than in the network, and cheap phones may
        # share a serial.
        boot = _BOOT.search(told)
        serial = short_answer(found.get(_SERIAL_KEY, "")) or self._serial
        self._identity = f"phone:{serial}:{boot[0] if boot else ''}"
        socs = _distinct(short_answer(found.get(key, "").lower()) for key in _SOC_KEYS)
        words = ",".join(found.get(key, "") for key in _ABI_KEYS).split(",")
        abis = _distinct(_ABIS[word] for word in words if word in _ABIS)
        if not abis:
            said = short_answer(words[0]) or "an unknown ABI"
            raise DeviceUnsuitedError(
                f"{self.label} runs programs for {said}; MACE has {', '.join(_ABIS)}"
            )
        maker = short_answer(found.get(_MAKER_KEY, ""))
        return DeviceProperties(
            name=self._name,
            serial=self._serial,
            abis=abis,
            soc=socs[0] if socs else "",
            processor=" ".join(part for part in (maker, *socs[:1]) if part),
            soc_names=socs,
        )

    def _is_back(self) -> bool:
        # The device is offline until it is connected again.
        return self._adb.revive(self._serial)

    def system_log(self) -> str:
        try:
            return self.shell(f"logcat -d -t {_LOG_LINES} 2>&1").output
        except DeviceError:
            return ""

    def client_command(self) -> list[str]:
        """The adb command line that selects this device."""
        return self._command()

    def _shell_command(self, script: str) -> list[str]:
        return self._command("shell", script)

    def _send_command(self, local: Path, remote: PurePosixPath) -> list[str]:
        return self._command("push", str(local), str(remote))

    def _receive_command(self, remote: PurePosixPath, local: Path) -> list[str]:
        return self._command("pull", str(remote), str(local))

    def _command(self, *arguments: str) -> list[str]:
        return [self._adb.path, "-s", self._serial, *arguments]

    def _explain(self, text: str) -> str:
        return explain(text, self._serial)


def _distinct(values: Iterable[_T]) -> tuple[_T, ...]:
    return tuple(dict.fromkeys(value for value in values if value))
