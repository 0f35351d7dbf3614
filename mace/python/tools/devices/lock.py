# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Locks a device against all other processes and users of this computer.

All users share the folder of locks, so nothing in it is trusted: files are created
and opened relative to the opened folder, never through a symbolic link, and
existing files are never written to. A lock is `flock` on a file that is opened only
for reading, which works on another user's file as well. The worst that another user
can do is to hold a device for a long time, or to give a wrong name of its user.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import errno
import fcntl
import getpass
import hashlib
import logging
import math
import os
import pwd
import re
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from mace.python.tools.devices.device import Device, DeviceError, DeviceStoppedError
from mace.python.tools.devices.discover import FoundDevice
from mace.python.tools.errors import UsageError

_LOG = logging.getLogger(__name__)

# How long to wait for a device that another process uses, in seconds.
DEFAULT_WAIT_S = 1800.0
_POLL_S = 0.2

# The sticky bit keeps users from removing each other's files.
_FOLDER_MODE = 0o1777
_FILE_MODE = 0o644
# Another user's file may be a FIFO, and a plain open would wait.
_OPEN_FLAGS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MAX_HOLDER_BYTES = 1000


@contextlib.contextmanager
def device_lock(
    identity: str,
    stop: threading.Event | None = None,
    wait_s: float | None = None,
    folder: Path | None = None,
    label: str = "",
) -> Iterator[None]:
    """Holds the lock of a device; waits while another process has it.

    The lock ends with the process that holds it, however that ends.

    Args:
        identity: of the device (`Device.identity`).
        stop: end the waiting when this is set.
        wait_s: at most; None: ``$MACE_DEVICE_WAIT_S``, else half an hour.
        folder: of the lock files; None: one for all users of this computer.
        label: the device in messages (default: its identity).

    Raises:
        DeviceError: it is still in use after that time; says by whom.
        DeviceStoppedError: `stop` was set meanwhile.
        UsageError: MACE_DEVICE_WAIT_S is no number of seconds.
    """
    wait_s = _default_wait() if wait_s is None else wait_s
    place = _open_folder(
        Path(tempfile.gettempdir()) / "mace_device_locks" if folder is None else folder
    )
    try:
        lock = _DeviceLock(place, _file_stem(identity), label or identity)
        file = lock.acquire(stop, wait_s)
        try:
            lock.write_holder()
            yield
        finally:
            lock.remove_holder()
            os.close(file)
    finally:
        os.close(place.descriptor)


@dataclass(frozen=True)
class _Folder:
    """The opened folder of locks; `path` is used only in messages."""

    path: Path
    descriptor: int


@dataclass(frozen=True)
class _DeviceLock:
    """The files of one device: the one that is locked, and who has it.

    Attributes:
        folder: where they are.
        stem: of their names.
        label: the device in messages.
    """

    folder: _Folder
    stem: str
    label: str

    @property
    def _name(self) -> str:
        return f"{self.stem}.lock"

    def acquire(self, stop: threading.Event | None, wait_s: float) -> int:
        """Waits for the lock; returns the file; closing it releases the lock."""
        end = time.monotonic() + wait_s
        told = False
        while True:
            file = self._try_lock()
            if file is not None:
                return file
            holder = self._read_holder()
            if stop is not None and stop.is_set():
                raise DeviceStoppedError(
                    f"{self.label}: interrupted while waiting for it"
                )
            if time.monotonic() >= end:
                raise DeviceError(
                    f"{self.label} is in use by {holder}; waited {wait_s:.0f} s "
                    "(MACE_DEVICE_WAIT_S=seconds changes that)"
                )
            if not told:
                _LOG.info("waiting for %s, in use by %s", self.label, holder)
                told = True
            time.sleep(_POLL_S)

    def _try_lock(self) -> int | None:
        path = self.folder.path / self._name
        try:
            file = self._open()
            try:
                if not stat.S_ISREG(os.fstat(file).st_mode):
                    raise DeviceError(
                        f"cannot lock {self.label}: {path} is not a regular file; "
                        "remove it or let its owner do it"
                    )
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BaseException as error:
                os.close(file)
                if isinstance(error, BlockingIOError):
                    return None
                raise
        except OSError as error:
            reason = (
                "it is a symbolic link"
                if error.errno == errno.ELOOP
                else error.strerror
            )
            raise DeviceError(
                f"cannot lock {self.label} by {path}: {reason}; remove that file "
                "or let its owner do it"
            ) from error
        return file

    def _open(self) -> int:
        place = self.folder.descriptor
        try:
            file = os.open(
                self._name,
                os.O_RDONLY | os.O_CREAT | os.O_EXCL | _OPEN_FLAGS,
                _FILE_MODE,
                dir_fd=place,
            )
        except FileExistsError:
            return os.open(self._name, os.O_RDONLY | _OPEN_FLAGS, dir_fd=place)
        # Independent of the umask: other users have to open the file.
        os.fchmod(file, _FILE_MODE)
        return file

    def write_holder(self) -> None:
        """Writes who uses the device, for others that wait; ignores errors."""
        program = Path(sys.argv[0]).name or "python"
        text = (
            f"{program} of {_user()} (process {os.getpid()}) "
            f"since {time.strftime('%X')}"
        )
        self.remove_holder()
        with contextlib.suppress(OSError):
            file = os.open(
                self._holder_name(os.getuid()),
                os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OPEN_FLAGS,
                _FILE_MODE,
                dir_fd=self.folder.descriptor,
            )
            with os.fdopen(file, "w", encoding="utf-8", errors="replace") as stream:
                os.fchmod(file, _FILE_MODE)
                stream.write(text[:_MAX_HOLDER_BYTES])

    def remove_holder(self) -> None:
        with contextlib.suppress(OSError):
            os.unlink(self._holder_name(os.getuid()), dir_fd=self.folder.descriptor)

    def _holder_name(self, user: int) -> str:
        # One per user: in a sticky folder, users cannot replace each other's files.
        return f"{self.stem}.{user}.holder"

    def _read_holder(self) -> str:
        pattern = re.compile(re.escape(self.stem) + r"\.(\d+)\.holder")
        with contextlib.suppress(OSError):
            for name in sorted(os.listdir(self.folder.descriptor)):
                match = pattern.fullmatch(name)
                if match and (text := self._read_claim(name, int(match[1]))):
                    return text
        return "another process"

    def _read_claim(self, name: str, user: int) -> str:
        with contextlib.suppress(OSError):
            file = os.open(
                name, os.O_RDONLY | _OPEN_FLAGS, dir_fd=self.folder.descriptor
            )
            with os.fdopen(file, "rb") as stream:
                status = os.fstat(file)
                if stat.S_ISREG(status.st_mode) and status.st_uid == user:
                    text = stream.read(_MAX_HOLDER_BYTES).decode("utf-8", "replace")
                    # Another user may have written the text: remove control characters.
                    return "".join(c for c in text if c.isprintable())
        return ""


