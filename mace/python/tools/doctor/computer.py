# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The doctor's access to the computer; tests replace it."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Callable, Dict, Optional, Tuple

from mace.python.tools.build_tools import (
    NDK_VARIABLE,
    AndroidNdkError,
    bazel_command,
    find_ndk,
)

Version = Tuple[int, ...]

# Every program can print its version in this time; a broken one may hang.
_TIME_LIMIT_S = 10
# Names the OpenCL library; the runtime reads it, too (mace/runtimes/opencl).
OPENCL_LIBRARY = "MACE_OPENCL_LIBRARY"
_VERSION = re.compile(r"\d+(?:\.\d+)+|\d+")


def parse_version(text: str) -> Version:
    """The first version number in a text, as ``(4, 2, 3)``; empty if none."""
    found = _VERSION.search(text)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def show_version(version: Version) -> str:
    """``4.2.3`` of ``(4, 2, 3)``."""
    return ".".join(map(str, version))


def at_least(version: Version, minimum: Version) -> bool:
    """Whether a version reaches a minimum; missing parts count as 0."""
    length = max(len(version), len(minimum))

    def pad(parts: Version) -> Version:
        return parts + (0,) * (length - len(parts))

    return pad(version) >= pad(minimum)


@dataclass(frozen=True)
class Computer:
    """A computer as the doctor sees it.

    Attributes:
        root: the MACE checkout.
        variables: its environment variables.
        system: prepended to absolute paths; tests point it to a folder.
        python: the version of the Python that runs the tools.
    """

    root: Path
    variables: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    system: Path = Path("/")
    python: Version = tuple(sys.version_info[:3])

    def variable(self, name: str) -> str:
        """An environment variable; empty if it is not set."""
        return self.variables.get(name, "")

    def which(self, program: str) -> Optional[str]:
        """The path of a program, if PATH has it."""
        return shutil.which(program, path=self.variable("PATH"))

    def output(self, command: Sequence[str]) -> Optional[str]:
        """The whole output of a program; None if it cannot run or fails."""
        program = self.which(command[0])
        if program is None:
            return None
        try:
            result = subprocess.run(
                [program, *command[1:]],
                cwd=self.root,
                env=dict(self.variables),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=_TIME_LIMIT_S,
                text=True,
                errors="replace",
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return result.stdout if result.returncode == 0 else None

    def path(self, absolute: str) -> Path:
        """A path of the system."""
        return self.system / absolute.lstrip("/")

    def opencl(self) -> Dict[str, Any]:
        """What opencl_devices.py prints; a problem if it or a driver crashes."""
        module = f"{__package__}.opencl_devices"
        output = self.output([sys.executable, "-m", module]) or ""
        lines = [line for line in output.splitlines() if line.startswith("{")]
        if not lines:
            return {"problem": "a driver crashes when it is asked for its devices"}
        found: Dict[str, Any] = json.loads(lines[-1])
        return found

    @property
    def in_venv(self) -> bool:
        """Whether the tools run in a virtual environment."""
        return sys.prefix != sys.base_prefix

    def has_module(self, name: str) -> bool:
        """Whether the Python that runs the tools could import a module."""
        return importlib.util.find_spec(name) is not None

    def package(self, distribution: str) -> Optional[Version]:
        """The version of a Python package; None if it is not installed."""
        try:
            return parse_version(metadata.version(distribution))
        except metadata.PackageNotFoundError:
            return None


BAZEL_MINIMUM = (4, 2)
OPENCL_MINIMUM = (1, 2)
BAZEL_BELOW = (8,)  # Bazel 8 reads no WORKSPACE file


@dataclass(frozen=True)
class Found:
    """The result of a probe.

    Attributes:
        good: whether it will do.
        text: version or place; what is wrong if not good. Empty: not there.
    """

    good: bool
    text: str = ""


Probe = Callable[[Computer], Found]


def program(
    name: str,
    minimum: Version = (),
    below: Version = (),
    arguments: Sequence[str] = ("--version",),
    pattern: str = "",
) -> Probe:
    """A probe for a program of PATH and its version.

    Args:
        name: of the program.
        minimum: the oldest version that will do.
        below: the first version that will not.
        arguments: make the program print its version and nothing else.
        pattern: regular expression before the version number.
    """

    def probe(computer: Computer) -> Found:
        path = computer.which(name)
        if path is None:
            return Found(False)
        output = computer.output([path, *arguments])
        if output is None:
            return Found(False, f"{path} does not run")
        found = re.search(pattern, output) if pattern else None
        version = parse_version(output[found.end() if found else 0 :])
        if not version:
            return Found(True, f"{path}, version unknown")
        text = show_version(version)
        if not at_least(version, minimum):
            return Found(False, f"{text} is too old")
        if below and at_least(version, below):
            return Found(False, f"{text} is too new")
        return Found(True, text)

    return probe


def bazel(computer: Computer) -> Found:
    """The chosen Bazel, which has to read a WORKSPACE file.

    Debian's own Bazel reports its version as "no_version", but its package has one.
    """
    name = bazel_command(computer.variables).program
    found = program(name, BAZEL_MINIMUM, BAZEL_BELOW)(computer)
    if not found.good or not found.text.endswith("unknown"):
        return found
    command = ["dpkg-query", "--show", "--showformat=${Version}", "bazel-bootstrap"]
    version = parse_version(computer.output(command) or "")
    if not version:
        return found
    text = show_version(version)
    if not at_least(version, BAZEL_MINIMUM):
        return Found(False, f"{text} is too old")
    return Found(True, text)


def existing(*paths: str) -> Probe:
    """A probe for the first of these files or folders of the system."""

    def probe(computer: Computer) -> Found:
        for path in paths:
            if computer.path(path).exists():
                return Found(True, path)
        return Found(False)

    return probe


def python(computer: Computer) -> Found:
    """The Python that runs the tools."""
    text = show_version(computer.python)
    if at_least(computer.python, (3, 9)):
        return Found(True, text)
    return Found(False, f"{text} is too old")


def venv(computer: Computer) -> Found:
    """Virtual environments can be made, or this is one."""
    if computer.in_venv:
        return Found(True, "this is one")
    return Found(computer.has_module("ensurepip"), "")


def build_python(computer: Computer) -> Found:
    """The distribution's Python, which Bazel runs, can read YAML."""
    path = str(computer.path("/usr/bin/python3"))
    output = computer.output([path, "-c", "import yaml; print(yaml.__version__)"])
    return Found(output is not None, (output or "").strip())


def ndk(computer: Computer) -> Found:
    """The Android NDK that ANDROID_NDK_HOME names."""
    try:
        found = find_ndk(computer.variables)
    except AndroidNdkError as error:
        return Found(False, str(error).partition(";")[0])
    if found is None:
        # The static program for phones does not need an NDK.
        return Found(True, f"none, {NDK_VARIABLE} is not set")
    return Found(True, found.revision)


def set_ndk(computer: Computer) -> Found:
    """The same, but an NDK is required."""
    found = ndk(computer)
    return Found(found.good and bool(computer.variables.get(NDK_VARIABLE)), found.text)


def opencl_loader(computer: Computer) -> Found:
    """The library that finds OpenCL drivers, or the one that the user names."""
    found = computer.opencl()
    if "problem" in found:
        # Nothing to say if there is just no such file.
        absent = "cannot open shared object file" in found["problem"]
        named = computer.variable(OPENCL_LIBRARY)
        if named:
            return Found(False, f"{OPENCL_LIBRARY}={named}: {found['problem']}")
        return Found(False, "" if absent else found["problem"])
    return Found(True, found["library"])


# Where the loader finds the names of drivers.
_VENDORS = "/etc/OpenCL/vendors"
# NVIDIA's containers have the driver without its name there.
_UNLISTED = "libnvidia-opencl.so.1"
_LIBRARY_FOLDERS = (
    *("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"),
    *("/usr/lib64", "/usr/lib", "/usr/local/nvidia/lib64"),
)


def _unlisted_driver(computer: Computer) -> str:
    """A driver that the loader does not find; empty if there is none."""
    for folder in _LIBRARY_FOLDERS:
        if computer.path(f"{folder}/{_UNLISTED}").exists():
            return f"{folder}/{_UNLISTED}"
    return ""


def opencl_driver(computer: Computer) -> Found:
    """The devices that OpenCL has, at least one of a version that will do."""
    devices = computer.opencl().get("devices", [])
    # The rest of the version is the driver's own.
    texts = [
        f"{item['device']} ({' '.join(item['version'].split()[:2])})"
        for item in devices
    ]
    if any(at_least(parse_version(d["version"]), OPENCL_MINIMUM) for d in devices):
        found = ", ".join(texts)
        if any(device["is_gpu"] for device in devices):
            return Found(True, found)
        driver = _unlisted_driver(computer)
        if driver:
            problem = f"{driver} is there, but no file in {_VENDORS} names it"
            return Found(False, f"no GPU, only {found}; {problem}")
        return Found(True, f"no GPU, only {found}")
    if texts:
        return Found(False, f"too old: {', '.join(texts)}")
    vendors = computer.path(_VENDORS)
    drivers = sorted(vendors.glob("*.icd")) if vendors.is_dir() else []
    if drivers:
        names = ", ".join(driver.stem for driver in drivers)
        return Found(False, f"no device; drivers installed: {names}")
    return Found(False)


def package(name: str, minimum: Version) -> Probe:
    """A probe for a Python package."""

    def probe(computer: Computer) -> Found:
        version = computer.package(name)
        if version is None:
            return Found(False)
        if not at_least(version, minimum):
            return Found(False, f"{show_version(version)} is too old")
        return Found(True, show_version(version))

    return probe
