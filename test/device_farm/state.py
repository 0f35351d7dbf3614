# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The state file of a farm in the background, through which other processes find it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional

from mace.python.tools.atomic import atomic_write
from test.device_farm import lifetime
from test.device_farm.device import Spec
from test.device_farm.errors import FarmError
from test.device_farm.farm import Farm, Running
from test.device_farm.profile import Profile

_NAME = "state.json"


@dataclass(frozen=True)
class State:
    """A farm of another process.

    Attributes:
        folder: of the farm.
        pid: of the process that holds it.
        started: start time of that process.
        variables: environment for adb.
        devices: its devices.
    """

    folder: Path
    pid: int
    started: str
    variables: Dict[str, str]
    devices: List[Running]

    @property
    def runs(self) -> bool:
        """Whether that process is still there."""
        return lifetime.start_time(self.pid) == self.started

    def device(self, name: str) -> Running:
        """A device by its name.

        Raises:
            FarmError: there is none.
        """
        for one in self.devices:
            if one.name == name:
                return one
        names = ", ".join(one.name for one in self.devices)
        raise FarmError(f"the farm has no device '{name}'; it has {names}")


def write_state(farm: Farm) -> None:
    """Writes the state of a farm of this process."""
    devices: List[Dict[str, Any]] = [
        {
            "spec": one.spec.as_json(),
            "pid": one.pid,
            "profile": one.profile.model_dump(),
        }
        for one in farm.devices
    ]
    with atomic_write(farm.folder / _NAME, "w") as stream:
        json.dump(
            {
                "pid": os.getpid(),
                "started": lifetime.start_time(os.getpid()),
                "variables": farm.variables,
                "devices": devices,
            },
            stream,
        )


def read_state(folder: Path) -> Optional[State]:
    """The farm of a folder; None if none was started there, or it was ended."""
    try:
        data = json.loads((folder / _NAME).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise FarmError(f"{folder / _NAME} cannot be read: {error}") from error
    devices = [
        Running(Spec(**one["spec"]), Profile.model_validate(one["profile"]), one["pid"])
        for one in data["devices"]
    ]
    return State(folder, data["pid"], data["started"], data["variables"], devices)


def running(folder: Path) -> State:
    """The farm of a folder, which runs.

    Raises:
        FarmError: it does not.
    """
    state = read_state(folder)
    if state is None or not state.runs:
        raise FarmError(
            f"no farm runs in {folder}; start one: python -m test.device_farm up "
            "--phones 2 --boards 1"
        )
    return state
