# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Ways to check whether a computer has a program, a package or a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Callable

from mace.python.tools.android_ndk import VARIABLE, AndroidNdkError, find_ndk
from mace.python.tools.bazel_command import bazel_command
from mace.python.tools.doctor.computer import (
    OPENCL_LIBRARY,
    Computer,
    Version,
    at_least,
    parse_version,
    show_version,
)

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
        return Found(True, f"none, {VARIABLE} is not set")
    return Found(True, found.revision)


def set_ndk(computer: Computer) -> Found:
    """The same, but an NDK is required."""
    found = ndk(computer)
    return Found(found.good and bool(computer.variables.get(VARIABLE)), found.text)


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
