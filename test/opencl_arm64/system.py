# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A folder with PoCL for arm64, and programs that run in it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Mapping, Sequence

from test.device_farm.binfmt import ARM64, private_rules

# The loader that applications open, and the driver.
_PACKAGES = ("ocl-icd-libopencl1", "pocl-opencl-icd")
# Mounted when a program runs; `here` is a folder of the caller.
_SHARED = ("dev", "proc", "sys")
_MOUNTED = (*_SHARED, "tmp", "here")


class NoSystemError(Exception):
    """There can be no such folder here, or it runs no programs."""


def make_system() -> Path:
    """The folder, made if it is not there.

    Raises:
        NoSystemError: what is missing on this computer.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    root = cache / "mace" / "opencl-arm64"
    if root.is_dir():
        return root
    for program in ("apt-get", "dpkg-deb", ARM64.emulator):
        if shutil.which(program) is None:
            raise NoSystemError(f"no {program} here")
    stage = root.with_name(root.name + ".new")
    shutil.rmtree(stage, ignore_errors=True)
    for name in _MOUNTED:
        (stage / name).mkdir(parents=True)
    packages = _download(stage / "tmp")
    for package in packages:
        _call(["dpkg-deb", "-x", str(package), str(stage)])
    shutil.rmtree(stage / "tmp")
    (stage / "tmp").mkdir()
    stage.rename(root)
    return root


def _download(folder: Path) -> Sequence[Path]:
    """The packages and all that they need, by lists of packages of our own."""
    for name in ("lists/partial", "archives/partial"):
        (folder / name).mkdir(parents=True)
    (folder / "status").touch()
    settings = {
        "APT::Architecture": "arm64",
        "APT::Architectures": "arm64",
        "APT::Sandbox::User": "",
        "Debug::NoLocking": "1",
        "Dir::Cache": folder,
        "Dir::State": folder,
        "Dir::State::status": folder / "status",
    }
    flags = [f"-o{name}={value}" for name, value in settings.items()]
    _call(["apt-get", *flags, "-q", "update"])
    wanted = ("--download-only", "--no-install-recommends", "--yes", "install")
    _call(["apt-get", *flags, "-q", *wanted, *_PACKAGES])
    return sorted((folder / "archives").glob("*.deb"))


def _call(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoSystemError(f"{command[0]}: {done.stderr.strip()[-500:]}")


def run(
    root: Path,
    work: Path,
    command: Sequence[str],
    environment: Mapping[str, str],
    limit_s: float,
) -> subprocess.CompletedProcess[str]:
    """Runs a program for arm64.

    Args:
        work: the folder that it sees as /here, where it starts.

    Raises:
        NoSystemError: the kernel does not give the namespaces.
    """
    inside = shlex.quote(str(root))
    script = [
        "set -e\n",
        private_rules([ARM64], "/bin/false"),
        *(f"mount --rbind /{name} {inside}/{name}\n" for name in _SHARED),
        f"mount --bind {shlex.quote(str(work))} {inside}/here\n",
        f"mount -t tmpfs tmpfs {inside}/tmp\n",
        "echo ready >&2\n",
        "PATH=$PATH:/usr/sbin exec chroot ",
        shlex.join([str(root), *command]),
    ]
    namespaces = ("--user", "--map-root-user", "--mount", "--pid", "--fork")
    done = subprocess.run(
        ["unshare", *namespaces, "--kill-child", "sh", "-c", "".join(script)],
        env={**environment, "PATH": os.environ["PATH"], "QEMU_CPU": "max"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=limit_s,
        check=False,
    )
    if "ready\n" not in done.stderr:
        raise NoSystemError(f"no namespaces: {done.stderr.strip()[-500:]}")
    return done
