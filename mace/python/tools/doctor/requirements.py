# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What each task needs, how to check for it and how to install it.

Packages come from the lists of `setup/`. For Python packages, the installed
version is checked. For a package of the distribution, `_PIECES` names the program
or file that shows that it is installed, by whatever means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, FrozenSet, List, Mapping, Tuple

from mace.python.installation import (
    CHECKOUT,
    PACKAGED_LIBRARY,
    PACKAGED_PROGRAM,
    install,
)
from mace.python.tools.build_tools import NDK_REMEDY
from mace.python.tools.doctor import computer
from mace.python.tools.doctor.computer import (
    Probe,
    Version,
    existing,
    parse_version,
    program,
    show_version,
)

# The tasks of `setup/tasks.txt` and the packages that they need.
#
# `tools/setup.sh` installs by the same table and the same lists.


PIP_LISTS = ("requirements.txt", "optionals.txt", "pip.txt")
_TASK = re.compile(r"^([a-z]+) +([^#]*[^# ]) +# (.+)$")
_PACKAGE = re.compile(r"^([\w.+-]+)\s*(?:[=>]=\s*([\d.]+))?")


@dataclass(frozen=True)
class Task:
    """One line of the table.

    Attributes:
        name: for --for.
        use: what it is good for, an imperative.
        includes: tasks.
        lists: of its own, "apt:NAME" or "pip:NAME".
    """

    name: str
    use: str
    includes: Tuple[str, ...]
    lists: Tuple[str, ...]


@dataclass(frozen=True)
class Listed:
    """A package of one or more lists.

    Attributes:
        kind: "apt" or "pip".
        name: as the package registry has it.
        minimum: version; empty if any will do.
        tasks: those whose own lists have it.
    """

    kind: str
    name: str
    minimum: str
    tasks: Tuple[str, ...]


def read_tasks(root: Path) -> Dict[str, Task]:
    """All tasks of a checkout, in the order of the table."""
    tasks = {}
    text = (root / "setup" / "tasks.txt").read_text(encoding="utf-8")
    for name, needs, use in filter(None, map(_parts, text.splitlines())):
        words = needs.split()
        tasks[name] = Task(
            name,
            use,
            tuple(word for word in words if ":" not in word),
            tuple(word for word in words if ":" in word),
        )
    return tasks


def _parts(line: str) -> Tuple[str, ...]:
    found = _TASK.match(line)
    return found.groups() if found else ()


def included(tasks: Mapping[str, Task], name: str) -> FrozenSet[str]:
    """A task and all that it includes."""
    found = {name}
    for part in tasks[name].includes:
        found |= included(tasks, part)
    return frozenset(found)


def listed(root: Path) -> List[Listed]:
    """Every package of every list, in the order of the tasks."""
    found: Dict[Tuple[str, str], Listed] = {}
    for task in read_tasks(root).values():
        for name in task.lists:
            kind, _, section = name.partition(":")
            for package, minimum in _packages(root / "setup", kind, section):
                before = found.get((kind, package))
                tasks = (*(before.tasks if before else ()), task.name)
                found[kind, package] = Listed(kind, package, minimum, tasks)
    return list(found.values())


def _packages(setup: Path, kind: str, name: str) -> Iterator[Tuple[str, str]]:
    files = ("apt.txt",) if kind == "apt" else PIP_LISTS
    text = "".join((setup / file).read_text(encoding="utf-8") for file in files)
    section = text.partition(f"\n# [{name}]\n")[2].partition("\n# [")[0]
    for line in section.splitlines():
        found = _PACKAGE.match(line.split("#")[0])
        if found:
            yield found[1], found[2] or ""


SETUP = "bash tools/setup.sh --for "

_PYTHON = "Python packages"
_BUILD = "Build"
_ARM = "ARM Linux"
_SHELLS = "Shells"
_DEVICES = "Devices"
_IMAGES = "Docker images"
_GPU = "GPU"
_DSP = "DSP"
_LLVM = "19"


@dataclass(frozen=True)
class Requirement:
    """One piece that tasks need.

    Attributes:
        name: of the piece.
        group: heading it is listed under.
        needed: what is accepted, for people.
        tasks: those that cannot run without it, and with them all that include
            these; others may use it.
        mend: the command that installs it.
        probe: looks for it.
        use: what it is good for, when no task insists on it.
        spared: by task, what makes this piece superfluous for it where it is found.
    """

    name: str
    group: str
    needed: str
    tasks: Tuple[str, ...]
    mend: str
    probe: Probe
    use: str = ""
    spared: Mapping[str, Probe] = field(default_factory=dict)


@dataclass(frozen=True)
class _Piece:
    """The program or file that shows that a package of the distribution is
    installed.
    """

    name: str
    group: str
    probe: Probe
    needed: str = "any"


