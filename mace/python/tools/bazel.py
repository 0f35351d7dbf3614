# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Builds one program for one ABI with Bazel.

One with the address sanitizer needs an environment, and tells what it found.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mace.python.tools.atomic import atomic_write
from mace.python.tools.build_tools import (
    NDK_VARIABLE,
    BazelCommand,
    find_bazel,
    find_ndk,
)
from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.errors import MaceError, UnsupportedError
from mace.python.tools.interruption import run_child

_LOG = logging.getLogger(__name__)

_ROOT = Path(__file__).resolve().parents[3]

_NDK_CONFIGS = {Abi.ARM64_V8A: "android_arm64", Abi.ARMEABI_V7A: "android_arm"}

_LABEL = re.compile(r"^(?:@([\w.-]+))?//([\w./+-]*):([\w./+-]+)$")
_LAST_LINES = 15
_LOCK = Path("tools", "run_bazel.sh")

# For the address sanitizer.
_ASAN_VARIABLE = "ASAN_OPTIONS"
_ASAN_OPTIONS = (
    # End with a signal, like any crash; an exit status could be the program's own.
    "abort_on_error=1",
    # MACE itself handles allocations that fail.
    "allocator_may_return_null=1",
    # The search for leaks needs ptrace, which emulators and containers refuse.
    "detect_leaks=0",
)
# Bazel compiles in a folder with this name, so that the bytes are the same anywhere.
_COMPILED_IN = "/proc/self/cwd/"
_SUMMARY = re.compile(r"^SUMMARY: (AddressSanitizer: .*\S)\s*$", re.MULTILINE)


class BuildError(MaceError):
    """A program cannot be built."""


@dataclass(frozen=True)
class Variant:
    """How a program is built.

    Attributes:
        abi: for whom. Programs are linked statically: they need a Linux
            kernel and nothing else, however old the C library where they run.
            For Android that is so unless there is an NDK.
        debug: with symbols and without optimisation.
        address_sanitizer: with checks of every memory access. The sanitizer
            cannot be linked statically: such a program needs the C libraries
            of a system as new as the one that builds it.
        ndk: for Android, build with the NDK of ANDROID_NDK_HOME.
        gpu: with the GPU runtime. It loads the driver, which a program that is
            linked statically cannot.
        dsp: with the DSP runtime. It loads the FastRPC library of the system, likewise;
            a program that is linked statically can only use an emulated DSP.
        accelerators: with the adapters to these vendors' libraries, "apu" for one,
            which are loaded, too.
    """

    abi: Abi
    debug: bool = False
    address_sanitizer: bool = False
    ndk: bool = False
    gpu: bool = False
    dsp: bool = False
    accelerators: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the folder in which the program is kept."""
        return (
            self.abi.value
            + ("-ndk" if self.ndk else "")
            + ("-gpu" if self.gpu else "")
            + ("-dsp" if self.dsp else "")
            + "".join(f"-{name}" for name in self.accelerators)
            + ("-debug" if self.debug else "")
            + ("-asan" if self.address_sanitizer else "")
        )

    def flags(self) -> list[str]:
        """Bazel's.

        Raises:
            UnsupportedError: there is no such program.
        """
        if self.address_sanitizer and self.abi.is_android:
            raise UnsupportedError(
                f"--address_sanitizer: not for {self.abi.value}, where programs are "
                "linked statically or by an NDK; check on a board (arm64, armhf), "
                "on host, or emulated (--target_abis=arm64 --devices_to_run=qemu)"
            )
        loads = (["the GPU"] if self.gpu else []) + list(self.accelerators)
        if loads and self.abi.is_android and not self.ndk:
            raise UnsupportedError(
                f"{', '.join(loads)}: a program for {self.abi.value} that is built "
                "without an NDK is linked statically, and cannot load "
                + ("the OpenCL driver" if self.gpu else "the vendor's library")
                + f"; set {NDK_VARIABLE} to an Android NDK"
            )
        flags = [] if self.abi is Abi.HOST else [f"--config={self.abi.value}"]
        if self.ndk:
            flags = [f"--config={_NDK_CONFIGS[self.abi]}"]
        if not (self.abi.is_android or self.address_sanitizer or loads or self.dsp):
            flags.append("--config=static")
        if self.gpu:
            flags.append("--define=opencl=true")
        if self.dsp:
            flags.append("--define=hexagon=true")
        if self.accelerators:
            flags.append("--define=delegates=true")
            flags += [f"--define={name}=true" for name in self.accelerators]
        if self.debug:
            flags.append("--config=debug")
        if self.address_sanitizer:
            flags.append("--config=asan")
            if self.abi is not Abi.HOST:
                # In one folder ABIs would overwrite each other's programs.
                flags.append(f"--platform_suffix=-{self.abi.value}-asan")
        return flags


@dataclass(frozen=True)
class DspVariant:
    """How a program for the DSP itself, or for its emulator, is built.

    Attributes:
        version: of Hexagon. Newer DSPs execute programs for older ones.
    """

    version: int

    @property
    def name(self) -> str:
        """The name of the folder in which the program is kept."""
        return f"hexagon_v{self.version}"

    def flags(self) -> list[str]:
        """Bazel's."""
        return [f"--config={self.name}"]


