# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Creates a folder that looks like an Android NDK from the cross compilers here.

    python -m test.android_ndk.stand_in FOLDER [--layout r21|r25|r27] [--clang NAME]

Everything a build system sees is as in the NDK: folders, names of programs,
targets, start files, libraries to link, the linker's own choices for Android.
What differs is what is inside: the C library's headers and symbols are
glibc's, libc++_static.a is libstdc++, and the compiler's runtime is libgcc. A
program built so runs on glibc when its libc.so is found to be glibc's
(`running.py`).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from test.android_ndk.linking import libgcc, libraries, runtime
from test.android_ndk.targets import TARGETS, Target, newest

LAYOUTS = {"r21": "21.4.7075529", "r25": "25.2.9519653", "r27": "27.2.12479018"}
# The places of clang's headers and runtime.
_RESOURCES = {
    "r21": "lib64/clang/9.0.8",
    "r25": "lib64/clang/14.0.7",
    "r27": "lib/clang/18",
}

_PREBUILT = Path("toolchains") / "llvm" / "prebuilt" / "linux-x86_64"
_TOOLS = ("ar", "cov", "nm", "objcopy", "objdump", "strip")

_LOG_HEADER = """\
// A stand-in for the NDK's.
#pragma once
#ifdef __cplusplus
extern "C" {
#endif
enum { ANDROID_LOG_INFO = 4, ANDROID_LOG_WARN, ANDROID_LOG_ERROR, ANDROID_LOG_FATAL };
int __android_log_write(int prio, const char *tag, const char *text);
#ifdef __cplusplus
}
#endif
"""

# Android's own.
_JNI_HEADER = Path("/usr/include/android/nativehelper/jni.h")

# The compiler driver of a real NDK knows these paths.
_WRAPPER = """\
#!/bin/sh
here=$(cd "$(dirname "$0")/.." && pwd)
exec {clang} --sysroot="$here/sysroot" -resource-dir="$here/{resources}" {runtime} \\
  -Wno-unused-command-line-argument "$@"
"""


class StandInError(Exception):
    """A part of the cross compilers is not installed."""


def make(folder: Path, layout: str = "r25", clang: str = "clang-19") -> None:
    """Makes the NDK.

    Args:
        clang: the compiler behind it; another than the one that builds MACE
            shows that older NDKs' would do.

    Raises:
        StandInError: names all that is missing here.
    """
    _require(clang)
    prebuilt = folder / _PREBUILT
    (prebuilt / "bin").mkdir(parents=True)
    (folder / "source.properties").write_text(_properties(layout))
    resources = _resources(prebuilt, layout, clang)
    _programs(prebuilt, layout, clang, resources)
    sysroot = prebuilt / "sysroot" / "usr"
    _cxx_headers(sysroot / "include")
    for target in TARGETS.values():
        _headers(sysroot / "include" / target.triple, target)
        libraries(sysroot / "lib" / target.triple, target)
        if layout == "r21":
            libgcc(sysroot / "lib" / target.triple, target)
        runtime(prebuilt / resources / "lib" / "linux", target)
    (sysroot / "include" / "android").mkdir()
    (sysroot / "include" / "android" / "log.h").write_text(_LOG_HEADER)
    (sysroot / "include" / "jni.h").symlink_to(_JNI_HEADER)


def _properties(layout: str) -> str:
    revision = LAYOUTS[layout]
    text = f"Pkg.Desc = Android NDK\nPkg.Revision = {revision}\n"
    if layout == "r27":
        text += f"Pkg.BaseRevision = {revision}\nPkg.ReleaseName = r27c\n"
    return text


def _require(clang: str) -> None:
    programs = (clang, "clang-19", "ld.lld-19", "llvm-ar-19", "llvm-nm-19")
    missing = [name for name in programs if shutil.which(name) is None]
    for target in TARGETS.values():
        path = target.root / "include" / "c++"
        if not path.is_dir():
            missing.append(str(path))
    if not _JNI_HEADER.exists():
        missing.append(str(_JNI_HEADER))
    if missing:
        raise StandInError(
            f"missing: {', '.join(dict.fromkeys(missing))}; run: "
            "bash tools/setup.sh --for test"
        )


def _resources(prebuilt: Path, layout: str, clang: str) -> Path:
    """clang's headers; the folder relative to `prebuilt`."""
    relative = Path(_RESOURCES[layout])
    asked = subprocess.run(
        [clang, "-print-resource-dir"], capture_output=True, text=True, check=True
    )
    (prebuilt / relative).mkdir(parents=True)
    headers = Path(asked.stdout.strip()) / "include"
    (prebuilt / relative / "include").symlink_to(headers.resolve())
    return relative


def _programs(prebuilt: Path, layout: str, clang: str, resources: Path) -> None:
    folder = prebuilt / "bin"
    # r21 and r22 had only libgcc.
    runtime = "--rtlib=compiler-rt --unwindlib=libunwind"
    if layout == "r21":
        runtime = "--rtlib=libgcc"
    for name in ("clang", "clang++"):
        real = shutil.which(clang.replace("clang", name)) or clang
        wrapper = folder / name
        wrapper.write_text(
            _WRAPPER.format(clang=real, resources=resources, runtime=runtime)
        )
        wrapper.chmod(0o755)
    (folder / "ld.lld").symlink_to(str(shutil.which("ld.lld-19")))
    for tool in _TOOLS:
        real = str(shutil.which(f"llvm-{tool}-19"))
        names = [f"llvm-{tool}"]
        if layout == "r21":
            names = [f"{target.triple}-{tool}" for target in TARGETS.values()]
        for name in names:
            (folder / name).symlink_to(real)


def _cxx_headers(include: Path) -> None:
    """One set of headers for all targets, as in the NDK; the headers contain the
    differences.
    """
    generic = newest(TARGETS["arm64-v8a"].root / "include" / "c++")
    v1 = include / "c++" / "v1"
    v1.mkdir(parents=True)
    _link_all(generic, v1, depth=1)
    for part in ("bits", "ext"):
        for target in TARGETS.values():
            own = newest(target.root / "include" / "c++") / target.gnu / part
            place = include / target.triple / "c++" / part
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(own)
            for header in own.iterdir():
                with open(v1 / part / header.name, "a") as stream:
                    stream.write(
                        f"#ifdef {target.macro}\n"
                        f"#include <{target.triple}/c++/{part}/{header.name}>\n"
                        "#endif\n"
                    )


def _headers(include: Path, target: Target) -> None:
    include.mkdir(parents=True, exist_ok=True)
    for entry in (target.root / "include").iterdir():
        if entry.name != "c++":
            (include / entry.name).symlink_to(entry)


def _link_all(source: Path, target: Path, depth: int) -> None:
    for entry in source.iterdir():
        if depth and entry.is_dir() and entry.name in ("bits", "ext"):
            (target / entry.name).mkdir()
            _link_all(entry, target / entry.name, depth - 1)
        else:
            (target / entry.name).symlink_to(entry)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--layout", choices=sorted(LAYOUTS), default="r25")
    parser.add_argument("--clang", default="clang-19")
    args = parser.parse_args()
    if args.folder.exists():
        sys.stderr.write(f"{args.folder} exists\n")
        return 2
    try:
        make(args.folder, args.layout, args.clang)
    except StandInError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(f"export ANDROID_NDK_HOME={os.path.abspath(args.folder)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
