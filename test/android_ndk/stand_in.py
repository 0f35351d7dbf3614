# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes a folder that looks like an Android NDK, of the cross compilers here.

    python -m test.android_ndk.stand_in FOLDER [--layout r21|r25|r27] [--clang NAME]

Everything a build system sees is as in the NDK: folders, names of programs,
targets, start files, libraries to link, the linker's own choices for Android.
What differs is what is inside: the C library's headers and symbols are
glibc's, libc++_static.a is libstdc++, and the compiler's runtime is libgcc. A
program built so runs on glibc when its libc.so is found to be glibc's
(`run_command`).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import List, Sequence

LAYOUTS = {"r21": "21.4.7075529", "r25": "25.2.9519653", "r27": "27.2.12479018"}
# Where clang keeps its headers and its runtime.
_RESOURCES = {
    "r21": "lib64/clang/9.0.8",
    "r25": "lib64/clang/14.0.7",
    "r27": "lib/clang/18",
}
API = 21

_PREBUILT = Path("toolchains") / "llvm" / "prebuilt" / "linux-x86_64"
_TOOLS = ("ar", "cov", "nm", "objcopy", "objdump", "strip")
# Of the C library's stand-in, by the name Android gives it.
_LIBRARIES = {"libc.so": "libc.so.6", "libm.so": "libm.so.6", "libdl.so": "libdl.so.2"}

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
_LOG_SOURCE = """\
#include <stdio.h>
int __android_log_write(int prio, const char *tag, const char *text) {
  return fprintf(stderr, "logcat %c/%s: %s", "??VDIWEF"[prio & 7], tag, text);
}
"""

# The driver of a real NDK knows these places by itself.
_WRAPPER = """\
#!/bin/sh
here=$(cd "$(dirname "$0")/.." && pwd)
exec {clang} --sysroot="$here/sysroot" -resource-dir="$here/{resources}" {runtime} \\
  -Wno-unused-command-line-argument "$@"
"""


class StandInError(Exception):
    """A piece of the cross compilers is missing here."""


@dataclass(frozen=True)
class Target:
    """One ABI: what it is called, and where its parts come from."""

    abi: str
    triple: str
    clang_arch: str
    macro: str
    gnu: str
    loader: str
    emulator: str

    @property
    def gcc(self) -> Path:
        """Folder of GCC's libraries."""
        return _newest(Path("/usr/lib/gcc-cross") / self.gnu)

    @property
    def root(self) -> Path:
        return Path("/usr") / self.gnu


TARGETS = {
    target.abi: target
    for target in (
        Target(
            "arm64-v8a",
            "aarch64-linux-android",
            "aarch64",
            "__aarch64__",
            "aarch64-linux-gnu",
            "ld-linux-aarch64.so.1",
            "qemu-aarch64",
        ),
        Target(
            "armeabi-v7a",
            "arm-linux-androideabi",
            "arm",
            "__arm__",
            # Floats go through integer registers, as on Android.
            "arm-linux-gnueabi",
            "ld-linux.so.3",
            "qemu-arm",
        ),
    )
}


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
        _libraries(sysroot / "lib" / target.triple, target)
        if layout == "r21":
            _libgcc(sysroot / "lib" / target.triple, target)
        _runtime(prebuilt / resources / "lib" / "linux", target)
    (sysroot / "include" / "android").mkdir()
    (sysroot / "include" / "android" / "log.h").write_text(_LOG_HEADER)


def _properties(layout: str) -> str:
    revision = LAYOUTS[layout]
    text = f"Pkg.Desc = Android NDK\nPkg.Revision = {revision}\n"
    if layout == "r27":
        text += f"Pkg.BaseRevision = {revision}\nPkg.ReleaseName = r27c\n"
    return text


def run_command(target: Target, program: Path, folder: Path) -> List[str]:
    """A command that runs a program of the stand-in, without its arguments.

    Args:
        folder: empty; for libraries under Android's names.
    """
    library = target.root / "lib"
    for name, real in _LIBRARIES.items():
        (folder / name).symlink_to(library / real)
    source = folder / "log.c"
    source.write_text(_LOG_SOURCE)
    _call(
        [
            "clang-19",
            f"--target={target.gnu}",
            "-fuse-ld=lld",
            "-shared",
            "-fPIC",
            str(source),
            "-o",
            str(folder / "liblog.so"),
        ]
    )
    search = f"{folder}:{program.parent}:{library}"
    return [
        target.emulator,
        *("-cpu", "max", "-L", str(target.root)),
        *(str(library / target.loader), "--library-path", search),
        str(program),
    ]


