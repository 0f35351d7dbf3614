# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Where this copy of MACE is: a checkout, or a package that pip installed.

An installed package has the native library and `mace_run` of one platform, and nothing
that builds others. Imports only the standard library.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Optional

# The folder `mace`.
PACKAGE = Path(__file__).resolve().parents[1]

# The checkout that `mace` is the folder of; None: it is installed.
CHECKOUT: Optional[Path] = (
    PACKAGE.parent if (PACKAGE.parent / "WORKSPACE").is_file() else None
)

# What an installed package has from tools/build-wheel.sh.
PACKAGED_LIBRARY = PACKAGE / "lib" / "libmace.so"
PACKAGED_PROGRAM = PACKAGE / "bin" / "mace_run"

CACHE_VARIABLE = "MACE_CACHE"
DEFAULT_CACHE = Path("~/.cache/mace")

_VERSION = re.compile(r'^MACE_VERSION = "([^"]+)"', re.MULTILINE)
# What decides what a conversion writes.
_CONVERTER = ("python/tools", "ops", "proto")
_SUFFIXES = (".py", ".yaml", ".proto")


def _version() -> str:
    found = _VERSION.search((PACKAGE / "version.bzl").read_text(encoding="utf-8"))
    assert found is not None, "version.bzl has no MACE_VERSION"
    return found[1]


VERSION = _version()


def cache_dir() -> Path:
    """The folder of all that may be deleted: ``$MACE_CACHE`` or ``~/.cache/mace``."""
    return Path(os.environ.get(CACHE_VARIABLE) or DEFAULT_CACHE).expanduser()


def command(name: str) -> str:
    """A command of the converter in messages, ``converter.py run``."""
    return f"mace {name}" if CHECKOUT is None else f"converter.py {name}"


def typed(name: str) -> str:
    """As a user types it, in the root of a checkout or anywhere."""
    return f"mace {name}" if CHECKOUT is None else f"python tools/converter.py {name}"


def install(extra: str = "") -> str:
    """The command that installs the Python packages of a task.

    Args:
        extra: the task of `setup/tasks.txt`, and the extra of the Python package;
            empty: those that all need.
    """
    if CHECKOUT is None:
        # The version that is there stays, and gets what the extra names.
        return f"pip install 'mace[{extra}]'" if extra else "install MACE's wheel again"
    if not extra:
        return "bash tools/setup.sh"
    return f"bash tools/setup.sh --for {extra}, or pip install '.[{extra}]'"


def deployment_keys() -> str:
    """Where all keys of deployment files are explained."""
    if CHECKOUT is None:
        return "python -m mace.python.tools.config.reference"
    return "docs/user/deployment_file.md"


def converter_state() -> str:
    """Changes with the version and, where people work on it, with the converter."""
    return f"{VERSION} {converter_changed_ns()}"


def converter_changed_ns() -> int:
    """When a file that decides what a conversion writes last changed, in nanoseconds
    as `os.stat` tells them.
    """
    newest = 0
    for folder in _CONVERTER:
        for parent, _, files in os.walk(PACKAGE / folder):
            for name in files:
                if name.endswith(_SUFFIXES):
                    path = os.path.join(parent, name)
                    newest = max(newest, os.stat(path).st_mtime_ns)
    return newest
