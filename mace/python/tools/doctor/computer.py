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
from typing import Any, Dict, Optional, Tuple

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
