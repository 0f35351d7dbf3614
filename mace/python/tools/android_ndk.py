# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks the Android NDK that ANDROID_NDK_HOME names.

`toolchains/android/ndk_repository.bzl` applies the same rules for direct calls of
Bazel.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from mace.python.tools.errors import MaceError

VARIABLE = "ANDROID_NDK_HOME"
REMEDY = (
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
    value = (os.environ if environment is None else environment).get(VARIABLE, "")
    if not value:
        return None
    home = Path(value)
    if not home.is_dir():
        raise AndroidNdkError(f"{VARIABLE}={value}: no such folder; {REMEDY}")
    try:
        text = (home / "source.properties").read_text(errors="replace")
    except OSError:
        raise AndroidNdkError(
            f"{VARIABLE}={value} holds no NDK (no source.properties there); {REMEDY}"
        ) from None
    found = _REVISION.search(text)
    if found is None:
        raise AndroidNdkError(
            f"{VARIABLE}={value}: its source.properties names no Pkg.Revision; {REMEDY}"
        )
    if int(found[2]) < _OLDEST:
        raise AndroidNdkError(
            f"{VARIABLE}={value} is NDK r{found[2]}, which is too old; {REMEDY}"
        )
    folder = _prebuilt(home)
    if not (folder / _HOST / "bin" / "clang").exists():
        hosts = sorted(entry.name for entry in folder.glob("*"))
        raise AndroidNdkError(
            f"{VARIABLE}={value} is an NDK for {', '.join(hosts) or 'no computer'}, "
            f"not for {_HOST}; {REMEDY}"
        )
    return AndroidNdk(home, found[1])


def _prebuilt(home: Path) -> Path:
    return home / "toolchains" / "llvm" / "prebuilt"
