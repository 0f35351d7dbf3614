# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The Bazel and the Android NDK that the user selected.

Three environment variables say which Bazel (`tools/run_bazel.sh` reads the same):

    BAZEL                the program, a name or a path; "bazel" by default
    BAZEL_STARTUP_FLAGS  flags before the command, split at spaces
    BAZEL_FLAGS          flags after it

ANDROID_NDK_HOME names the NDK. `toolchains/android/ndk_repository.bzl` applies the same
rules for direct calls of Bazel.

Imports only the standard library, because the doctor uses it.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import List, Optional, Tuple

from mace.python.installation import CHECKOUT
from mace.python.tools.errors import MaceError, MissingToolError, UnsupportedError


@dataclass(frozen=True)
class BazelCommand:
    """A Bazel and the flags of every call.

    Attributes:
        program: name or path.
        startup: flags before the command.
        flags: flags after it.
    """

    program: str
    startup: Tuple[str, ...] = ()
    flags: Tuple[str, ...] = ()

    def words(self, command: str, *arguments: str) -> List[str]:
        """A command line: ``words("build", "//mace/...")``."""
        return [self.program, *self.startup, command, *self.flags, *arguments]


def bazel_command(environment: Optional[Mapping[str, str]] = None) -> BazelCommand:
    """The Bazel to call, whether or not it exists.

    Args:
        environment: instead of this process's.
    """
    variables = os.environ if environment is None else environment

    def flags(name: str) -> Tuple[str, ...]:
        return tuple(variables.get(name, "").split())

    return BazelCommand(
        variables.get("BAZEL") or "bazel",
        flags("BAZEL_STARTUP_FLAGS"),
        flags("BAZEL_FLAGS"),
    )


def needs_checkout(what: str) -> None:
    """Raises UnsupportedError in an installed package, which builds nothing."""
    if CHECKOUT is None:
        raise UnsupportedError(
            f"{what} needs a checkout of MACE and Bazel; the installed package has "
            "libmace and mace_run for the CPU of this computer alone"
        )


def find_bazel(needed_for: str) -> BazelCommand:
    """The Bazel to call, which must exist.

    Raises:
        MissingToolError: it is not there.
        UnsupportedError: this is no checkout.
    """
    needs_checkout(needed_for)
    bazel = bazel_command()
    if shutil.which(bazel.program) is None:
        chosen = bazel.program
        if os.environ.get("BAZEL"):
            chosen += " (the environment variable BAZEL)"
        raise MissingToolError(chosen, needed_for, "bash tools/setup.sh --for build")
    return bazel


NDK_VARIABLE = "ANDROID_NDK_HOME"
NDK_REMEDY = (
    "unpack an Android NDK (r21 to r27, for Linux) and export "
    "ANDROID_NDK_HOME=<its folder>"
)

_OLDEST = 21
_HOST = "linux-x86_64"
_REVISION = re.compile(r"^\s*Pkg\.Revision\s*=\s*((\d+)\S*)", re.MULTILINE)


class AndroidNdkError(MaceError):
    """MACE cannot be built with the NDK that ANDROID_NDK_HOME names."""


@dataclass(frozen=True)
class AndroidNdk:
    """An unpacked NDK.

    Attributes:
        revision: "25.2.9519653".
    """

    home: Path
    revision: str

    @property
    def prebuilt(self) -> Path:
        """The folder of the compiler."""
        return _prebuilt(self.home) / _HOST


def find_ndk(environment: Optional[Mapping[str, str]] = None) -> Optional[AndroidNdk]:
    """The NDK to build with; None if ANDROID_NDK_HOME is not set.

    Args:
        environment: used instead of this process's environment.

    Raises:
        AndroidNdkError: it names an NDK that cannot be used.
    """
    value = (os.environ if environment is None else environment).get(NDK_VARIABLE, "")
    if not value:
        return None
    home, named = Path(value), f"{NDK_VARIABLE}={value}"
    if not home.is_dir():
        raise AndroidNdkError(f"{named}: no such folder; {NDK_REMEDY}")
    try:
        text = (home / "source.properties").read_text(errors="replace")
    except OSError:
        raise AndroidNdkError(
            f"{named} holds no NDK (no source.properties there); {NDK_REMEDY}"
        ) from None
    found = _REVISION.search(text)
    if found is None:
        raise AndroidNdkError(
            f"{named}: its source.properties names no Pkg.Revision; {NDK_REMEDY}"
        )
    if int(found[2]) < _OLDEST:
        raise AndroidNdkError(
            f"{named} is NDK r{found[2]}, which is too old; {NDK_REMEDY}"
        )
    folder = _prebuilt(home)
    if not (folder / _HOST / "bin" / "clang").exists():
        hosts = sorted(entry.name for entry in folder.glob("*"))
        raise AndroidNdkError(
            f"{named} is an NDK for {', '.join(hosts) or 'no computer'}, "
            f"not for {_HOST}; {NDK_REMEDY}"
        )
    return AndroidNdk(home, found[1])


def _prebuilt(home: Path) -> Path:
    return home / "toolchains" / "llvm" / "prebuilt"