def choose_variant(
    abi: Abi,
    debug: bool = False,
    address_sanitizer: bool = False,
    gpu: bool = False,
    dsp: bool = False,
    accelerators: tuple[str, ...] = (),
) -> Variant:
    """How a program for an ABI is built here; logs the choice if there is one.

    Raises:
        AndroidNdkError: ANDROID_NDK_HOME does not name an NDK that will do.
    """
    ndk = find_ndk() if abi.is_android else None
    if ndk is not None:
        _LOG.info("%s: built with the NDK %s (%s)", abi.value, ndk.revision, ndk.home)
    elif abi.is_android:
        _LOG.info(
            "%s: built as a static Linux program, which Android runs, too "
            "(%s is not set)",
            abi.value,
            NDK_VARIABLE,
        )
    return Variant(
        abi, debug, address_sanitizer, ndk is not None, gpu, dsp, accelerators
    )


def build_program(target: str, variant: Variant | DspVariant, copy: Path) -> Path:
    """Builds a target; returns a copy of the file that Bazel made.

    Bazel's own file is soon another one: whoever builds the target with other options,
    or operators, replaces it.

    Args:
        target: "//folder:name", or "//folder" for "//folder:folder", or
            "@repository//folder:name".
        copy: where; it appears when it is complete.

    Raises:
        MissingToolError: there is no Bazel.
        BuildError: the target is no label, or it cannot be built.
    """
    label = full_label(target)
    bazel = find_bazel(f"building {label}")
    flags = variant.flags()
    with one_build():
        path = _built(bazel, label, flags, variant.name)
        # The copy may be in use: it is replaced by a new file.
        with atomic_write(copy) as stream, path.open("rb") as source:
            shutil.copyfileobj(source, stream)
    copy.chmod(0o755)
    return copy


@contextlib.contextmanager
def one_build() -> Iterator[None]:
    """While nobody else of this checkout builds, until what was built is copied.

    `tools/build-standalone-lib.sh` holds the same lock.
    """
    with (_ROOT / _LOCK).open("rb") as held:
        # Not every file system has locks.
        with contextlib.suppress(OSError):
            fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _built(bazel: BazelCommand, label: str, flags: Sequence[str], name: str) -> Path:
    command = bazel.words("build", *flags, "--noshow_progress", "--color=no", label)
    if sys.stderr.isatty():
        from rich.console import Console

        status = f"building {label} for {name} (bazel)"
        with Console(stderr=True).status(status):
            built = _call(command)
    else:
        built = _call(command)
    if built.returncode != 0:
        tail = "\n".join(built.stderr.strip().splitlines()[-_LAST_LINES:])
        raise BuildError(f"{' '.join(command[1:])} failed:\n{tail}")
    info = _call(bazel.words("info", *flags, "--color=no", "bazel-bin"))
    if info.returncode != 0:
        raise BuildError(f"bazel info failed:\n{info.stderr.strip()}")
    path = Path(info.stdout.strip()) / _path_of(label)
    if not path.is_file():
        raise BuildError(f"{label} is no program: building it made no {path}")
    return path


def _path_of(label: str) -> Path:
    """Where Bazel puts the program of a label, below bazel-bin."""
    match = _LABEL.match(label)
    assert match is not None
    repository, folder, name = match.groups()
    return Path(f"external/{repository}" if repository else "", folder, name)


def full_label(target: str) -> str:
    """A label with its name: "//a/b" is "//a/b:b".

    Raises:
        BuildError: it is none, or one of several targets.
    """
    label = target.strip()
    if ":" not in label:
        label = f"{label}:{label.rsplit('/', 1)[-1]}"
    if not _LABEL.match(label) or "..." in label:
        raise BuildError(
            f"{target!r} is no label of a program; accepted: //folder:name, such as "
            "//mace/ops:ops_test"
        )
    return label


def _call(command: list[str]) -> subprocess.CompletedProcess[str]:
    return run_child(command, _ROOT, keep_output=True)


def sanitizer_environment() -> dict[str, str]:
    """Variables for a program built with the address sanitizer.

    What ASAN_OPTIONS holds here has the last word there.
    """
    words = [*_ASAN_OPTIONS, os.environ.get(_ASAN_VARIABLE, "")]
    return {_ASAN_VARIABLE: ":".join(word for word in words if word)}


def sanitizer_summary(text: str) -> str:
    """What the sanitizer found, in one line: kind, place and function.

    Args:
        text: all that a program printed.

    Returns:
        an empty text if it found nothing.
    """
    found = _SUMMARY.search(text)
    return found[1].replace(_COMPILED_IN, "") if found else ""
