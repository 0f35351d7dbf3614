# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Android devices, through the program `adb`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import TypeVar

from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.devices.adb_client import AdbClient, explain
from mace.python.tools.devices.device import (
    DeviceError,
    DeviceProperties,
    DeviceUnsuitedError,
    short_answer,
)
from mace.python.tools.devices.remote import BOOT_ID, PROBE_LIMIT_S, RemoteDevice

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
