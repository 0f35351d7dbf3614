# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The shell and tools of the devices: busybox.

It comes from the distribution's package busybox-static of the device's
architecture, which is unpacked into a cache and not installed; where there is
none, it is built from the source package.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import List

from filelock import FileLock

from test.device_farm import busybox_source
from test.device_farm.errors import FarmError

_PACKAGE = "busybox-static"
_TIME_LIMIT_S = 240
_ELF_MACHINE = {"amd64": 0x3E, "arm64": 0xB7, "armhf": 0x28}


def cache_folder() -> Path:
    """Where they are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "mace" / "device_farm"


def find_busybox(architecture: str) -> Path:
    """A static busybox for `arm64`, `armhf` or `amd64`; downloads it if necessary.

    MACE_FARM_BUSYBOX_ARM64, _ARMHF and _AMD64 name others.

    Raises:
        FarmError: there is none and it cannot be fetched.
    """
    variable = f"MACE_FARM_BUSYBOX_{architecture.upper()}"
    named = os.environ.get(variable)
    if named:
        _check(Path(named), architecture, variable)
        return Path(named)
    kept = cache_folder() / f"busybox-{architecture}"
    if kept.is_file():
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(str(kept) + ".lock"):
        if not kept.is_file():
            _fetch(architecture, kept)
    return kept


def _check(path: Path, architecture: str, variable: str) -> None:
    try:
        with open(path, "rb") as stream:
            head = stream.read(20)
    except OSError as error:
        raise FarmError(
            f"{variable}={path} cannot be read: {error.strerror}"
        ) from error
    if head[:4] != b"\x7fELF" or head[18] != _ELF_MACHINE[architecture]:
        raise FarmError(f"{variable}={path} is not a program for {architecture}")


def _private_lists(folder: Path, architecture: str) -> List[str]:
    """Options with which apt accepts another architecture, for this call only."""
    (folder / "lists" / "partial").mkdir(parents=True)
    (folder / "archives" / "partial").mkdir(parents=True)
    (folder / "status").touch()
    return [
        f"--option=Dir::State::Lists={folder / 'lists'}",
        f"--option=Dir::State::status={folder / 'status'}",
        f"--option=Dir::Cache={folder}",
        f"--option=APT::Architecture={architecture}",
        f"--option=APT::Architectures::={architecture}",
        "--option=Acquire::Languages=none",
        "--option=APT::Sandbox::User=root",
    ]


def _apt(arguments: List[str], folder: Path) -> str:
    """Runs apt-get; returns its error, or ''."""
    try:
        done = subprocess.run(
            ["apt-get", "-q", *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_TIME_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"apt-get took more than {_TIME_LIMIT_S} s"
    if not done.returncode:
        return ""
    lines = [line for line in done.stdout.splitlines() if line.startswith("E:")]
    return " ".join(lines) or f"apt-get ended with status {done.returncode}"


def _fetch(architecture: str, target: Path) -> None:
    missing = [name for name in ("apt-get", "dpkg-deb") if not shutil.which(name)]
    if missing:
        raise _failure(architecture, f"there is no {' and no '.join(missing)} here")
    with tempfile.TemporaryDirectory(prefix="mace_farm_") as name:
        folder = Path(name)
        try:
            program = _unpacked(architecture, folder)
        except FarmError as no_package:
            program = _built(architecture, folder, str(no_package))
        copy = target.with_suffix(".new")
        shutil.copy(program, copy)
        os.replace(copy, target)


def _unpacked(architecture: str, folder: Path) -> Path:
    """The program of the package for an architecture."""
    package = f"{_PACKAGE}:{architecture}"
    trouble = _apt(["download", package], folder)
    if trouble:
        options = _private_lists(folder / "apt", architecture)
        # The status includes all lists, also those that are not needed.
        _apt([*options, "update"], folder)
        trouble = _apt([*options, "download", package], folder)
    if trouble:
        raise FarmError(trouble)
    archive = next(iter(folder.glob("*.deb")))
    subprocess.run(["dpkg-deb", "-x", archive, folder / "x"], check=True)
    return folder / "x" / "bin" / "busybox"


def _built(architecture: str, folder: Path, no_package: str) -> Path:
    """The program, built from source."""
    absent = busybox_source.missing_programs(architecture)
    if absent:
        trouble = (
            f"{no_package}. To build it from source, there is no "
            f"{' and no '.join(absent)} here (bash tools/setup.sh --for farm)"
        )
        raise _failure(architecture, trouble)
    source = folder / "source"
    source.mkdir()
    options = _private_lists(source / "apt", "amd64")
    options += busybox_source.write_sources(source / "apt")
    _apt([*options, "update"], source)
    trouble = _apt([*options, "source", "--download-only", "busybox"], source)
    if trouble:
        raise _failure(architecture, f"{no_package}, nor its source: {trouble}")
    try:
        return busybox_source.build(source, architecture)
    except RuntimeError as error:
        raise _failure(architecture, f"its source does not build: {error}") from error


def _failure(architecture: str, trouble: str) -> FarmError:
    return FarmError(
        f"the {architecture} busybox for the devices cannot be had: {trouble}. "
        f"Either dpkg --add-architecture {architecture} and apt-get update, or "
        f"set MACE_FARM_BUSYBOX_{architecture.upper()} to a static busybox for it"
    )
