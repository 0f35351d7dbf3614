# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads `devices.yml`, the list of boards that are reached by ssh."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pydantic

from mace.python.tools.config.problems import ConfigError
from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.config.yaml_source import read_yaml
from mace.python.tools.devices.device import DeviceError

# Used if it is in the working directory and no file is named.
DEFAULT_FILE = Path("devices.yml")

# Those of deployment files, and what kernels and Debian say.
ABI_SPELLINGS = {
    **{
        word: abi
        for abi in (Abi.ARM64, Abi.ARMHF, Abi.HOST)
        for word in (abi.value, *abi.aliases)
    },
    "amd64": Abi.HOST,
    "x86_64": Abi.HOST,
}


def device_abi(text: str) -> Abi:
    """A flag's ABI in any spelling; argparse reports the error."""
    spellings = {**ABI_SPELLINGS, **{abi.value: abi for abi in Abi}}
    if text not in spellings:
        raise argparse.ArgumentTypeError(
            f"found {text!r}, accepted: {', '.join(abi.value for abi in Abi)}"
        )
    return spellings[text]


@dataclass(frozen=True)
class Board:
    """One entry of the file.

    Attributes:
        name: its key.
        abis: what it runs.
        socs: lower case.
        model: the product's full name.
        port: of its ssh server.
        identity: private key; None: those ssh takes by itself.
        ssh_config: a file for ssh instead of the user's own.
        work_dir: on the board; relative to the login folder.
    """

    name: str
    address: str
    username: str
    abis: tuple[Abi, ...]
    socs: tuple[str, ...] = ()
    model: str = ""
    port: int = 22
    identity: Path | None = None
    ssh_config: Path | None = None
    work_dir: str = "mace_run"


def read_boards(path: Path) -> list[Board]:
    """Reads a `devices.yml`.

    Raises:
        DeviceError: names everything that is wrong with the file.
    """
    try:
        tree = read_yaml(path)
    except ConfigError as error:
        raise DeviceError(str(error)) from error
    try:
        section = _File.model_validate(tree)
    except pydantic.ValidationError as error:
        raise DeviceError(f"{path}:\n  " + "\n  ".join(_problems(error))) from error
    return [_board(name, entry, path) for name, entry in section.devices.items()]


def _one_or_list(value: Any) -> Any:
    """A single value stands for a list of one; "a, b" for a list of two."""
    if isinstance(value, str):
        return [word.strip() for word in value.split(",") if word.strip()]
    return value


def _abi(value: Any) -> Abi:
    word = str(value).strip().lower()
    if word not in ABI_SPELLINGS:
        raise ValueError(f"found {value!r}, accepted: {', '.join(ABI_SPELLINGS)}")
    return ABI_SPELLINGS[word]


_Text = Annotated[
    str,
    pydantic.StringConstraints(strip_whitespace=True, min_length=1),
]
# ssh would take a word that begins with a dash for a flag.
_Word = Annotated[
    str,
    pydantic.StringConstraints(
        strip_whitespace=True, pattern=r"^[^\s\-@'\"][^\s@'\"]*$"
    ),
]


class _Entry(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", protected_namespaces=())

    target_abis: Annotated[
        list[Annotated[Abi, pydantic.BeforeValidator(_abi)]],
        pydantic.BeforeValidator(_one_or_list),
        pydantic.Field(min_length=1),
    ]
    target_socs: Annotated[list[_Text], pydantic.BeforeValidator(_one_or_list)] = (
        pydantic.Field(default_factory=list)
    )
    models: str = ""
    address: _Word
    username: _Word
    port: int = pydantic.Field(22, ge=1, le=65535)
    identity: str = ""
    ssh_config: str = ""
    workdir: _Word = "mace_run"


class _File(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")

    devices: dict[str, _Entry]


def _board(name: str, entry: _Entry, path: Path) -> Board:
    return Board(
        name=name,
        address=entry.address,
        username=entry.username,
        abis=tuple(dict.fromkeys(entry.target_abis)),
        socs=tuple(soc.lower() for soc in entry.target_socs),
        model=entry.models,
        port=entry.port,
        identity=_file(name, "identity", entry.identity, path),
        ssh_config=_file(name, "ssh_config", entry.ssh_config, path),
        work_dir=entry.workdir,
    )


def _file(name: str, key: str, value: str, path: Path) -> Path | None:
    """A file that the list names, relative to the list."""
    if not value:
        return None
    file = path.resolve().parent / Path(value).expanduser()
    if not file.is_file():
        raise DeviceError(f"{path}: devices.{name}.{key}: there is no file {file}")
    return file


def _problems(error: pydantic.ValidationError) -> list[str]:
    lines = []
    for problem in error.errors():
        place = ".".join(str(part) for part in problem["loc"]) or "the file"
        kind = problem["type"]
        if kind == "missing":
            text = "is missing"
        elif kind == "extra_forbidden":
            known = ", ".join(_Entry.model_fields)
            text = f"is not known; keys of a device: {known}"
        else:
            text = f"{problem['msg']}, found {problem['input']!r:.80}"
        lines.append(f"{place}: {text}")
    return lines
