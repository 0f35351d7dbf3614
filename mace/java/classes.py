# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles com.xiaomi.mace as Android takes it: class files and API of Java 8."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Sequence

_SOURCES = Path(__file__).resolve().parent / "com" / "xiaomi" / "mace"


class JavaError(Exception):
    """There is no compiler, or it refused the sources."""


def require_javac() -> str:
    """The compiler: of JAVA_HOME if that is set, else the one on PATH.

    Raises:
        JavaError: there is none.
    """
    home = os.environ.get("JAVA_HOME")
    javac = str(Path(home) / "bin" / "javac") if home else "javac"
    if shutil.which(javac) is None:
        raise JavaError(
            f"no {javac} here; run 'bash tools/setup.sh --for java', or set JAVA_HOME"
            " to a JDK of version 9 or newer that compiles for Java 8"
        )
    return javac


def compile_sources(
    sources: Sequence[Path], folder: Path, class_path: Sequence[Path] = ()
) -> None:
    """Compiles sources into a folder.

    Raises:
        JavaError: says what is wrong.
    """
    command = [require_javac(), "--release", "8", "-encoding", "UTF-8"]
    # Newer compilers warn of Java 8 itself.
    command += ["-g:source,lines", "-Xlint:all,-options", "-Werror", "-d", str(folder)]
    if class_path:
        command += ["-cp", ":".join(map(str, class_path))]
    ran = subprocess.run(
        [*command, *map(str, sources)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        raise JavaError(f"javac failed:\n{ran.stderr.strip()}")


def compile_classes(folder: Path) -> None:
    """Compiles the package into a folder.

    Raises:
        JavaError: says what is wrong.
    """
    compile_sources(sorted(_SOURCES.glob("*.java")), folder)