def _llvm(tool: str) -> _Piece:
    probe = program(f"{tool}-{_LLVM}", (int(_LLVM),), pattern="version |LLD ")
    return _Piece(f"{tool}-{_LLVM}", _BUILD, probe, _LLVM)


def _file(name: str, group: str, path: str) -> _Piece:
    return _Piece(name, group, existing(path))


def _qemu(name: str, group: str, minimum: Version = (5, 0)) -> _Piece:
    probe = program(name, minimum, pattern="version ")
    return _Piece(name, group, probe, f">= {show_version(minimum)}")


def _compiler_runtime(name: str) -> str:
    folder = f"/usr/lib/llvm-{_LLVM}/lib/clang/{_LLVM}/lib/linux"
    return f"{folder}/libclang_rt.{name}-x86_64.a"


_PIECES: Dict[str, Tuple[_Piece, ...]] = {
    "python3": (_Piece("python", "Python", computer.python, ">= 3.9"),),
    "python3-venv": (_Piece("venv", "Python", computer.venv),),
    "protobuf-compiler": (
        _Piece("protoc", "Convert", program("protoc", (3, 12)), ">= 3.12"),
    ),
    "bazel-bootstrap": (_Piece("bazel", _BUILD, computer.bazel, ">= 4.2, < 8"),),
    "clang-19": (
        _llvm("clang"),
        _file("C++ headers", _BUILD, "/usr/include/c++"),
    ),
    "lld-19": (_llvm("ld.lld"),),
    "llvm-19": (_llvm("llvm-ar"), _llvm("llvm-strip")),
    "git": (_Piece("git", _BUILD, program("git")),),
    "libprotozero-dev": (
        _file("protozero", _BUILD, "/usr/include/protozero/pbf_reader.hpp"),
    ),
    "libcli11-dev": (_file("CLI11", _BUILD, "/usr/include/CLI/CLI.hpp"),),
    "nlohmann-json3-dev": (
        _file("nlohmann-json", _BUILD, "/usr/include/nlohmann/json.hpp"),
    ),
    "default-jdk-headless": (
        _Piece("javac", _BUILD, program("javac", (9,), pattern="javac "), ">= 9"),
        _file("JNI headers", _BUILD, "/usr/lib/jvm/default-java/include/jni.h"),
    ),
    "android-libnativehelper-dev": (
        _file("Android's jni.h", _BUILD, "/usr/include/android/nativehelper/jni.h"),
    ),
    "junit4": (_file("JUnit 4", _BUILD, "/usr/share/java/junit4.jar"),),
    "opencl-headers": (_file("OpenCL headers", _GPU, "/usr/include/CL/cl.h"),),
    "ocl-icd-libopencl1": (_Piece("OpenCL loader", _GPU, computer.opencl_loader),),
    "pocl-opencl-icd": (_file("PoCL", _GPU, "/etc/OpenCL/vendors/pocl.icd"),),
    "oclgrind": (_Piece("oclgrind", _GPU, program("oclgrind", pattern="Oclgrind ")),),
    "python3-yaml": (
        _Piece("yaml of /usr/bin/python3", _BUILD, computer.build_python),
    ),
    "clang-format-19": (_llvm("clang-format"),),
    "libclang-rt-19-dev": (
        _file("sanitizers", _BUILD, _compiler_runtime("asan")),
        _file("fuzzer", _BUILD, _compiler_runtime("fuzzer")),
    ),
    "googletest": (
        _file(
            "googletest sources",
            _BUILD,
            "/usr/src/googletest/googletest/src/gtest.cc",
        ),
    ),
    "g++-aarch64-linux-gnu": (
        _file("arm64 C++ headers", _ARM, "/usr/aarch64-linux-gnu/include/c++"),
    ),
    "g++-arm-linux-gnueabihf": (
        _file("armhf C++ headers", _ARM, "/usr/arm-linux-gnueabihf/include/c++"),
    ),
    "g++-arm-linux-gnueabi": (
        _file("armel C++ headers", _ARM, "/usr/arm-linux-gnueabi/include/c++"),
    ),
    "qemu-user": (
        _qemu("qemu-aarch64", _ARM),
        _qemu("qemu-arm", _ARM),
        # The first that has vectors of Hexagon.
        _qemu("qemu-hexagon", _DSP, (7, 0)),
    ),
    "adb": (
        _Piece(
            "adb",
            _DEVICES,
            program("adb", (1, 0, 32), arguments=["version"], pattern="version "),
            ">= 1.0.32",
        ),
    ),
    "openssh-client": (
        _Piece("ssh", _DEVICES, program("ssh", arguments=["-V"], pattern="OpenSSH_")),
    ),
    "rsync": (
        _Piece(
            "rsync", _DEVICES, program("rsync", (3, 0), pattern="version "), ">= 3.0"
        ),
    ),
    "openssh-server": (_file("sshd", _DEVICES, "/usr/sbin/sshd"),),
    "qemu-user-static": (
        _qemu("qemu-aarch64-static", _DEVICES),
        _qemu("qemu-arm-static", _DEVICES),
    ),
    "cmake": (
        _Piece(
            "cmake", _BUILD, program("cmake", (3, 13), pattern="version "), ">= 3.13"
        ),
    ),
    "pkg-config": (_Piece("pkg-config", _BUILD, program("pkg-config")),),
    "libsodium-dev": (_file("libsodium", _BUILD, "/usr/include/sodium.h"),),
    "zlib1g-dev": (_file("zlib", _BUILD, "/usr/include/zlib.h"),),
    "make": (_Piece("make", _DEVICES, program("make")),),
    "fish": (_Piece("fish", _SHELLS, program("fish", pattern="version ")),),
    "zsh": (_Piece("zsh", _SHELLS, program("zsh", pattern="zsh ")),),
    "gdb-multiarch": (
        _Piece("gdb-multiarch", _DEVICES, program("gdb-multiarch", pattern=r"\) ")),
    ),
    "gdbserver": (_Piece("gdbserver", _DEVICES, program("gdbserver", pattern=r"\) ")),),
    "buildah": (_Piece("buildah", _IMAGES, program("buildah", pattern="version ")),),
    "debootstrap": (_file("debootstrap", _IMAGES, "/usr/sbin/debootstrap"),),
}
# An Android NDK contains the libraries for phone programs.
_SPARED: Dict[str, Mapping[str, Probe]] = {
    "g++-aarch64-linux-gnu": {"phone": computer.set_ndk},
    "g++-arm-linux-gnueabihf": {"phone": computer.set_ndk},
}
_GROUPS = (
    *("Python", _PYTHON, "Convert", _BUILD, _GPU, _DSP, _ARM, _DEVICES, _SHELLS),
    _IMAGES,
)


