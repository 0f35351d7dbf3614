# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The program `mace_run`: an existing build, or a new one."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock

from mace.python.installation import CHECKOUT, PACKAGE, PACKAGED_PROGRAM
from mace.python.tools.atomic import OutputError, atomic_write
from mace.python.tools.bazel import DspVariant, Variant, build_program, choose_variant
from mace.python.tools.build_tools import find_ndk
from mace.python.tools.config.deployment import Deployment
from mace.python.tools.config.vocabulary import Abi, ModelFormat
from mace.python.tools.custom_ops import custom_folders, rooms_in
from mace.python.tools.errors import MissingToolError, UnsupportedError
from mace.python.tools.export.places import bazel_package, linked_package
from mace.python.tools.run.options import RunOptions

_LOG = logging.getLogger(__name__)

_ROOT = PACKAGE.parent
_TARGET = "//mace/tools:mace_run"

# The sources of the program; other folders do not change it.
_SOURCE_FOLDERS = (
    "core",
    "embedding",
    "kernels",
    "ops",
    "proto",
    "public",
    "runtimes",
    "tools",
)
_SOURCE_SUFFIXES = {
    ".cc",
    ".cl",
    ".clh",
    ".h",
    ".bzl",
    ".bazel",
    ".proto",
    ".yaml",
    ".S",
}


def find_program(
    abi: Abi,
    options: RunOptions,
    deployment: Deployment | None = None,
    gpu: bool = False,
    dsp: bool = False,
    accelerators: tuple[str, ...] = (),
) -> Path:
    """The path of `mace_run` for an ABI, built if it is missing or outdated.

    Args:
        deployment: whose models are part of the program, if they are code.
        gpu: with the GPU runtime.
        dsp: with the DSP runtime.
        accelerators: with the adapters to these vendors' libraries.

    Raises:
        UnsupportedError: there is no such program.
        MissingToolError: it must be built and there is no Bazel.
        BuildError: building it failed.
    """
    variant = choose_variant(
        abi,
        options.debug_mode,
        options.address_sanitizer,
        gpu,
        dsp,
        accelerators,
    )
    if CHECKOUT is None:
        return _packaged(variant, deployment)
    target, folder, newest = _TARGET, options.build_dir, _newest_source()
    folder /= _of_custom_ops()
    if deployment and deployment.model_graph_format is ModelFormat.CODE:
        package = linked_package(deployment, options.build_dir)
        place = bazel_package(deployment.library_name)
        target = f"//{place.relative_to(_ROOT).as_posix()}:mace_run"
        folder /= deployment.library_name
        newest = max([newest, *(p.stat().st_mtime for p in package.iterdir())])
        path, made_by = _place(folder, variant), _compiler(variant)
        if _is_current(path, newest, made_by):
            return path
        with _in_source_tree(package, place):
            return _current(path, target, variant, newest, made_by)
    path = _place(folder, variant)
    return _current(path, target, variant, newest, _compiler(variant))


@contextlib.contextmanager
def _in_source_tree(package: Path, place: Path) -> Iterator[None]:
    """Puts a folder where Bazel finds it; other processes of that name wait.

    Raises:
        OutputError: the source tree cannot be written.
    """
    try:
        place.mkdir(parents=True, exist_ok=True)
        lock = FileLock(place.with_name(f".{place.name}.lock"))
        lock.acquire()
    except OSError as error:
        raise OutputError(place, error) from error
    try:
        try:
            _mirror(package, place)
        except OSError as error:
            raise OutputError(place, error) from error
        yield
    finally:
        lock.release()


def _mirror(package: Path, place: Path) -> None:
    """Gives a folder the files of another one, by links where that is possible."""
    names = {path.name for path in package.iterdir() if not path.name.startswith(".")}
    for path in place.iterdir():
        if path.name not in names:
            path.unlink()
    for name in names:
        made = place / f".{name}.new"
        made.unlink(missing_ok=True)
        try:
            os.link(package / name, made)
        except OSError:
            # Another file system.
            shutil.copy2(package / name, made)
        os.replace(made, place / name)


