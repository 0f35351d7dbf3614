# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import io
import shutil
import tarfile
from pathlib import Path

import pytest

from test.device_farm import busybox, busybox_source
from test.device_farm.errors import FarmError

# What busybox's own does, as far as it matters here.
_MAKEFILE = """\
defconfig:
\t@printf 'CONFIG_ASH=y\\n# CONFIG_STATIC is not set\\nCONFIG_TC=y\\n' >.config
busybox:
\t@cat .config >$@
\t@echo '$(CROSS_COMPILE)' >>$@
"""
_OLD = """\
# deb nowhere
deb [arch=amd64] http://old.example/debian bookworm main
deb-src http://old.example/debian bookworm main
"""
_NEW = """\
Types: deb
URIs: http://new.example/ubuntu
Suites: noble
Components: main universe
"""


def test_sources_become_those_of_source_packages(tmp_path: Path) -> None:
    system, folder = tmp_path / "system", tmp_path / "folder"
    (system / "sources.list.d").mkdir(parents=True)
    folder.mkdir()
    (system / "sources.list").write_text(_OLD)
    (system / "sources.list.d" / "ubuntu.sources").write_text(_NEW)
    (system / "sources.list.d" / "note.txt").write_text("deb no")
    options = busybox_source.write_sources(folder, system)
    written = {file.name: file.read_text() for file in (folder / "sources").iterdir()}
    assert written == {
        "main.list": _OLD.replace("deb [", "deb-src ["),
        "ubuntu.sources": _NEW.replace("Types: deb", "Types: deb-src"),
    }
    assert options == [
        f"--option=Dir::Etc::sourceparts={folder}/sources",
        "--option=Dir::Etc::sourcelist=/dev/null",
    ]


def write_source(folder: Path, makefile: str) -> None:
    text = makefile.encode()
    with tarfile.open(folder / "busybox_1.0.orig.tar.bz2", "w:bz2") as archive:
        member = tarfile.TarInfo("busybox-1.0/Makefile")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))


@pytest.mark.parametrize(
    ("architecture", "compiler"),
    [("arm64", "aarch64-linux-gnu-"), ("armhf", "arm-linux-gnueabihf-")],
)
def test_it_is_configured_and_built(
    tmp_path: Path, architecture: str, compiler: str
) -> None:
    write_source(tmp_path, _MAKEFILE)
    built = busybox_source.build(tmp_path, architecture)
    assert built.read_text().splitlines() == [
        "CONFIG_ASH=y",
        "CONFIG_STATIC=y",
        "CONFIG_TC=n",
        compiler,
    ]


def test_a_failing_build_says_why(tmp_path: Path) -> None:
    write_source(tmp_path, "defconfig:\n\t@echo 'error: no header' && exit 1\n")
    with pytest.raises(RuntimeError, match="error: no header"):
        busybox_source.build(tmp_path, "arm64")


def test_no_source(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="holds no source"):
        busybox_source.build(tmp_path, "arm64")


def no_package(arguments: object, folder: Path) -> str:
    del arguments, folder
    return "E: Unable to locate package busybox-static"


def test_all_that_lacks_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(busybox, "_apt", no_package)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    wanted = r"cannot be had: E: Unable to locate.*nor its source.*_ARM64 to a static"
    with pytest.raises(FarmError, match=wanted):
        busybox.find_busybox("arm64")

    which = shutil.which
    hidden = ("make", "aarch64-linux-gnu-gcc")
    monkeypatch.setattr(
        shutil, "which", lambda name: None if name in hidden else which(name)
    )
    wanted = r"there is no make and no aarch64-linux-gnu-gcc here \(bash tools/setup"
    with pytest.raises(FarmError, match=wanted):
        busybox.find_busybox("arm64")
