# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Linux boards, through the programs `ssh`, `rsync` and `scp`.

All calls share one connection (ControlMaster): a command then takes hundredths of a
second instead of a third of a second.
"""

from __future__ import annotations

import argparse
import contextlib
import shlex
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

import pydantic

from mace.python.tools.config.problems import ConfigError
from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.config.yaml_source import read_yaml
from mace.python.tools.devices.device import (
    LONGEST_MESSAGE,
    DeviceError,
    DeviceLostError,
    DeviceProperties,
    short_answer,
)
from mace.python.tools.devices.process import ProcessRequest, run_process
from mace.python.tools.devices.remote import BOOT_ID, PROBE_LIMIT_S, RemoteDevice
from mace.python.tools.errors import MissingToolError
from mace.python.tools.wording import shown

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


# The ABIs that a kernel (`uname -m`) can run.
_MACHINES = {
    "aarch64": (Abi.ARM64, Abi.ARMHF),
    "armv8l": (Abi.ARMHF,),
    "armv7l": (Abi.ARMHF,),
    "x86_64": (Abi.HOST,),
}

# For larger files, only the difference to the old file is sent.
_DELTA_BYTES = 1 << 20

_OPTIONS = {
    # Report errors instead of asking on the terminal, where nobody would answer.
    "BatchMode": "yes",
    "StrictHostKeyChecking": "accept-new",
    "ConnectTimeout": "10",
    # A lost board is noticed after 15 s.
    "ServerAliveInterval": "5",
    "ServerAliveCountMax": "3",
    "LogLevel": "ERROR",
    "ControlMaster": "auto",
    # Ends the shared connection if this process could not.
    "ControlPersist": "60",
}


class SshDevice(RemoteDevice):
    """One board of a `devices.yml`."""

    def __init__(self, board: Board) -> None:
        super().__init__()
        self._board = board
        self._work_dir: PurePosixPath | None = None
        self._control = ""
        self._rsync = False
        self._identity = ""

    @property
    def address(self) -> str:
        board = self._board
        return f"ssh:{board.username}@{board.address}:{board.port}"

    @property
    def identity(self) -> str:
        return self._identity or self.address

    @property
    def label(self) -> str:
        return f"{self._board.name} ({self._destination})"

    @property
    def work_dir(self) -> PurePosixPath:
        assert self._work_dir is not None, "probe() comes first"
        return self._work_dir

    def probe(self) -> DeviceProperties:
        for tool in ("ssh", "scp"):
            if shutil.which(tool) is None:
                raise MissingToolError(
                    tool, "reaching boards", "sudo apt install openssh-client"
                )
        self._connect()
        work = shlex.quote(self._board.work_dir)
        known = self.shell(
            "sed -n 's/^\\(model name\\|Model\\|Hardware\\)[^:]*: //p' /proc/cpuinfo\n"
            f"mkdir -p {work} && cd {work} && pwd -P && uname -m && "
            f"{{ cat {BOOT_ID} 2>/dev/null || echo -; }} && uname -n && "
            "if command -v rsync >/dev/null 2>&1; then echo yes; else echo no; fi"
        )
        if known.status != 0:
            raise self._failure(
                f"cannot make the work folder {self._board.work_dir} on {self.label}",
                (known.output + known.errors).strip(),
                known.status,
            )
        # A login script may print before us.
        lines = known.output.strip().split("\n")
        if len(lines) < 5 or not lines[-5].startswith("/"):
            raise DeviceError(
                f"{self.label} does not say what it is: it answered "
                f"{shown(known.output.strip())}"
            )
        *before, folder, machine, boot_id, host_name, rsync = lines
        if boot_id != "-":
            # Logins to one machine have this in common, but not the containers of a
            # machine.
            self._identity = f"board:{host_name}:{boot_id}"
        self._work_dir = PurePosixPath(folder)
        self._rsync = rsync == "yes" and shutil.which("rsync") is not None
        self._check_machine(machine)
        return DeviceProperties(
            name=self._board.name,
            serial=f"{self._board.address}:{self._board.port}",
            abis=self._board.abis,
            soc=self._board.socs[0] if self._board.socs else "",
            processor=self._board.model
            or short_answer(before[-1] if before else machine),
            soc_names=self._board.socs,
        )

    def system_log(self) -> str:
        try:
            result = self.shell("dmesg 2>/dev/null | tail -n 50")
        except DeviceError:
            return ""
        return result.output if result.status == 0 else ""

    def close(self) -> None:
        if not self._control:
            return
        with contextlib.suppress(OSError):
            command = ["ssh", *self._flags(), "-O", "exit", self._destination]
            run_process(ProcessRequest(command, time_limit_s=5.0))
        shutil.rmtree(self._control, ignore_errors=True)
        self._control = ""

    def control_command(self, *words: str) -> list[str]:
        """The command that controls the open connection (`ssh -O`)."""
        return ["ssh", *self._flags(), "-O", *words, self._destination]

    def login_words(self) -> tuple[list[str], str]:
        """The flags and the name with which a user logs in, with ssh or scp."""
        board = self._board
        flags = [] if board.port == 22 else ["-o", f"Port={board.port}"]
        if board.identity is not None:
            flags += ["-i", str(board.identity)]
        if board.ssh_config is not None:
            flags += ["-F", str(board.ssh_config)]
        return flags, self._destination

    @property
    def _destination(self) -> str:
        return f"{self._board.username}@{self._board.address}"

    def _connect(self) -> None:
        # Short: the path of a socket has at most 107 characters.
        self._control = self._control or tempfile.mkdtemp(prefix="mace-ssh-")
        try:
            self.shell(":", limit_s=PROBE_LIMIT_S)
        except DeviceLostError as error:
            self.close()
            text = str(error).replace("lost", "cannot reach", 1)
            raise DeviceError(text) from error

    def _check_machine(self, machine: str) -> None:
        """Checks that the file's target_abis are correct."""
        runs = _MACHINES.get(machine)
        wrong = [
            abi for abi in self._board.abis if runs is not None and abi not in runs
        ]
        if runs is None or wrong:
            can = ", ".join(abi.value for abi in runs or ()) or "no ABI of MACE"
            said = ", ".join(abi.value for abi in self._board.abis)
            machine = short_answer(machine)
            raise DeviceError(
                f"{self.label} is an {machine} machine, which runs {can}; its "
                f"target_abis are {said}: correct devices.{self._board.name}"
                ".target_abis"
            )

    def _flags(self) -> list[str]:
        options = {
            **_OPTIONS,
            "ControlPath": f"{self._control}/socket",
            "Port": str(self._board.port),
        }
        if self._board.identity is not None:
            options["IdentityFile"] = str(self._board.identity)
            options["IdentitiesOnly"] = "yes"
        words = [w for name in options for w in ("-o", f"{name}={options[name]}")]
        if self._board.ssh_config is not None:
            words += ["-F", str(self._board.ssh_config)]
        return words

    def _shell_command(self, script: str) -> list[str]:
        # The login shell may be any shell; our scripts are for sh.
        command = f"exec sh -c {shlex.quote(script)}"
        return ["ssh", "-T", *self._flags(), self._destination, command]

    def _send_command(self, local: Path, remote: PurePosixPath) -> list[str]:
        target = f"{self._destination}:{remote}"
        if not self._rsync:
            return ["scp", "-q", *self._flags(), str(local.resolve()), target]
        # Without --ignore-times, a file with the same size and time in seconds would be
        # treated as unchanged.
        connection = shlex.join(["ssh", *self._flags()])
        source = str(local.resolve())
        return [
            "rsync",
            "--inplace",
            "--no-whole-file",
            "--ignore-times",
            "-e",
            connection,
            source,
            target,
        ]

    def _receive_command(self, remote: PurePosixPath, local: Path) -> list[str]:
        # `ssh` returns the exact status, and the output may contain any bytes.
        command = self._shell_command(f"cat {shlex.quote(str(remote))}")
        return ["sh", "-c", f"{shlex.join(command)} >{shlex.quote(str(local))}"]

    def _before_send(
        self, remote: PurePosixPath, part: PurePosixPath, size: int
    ) -> None:
        if self._rsync and size >= _DELTA_BYTES:
            self.shell(
                self._in_work_dir(
                    f"cp {shlex.quote(str(remote))} {part} 2>/dev/null || rm -f {part}"
                )
            )

    def _explain(self, text: str) -> str:
        board = self._board
        port = "" if board.port == 22 else f" -p {board.port}"
        if "Permission denied" in text and "publickey" in text:
            key = board.identity or "~/.ssh/id_rsa"
            return (
                "it refuses this computer's key; to add a key: "
                f"cat {key}.pub | ssh -q{port} {self._destination} "
                '"mkdir -p ~/.ssh && cat >> ~/.ssh/authorized_keys" '
                "(ssh-keygen creates a key)"
            )
        if "HOST IDENTIFICATION HAS CHANGED" in text or "verification failed" in text:
            name = (
                board.address if board.port == 22 else f"[{board.address}]:{board.port}"
            )
            return (
                "its host key has changed; if the board was set up again: "
                f"ssh-keygen -R '{name}'"
            )
        for word in ("refused", "timed out", "No route", "resolve", "unreachable"):
            if word in text:
                return (
                    f"{_last_line(text)}; is it on, and are address and port of "
                    f"devices.{board.name} right?"
                )
        return _last_line(text) if text else "the connection ended"


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    last = lines[-1] if lines else "there was no message"
    return short_answer(last, LONGEST_MESSAGE)
