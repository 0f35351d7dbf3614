# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The common code of devices that are reached by a client program (adb, ssh).

Everything is done by one POSIX shell command at a time. The command's status is
printed as the last line of the output: `adb shell` ends with 0 if the connection is
lost, and without this line a lost device would look like success.
"""

from __future__ import annotations

import abc
import contextlib
import hashlib
import os
import re
import secrets
import shlex
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from mace.python.tools.devices import memory
from mace.python.tools.devices.device import (
    NO_SPACE,
    SCRATCH,
    CommandResult,
    Device,
    DeviceError,
    DeviceFullError,
    DeviceLostError,
    DeviceStoppedError,
)
from mace.python.tools.devices.process import (
    ProcessRequest,
    ProcessResult,
    run_process,
)

# Which files a device already has, by checksum.
#
# The list is in the folder of the files, so that any computer can use it. It has a
# line ``<sha256> <size>:<modification time> <path>`` for each file. A line is valid as
# long as the file still has that size and time. A file is moved into place after its
# old line is removed and before its new line is added: an interruption in between
# causes another copy, but never a wrong file.


_FILE = ".manifest"
_BLOCK = 1 << 20
# Toybox, BusyBox and GNU support this form.
_STAT = "stat -c %s:%Y"


def file_digest(path: Path) -> str:
    """SHA-256 of a file, as hexadecimal digits."""
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


class Manifest:
    """Our copy of a device's list; valid while we hold the device's lock."""

    def __init__(self) -> None:
        self._digests: dict[str, str] = {}

    def has(self, path: PurePosixPath, digest: str) -> bool:
        """Whether the device holds exactly this file."""
        return self._digests.get(str(path)) == digest

    def add(self, path: PurePosixPath, digest: str) -> None:
        """Adds a file; call it after `place_script` has run."""
        self._digests[str(path)] = digest

    def forget(self, path: PurePosixPath) -> None:
        """Removes the entries at or below the path."""
        name = str(path)
        for known in list(self._digests):
            if known == name or known.startswith(f"{name}/"):
                del self._digests[known]

    def read_script(self) -> str:
        """The script that prints the valid lines, for `load`."""
        return (
            f"[ ! -f {_FILE} ] || while read -r h s p; do\n"
            f'[ "$({_STAT} "$p" 2>/dev/null)" != "$s" ] || echo "$h $p"\n'
            f"done <{_FILE}"
        )

    def load(self, text: str) -> None:
        """Reads the output of `read_script`."""
        self._digests.clear()
        for line in text.splitlines():
            digest, _, path = line.partition(" ")
            if len(digest) == 64 and path:
                self._digests[path] = digest

    def place_script(
        self,
        part: PurePosixPath,
        path: PurePosixPath,
        digest: str,
        executable: bool,
    ) -> str:
        """The script that moves a received file to its place and prints its size."""
        name = shlex.quote(str(path))
        mode = "755" if executable else "644"
        place = f"mkdir -p {shlex.quote(str(path.parent))} && chmod {mode} {part} &&\n"
        if SCRATCH in path.parents:
            # Such a file is removed before it could be used again.
            return f"{place}mv -f {part} {name} && wc -c <{name} | tr -d ' '"
        # The path is compared with the end of the line, not as a pattern. A full disk
        # must not destroy the list.
        keep = (
            f'while read -r h s p; do [ "$p" = {name} ] || echo "$h $s $p" || '
            "exit 9; done"
        )
        return (
            f"{place}{{ [ ! -f {_FILE} ] || {{ {keep} <{_FILE} >{part}.list && "
            f"mv -f {part}.list {_FILE}; }}; }} &&\n"
            f"mv -f {part} {name} &&\n"
            # Without `stat`, the line is never valid, and the file is copied again.
            f'z=$({_STAT} {name} 2>/dev/null) || z="$(wc -c <{name} | tr -d " "):"\n'
            f"echo {digest} $z {name} >>{_FILE} &&\n"
            'echo "${z%%:*}"'
        )


# The shell script that runs a program on a remote device, and ends it.
#
# The program gets no input, but the script reads the client's. When that input ends,
# because we close it or because the connection is lost, the script ends the program.


# Contains the process, or process group, of the running program.
_RUNNING = SCRATCH / "running"

# The name is not quoted in the script, as the shell requires.
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)

# Ends the program's group when input ends. Without setsid there is no group.
_RUN = """\
cd {work} || exit 126
ulimit -c 0 2>/dev/null
exec 3<&0
{exports}
if command -v setsid >/dev/null 2>&1; then
setsid {command} </dev/null 2>&1 3<&- &
p=$!; g=-$p
else
{command} </dev/null 2>&1 3<&- &
p=$!; g=$p
fi
echo $g >{running}
( read -r x <&3; kill -15 $g; sleep 1; kill -9 $g ) >/dev/null 2>&1 &
w=$!
wait $p 2>/dev/null; s=$?
kill -9 $w 2>/dev/null
[ $g = $p ] || kill -9 $g 2>/dev/null
exec 3<&-
rm -f {running}
(exit $s)"""

# Run in the work folder; ends the program that `run` has started.
END = f"[ ! -f {_RUNNING} ] || kill -9 $(cat {_RUNNING}); rm -f {_RUNNING}"


def run(work_dir: PurePosixPath, command: Sequence[str], env: Mapping[str, str]) -> str:
    """Runs a command in `work_dir`; ends with its status, 126 without that folder.

    Raises:
        ValueError: what shall be set is no variable; its value may be anything.
    """
    for name in env:
        if not _VARIABLE.fullmatch(name):
            raise ValueError(f"{name!r} is not a valid name of an environment variable")
    exports = "\n".join(
        f"export {name}={shlex.quote(value)}" for name, value in env.items()
    )
    return _RUN.format(
        work=shlex.quote(str(work_dir)),
        exports=exports or ":",
        command=shlex.join(command),
        running=_RUNNING,
    )


# Changes with each boot of a machine; the same for all users.
BOOT_ID = "/proc/sys/kernel/random/boot_id"
# A device is not given up after a short break of the connection.
SETTLE_S = 3.0
# What is behind our mark in the last line; anything else is a device that is broken,
# or does not mean well.
_STATUS = re.compile(r"[0-9]{1,3}(?=\s|$)", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,15}", re.ASCII)
# A shell command of ours takes milliseconds; a device that takes longer hangs. Listing
# all devices waits for each of them.
PROBE_LIMIT_S = 20.0
_COMMAND_LIMIT_S = 60.0
_CLEAN_UP_LIMIT_S = 5.0
# Twice the time of 1 MB/s, which even a slow connection reaches.
_SECONDS_PER_BYTE = 2e-6
# Linux accepts 128 KiB per argument; quoting may double the length.
_LONGEST_SCRIPT = 60_000


@dataclass(frozen=True)
class ShellResult:
    """How a shell command on the device ended."""

    status: int
    output: str
    errors: str = ""
    timed_out: bool = False


class RemoteDevice(Device):
    """A device that is reached by a client program. Derived classes define how the
    client is called and what its errors mean.
    """

    def __init__(self) -> None:
        super().__init__()
        self._manifest = Manifest()

    @abc.abstractmethod
    def _shell_command(self, script: str) -> list[str]:
        """The client's command line that runs a script there."""

    @abc.abstractmethod
    def _send_command(self, local: Path, remote: PurePosixPath) -> list[str]:
        """The client's command line that copies a file there."""

    @abc.abstractmethod
    def _receive_command(self, remote: PurePosixPath, local: Path) -> list[str]:
        """The client's command line that copies a file from there."""

    @abc.abstractmethod
    def _explain(self, text: str) -> str:
        """The meaning of a client's error and what to do, in one line."""

    # Device.

    def prepare(self) -> None:
        try:
            self._prepare()
        except DeviceLostError:
            if not self._is_back():
                raise
            self._prepare()

    def _prepare(self) -> None:
        work = shlex.quote(str(self.work_dir))
        opened = self.shell(
            f"mkdir -p {work} && cd {work} && rm -rf {SCRATCH} && "
            f"mkdir -p {SCRATCH} || exit 9\n{self._manifest.read_script()}\n:"
        )
        if opened.status != 0:
            raise self._failure(
                f"cannot make the work folder {self.work_dir} on {self.label}",
                (opened.output + opened.errors).strip(),
                opened.status,
            )
        self._manifest.load(opened.output)

    def push(self, local: Path, remote: PurePosixPath) -> None:
        try:
            size = local.stat().st_size
            digest = file_digest(local)
            executable = os.access(local, os.X_OK)
        except OSError as error:
            raise DeviceError(f"cannot read {local}: {error.strerror}") from error
        if self._manifest.has(remote, digest):
            return
        part = SCRATCH / secrets.token_hex(4)
        try:
            self._before_send(remote, part, size)
            sent = self._client(
                self._send_command(local, self.work_dir / part),
                limit_s=_COMMAND_LIMIT_S + size * _SECONDS_PER_BYTE,
            )
            if sent.status != 0 or sent.timed_out:
                raise self._push_error(local, size, sent)
            script = self._manifest.place_script(part, remote, digest, executable)
            placed = self.shell(self._in_work_dir(script))
            # A connection may close early although the device reports success.
            arrived = placed.output.strip()
            if placed.status != 0 or arrived != str(size):
                raise self._place_error(local, size, placed)
        except BaseException:
            self._manifest.forget(remote)
            self._discard(part)
            raise
        self._manifest.add(remote, digest)

    def pull(self, remote: PurePosixPath, local: Path) -> None:
        local.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=local.parent, prefix=f".{local.name}.")
        os.close(handle)
        part = Path(name)
        try:
            result = self._client(
                self._receive_command(self.work_dir / remote, part),
                limit_s=_COMMAND_LIMIT_S,
                grows=part,
                # Neither a broken nor an evil device fills this computer's disk.
                largest=shutil.disk_usage(part.parent).free // 2,
            )
            if result.excessive:
                raise DeviceError(
                    f"cannot copy {remote} from {self.label}: it is larger than half "
                    f"of what is free in {part.parent}"
                )
            if result.timed_out:
                raise DeviceLostError(
                    f"cannot copy {remote} from {self.label}: it does not answer"
                )
            if result.status != 0:
                text = (result.errors + result.output).strip()
                raise self._failure(
                    f"cannot copy {remote} from {self.label}", text, result.status
                )
            os.replace(part, local)
        finally:
            part.unlink(missing_ok=True)

    def run(
        self,
        command: Sequence[str],
        env: Mapping[str, str] | None = None,
        time_limit_s: float | None = None,
        watch_memory_s: int = 0,
    ) -> CommandResult:
        watched = memory.watched(command, watch_memory_s)
        script = run(self.work_dir, watched, env or {})
        if len(script) > _LONGEST_SCRIPT:
            script = self._script_file(script)
        try:
            result = self.shell(script, limit_s=time_limit_s, hold_stdin=True)
        except DeviceLostError as error:
            text = f"{error} (while {command[0]} ran)"
            raise DeviceLostError(text, error.output) from error
        return CommandResult(result.status, result.output, result.timed_out)

    def make_folder(self, remote: PurePosixPath) -> None:
        made = self.shell(self._in_work_dir(f"mkdir -p {shlex.quote(str(remote))}"))
        if made.status != 0:
            raise self._failure(
                f"cannot make {remote} on {self.label}",
                (made.output + made.errors).strip(),
                made.status,
            )

    def has_file(self, remote: PurePosixPath) -> bool:
        script = f"test -f {shlex.quote(str(remote))}"
        return self.shell(self._in_work_dir(script)).status == 0

    def remove(self, remote: PurePosixPath) -> None:
        self._manifest.forget(remote)
        result = self.shell(
            self._in_work_dir(f"rm -rf {shlex.quote(str(remote))}"),
        )
        if result.status != 0:
            raise DeviceError(
                f"cannot remove {remote} from {self.label}: "
                + (result.output + result.errors).strip()
            )

    def clean_up(self) -> None:
        self._end_program(clean=True)

    def _is_back(self) -> bool:
        """Whether a device that was lost answers again within a short time."""
        end = time.monotonic() + SETTLE_S
        while time.monotonic() < end:
            with contextlib.suppress(DeviceLostError):
                self.shell(":", limit_s=SETTLE_S)
                return True
            time.sleep(0.3)
        return False

    # For derived classes.

    def shell(
        self,
        script: str,
        limit_s: float | None = _COMMAND_LIMIT_S,
        hold_stdin: bool = False,
    ) -> ShellResult:
        """Runs a shell script on the device.

        Raises:
            DeviceLostError: it did not come to its end.
            DeviceStoppedError: `stop` was called.
        """
        token = f"MACE_STATUS_{secrets.token_hex(4)}"
        # In a subshell, so that `exit` does not skip the last line.
        whole = f"(\n{script}\n)\nprintf '\\n%s=%s\\n' {token} $?"
        try:
            result = self._client(self._shell_command(whole), limit_s, hold_stdin)
        except DeviceStoppedError:
            if hold_stdin:
                self._end_program()
            raise
        # Android before 7 sends shell output through a terminal: CR LF.
        output = result.output.replace("\r\n", "\n")
        text, _, status = output.rpartition(f"\n{token}=")
        if match := _STATUS.match(status):
            return ShellResult(int(match[0]), text, result.errors, result.timed_out)
        if result.excessive:
            raise DeviceLostError(
                f"{self.label} prints more than any program of MACE; restart it"
            )
        if result.timed_out:
            if hold_stdin:
                self._end_program()
                return ShellResult(137, output, result.errors, True)
            raise DeviceLostError(
                f"{self.label} does not answer (a command took more than {limit_s:.0f} "
                "s); restart it, or its connection"
            )
        why = self._explain((result.errors or output).strip())
        raise DeviceLostError(f"lost {self.label}: {why}", output)

    def _in_work_dir(self, script: str) -> str:
        return f"cd {shlex.quote(str(self.work_dir))} || exit 9\n{script}"

    def _before_send(
        self, remote: PurePosixPath, part: PurePosixPath, size: int
    ) -> None:
        """Prepares the target of a file that is sent."""
        return

    def _client(
        self,
        command: Sequence[str],
        limit_s: float | None,
        hold_stdin: bool = False,
        grows: Path | None = None,
        largest: int | None = None,
    ) -> ProcessResult:
        if self._stop.is_set():
            raise DeviceStoppedError(f"{self.label}: interrupted")
        result = run_process(
            ProcessRequest(
                command,
                time_limit_s=limit_s,
                grows=grows,
                largest=largest,
                stop=self._stop,
                hold_stdin=hold_stdin,
                split_errors=True,
                # Our program, not a command of the system.
                heard=self.heard if hold_stdin else None,
            )
        )
        if result.interrupted:
            raise DeviceStoppedError(f"{self.label}: interrupted")
        return result

    def _failure(self, what: str, text: str, status: int) -> DeviceError:
        if NO_SPACE.search(text):
            return self.full(what)
        return DeviceError(f"{what}: {self._explain(text or f'status {status}')}")

    # Details.

    def _push_error(self, local: Path, size: int, sent: ProcessResult) -> DeviceError:
        what = f"cannot copy {local.name} ({_shown(size)}) to {self.label}"
        if sent.timed_out:
            return DeviceLostError(f"{what}: it does not answer")
        text = (sent.errors + sent.output).strip()
        error = self._failure(what, text, sent.status)
        if isinstance(error, DeviceFullError):
            return error
        # SFTP only reports "Failure".
        free = self._free_bytes()
        if free is not None and free < size:
            return self._failure(what, "no space left", sent.status)
        return DeviceLostError(str(error))

    def _place_error(self, local: Path, size: int, placed: ShellResult) -> DeviceError:
        what = f"cannot copy {local.name} ({_shown(size)}) to {self.label}"
        text = (placed.errors + placed.output).strip()
        if placed.status == 0:
            text = f"{placed.output.strip() or 0} of {size} bytes arrived"
        return self._failure(what, text, placed.status)

    def _space_advice(self) -> str:
        advice = f"free some, for example remove {self.work_dir}"
        free = self._free_bytes()
        return advice if free is None else f"{_shown(free)} are free, {advice}"

    def _free_bytes(self) -> int | None:
        """The free bytes; None if the device does not report them."""
        try:
            # The space of an unfinished copy does not count as free.
            told = self.shell(
                self._in_work_dir(f"rm -rf {SCRATCH}/*; df -k . | tail -n 1"),
                limit_s=_CLEAN_UP_LIMIT_S,
            )
        except DeviceLostError:
            return None
        columns = told.output.split()
        if len(columns) < 4 or not _NUMBER.fullmatch(columns[-3]):
            return None
        return 1024 * int(columns[-3])

    def _end_program(self, clean: bool = False) -> None:
        """Ends a program that may still run after its client's input was closed:
        Android before 7 does not report the end of the input.
        """
        script = END
        if clean:
            script += f"; rm -rf {SCRATCH}/*"
        command = self._shell_command(self._in_work_dir(script))
        # Not through `_client`: this must run even after `stop`.
        with contextlib.suppress(OSError):
            run_process(ProcessRequest(command, time_limit_s=_CLEAN_UP_LIMIT_S))

    def _discard(self, part: PurePosixPath) -> None:
        """Removes the rest of an unfinished copy; the next probe does so, too."""
        if self._stop.is_set():
            return
        try:
            self.shell(self._in_work_dir(f"rm -f {part}*"), limit_s=_CLEAN_UP_LIMIT_S)
        except DeviceError:
            return

    def _script_file(self, script: str) -> str:
        """Copies a script that is too long for a command line to the device."""
        with tempfile.TemporaryDirectory(prefix="mace_script_") as folder:
            local = Path(folder) / "script"
            local.write_text(script + "\n", encoding="utf-8")
            remote = SCRATCH / "script"
            self.remove(remote)
            self.push(local, remote)
        return self._in_work_dir(f". ./{remote}")


def _shown(size: int) -> str:
    """A number of bytes as text."""
    return f"{size} bytes" if size < 50_000 else f"{size / 1e6:.1f} MB"
