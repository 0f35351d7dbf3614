# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The connection between the farm and a device: one line of JSON in each direction."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Dict

from pydantic import ValidationError

from test.device_farm.device import Device
from test.device_farm.errors import FarmError
from test.device_farm.faults import Fault

_NAME = "control"
_TIME_LIMIT_S = 10


@contextlib.contextmanager
def _address(folder: Path) -> Iterator[str]:
    """A path of the socket that is short enough: 107 bytes are the limit."""
    handle = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{handle}/{_NAME}"
    finally:
        os.close(handle)


class ControlServer:
    """Answers requests about one device."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._socket = socket.socket(socket.AF_UNIX)
        with _address(device.folder) as address:
            self._socket.bind(address)
        self._socket.listen(4)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            connection, _ = self._socket.accept()
            with connection, connection.makefile("rw", encoding="utf-8") as stream:
                with contextlib.suppress(OSError):
                    stream.write(json.dumps(self._answer(stream.readline())) + "\n")

    def _answer(self, line: str) -> Dict[str, Any]:
        try:
            request = json.loads(line)
            action = request.pop("do")
            if action == "fault":
                self._device.set_fault(Fault.model_validate(request))
            elif action == "clear":
                self._device.clear_faults()
            elif action != "status":
                return {"error": f"unknown request '{action}'"}
        except (FarmError, ValidationError, ValueError, KeyError) as error:
            return {"error": str(error)}
        return self._device.status()


def ask(folder: Path, request: Dict[str, Any]) -> Dict[str, Any]:
    """Sends a request to the device with this folder; returns its status afterwards.

    Raises:
        FarmError: it does not run, or refuses.
    """
    try:
        with socket.socket(socket.AF_UNIX) as one, _address(folder) as address:
            one.settimeout(_TIME_LIMIT_S)
            one.connect(address)
            with one.makefile("rw", encoding="utf-8") as stream:
                stream.write(json.dumps(request) + "\n")
                stream.flush()
                answer: Dict[str, Any] = json.loads(stream.readline() or "{}")
    except (OSError, ValueError) as error:
        raise FarmError(f"device {folder.name} does not answer: {error}") from error
    if "error" in answer or not answer:
        raise FarmError(f"device {folder.name}: {answer.get('error', 'no answer')}")
    return answer
