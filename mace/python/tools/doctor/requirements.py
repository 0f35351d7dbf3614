# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What each task needs, how to look for it and how to get it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional, Tuple

from mace.python.tools.android_ndk import (
    REMEDY,
    VARIABLE,
    AndroidNdkError,
    find_ndk,
)
from mace.python.tools.doctor.computer import (
    Computer,
    Version,
    at_least,
    parse_version,
    show_version,
)

# Each task and the tasks it includes.
TASKS = {
    "convert": ("convert",),
    "build": ("build",),
    "run": ("run", "convert", "build"),
    "validate": ("validate", "run", "convert", "build"),
    "test": ("test", "validate", "run", "convert", "build"),
    "phone": ("phone", "run", "convert", "build"),
    "board": ("board", "run", "convert", "build"),
}

SETUP = "bash tools/setup.sh --for "
BAZEL_MINIMUM = (4, 2)
BAZEL_BELOW = (8,)  # Bazel 8 reads no WORKSPACE file
_LLVM = "19"
_REQUIREMENT = re.compile(r"^([\w.-]+)\s*(?:[=>]=\s*([\d.]+))?")


@dataclass(frozen=True)
class Found:
    """What a probe saw.

    Attributes:
        good: whether it will do.
        text: version or place; what is wrong if not good. Empty: not there.
    """

    good: bool
    text: str = ""


@dataclass(frozen=True)
class Requirement:
    """One piece that tasks need.

    Attributes:
        name: of the piece.
        group: heading it is listed under.
        needed: what is accepted, for people.
        tasks: those that cannot run without it; others may use it.
        mend: the command that installs it.
        probe: looks for it.
        use: what it is good for, when no task insists on it.
    """

    name: str
    group: str
    needed: str
    tasks: Tuple[str, ...]
    mend: str
    probe: Callable[[Computer], Found]
    use: str = ""


def program(
    name: str,
    minimum: Version = (),
    below: Version = (),
    arguments: Sequence[str] = ("--version",),
    pattern: str = "",
) -> Callable[[Computer], Found]:
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
    """A Bazel that reads a WORKSPACE file.

    Debian's own calls itself "no_version", but its package has one.
    """
    found = program("bazel", BAZEL_MINIMUM, BAZEL_BELOW)(computer)
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


def existing(*paths: str) -> Callable[[Computer], Found]:
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
        # Phones run the static program that needs none.
        return Found(True, f"none, {VARIABLE} is not set")
    return Found(True, found.revision)


def opencl_driver(computer: Computer) -> Found:
    """A driver that the OpenCL loader will find."""
    vendors = computer.path("/etc/OpenCL/vendors")
    drivers = sorted(vendors.glob("*.icd")) if vendors.is_dir() else []
    return Found(bool(drivers), ", ".join(driver.stem for driver in drivers))


def package(name: str, minimum: Version) -> Callable[[Computer], Found]:
    """A probe for a Python package."""

    def probe(computer: Computer) -> Found:
        version = computer.package(name)
        if version is None:
            return Found(False)
        if not at_least(version, minimum):
            return Found(False, f"{show_version(version)} is too old")
        return Found(True, show_version(version))

    return probe


def packages(
    root: Path, file: str, tasks: Tuple[str, ...], setup: str, use: str = ""
) -> Iterator[Requirement]:
    """One requirement for each line of a list under setup/."""
    path = root / "setup" / file
    for line in path.read_text(encoding="utf-8").splitlines():
        found = _REQUIREMENT.match(line.split("#")[0])
        if found is None:
            continue
        name, minimum = found[1], found[2]
        yield Requirement(
            name,
            "Python packages",
            f">= {minimum}" if minimum else "any",
            tasks,
            SETUP + setup,
            package(name, parse_version(minimum or "")),
            use,
        )


def _libstdcpp(triple: Optional[str]) -> Callable[[Computer], Found]:
    return existing(f"/usr/{triple}/include/c++" if triple else "/usr/include/c++")


