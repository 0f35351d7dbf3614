# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""PoCL, as tests have it: the OpenCL driver that runs the GPU's code on processors.

Half of the time that PoCL takes to compile a kernel goes into its header of OpenCL's
own functions, 14,000 declarations that it reads twice. Tests compile about 1,500
programs, so they have a copy of the driver, whose header declares only the functions
that are named somewhere in our kernels. What else there is in the header, the code of
the functions and the compiler stay PoCL's.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pwd
import re
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Set

ROOT = Path(__file__).resolve().parents[2]
# What is made once for all checkouts: the copies, and the kernels that each compiled.
FOLDER = Path(pwd.getpwuid(os.getuid()).pw_dir) / ".cache" / "mace-pocl"
# A copy that nobody has used for so long is removed with its kernels.
_KEPT_S = 30 * 24 * 3600.0
# What pocl-opencl-icd installs: the path of the driver.
_REGISTERED = Path("/etc/OpenCL/vendors/pocl.icd")
# Of the driver, from the folder that its own folder is in.
_DATA = Path("share/pocl")
_HEADER = Path("include/opencl-c.h")
# Where kernels are, and programs that tests make up.
_KERNEL_FOLDERS = ("mace/kernels/opencl", "mace/ops", "mace/runtimes/opencl", "test")
_KERNEL_FILES = re.compile(r"\.clh?$|opencl.*\.(?:cc|h|py)$")
_WORD = re.compile(r"[A-Za-z_]\w*")
# "float __ovld __cnfn acos(float);", which may go on to the next lines.
_DECLARATION = re.compile(r"^[\w\s*]*\b__ovld\b[\w\s*]*?\b(\w+)\(")
# Kernels name these by macros that put a name together.
_PASTED = re.compile(r"convert_(?:float|half|int|uint)\d*")


def _words(root: Path) -> Set[str]:
    """Everything that kernels, or the sources that make them, name."""
    words: Set[str] = set()
    for folder in _KERNEL_FOLDERS:
        for path in sorted((root / folder).rglob("*.*")):
            if _KERNEL_FILES.search(path.relative_to(root).as_posix()):
                words.update(_WORD.findall(path.read_text(encoding="utf-8")))
    return words


def _statements(text: str) -> Iterator[str]:
    """Lines of a header, those of one declaration together."""
    declaration: List[str] = []
    for line in text.splitlines():
        if declaration or _DECLARATION.match(line):
            declaration.append(line)
            if not line.rstrip().endswith(";"):
                continue
            line = "\n".join(declaration)
            declaration = []
        yield line
    yield from declaration


def shortened(header: str, words: Set[str]) -> str:
    """A header without the declarations of functions that nobody names.

    Args:
        header: the text of PoCL's opencl-c.h.
        words: the names that are left.
    """
    kept = []
    for statement in _statements(header):
        match = _DECLARATION.match(statement)
        name = match.group(1) if match else ""
        if not name or name in words or _PASTED.fullmatch(name):
            kept.append(statement)
    return "\n".join(kept) + "\n"


def _make(folder: Path, driver: Path, header: str) -> None:
    """The copy of the driver: folder/lib/NAME/ and folder/share/pocl as in /usr."""
    installed = driver.parents[2] / _DATA
    libraries = folder / "lib" / driver.parent.name
    libraries.mkdir(parents=True)
    # It finds its data from where it is itself: no link.
    shutil.copy(driver, libraries)
    devices = driver.parent / "pocl"
    if devices.is_dir():
        shutil.copytree(devices, libraries / "pocl")
    for path in installed.rglob("*"):
        ours = folder / _DATA / path.relative_to(installed)
        ours.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_dir():
            ours.symlink_to(path)
    (folder / _DATA / _HEADER).unlink()
    (folder / _DATA / _HEADER).write_text(header, encoding="utf-8")


@dataclass(frozen=True)
class _Copy:
    """A copy of the driver, made or not.

    Attributes:
        folder: of it, named by what it consists of.
        driver: the library of PoCL.
        header: the text of its header.
    """

    folder: Path
    driver: Path
    header: str

    @property
    def icd(self) -> Path:
        """The file that names the library of the copy, for OpenCL's loader."""
        return self.folder / "pocl.icd"

    @property
    def kernels(self) -> Path:
        """Where PoCL keeps what it compiled with this header."""
        return self.folder / "kernels"


@functools.cache
def _copy() -> Optional[_Copy]:
    """The copy to make; None without PoCL, or if its header is elsewhere."""
    try:
        driver = Path(_REGISTERED.read_text(encoding="utf-8").strip())
        if not driver.is_absolute():
            # A name for the loader. Where Debian's are, which have headers in /usr.
            driver = next(Path("/usr/lib").glob(f"*/{driver}"))
        driver = driver.resolve(strict=True)
        header = (driver.parents[2] / _DATA / _HEADER).read_text(encoding="utf-8")
        state = driver.stat()
    except (OSError, StopIteration):
        return None
    short = shortened(header, _words(ROOT))
    key = f"{driver} {state.st_mtime_ns} {state.st_size} {short}"
    name = hashlib.sha256(key.encode()).hexdigest()[:16]
    return _Copy(FOLDER / name, driver, short)


def make_driver() -> None:
    """Makes the copy of the driver that `variables` names, unless it is there."""
    copy = _copy()
    FOLDER.mkdir(parents=True, exist_ok=True)
    if copy is None:
        return
    if copy.icd.exists():
        os.utime(copy.folder)
        return
    _remove_old()
    # Several processes may come here at one time; one of them is first.
    with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
        made = Path(scratch) / "made"
        _make(made, copy.driver, copy.header)
        library = copy.folder / "lib" / copy.driver.parent.name / copy.driver.name
        (made / copy.icd.name).write_text(f"{library}\n", encoding="utf-8")
        try:
            made.rename(copy.folder)
        except OSError:
            if not copy.icd.exists():
                raise


def _remove_old() -> None:
    for path in FOLDER.iterdir():
        # Another process may be here, too.
        with contextlib.suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > _KEPT_S:
                shutil.rmtree(path, ignore_errors=True)


def variables() -> Dict[str, str]:
    """Of the environment in which tests run the GPU's code: name -> value.

    Tests share what PoCL keeps of kernels that it has compiled. The values are alike in
    all checkouts, so that Bazel knows a test that ran in another one.
    """
    # Whoever names another driver tests that one.
    copy = None if "OCL_ICD_VENDORS" in os.environ else _copy()
    settings = {
        "POCL_CACHE_DIR": str(copy.kernels if copy else FOLDER / "installed"),
        # Kernels of tests are compiled often, and compute little.
        "POCL_EXTRA_BUILD_FLAGS": "-cl-opt-disable",
        # PoCL takes up to 0.1 s to compile a kernel, at its first run: once, and not
        # for each local size and range of sizes.
        "POCL_WORK_GROUP_SPECIALIZATION": "0",
    }
    if copy is not None:
        settings["OCL_ICD_VENDORS"] = str(copy.icd)
    return settings
