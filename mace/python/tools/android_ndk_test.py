# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from pathlib import Path

import pytest

from mace.python.tools.android_ndk import AndroidNdkError, find_ndk


def _ndk(folder: Path, properties: str, host: str = "linux-x86_64") -> Path:
    programs = folder / "toolchains" / "llvm" / "prebuilt" / host / "bin"
    programs.mkdir(parents=True)
    (programs / "clang").touch()
    (folder / "source.properties").write_text(properties)
    return folder


def test_none_is_named() -> None:
    assert find_ndk({}) is None
    assert find_ndk({"ANDROID_NDK_HOME": ""}) is None


def test_found(tmp_path: Path) -> None:
    home = _ndk(tmp_path, "Pkg.Desc = Android NDK\nPkg.Revision = 25.2.9519653\n")
    ndk = find_ndk({"ANDROID_NDK_HOME": str(home)})
    assert ndk is not None
    assert (ndk.home, ndk.revision) == (home, "25.2.9519653")
    assert (ndk.prebuilt / "bin" / "clang").is_file()


@pytest.mark.parametrize(
    ("properties", "host", "message"),
    [
        ("Pkg.Revision = 17.2.4988734\n", "linux-x86_64", "is NDK r17, .* too old"),
        ("Pkg.Desc = Android NDK\n", "linux-x86_64", "names no Pkg.Revision"),
        ("Pkg.Revision = 26.1.1\n", "darwin-x86_64", "NDK for darwin-x86_64, not for"),
    ],
)
def test_unfit(tmp_path: Path, properties: str, host: str, message: str) -> None:
    home = _ndk(tmp_path, properties, host)
    with pytest.raises(AndroidNdkError, match=message):
        find_ndk({"ANDROID_NDK_HOME": str(home)})


def test_no_ndk(tmp_path: Path) -> None:
    with pytest.raises(AndroidNdkError, match="holds no NDK"):
        find_ndk({"ANDROID_NDK_HOME": str(tmp_path)})
    with pytest.raises(AndroidNdkError, match="no such folder.*export"):
        find_ndk({"ANDROID_NDK_HOME": str(tmp_path / "none")})
