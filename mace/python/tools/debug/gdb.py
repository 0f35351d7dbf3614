# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs gdb on this computer for a program on a device."""

from __future__ import annotations

import contextlib
import logging
import re
import shlex
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from mace.python.tools.bazel import build_program, choose_variant
from mace.python.tools.build_tools import find_ndk
from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.debug.symbolize import ElfFile, read_elf
from mace.python.tools.debug.target import (
    Reach,
    TargetOptions,
    call,
    one_device,
    reach,
    shell_output,
)
from mace.python.tools.devices import (
    CommandResult,
    Device,
    DeviceError,
    DeviceStoppedError,
    FoundDevice,
    device_lock,
)
from mace.python.tools.devices.remote import RemoteDevice
from mace.python.tools.errors import MissingToolError

_LOG = logging.getLogger(__name__)

_TARGET = "//mace/tools:mace_run"
_FOLDER = PurePosixPath("debug")
_START_S = 20.0
_SETTLE_S = 0.5

# The libraries that a dynamic Android program has loaded when it starts.
_SYSTEM_LIBRARIES = ("libc.so", "libm.so", "libdl.so", "liblog.so")
_NDK_SERVERS = {Abi.ARM64_V8A: "android-arm64", Abi.ARMEABI_V7A: "android-arm"}


@dataclass(frozen=True)
class GdbOptions:
    """One session.

    Attributes:
        program: a file for the device; None: mace_run, built with symbols.
        arguments: the program's.
        attach: a process that runs, instead of starting one; `program` is then
            the file that it was started from.
        port: on both sides.
        server: "gdbserver", or "qemu" for a program that an emulator runs.
        server_file: a gdbserver to take along.
        commands: for gdb, once it is connected.
        batch: end after these instead of asking for more.
        dry_run: only say what would be typed.
    """

    target: TargetOptions
    program: Path | None = None
    arguments: tuple[str, ...] = ()
    attach: int | None = None
    port: int = 6000
    server: str = "gdbserver"
    server_file: Path | None = None
    commands: tuple[str, ...] = ()
    batch: bool = False
    dry_run: bool = False


@dataclass(frozen=True)
class _Session:
    item: FoundDevice
    options: GdbOptions
    program: ElfFile
    reach: Reach
    server: PurePosixPath | None
    server_file: Path | None

    @property
    def device(self) -> Device:
        return self.item.device

    @property
    def remote_program(self) -> PurePosixPath:
        return _FOLDER / self.program.path.name

    @property
    def pushed(self) -> list[tuple[Path, PurePosixPath]]:
        """The files to copy to the device: local path and path on the device."""
        files = []
        if self.options.attach is None:
            files.append((self.program.path, self.remote_program))
        if self.server_file is not None:
            files.append((self.server_file, _FOLDER / "gdbserver"))
        return files

    @property
    def folder(self) -> Path:
        """The local folder for files from the device."""
        name = re.sub(r"[^0-9A-Za-z.+-]", "_", self.item.properties.name)
        return self.options.target.folder / name

    @property
    def libraries(self) -> list[PurePosixPath]:
        """The libraries of the device that gdb needs."""
        if not self.program.interpreter.startswith("/system/"):
            return []
        bits = "lib64" if "64" in self.program.machine else "lib"
        paths = [f"/system/{bits}/{name}" for name in _SYSTEM_LIBRARIES]
        return [PurePosixPath(path) for path in (self.program.interpreter, *paths)]

    def local(self, library: PurePosixPath) -> Path:
        """The local path of a library of the device."""
        return self.folder / "sysroot" / str(library)[1:]

    def start(self) -> tuple[list[str], dict[str, str]]:
        """The command that waits for gdb on the device, and its environment."""
        options, port = self.options, self.options.port
        program = [f"./{self.remote_program}", *options.arguments]
        if options.server == "qemu":
            # QEMU waits for gdb before the first instruction.
            if isinstance(self.device, RemoteDevice):
                return ["env", f"QEMU_GDB={port}", *program], {}
            return program, {"QEMU_GDB": str(port)}
        server = [str(self.server), f":{port}"]
        path = {"LD_LIBRARY_PATH": str(self.device.work_dir / _FOLDER)}
        if options.attach is not None:
            return [str(self.server), "--attach", f":{port}", str(options.attach)], path
        return [*server, *program], path

    def gdb(self, program: str) -> list[str]:
        """The command on this computer."""
        words = [program, "-q", "-nx" if self.options.batch else "-q"]
        words += ["-ex", "set pagination off"]
        if self.libraries:
            parents = {str(self.local(library).parent) for library in self.libraries}
            words += ["-ex", f"set sysroot {self.folder / 'sysroot'}"]
            words += ["-ex", f"set solib-search-path {':'.join(sorted(parents))}"]
        words += ["-ex", f"target remote 127.0.0.1:{self.options.port}"]
        for command in self.options.commands:
            words += ["-ex", command]
        return [*words, *(["--batch"] if self.options.batch else []), self._local]

    @property
    def _local(self) -> str:
        return str(self.program.path)