def find_dsp_program(target: str, version: int, options: RunOptions) -> Path:
    """The path of a program or library for a DSP, built if it is missing or outdated.

    Args:
        target: its label.
        version: of Hexagon.

    Raises:
        UnsupportedError: there is no such program.
        MissingToolError: it must be built and there is no Bazel.
        BuildError: building it failed.
    """
    if CHECKOUT is None:
        raise UnsupportedError(
            "runtime: dsp: the DSP's code is built in a checkout of MACE, which the "
            "installed package does not have"
        )
    variant = DspVariant(version)
    path = options.build_dir / "bin" / variant.name / target.rpartition(":")[2]
    return _current(path, target, variant, _newest_source(), "")


def _current(
    path: Path,
    target: str,
    variant: Variant | DspVariant,
    newest: float,
    made_by: str,
) -> Path:
    if _is_current(path, newest, made_by):
        return path
    _LOG.info("building %s for %s", path.name, variant.name)
    try:
        build_program(target, variant, path)
    except MissingToolError:
        if not path.is_file():
            raise
        _LOG.warning(
            "%s is older than its sources, or another NDK's, and there is no bazel "
            "to build it again; using it as it is",
            path,
        )
        return path
    if made_by:
        with atomic_write(_stamp(path), "w") as stream:
            stream.write(made_by)
    return path


def has_program(abi: Abi, options: RunOptions) -> bool:
    """Whether `find_program` need not build `mace_run` for an ABI."""
    variant = choose_variant(abi, options.debug_mode, options.address_sanitizer)
    if CHECKOUT is None:
        return variant == Variant(Abi.HOST) and not custom_folders()
    path = _place(options.build_dir / _of_custom_ops(), variant)
    return _is_current(path, _newest_source(), _compiler(variant))


def _packaged(variant: Variant, deployment: Deployment | None) -> Path:
    """The program of an installed package, which has one and builds none.

    Raises:
        UnsupportedError: another one is asked for.
    """
    wrong = ""
    if variant.gpu:
        wrong = "for the GPU (in Python, mace.load runs models on it)"
    elif variant.dsp:
        wrong = "for the DSP"
    elif variant.accelerators:
        wrong = f"for {' and '.join(variant.accelerators)}"
    elif variant != Variant(Abi.HOST):
        wrong = f"for {variant.name}"
    elif custom_folders():
        wrong = "with operators of your own"
    elif deployment and deployment.model_graph_format is ModelFormat.CODE:
        wrong = "with models as code"
    if wrong:
        raise UnsupportedError(
            f"mace_run {wrong} is built in a checkout of MACE; the installed package "
            "has it for the CPU of this computer"
        )
    return PACKAGED_PROGRAM


def _place(folder: Path, variant: Variant) -> Path:
    return folder / "bin" / variant.name / "mace_run"


def _of_custom_ops() -> Path:
    """A folder of its own for the program with these operators of the user's own."""
    folders = ":".join(map(str, custom_folders()))
    if not folders:
        return Path()
    return Path(f"custom_ops-{hashlib.sha256(folders.encode()).hexdigest()[:8]}")


def _compiler(variant: Variant) -> str:
    """The variable part of a build besides the sources; empty if there is no choice."""
    ndk = find_ndk() if variant.ndk else None
    return "" if ndk is None else f"{ndk.home.resolve()} {ndk.revision}\n"


def _is_current(path: Path, newest: float, made_by: str) -> bool:
    if not path.is_file() or path.stat().st_mtime < newest:
        return False
    stamp = _stamp(path)
    return not made_by or (stamp.is_file() and stamp.read_text() == made_by)


def _stamp(path: Path) -> Path:
    """The file that says which NDK built the program: the NDK's files may be older."""
    return path.with_name(f"{path.name}.ndk")


def _newest_source() -> float:
    newest = 0.0
    folders = [_ROOT / "mace" / name for name in _SOURCE_FOLDERS]
    folders += [room for folder in custom_folders() for room in rooms_in(folder)]
    for folder in folders:
        for parent, _, files in os.walk(folder):
            for name in files:
                if os.path.splitext(name)[1] in _SOURCE_SUFFIXES:
                    newest = max(newest, os.stat(os.path.join(parent, name)).st_mtime)
    # A room that was removed.
    return max([newest, *(folder.stat().st_mtime for folder in custom_folders())])
