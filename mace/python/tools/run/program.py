# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The program `mace_run`: the one that was built, or one built now."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

from mace.python.tools.atomic import atomic_write
from mace.python.tools.cli.options import RunOptions
from mace.python.tools.config.deployment import Abi
from mace.python.tools.errors import MaceError, MissingToolError, UnsupportedError

_LOG = logging.getLogger(__name__)

_ROOT = Path(__file__).resolve().parents[4]
_TARGET = "//mace/tools:mace_run"

# What the program is made of; the rest of the tree does not change it.
_SOURCE_FOLDERS = ("core", "kernels", "ops", "proto", "public", "runtimes", "tools")
_SOURCE_SUFFIXES = {".cc", ".h", ".bzl", ".bazel", ".proto", ".yaml"}

_LAST_LINES = 15


class BuildError(MaceError):
    """The program cannot be built."""


def find_program(abi: Abi, options: RunOptions) -> Path:
    """The path of `mace_run` for an ABI, built if it is missing or outdated.

    Raises:
        MissingToolError: it must be built and there is no Bazel.
        BuildError: building it failed.
    """
    if options.mace_lib_type == "dynamic":
        raise UnsupportedError(
            "--mace_lib_type=dynamic: mace_run contains the library here; "
            "leave the flag out or give static"
        )
    path = options.build_dir / "bin" / _folder(abi, options) / "mace_run"
    if path.is_file() and path.stat().st_mtime >= _newest_source():
        return path
    bazel = shutil.which("bazel") or shutil.which("bazelisk")
    if bazel is None:
        if path.is_file():
            _LOG.warning(
                "%s is older than its sources, and there is no bazel to build it "
                "again; using it as it is",
                path,
            )
            return path
        raise MissingToolError(
            "bazel", f"building {path}", "bash tools/setup.sh --for build"
        )
    _build(bazel, abi, options, path)
    return path


def _folder(abi: Abi, options: RunOptions) -> str:
    name = abi.value
    if options.debug_mode:
        name += "-debug"
    if options.address_sanitizer:
        name += "-asan"
    return name


def _flags(abi: Abi, options: RunOptions) -> list[str]:
    flags = [] if abi is Abi.HOST else [f"--config={abi.value}"]
    if options.debug_mode:
        flags.append("--config=debug")
    if options.address_sanitizer:
        flags.append("--config=asan")
    return flags


def _newest_source() -> float:
    newest = 0.0
    for folder in _SOURCE_FOLDERS:
        for parent, _, files in os.walk(_ROOT / "mace" / folder):
            for name in files:
                if os.path.splitext(name)[1] in _SOURCE_SUFFIXES:
                    newest = max(newest, os.stat(os.path.join(parent, name)).st_mtime)
    return newest


def _build(bazel: str, abi: Abi, options: RunOptions, path: Path) -> None:
    flags = _flags(abi, options)
    _LOG.info("building mace_run for %s", path.parent.name)
    command = [bazel, "build", *flags, "--noshow_progress", "--color=no", _TARGET]
    if sys.stderr.isatty():
        from rich.console import Console

        with Console(stderr=True).status("building mace_run (bazel)"):
            built = _bazel(command)
    else:
        built = _bazel(command)
    if built.returncode != 0:
        tail = "\n".join(built.stderr.strip().splitlines()[-_LAST_LINES:])
        raise BuildError(f"building mace_run failed ({' '.join(command[1:])}):\n{tail}")
    info = _bazel([bazel, "info", *flags, "--color=no", "bazel-bin"])
    if info.returncode != 0:
        raise BuildError(f"bazel info failed:\n{info.stderr.strip()}")
    source = Path(info.stdout.strip()) / "mace" / "tools" / "mace_run"
    # The target may be in use: a new file takes its place.
    with atomic_write(path) as stream, open(source, "rb") as binary:
        shutil.copyfileobj(binary, stream)
    path.chmod(0o755)


def _bazel(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=_ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
