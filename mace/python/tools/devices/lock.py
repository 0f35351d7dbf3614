# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""One user of a device at a time, over all processes of this computer."""

from __future__ import annotations

import contextlib
import getpass
import hashlib
import logging
import math
import os
import re
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import filelock

from mace.python.tools.devices.device import DeviceError, DeviceStoppedError
from mace.python.tools.errors import UsageError

_LOG = logging.getLogger(__name__)

# How long to wait for a device that another process uses.
DEFAULT_WAIT_S = 1800.0
_POLL_S = 0.2


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
    path = _lock_path(identity, folder)
    wait_s = _default_wait() if wait_s is None else wait_s
    # All users may open it; not thread local, as a pool may release it.
    lock = filelock.FileLock(str(path), mode=0o666, thread_local=False)
    _acquire(lock, path, label or identity, stop, wait_s)
    try:
        _write_holder(path)
        yield
    finally:
        with contextlib.suppress(OSError):
            _holder_path(path).unlink()
        lock.release()


def _acquire(
    lock: filelock.BaseFileLock,
    path: Path,
    label: str,
    stop: threading.Event | None,
    wait_s: float,
) -> None:
    end = time.monotonic() + wait_s
    told = False
    while True:
        try:
            lock.acquire(timeout=0)
            return
        except filelock.Timeout:
            pass
        except OSError as error:
            raise DeviceError(
                f"cannot lock {label} by {path}: {error.strerror}; remove that file "
                "or let its owner do it"
            ) from error
        holder = _read_holder(path)
        if stop is not None and stop.is_set():
            raise DeviceStoppedError(f"{label}: interrupted while waiting for it")
        if time.monotonic() >= end:
            raise DeviceError(
                f"{label} is in use by {holder}; waited {wait_s:.0f} s "
                "(MACE_DEVICE_WAIT_S=seconds changes that)"
            )
        if not told:
            _LOG.info("waiting for %s, in use by %s", label, holder)
            told = True
        time.sleep(_POLL_S)


def _lock_path(identity: str, folder: Path | None) -> Path:
    if folder is None:
        folder = Path(tempfile.gettempdir()) / "mace_device_locks"
    try:
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            # Without the sticky bit: in a sticky folder the kernel keeps users
            # from opening each other's files (fs.protected_regular).
            folder.chmod(0o777)
    except OSError as error:
        raise DeviceError(
            f"cannot make {folder}, the folder of device locks: {error.strerror}"
        ) from error
    readable = re.sub(r"[^0-9A-Za-z.-]", "_", identity)[:60]
    # Two may be alike but for such characters.
    digest = hashlib.sha256(identity.encode()).hexdigest()[:8]
    return folder / f"{readable}.{digest}.lock"


def _holder_path(path: Path) -> Path:
    # Not the lock file itself: whoever tries to lock it empties it.
    return path.with_suffix(".holder")


def _write_holder(path: Path) -> None:
    program = Path(sys.argv[0]).name or "python"
    text = f"{program} of {_user()} (process {os.getpid()}) since {time.strftime('%X')}"
    with contextlib.suppress(OSError):
        _holder_path(path).write_text(text, encoding="utf-8")


def _read_holder(path: Path) -> str:
    try:
        return _holder_path(path).read_text(encoding="utf-8") or "another process"
    except (OSError, UnicodeDecodeError):
        return "another process"


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
    # What is no number (nan) is not above 0 either.
    if not 0 <= seconds < math.inf:
        raise UsageError(
            f"MACE_DEVICE_WAIT_S={text}: accepted: seconds, 0 or more, to wait for a "
            "device that is in use"
        )
    return seconds
