# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The inside of a device: a root folder in namespaces, in which its programs run. ARM
programs run with qemu-user, see binfmt.py; x86-64 programs run directly.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import List, Optional, Tuple

from test.device_farm import binfmt
from test.device_farm.binfmt import ARM32, ARM64, Machine
from test.device_farm.errors import FarmError

_ALL_IDS = "0 0 65536"
_HOST_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
_MAX_LINKS = 40  # as Linux
# A program of the device that is started instead of programs that it cannot execute.
REFUSAL = "/farm/not_executable"
_SETUP = r"""
mount --make-rprivate /
mount --bind "$R" "$R"
mount -t proc proc "$R/proc"
mount -t tmpfs -o mode=755 farm "$R/dev"
for name in null zero full random urandom tty; do
  : >"$R/dev/$name"
  mount --bind "/dev/$name" "$R/dev/$name"
done
mkdir "$R/dev/pts" "$R/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 farm "$R/dev/pts"
ln -s pts/ptmx "$R/dev/ptmx"
mount -t tmpfs -o mode=1777 farm "$R/dev/shm"
ln -s /proc/self/fd "$R/dev/fd"
ln -s /proc/self/fd/0 "$R/dev/stdin"
ln -s /proc/self/fd/1 "$R/dev/stdout"
ln -s /proc/self/fd/2 "$R/dev/stderr"
mount --bind "$R/farm/sys" "$R/sys"
for name in cpuinfo meminfo; do
  mount --bind "$R/farm/$name" "$R/proc/$name"
done
mount --bind "$R/farm/boot_id" "$R/proc/sys/kernel/random/boot_id"
"""
_READ_ONLY = 'mount -o remount,bind,ro,nosuid,nodev "$R"\n'


@dataclass(frozen=True)
class Storage:
    """A file system in memory, where a device may write.

    Attributes:
        path: below the root folder.
        size_mb: its limit.
        mode, owner: of its top folder.
    """

    path: str
    size_mb: int
    mode: int = 0o755
    owner: int = 0


@dataclass(frozen=True)
class Plan:
    """What a container is made of.

    Attributes:
        name: host name.
        root: folder that becomes its root; the rest of it is read-only.
        is_64_bit, is_32_bit: which ARM programs it executes.
        storage: where it may write.
        setup: shell commands that end the preparation; $R is the root folder.
    """

    name: str
    root: Path
    is_64_bit: bool
    is_32_bit: bool
    storage: Tuple[Storage, ...]
    setup: str = ""

    @property
    def machines(self) -> Tuple[Machine, ...]:
        """Whose programs an emulator executes there."""
        both = ((ARM64, self.is_64_bit), (ARM32, self.is_32_bit))
        return tuple(machine for machine, executes in both if executes)


def _program(name: str) -> str:
    """A program of this computer, by its path."""
    return shutil.which(name, path=_HOST_PATH) or name


def _library_mounts(plan: Plan) -> str:
    lines = []
    for machine in plan.machines:
        libraries = Path("/usr") / machine.triple / "lib"
        inside = plan.root / "lib" / machine.triple
        if libraries.is_dir() and inside.is_dir():
            lines.append(f'mount --bind {libraries} "$R/lib/{machine.triple}"\n')
    return "".join(lines)


def setup_script(plan: Plan, private_binfmt: bool) -> str:
    """The shell commands that convert new namespaces to the device."""
    lines = [f"R={shlex.quote(str(plan.root))}\n", _SETUP]
    if private_binfmt:
        # Otherwise the device's shell would run a program it cannot execute as a
        # script.
        lines.append(binfmt.private_rules(plan.machines, REFUSAL))
    lines.append(_library_mounts(plan))
    for one in plan.storage:
        lines.append(
            f"mount -t tmpfs -o mode={one.mode:o},size={one.size_mb}m,"
            f'uid={one.owner},gid={one.owner} farm "$R{one.path}"\n'
        )
    lines += [plan.setup, _READ_ONLY]
    return "".join(lines)


