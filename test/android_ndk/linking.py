# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The libraries, start files and compiler's runtime with which programs of the stand-in
are linked. As on Android, the names of libraries have no versions.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import List, Sequence

from test.android_ndk.targets import LIBRARIES, Target, call

API = 21


def libraries(folder: Path, target: Target) -> None:
    level = folder / str(API)
    level.mkdir(parents=True)
    # In glibc, the loader contains some functions of libc.
    loader = _exported(target.root / "lib" / target.loader)
    for name, real in LIBRARIES.items():
        names = _exported(target.root / "lib" / real)
        _stub(level / name, target, sorted({*names, *loader}))
        loader = []
    _stub(level / "liblog.so", target, ["__android_log_write"])
    (level / "libc++.a").write_text("INPUT(-lc++_static -lc++abi)\n")
    (level / "libc++.so").write_text("INPUT(-lc++_shared)\n")
    (folder / "libc++_static.a").symlink_to(target.gcc / "libstdc++.a")
    call(["llvm-ar-19", "rcs", str(folder / "libc++abi.a")])
    handle = ".hidden __dso_handle\\n.globl __dso_handle\\n.data\\n__dso_handle:\\n"
    for name, code in (
        ("crtbegin_so.o", f'__asm__("{handle}.dc.a __dso_handle");'),
        ("crtend_so.o", ""),
        ("crtend_android.o", ""),
        ("handle.o", f'__asm__("{handle}.dc.a __dso_handle");'),
    ):
        _compile(level / name, target, code)
    call(
        [
            "ld.lld-19",
            "-r",
            str(target.root / "lib" / "Scrt1.o"),
            str(level / "handle.o"),
            "-o",
            str(level / "crtbegin_dynamic.o"),
        ]
    )


def libgcc(folder: Path, target: Target) -> None:
    """What r21 and r22 link; on 32-bit ARM, an unwinder of its own as well."""
    level = folder / str(API)
    (level / "libgcc.a").write_text("INPUT(-lgcc_real -lgcc_eh)\n")
    (level / "libgcc_real.a").symlink_to(target.gcc / "libgcc.a")
    (level / "libgcc_eh.a").symlink_to(target.gcc / "libgcc_eh.a")
    if target.clang_arch == "arm":
        call(["llvm-ar-19", "rcs", str(folder / "libunwind.a")])
        (level / "libc++.a").write_text("INPUT(-lc++_static -lc++abi -lunwind)\n")


def runtime(folder: Path, target: Target) -> None:
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
    call(["ld.lld-19", "-shared", f"-soname={path.name}", str(source), "-o", str(path)])
    source.unlink()


def _compile(path: Path, target: Target, code: str) -> None:
    call(
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