def _open_folder(path: Path) -> _Folder:
    """Opens the folder of locks, which is made if it is missing.

    Raises:
        DeviceError: it can't be made, or users could replace each other's files.
    """
    made = False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            path.mkdir()
            made = True
        descriptor = os.open(
            path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        )
    except OSError as error:
        # For a symbolic link, Linux reports that it is not a folder.
        linked = error.errno in (errno.ELOOP, errno.ENOTDIR) and path.is_symlink()
        reason = "it is a symbolic link" if linked else error.strerror
        raise DeviceError(
            f"cannot open {path}, the folder of device locks: {reason}"
        ) from error
    try:
        status = os.fstat(descriptor)
        shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        unsafe = shared and not status.st_mode & stat.S_ISVTX
        if made:
            os.fchmod(descriptor, _FOLDER_MODE)
        elif unsafe and status.st_uid == os.getuid():
            os.fchmod(descriptor, stat.S_IMODE(status.st_mode) | stat.S_ISVTX)
        elif unsafe:
            raise DeviceError(
                f"users can replace each other's files in {path}, the folder of "
                f"device locks: let its owner {_name_of(status.st_uid)} run "
                f"`chmod +t {path}`, or remove it"
            )
    except OSError as error:
        os.close(descriptor)
        raise DeviceError(
            f"cannot share {path}, the folder of device locks: {error.strerror}"
        ) from error
    except BaseException:
        os.close(descriptor)
        raise
    return _Folder(path, descriptor)


def _file_stem(identity: str) -> str:
    readable = re.sub(r"[^0-9A-Za-z.-]", "_", identity)[:60]
    # Names may differ only in the characters that are replaced.
    digest = hashlib.sha256(identity.encode()).hexdigest()[:8]
    return f"{readable}.{digest}"


def _name_of(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def _default_wait() -> float:
    text = os.environ.get("MACE_DEVICE_WAIT_S", "")
    if not text:
        return DEFAULT_WAIT_S
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    # Also refuses NaN.
    if not 0 <= seconds < math.inf:
        raise UsageError(
            f"MACE_DEVICE_WAIT_S={text}: accepted: seconds, 0 or more, to wait for a "
            "device that is in use"
        )
    return seconds


@contextlib.contextmanager
def device_lease(device: Device) -> Iterator[None]:
    """Holds the device's lock; after `Device.stop`, cleans up before it is released.

    Raises:
        DeviceError: it stays in use; says by whom.
        DeviceStoppedError: `Device.stop` was called.
    """
    with device_lock(device.identity, device.stop_event, label=device.address):
        try:
            yield
        except DeviceStoppedError:
            device.clean_up()
            raise


_T = TypeVar("_T")


def on_each_device(
    found: Sequence[FoundDevice], work: Callable[[FoundDevice], _T]
) -> list[_T]:
    """What `work` returns for each device, in their order.

    Devices work at the same time, except those that share this computer's processor,
    which take turns because they would affect each other's times.

    If `work` raises, or on Ctrl-C, all devices are stopped, and the first exception is
    raised after all have ended.
    """
    here = threading.Lock()

    def one(item: FoundDevice) -> _T:
        with here if item.device.is_local else contextlib.nullcontext():
            return work(item)

    pool = concurrent.futures.ThreadPoolExecutor(max_workers=max(1, len(found)))
    with pool:
        futures = [pool.submit(one, item) for item in found]
        try:
            done, _ = concurrent.futures.wait(
                futures, return_when=concurrent.futures.FIRST_EXCEPTION
            )
            for future in done:
                future.result()
        except BaseException:
            for item in found:
                item.device.stop()
            raise
    return [future.result() for future in futures]