def _extra(package: Listed) -> str:
    """The extra of the installed package that has it; empty: the package itself."""
    return "" if package.tasks[0] == "convert" else package.tasks[0]


def _installed(package: Listed) -> Iterator[Requirement]:
    # The first task is the smallest that has it.
    mend = SETUP + package.tasks[0] if CHECKOUT else install(_extra(package))
    if package.kind == "pip":
        minimum = parse_version(package.minimum)
        yield Requirement(
            package.name,
            _PYTHON,
            f">= {show_version(minimum)}" if minimum else "any",
            package.tasks,
            mend,
            computer.package(package.name, minimum),
        )
        return
    for piece in _PIECES[package.name]:
        yield Requirement(
            piece.name,
            piece.group,
            piece.needed,
            package.tasks,
            mend,
            piece.probe,
            spared=_SPARED.get(package.name, {}),
        )


def _packaged() -> Iterator[Requirement]:
    """What an installed package has of one platform."""
    for path in (PACKAGED_LIBRARY, PACKAGED_PROGRAM):
        probe = existing(str(path))
        yield Requirement(path.name, "Python", "any", ("run",), install(), probe)


def _others() -> Tuple[Requirement, ...]:
    """Optional pieces, which tools/setup.sh does not install."""
    install = "sudo apt-get install "
    return (
        Requirement(
            "Android NDK",
            _DEVICES,
            "none, or >= r21",
            ("phone",),
            NDK_REMEDY,
            computer.ndk,
        ),
        Requirement(
            "OpenCL device",
            _GPU,
            ">= 1.2",
            ("gpu",),
            "install the driver of the GPU's vendor; or, to try without a GPU: "
            + install
            + "pocl-opencl-icd; in a container of NVIDIA's, name the driver that is "
            "there: echo libnvidia-opencl.so.1 | "
            "sudo tee /etc/OpenCL/vendors/nvidia.icd",
            computer.opencl_driver,
        ),
        Requirement(
            "docker",
            _DEVICES,
            ">= 17.09",
            (),
            install + "docker.io",
            program("docker", (17, 9)),
            "work in a container",
        ),
    )


def requirements(root: Path) -> Tuple[Requirement, ...]:
    """Everything the doctor looks for, in the order it is shown."""
    found = [piece for package in listed(root) for piece in _installed(package)]
    if CHECKOUT is None:
        found += _packaged()
        # An OpenCL device, and nothing for phones and containers.
        found += (piece for piece in _others() if "gpu" in piece.tasks)
    else:
        found += _others()
    return tuple(sorted(found, key=lambda piece: _GROUPS.index(piece.group)))