def debug(options: GdbOptions) -> tuple[int, list[str]]:
    """Runs one session; returns gdb's exit status and the lines of a dry run.

    Raises:
        MissingToolError: there is no gdb for the device's processor.
        DeviceError: no device, several, or no gdbserver for it.
        BuildError: mace_run cannot be built.
    """
    with one_device(options.target) as item:
        gdb = _find_gdb(item.abis[0])
        program = read_elf(options.program or _build(item.abis[0], options))
        server, server_file = _find_server(item, options)
        session = _Session(
            item,
            options,
            program,
            reach(item.device, options.port),
            server,
            server_file,
        )
        if options.dry_run:
            return 0, _lines(session, gdb)
        with device_lock(
            item.device.identity, item.device.stop_event, label=item.device.address
        ):
            return _hold(session, gdb), []


def _build(abi: Abi, options: GdbOptions) -> Path:
    _LOG.info("building mace_run with symbols for %s", abi.value)
    variant = choose_variant(abi, debug=True)
    copy = options.target.folder / "programs" / variant.name / "mace_run"
    return build_program(_TARGET, variant, copy)


def _find_gdb(abi: Abi) -> str:
    names = ("gdb", "gdb-multiarch") if abi is Abi.HOST else ("gdb-multiarch",)
    for name in names:
        path = shutil.which(name)
        if path is not None:
            return path
    ndk = find_ndk()
    if ndk is not None and abi is not Abi.HOST:
        # NDKs up to r23.
        own = ndk.home / "prebuilt" / "linux-x86_64" / "bin" / "gdb"
        if own.is_file():
            return str(own)
    raise MissingToolError(
        names[-1], "debugging on devices", f"sudo apt install {names[-1]}"
    )


def _find_server(
    item: FoundDevice, options: GdbOptions
) -> tuple[PurePosixPath | None, Path | None]:
    """The gdbserver on the device, and the local file of which it is a copy."""
    if options.server == "qemu":
        return None, None
    local = options.server_file
    if local is None and item.abis[0] in _NDK_SERVERS:
        ndk = find_ndk()
        if ndk is not None:
            folder = ndk.home / "prebuilt" / _NDK_SERVERS[item.abis[0]]
            known = folder / "gdbserver" / "gdbserver"
            local = known if known.is_file() else None
    if local is not None:
        if not local.is_file():
            raise DeviceError(f"--gdbserver={local}: no such file")
        return _FOLDER / "gdbserver", local
    own = shell_output(item.device, "command -v gdbserver").strip()
    if own:
        return PurePosixPath(own), None
    where = (
        "NDK r21 to r23 have one, which is taken from ANDROID_NDK_HOME; or name a "
        "static one by --gdbserver=FILE"
        if item.abis[0].is_android
        else "install it there (sudo apt install gdbserver) or name a static one by "
        "--gdbserver=FILE"
    )
    raise DeviceError(
        f"{item.properties.name} has no gdbserver: {where}. Of a device that QEMU "
        "emulates, use --server=qemu"
    )


