# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The devices that the farm can emulate: profiles.yaml, and users' own files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, List, Literal, Tuple

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from test.device_farm.errors import FarmError

_FILE = Path(__file__).resolve().with_name("profiles.yaml")
_ARM64 = ("arm64-v8a", "arm64")
_AMD64 = ("amd64",)

Kind = Literal["phone", "board"]
Feature = Literal["shell_v2", "stat_v2", "fixed_push_mkdir"]
Abi = Literal["arm64-v8a", "armeabi-v7a", "armeabi", "arm64", "armhf", "amd64"]


class Cluster(BaseModel):
    """Cores of one sort.

    Attributes:
        cores: how many.
        name: of the core, for people.
        implementer, part: of its identification register, as /proc/cpuinfo
            shows them; ARM has it.
        min_khz, max_khz: range of its clock.
        capacity: of one core, 1024 for the fastest of the device.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    cores: int = Field(ge=1)
    name: str
    implementer: int = 0
    part: int = 0
    min_khz: int
    max_khz: int
    capacity: int


class Profile(BaseModel):
    """One device.

    Attributes:
        name: how the command line asks for it.
        kind: phone (adb) or board (ssh).
        model: product name, for people.
        soc: as ro.board.platform or as the manual of the board has it.
        abis: what it executes, most capable first.
        clusters: its cores, in the order of their numbers.
        memory_mb: what /proc/meminfo says.
        storage_mb: space for files; taken from this computer's memory when used.
        features: of adb that a phone's daemon has; each is tested by the real
            client. None: Android 6, whose shell is a terminal without a status.
        properties: Android properties besides those that follow from the rest.
        dsp: whether a phone has one: an emulator with the device file of a DSP.
        user: login of a board.
        rsync: whether a board has it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    kind: Kind
    model: str
    soc: str
    abis: List[Abi] = Field(min_length=1)
    clusters: List[Cluster] = Field(min_length=1)
    memory_mb: int = Field(ge=64)
    storage_mb: int = Field(default=1024, ge=16)
    features: Tuple[Feature, ...] = ("shell_v2", "stat_v2", "fixed_push_mkdir")
    properties: Dict[str, str] = {}
    dsp: bool = False
    user: str = "pi"
    rsync: bool = True

    @property
    def cores(self) -> Tuple[Cluster, ...]:
        """The cluster of each core."""
        return tuple(one for one in self.clusters for _ in range(one.cores))

    @property
    def is_64_bit(self) -> bool:
        """Whether it executes 64-bit ARM programs."""
        return any(abi in _ARM64 for abi in self.abis)

    @property
    def is_32_bit(self) -> bool:
        """Whether it executes 32-bit ARM programs."""
        return any(abi not in (*_ARM64, *_AMD64) for abi in self.abis)

    @property
    def architecture(self) -> str:
        """The architecture of its own programs, by Debian's names: arm64, armhf or
        amd64.
        """
        if self.is_64_bit:
            return "arm64"
        return "armhf" if self.is_32_bit else "amd64"


def _read(path: Path) -> Any:
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise FarmError(f"device profile {path} cannot be read: {error}") from error


def _check(name: str, data: Any, place: str) -> Profile:
    if not isinstance(data, dict):
        raise FarmError(f"device profile {place}: there are no keys in it")
    try:
        return Profile.model_validate({"name": name, **data})
    except ValidationError as error:
        lines = [
            f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()
        ]
        raise FarmError(f"device profile {place}: " + "; ".join(lines)) from error


def load_profile(path: Path) -> Profile:
    """Reads a file with one profile; its name is that of the file.

    Raises:
        FarmError: it cannot be read or a key is wrong; the message names all.
    """
    return _check(path.stem, _read(path), str(path))


def _own_profiles() -> Dict[str, Profile]:
    return {
        name: _check(name, data, f"'{name}' of {_FILE}")
        for name, data in _read(_FILE).items()
    }


def profile_names(kind: Kind) -> List[str]:
    """The profiles of a kind, in the order in which the farm uses them."""
    return [name for name, one in _own_profiles().items() if one.kind == kind]


def find_profile(name: str, kind: Kind) -> Profile:
    """A profile by its name, or by the path of a YAML file.

    Raises:
        FarmError: there is none of that kind.
    """
    if "/" in name and Path(name).is_file():
        profile = load_profile(Path(name))
    else:
        own = _own_profiles()
        if name not in own:
            raise FarmError(
                f"there is no {kind} profile '{name}'; choose from "
                f"{', '.join(profile_names(kind))} or give the path of a YAML file"
            )
        profile = own[name]
    if profile.kind != kind:
        raise FarmError(f"profile '{name}' is a {profile.kind}, not a {kind}")
    return profile