def requirements(root: Path) -> Tuple[Requirement, ...]:
    """Everything the doctor looks for, in the order it is shown."""
    llvm = [
        Requirement(
            f"{tool}-{_LLVM}",
            "Build",
            _LLVM,
            ("test",) if tool in ("clang-format", "clang-tidy") else ("build",),
            SETUP + ("test" if tool in ("clang-format", "clang-tidy") else "build"),
            program(f"{tool}-{_LLVM}", (int(_LLVM),), pattern="version |LLD "),
        )
        for tool in ("clang", "ld.lld", "llvm-ar", "clang-format", "clang-tidy")
    ]
    headers = [
        Requirement(
            name,
            "Build",
            "any",
            ("build",),
            SETUP + "build",
            existing(f"/usr/include/{path}"),
        )
        for name, path in (
            ("protozero", "protozero/pbf_reader.hpp"),
            ("CLI11", "CLI/CLI.hpp"),
            ("nlohmann-json", "nlohmann/json.hpp"),
        )
    ]
    cross = [
        entry
        for name, triple, emulator in (
            ("arm64", "aarch64-linux-gnu", "qemu-aarch64"),
            ("armhf", "arm-linux-gnueabihf", "qemu-arm"),
        )
        for entry in (
            Requirement(
                f"{name} C++ headers",
                "ARM Linux",
                "any",
                ("board", "test"),
                SETUP + "cross",
                _libstdcpp(triple),
            ),
            Requirement(
                emulator,
                "ARM Linux",
                ">= 5.0",
                ("test",),
                SETUP + "cross",
                program(emulator, (5, 0), pattern="version "),
            ),
        )
    ]
    return (
        Requirement(
            "python", "Python", ">= 3.9", tuple(TASKS), SETUP + "convert", python
        ),
        *packages(root, "requirements.txt", ("convert",), "convert"),
        *packages(root, "requirements-validate.txt", ("validate",), "validate"),
        *packages(
            root,
            "requirements-tensorflow.txt",
            ("test",),
            "tensorflow",
            "validate TensorFlow models",
        ),
        *packages(root, "requirements-test.txt", ("test",), "test"),
        *packages(root, "requirements-check.txt", ("test",), "test"),
        *packages(root, "requirements-docs.txt", (), "docs", "build the docs"),
        Requirement(
            "protoc",
            "Convert",
            ">= 3.12",
            ("convert",),
            SETUP + "convert",
            program("protoc", (3, 12)),
        ),
        Requirement(
            "bazel",
            "Build",
            ">= 4.2, < 8",
            ("build",),
            SETUP + "build",
            bazel,
        ),
        *llvm,
        Requirement(
            "C++ headers",
            "Build",
            "any",
            ("build",),
            SETUP + "build",
            _libstdcpp(None),
        ),
        *headers,
        Requirement(
            "yaml of /usr/bin/python3",
            "Build",
            "any",
            ("build",),
            SETUP + "build",
            build_python,
        ),
        Requirement(
            "googletest sources",
            "Build",
            "any",
            ("test",),
            SETUP + "test",
            existing("/usr/src/googletest/googletest/src/gtest.cc"),
        ),
        *cross,
        *_devices(),
    )


def _devices() -> Tuple[Requirement, ...]:
    install = "sudo apt-get install "
    farm = "emulate devices"
    return (
        Requirement(
            "adb",
            "Devices",
            ">= 1.0.32",
            ("phone", "test"),
            SETUP + "devices",
            program("adb", (1, 0, 32), arguments=["version"], pattern="version "),
        ),
        Requirement(
            "Android NDK",
            "Devices",
            "none, or >= r21",
            ("phone",),
            REMEDY,
            ndk,
        ),
        Requirement(
            "ssh",
            "Devices",
            "any",
            ("board", "test"),
            SETUP + "devices",
            program("ssh", arguments=["-V"], pattern="OpenSSH_"),
        ),
        Requirement(
            "rsync",
            "Devices",
            ">= 3.0",
            ("board", "test"),
            SETUP + "devices",
            program("rsync", (3, 0), pattern="version "),
        ),
        Requirement(
            "sshd",
            "Devices",
            "any",
            ("test",),
            SETUP + "farm",
            existing("/usr/sbin/sshd"),
            farm,
        ),
        *(
            Requirement(
                name,
                "Devices",
                ">= 5.0",
                ("test",),
                SETUP + "farm",
                program(name, (5, 0), pattern="version "),
                farm,
            )
            for name in ("qemu-aarch64-static", "qemu-arm-static")
        ),
        Requirement(
            "OpenCL loader",
            "Devices",
            "any",
            (),
            install + "ocl-icd-libopencl1",
            existing(
                "/usr/lib/x86_64-linux-gnu/libOpenCL.so.1",
                "/usr/lib/aarch64-linux-gnu/libOpenCL.so.1",
                "/usr/lib64/libOpenCL.so.1",
            ),
            "run on a GPU",
        ),
        Requirement(
            "OpenCL driver",
            "Devices",
            "any",
            (),
            install + "pocl-opencl-icd",
            opencl_driver,
            "run on a GPU",
        ),
        Requirement(
            "docker",
            "Devices",
            ">= 17.09",
            (),
            install + "docker.io",
            program("docker", (17, 9)),
            "work in a container",
        ),
    )
