# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Builds busybox from the distribution's source package.

For distributions that have no packages for ARM where those of this computer are,
as Ubuntu. The source package is the same for all architectures.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import List

_TRIPLES = {
    "amd64": "x86_64-linux-gnu",
    "arm64": "aarch64-linux-gnu",
    "armhf": "arm-linux-gnueabihf",
}
# A minute and a half on two cores.
_TIME_LIMIT_S = 900
# In addition to make's defaults. TC needs older kernel headers, and hashing with x86
# instructions works only on x86; a compressed help text needs more programs.
_CHOICES = {
    "STATIC": "y",
    "TC": "n",
    "SHA1_HWACCEL": "n",
    "SHA256_HWACCEL": "n",
    "FEATURE_COMPRESS_USAGE": "n",
}
_BUILT_BY = "clang-19"
# One source of apt, in the old form of one line and in the new one of fields.
_LINE = re.compile(r"^deb(?=\s)", re.MULTILINE)
_FIELD = re.compile(r"^Types:.*$", re.MULTILINE)


def missing_programs(architecture: str) -> List[str]:
    """The programs that a build needs and this computer lacks."""
    programs = ["make", _BUILT_BY, f"{_TRIPLES[architecture]}-gcc"]
    return [name for name in programs if not shutil.which(name)]


def write_sources(folder: Path, system: Path = Path("/etc/apt")) -> List[str]:
    """Copies apt's sources as sources of source packages; options to use them."""
    parts = folder / "sources"
    parts.mkdir()
    for file in _source_files(system):
        text = file.read_text(encoding="utf-8", errors="replace")
        if file.suffix == ".sources":
            text = _FIELD.sub("Types: deb-src", text)
        else:
            text = _LINE.sub("deb-src", text)
        name = "main.list" if file.parent == system else file.name
        (parts / name).write_text(text, encoding="utf-8")
    return [
        f"--option=Dir::Etc::sourceparts={parts}",
        "--option=Dir::Etc::sourcelist=/dev/null",
    ]


def _source_files(system: Path) -> Iterator[Path]:
    if (system / "sources.list").is_file():
        yield system / "sources.list"
    folder = system / "sources.list.d"
    yield from sorted([*folder.glob("*.list"), *folder.glob("*.sources")])


def build(sources: Path, architecture: str) -> Path:
    """Builds the source package in a folder; the program.

    Raises:
        RuntimeError: it does not build; the text says how it ended.
    """
    archives = sorted(sources.glob("busybox_*.orig.tar.*"))
    if not archives:
        raise RuntimeError("the source package holds no source")
    with tarfile.open(archives[0]) as archive:
        # The distribution's own archive, into a folder of ours.
        archive.extractall(sources)
    tree = next(path for path in sorted(sources.glob("busybox-*")) if path.is_dir())
    compilers = [f"CROSS_COMPILE={_TRIPLES[architecture]}-", f"HOSTCC={_BUILT_BY}"]
    _make(tree, [*compilers, "defconfig"])
    config = tree / ".config"
    text = config.read_text(encoding="utf-8")
    for name, value in _CHOICES.items():
        line = re.compile(f"^(# )?CONFIG_{name}[ =].*$", re.MULTILINE)
        text = line.sub(f"CONFIG_{name}={value}", text)
    config.write_text(text, encoding="utf-8")
    jobs = f"--jobs={os.cpu_count() or 1}"
    _make(tree, [*compilers, jobs, "busybox"])
    return tree / "busybox"


def _make(tree: Path, arguments: List[str]) -> None:
    log = tree / "make.log"
    with log.open("wb") as stream:
        try:
            status = subprocess.run(
                ["make", *arguments],
                cwd=tree,
                # Answers questions that defconfig leaves open with their defaults.
                input=b"\n" * 1000,
                stdout=stream,
                stderr=stream,
                timeout=_TIME_LIMIT_S,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired as error:
            raise RuntimeError(f"it took more than {_TIME_LIMIT_S} s") from error
    if status:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        errors = [line for line in lines if "rror" in line] or lines
        raise RuntimeError("; ".join(errors[:2]) or f"make ended with {status}")