def _require(clang: str) -> None:
    programs = (clang, "clang-19", "ld.lld-19", "llvm-ar-19", "llvm-nm-19")
    missing = [name for name in programs if shutil.which(name) is None]
    for target in TARGETS.values():
        path = target.root / "include" / "c++"
        if not path.is_dir():
            missing.append(str(path))
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
    # r21 and r22 had libgcc alone.
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
    """One set for all targets, as the NDK has it: what differs is chosen there."""
    generic = _newest(TARGETS["arm64-v8a"].root / "include" / "c++")
    v1 = include / "c++" / "v1"
    v1.mkdir(parents=True)
    _link_all(generic, v1, depth=1)
    for part in ("bits", "ext"):
        for target in TARGETS.values():
            own = _newest(target.root / "include" / "c++") / target.gnu / part
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


def _libraries(folder: Path, target: Target) -> None:
    level = folder / str(API)
    level.mkdir(parents=True)
    # glibc keeps some of libc in its loader.
    loader = _exported(target.root / "lib" / target.loader)
    for name, real in _LIBRARIES.items():
        names = _exported(target.root / "lib" / real)
        _stub(level / name, target, sorted({*names, *loader}))
        loader = []
    _stub(level / "liblog.so", target, ["__android_log_write"])
    (level / "libc++.a").write_text("INPUT(-lc++_static -lc++abi)\n")
    (level / "libc++.so").write_text("INPUT(-lc++_shared)\n")
    (folder / "libc++_static.a").symlink_to(target.gcc / "libstdc++.a")
    _call(["llvm-ar-19", "rcs", str(folder / "libc++abi.a")])
    handle = ".hidden __dso_handle\\n.globl __dso_handle\\n.data\\n__dso_handle:\\n"
    for name, code in (
        ("crtbegin_so.o", f'__asm__("{handle}.dc.a __dso_handle");'),
        ("crtend_so.o", ""),
        ("crtend_android.o", ""),
        ("handle.o", f'__asm__("{handle}.dc.a __dso_handle");'),
    ):
        _compile(level / name, target, code)
    _call(
        [
            "ld.lld-19",
            "-r",
            str(target.root / "lib" / "Scrt1.o"),
            str(level / "handle.o"),
            "-o",
            str(level / "crtbegin_dynamic.o"),
        ]
    )


def _libgcc(folder: Path, target: Target) -> None:
    """What r21 and r22 link; on 32-bit ARM, an unwinder of its own as well."""
    level = folder / str(API)
    (level / "libgcc.a").write_text("INPUT(-lgcc_real -lgcc_eh)\n")
    (level / "libgcc_real.a").symlink_to(target.gcc / "libgcc.a")
    (level / "libgcc_eh.a").symlink_to(target.gcc / "libgcc_eh.a")
    if target.clang_arch == "arm":
        _call(["llvm-ar-19", "rcs", str(folder / "libunwind.a")])
        (level / "libc++.a").write_text("INPUT(-lc++_static -lc++abi -lunwind)\n")


def _runtime(folder: Path, target: Target) -> None:
    """compiler-rt and libunwind of r23 and later."""
    own = folder / target.clang_arch
    own.mkdir(parents=True)
    name = f"libclang_rt.builtins-{target.clang_arch}-android.a"
    (folder / name).symlink_to(target.gcc / "libgcc.a")
    (own / "libunwind.a").symlink_to(target.gcc / "libgcc_eh.a")


def _exported(library: Path) -> List[str]:
    listed = subprocess.run(
        ["llvm-nm-19", "-D", "--defined-only", "--format=posix", str(library)],
        capture_output=True,
        text=True,
        check=True,
    )
    names = set()
    for line in listed.stdout.splitlines():
        name, kind = line.split()[:2]
        # A: names of versions. b, d: thread-local data.
        if kind not in "Aa":
            names.add(name.partition("@")[0])
    return sorted(names)


def _stub(path: Path, target: Target, names: Sequence[str]) -> None:
    """A library to link with: names without versions, as Android's."""
    lines = "\\n".join(
        f".globl {name}\\n.type {name}, %function\\n{name}:" for name in names
    )
    source = path.with_suffix(".o")
    _compile(source, target, f'__asm__(".text\\n{lines}\\n");')
    _call(
        ["ld.lld-19", "-shared", f"-soname={path.name}", str(source), "-o", str(path)]
    )
    source.unlink()


def _compile(path: Path, target: Target, code: str) -> None:
    _call(
        [
            "clang-19",
            f"--target={target.gnu}",
            "-fPIC",
            "-x",
            "c",
            "-c",
            "-",
            "-o",
            str(path),
        ],
        code,
    )


def _link_all(source: Path, target: Path, depth: int) -> None:
    for entry in source.iterdir():
        if depth and entry.is_dir() and entry.name in ("bits", "ext"):
            (target / entry.name).mkdir()
            _link_all(entry, target / entry.name, depth - 1)
        else:
            (target / entry.name).symlink_to(entry)


def _newest(folder: Path) -> Path:
    return max(folder.iterdir(), key=lambda path: int(path.name.split(".")[0]))


def _call(command: Sequence[str], text: str = "") -> None:
    subprocess.run(command, input=text, text=True, check=True)


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
