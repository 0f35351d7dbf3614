#!/usr/bin/env python3
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Converts, runs, validates and benchmarks models: see ``-h``.

It finds a Python with the packages that the tools need (this one, or .venv of this
checkout) and calls mace/python/tools/cli. It uses no new syntax, so that an old Python
can report that it is too old.
"""

import _signal  # what `signal` is made of; that one takes long to import

# Nothing must be cleaned up yet, so Ctrl-C ends this immediately, without a traceback.
if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

import importlib.util
import os
import platform
import sys

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_VENV = os.environ.get("MACE_VENV") or os.path.join(_ROOT, ".venv")
_OLDEST = (3, 9)
# The packages every command but `doctor` imports, by module name.
_PACKAGES = (
    "filelock",
    "google.protobuf",
    "jinja2",
    "numpy",
    "onnx",
    "pydantic",
    "requests",
    "rich",
    "yaml",
)


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        # ImportError: the parent package (google) is missing.
        return False


def _missing() -> "list[str]":
    return [name for name in _PACKAGES if not _is_installed(name)]


def _enter_venv() -> None:
    """Starts again in .venv, unless this is it or it does not exist."""
    python = os.path.join(_VENV, "bin", "python")
    if os.path.realpath(sys.prefix) == os.path.realpath(_VENV):
        return
    if os.access(python, os.X_OK):
        arguments = [python, os.path.abspath(__file__)]
        os.execv(python, arguments + sys.argv[1:])


def main() -> int:
    too_old = sys.version_info < _OLDEST
    missing = [] if too_old else _missing()
    if too_old or missing:
        _enter_venv()
    needs_packages = sys.argv[1:2] not in (
        *([], ["-h"], ["--help"], ["--version"], ["doctor"]),
    )
    problem = ""
    if too_old:
        version = platform.python_version()
        problem = "Python " + version + " is too old, 3.9 or newer is needed"
    elif missing and needs_packages:
        problem = "these Python packages are missing: " + ", ".join(missing)
    if problem:
        sys.stderr.write("error: " + problem + "; run: bash tools/setup.sh\n")
        return 2
    sys.path.insert(0, _ROOT)
    from mace.python.tools.cli.main import main as cli_main

    return cli_main()


if __name__ == "__main__":
    sys.exit(main())