def _lines(session: _Session, gdb: str) -> list[str]:
    """The commands that a user could type for the session."""
    ways, device = session.reach, session.device
    command, env = session.start()
    exports = "".join(f"{key}={shlex.quote(value)} " for key, value in env.items())
    lines = []
    if isinstance(device, RemoteDevice):
        folder = device.work_dir / _FOLDER
        lines.append(ways.shell_line(f"mkdir -p {shlex.quote(str(folder))}"))
        lines += [
            ways.push_line(local, device.work_dir / there)
            for local, there in session.pushed
        ]
    work_dir = shlex.quote(str(device.work_dir))
    script = f"cd {work_dir} && {exports}{shlex.join(command)}"
    lines.append(f"{ways.shell_line(script)} &")
    if ways.forward is not None:
        lines.append(shlex.join(ways.forward))
    folders = {session.local(library).parent for library in session.libraries}
    if folders:
        lines.append(shlex.join(["mkdir", "-p", *map(str, sorted(folders))]))
    for library in session.libraries:
        lines.append(ways.pull_line(library, session.local(library)))
    lines.append(shlex.join(session.gdb(gdb)))
    if ways.unforward is not None:
        lines.append(shlex.join(ways.unforward))
    return lines


def _hold(session: _Session, gdb: str) -> int:
    device = session.device
    device.prepare()
    for local, there in session.pushed:
        device.push(local, there)
    for library in session.libraries:
        if not session.local(library).is_file():
            device.pull(library, session.local(library))
    with _started(session) as run:
        _wait(session, run)
        with _forwarded(session.reach):
            # gdb shares our terminal, and Ctrl-C is for the program there.
            status = subprocess.run(session.gdb(gdb), check=False).returncode
    if run.result is not None and run.result.output:
        _LOG.info("the program said:\n%s", run.result.output.rstrip())
    return status


class _Run(threading.Thread):
    """The program, running together with gdb."""

    def __init__(
        self, device: Device, command: Sequence[str], env: Mapping[str, str]
    ) -> None:
        super().__init__(daemon=True)
        self._device, self._command, self._env = device, command, env
        self.result: CommandResult | None = None
        self.error: DeviceError | None = None

    def run(self) -> None:
        try:
            self.result = self._device.run(self._command, self._env)
        except DeviceStoppedError:
            return
        except DeviceError as error:
            self.error = error


@contextlib.contextmanager
def _started(session: _Session) -> Iterator[_Run]:
    command, env = session.start()
    run = _Run(session.device, command, env)
    run.start()
    try:
        yield run
    finally:
        # gdb has ended or released the program, which must not outlive this process.
        run.join(2.0)
        if run.is_alive():
            session.device.stop()
            run.join()


@contextlib.contextmanager
def _forwarded(ways: Reach) -> Iterator[None]:
    if ways.forward is None or ways.unforward is None:
        yield
        return
    call(ways.forward, "cannot forward the port")
    try:
        yield
    finally:
        with contextlib.suppress(DeviceError):
            call(ways.unforward, "cannot end forwarding")


def _wait(session: _Session, run: _Run) -> None:
    """Waits until the server on the device listens.

    Raises:
        DeviceError: it ended instead, with what it said.
    """
    port = f"{session.options.port:04X}"
    listens = f"cat /proc/net/tcp /proc/net/tcp6 2>&1 | grep -q ':{port} .* 0A '"
    end = time.monotonic() + _START_S
    while time.monotonic() < end:
        if not run.is_alive():
            said = run.result.output.strip() if run.result is not None else run.error
            raise DeviceError(f"{shlex.join(session.start()[0])} ended: {said}")
        if shell_output(session.device, f"{listens} && echo yes").strip() == "yes":
            # gdbserver listens before it finds out that it cannot attach.
            run.join(_SETTLE_S if session.options.attach is not None else 0.0)
            if run.is_alive():
                return
        time.sleep(0.2)
    raise DeviceError(
        f"nothing listens on port {session.options.port} of "
        f"{session.item.properties.name} after {_START_S:.0f} s"
    )