class Container:
    """One running device, without its daemon.

    Attributes:
        all_ids: users other than root exist in it; needs a farm that root runs.
        pid: its first process.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.all_ids = os.geteuid() == 0
        self.pid = 0
        self._process: Optional[subprocess.Popen[str]] = None
        self._root_fd = -1
        self._pid_namespace = ""

    def start(self) -> None:
        """Starts it. Call it in the main thread: it ends with that thread.

        Raises:
            FarmError: the computer does not permit it.
        """
        choice = binfmt.choice()
        trouble = ""
        if choice != "computer":
            trouble = self._try(private_binfmt=True)
        if choice == "computer" or (choice != "own" and "binfmt_misc" in trouble):
            missing = binfmt.not_started(self.plan.machines)
            if choice == "computer" and missing:
                raise FarmError(binfmt.not_started_text(missing))
            if not missing:
                trouble = self._try(private_binfmt=False)
        if trouble:
            raise FarmError(explain(trouble))
        path = f"/proc/{self.pid}/root{self.plan.root}"
        self._root_fd = os.open(path, os.O_PATH | os.O_DIRECTORY)
        self._pid_namespace = os.readlink(f"/proc/{self.pid}/ns/pid")

    def _try(self, private_binfmt: bool) -> str:
        """Tries to start it; returns the obstacle, or ''."""
        # Without owners, uid= of a mount would name users that do not exist.
        plan = self.plan if self.all_ids else _without_owners(self.plan)
        process = subprocess.Popen(
            [
                sys.executable,
                "-IS",
                str(Path(__file__).with_name("namespace.py")),
                str(os.getpid()),
                "all" if self.all_ids else "one",
                plan.name,
                str(plan.root),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PATH": _HOST_PATH},
        )
        try:
            line = self._hand_over(process, setup_script(plan, private_binfmt))
        except OSError as error:
            line = f"failed unshare: {error.filename}: {error.strerror}"
        if not line.startswith("up "):
            process.kill()
            process.wait()
            return line.partition(" ")[2].strip() or "it ended without a word"
        self._process, self.pid = process, int(line.split()[1])
        return ""

    def _hand_over(self, process: subprocess.Popen[str], script: str) -> str:
        """Gives a new namespace its users and its script; what it says at last."""
        assert process.stdin is not None and process.stdout is not None
        line = process.stdout.readline()
        if line != "unshared\n":
            return line
        if self.all_ids:
            for name in ("uid_map", "gid_map"):
                Path(f"/proc/{process.pid}/{name}").write_text(_ALL_IDS)
        with process.stdin:
            process.stdin.write(script)
        return process.stdout.readline()

    def stop(self) -> None:
        """Ends it and all its programs."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._process.stdout is not None:
                self._process.stdout.close()
            self._process = None
        if self._root_fd >= 0:
            os.close(self._root_fd)
            self._root_fd = -1

    def inside(self, *command: str) -> List[str]:
        """A command of this computer, in the device's namespaces."""
        # Absolute paths, because the command may get the device's PATH.
        return [
            _program("nsenter"),
            f"--target={self.pid}",
            *("--user", "--mount", "--pid", "--uts", "--net", "--ipc"),
            "--preserve-credentials",
            "--",
            _program(command[0]),
            *command[1:],
        ]

    def command(self, program: Sequence[str], user: int, groups: str = "") -> List[str]:
        """A command of the device, below its root folder."""
        who = []
        if self.all_ids:
            who = [f"--userspec={user}:{user}", f"--groups={groups or user}"]
        return self.inside("chroot", *who, str(self.plan.root), *program)

    def setup(self, command: str) -> None:
        """Runs shell commands of this computer in the device; $R is its root.

        Raises:
            FarmError: they failed.
        """
        text = f"R={shlex.quote(str(self.plan.root))}; {command}"
        done = subprocess.run(
            self.inside("sh", "-e", "-c", text),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise FarmError(f"{self.plan.name}: {done.stderr.strip()}")

    def kill_all(self) -> None:
        """Ends all its processes except the first one."""
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                inside = os.readlink(path / "ns/pid") == self._pid_namespace
                if inside and int(path.name) != self.pid:
                    os.kill(int(path.name), signal.SIGKILL)

    def limit_storage(self, free_bytes: Optional[int]) -> None:
        """Limits the free space in every storage; None: no limit."""
        for one in self.plan.storage:
            size = one.size_mb << 20
            if free_bytes is not None:
                seen = os.statvfs(self.host_path(one.path))
                used = (seen.f_blocks - seen.f_bfree) * seen.f_frsize
                # No size at all would mean no limit at all.
                size = max(used + free_bytes, seen.f_frsize)
            # With source and folder, mount adds none of the options that are set:
            # a plain user's namespace knows no such owner as they name.
            self.setup(f'mount -o remount,size={size} farm "$R{one.path}"')

    def host_path(self, path: str, follow: bool = True) -> str:
        """Where this computer finds a file of the device.

        Symbolic links are followed as the device would, never out of its root;
        the last one only if `follow`.

        Raises:
            OSError: they go round in circles.
        """
        base = f"/proc/self/fd/{self._root_fd}"
        done = PurePosixPath("/")
        todo = [part for part in reversed(path.split("/")) if part not in ("", ".")]
        links = 0
        while todo:
            part = todo.pop()
            if part == "..":
                done = done.parent
                continue
            here = done / part
            target = None
            if todo or follow:
                with contextlib.suppress(OSError):
                    target = os.readlink(base + str(here))
            if target is None:
                done = here
                continue
            links += 1
            if links > _MAX_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            if target.startswith("/"):
                done = PurePosixPath("/")
            todo += [one for one in reversed(target.split("/")) if one not in ("", ".")]
        return base + str(done)


def act_as(user: int) -> None:
    """Gives only this thread the rights of a user for files."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.setfsgid(user)
    libc.setfsuid(user)


def _without_owners(plan: Plan) -> Plan:
    storage = tuple(Storage(one.path, one.size_mb, one.mode) for one in plan.storage)
    return Plan(
        plan.name, plan.root, plan.is_64_bit, plan.is_32_bit, storage, plan.setup
    )


def explain(trouble: str) -> str:
    """Advice if a container does not start."""
    if "binfmt_misc" in trouble:
        return binfmt.no_private_text(trouble)
    if (
        "unshare" in trouble
        or "ermission denied" in trouble
        or "not permitted" in trouble
    ):
        return (
            f"this computer does not permit user namespaces with mounts ({trouble}). "
            "On Debian: sysctl -w kernel.unprivileged_userns_clone=1; on Ubuntu: "
            "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0; in a container: "
            "run it with --privileged; or run the farm as root"
        )
    return f"the device does not start: {trouble}"
