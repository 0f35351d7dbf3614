# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Packs an Android library (AAR): classes, libraries of each ABI, and headers.

    python -m mace.java.aar --out mace.aar --version 1.0.0 FOLDER...

Each folder is named by its ABI, or lies below a folder that is, and holds libmace.so
and libmace_jni.so, and the DSP's own code if libmace.so has the DSP's runtime.
`tools/build-aar.sh` builds them and calls this. The same inputs give the same bytes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Dict, Iterable, List, Mapping, Sequence

from mace.java.classes import JavaError, compile_classes, require_javac
from mace.python.tools.accelerator_facts import ADAPTERS

ABIS = ("arm64-v8a", "armeabi-v7a")
LIBRARIES = ("libmace.so", "libmace_jni.so")
DSP = "libmace_hexagon_skel.so"
MIN_SDK = 21
_MACE = Path(__file__).resolve().parents[1]
# The first moment that a zip archive can record.
_TIME = (1980, 1, 1, 0, 0, 0)

# What the runtimes open: cl_api.cc, fastrpc_api.cc, the adapters of accelerators. Since
# Android 12 an application reaches such a library of the system only if it names it; it
# also runs where there is none. Libraries that it brings need no name.
DRIVERS = (
    *("libOpenCL.so", "libOpenCL-pixel.so", "libOpenCL-car.so"),
    *("libPVROCL.so", "libGLES_mali.so"),
    *("libcdsprpc.so", "libadsprpc.so"),
    *(name for adapter in ADAPTERS if not adapter.source for name in adapter.libraries),
)
_MANIFEST = f"""\
<?xml version="1.0" encoding="utf-8"?>
<manifest xmlns:android="http://schemas.android.com/apk/res/android"
    package="com.xiaomi.mace">
    <uses-sdk android:minSdkVersion="{MIN_SDK}" />
    <application>
%s
    </application>
</manifest>
"""
_DRIVER = """\
        <uses-native-library
            android:name="%s"
            android:required="false" />"""

# What libmace_jni.so finds by its name.
_PROGUARD = """\
-keep class com.xiaomi.mace.MaceNative { native <methods>; }
-keep class com.xiaomi.mace.MaceException { <init>(int, byte[]); }
"""

_METADATA = """\
aarFormatVersion=1.0
aarMetadataVersion=1.0
minCompileSdk=1
"""


class AarError(Exception):
    """The archive can't be made; says what is missing."""


def _zip(path: Path, members: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            entry = zipfile.ZipInfo(name, _TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, content, compresslevel=9)


def _jar(folder: Path) -> bytes:
    """classes.jar, with the classes of the package."""
    classes = folder / "classes"
    compile_classes(classes)
    members = {"META-INF/MANIFEST.MF": b"Manifest-Version: 1.0\r\n\r\n"}
    for file in sorted(classes.rglob("*.class")):
        members[file.relative_to(classes).as_posix()] = file.read_bytes()
    _zip(folder / "classes.jar", members)
    return (folder / "classes.jar").read_bytes()


def _abi_of(folder: Path) -> str:
    for part in reversed(folder.resolve().parts):
        if part in ABIS:
            return part
    raise AarError(f"{folder}: lies in no folder of an ABI: {', '.join(ABIS)}")


def _ndk_revision(environment: Mapping[str, str]) -> int:
    """The release that built the libraries."""
    home = environment.get("ANDROID_NDK_HOME", "")
    file = Path(home) / "source.properties"
    text = file.read_text("utf-8") if home and file.is_file() else ""
    found = re.search(r"^Pkg\.Revision\s*=\s*(\d+)", text, re.MULTILINE)
    if found is None:
        raise AarError(
            f"ANDROID_NDK_HOME={home} holds no NDK; export the folder of the one that"
            " built the libraries"
        )
    return int(found[1])


def _declared_version() -> str:
    """That of a checkout without tags."""
    text = (_MACE / "version.bzl").read_text("utf-8")
    found = re.search(r'^MACE_VERSION = "(.*)"', text, re.MULTILINE)
    return found[1] if found else ""


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2) + "\n").encode()


def _manifest(libraries: Iterable[bytes]) -> bytes:
    """With the drivers that a runtime of the libraries opens, by their names in it."""
    content = b"".join(libraries)
    names = [name for name in DRIVERS if name.encode() in content]
    return (_MANIFEST % "\n".join(_DRIVER % name for name in names)).encode()


def _prefab(libraries: Mapping[str, bytes], version: str, ndk: int) -> Dict[str, bytes]:
    """What applications' own native code is built with: find_package(mace)."""
    # CMake's find_package compares numbers alone.
    number = re.match(r"v?(\d+(?:\.\d+){0,3})", version or _declared_version())
    package: Dict[str, object] = {
        "name": "mace",
        "schema_version": 2,
        "dependencies": [],
        "version": number[1] if number else "0.0.0",
    }
    members = {"prefab/prefab.json": _json(package)}
    module = "prefab/modules/mace"
    described: Dict[str, object] = {"export_libraries": [], "library_name": "libmace"}
    members[f"{module}/module.json"] = _json(described)
    for folder in ("public", "pipeline"):
        for header in sorted((_MACE / folder).glob("*.h")):
            name = f"{module}/include/mace/{folder}/{header.name}"
            members[name] = header.read_bytes()
    for abi, content in libraries.items():
        folder = f"{module}/libs/android.{abi}"
        # The library contains its C++ library. "none" lets applications with any C++
        # library use the C interface.
        about = {"abi": abi, "api": MIN_SDK, "ndk": ndk, "stl": "none", "static": False}
        members[f"{folder}/abi.json"] = _json(about)
        members[f"{folder}/libmace.so"] = content
    return members


def pack(out: Path, folders: Sequence[Path], version: str, ndk: int) -> List[str]:
    """Writes the archive, as a whole or not at all.

    Returns:
        The names of its members.

    Raises:
        AarError: a library is missing, or two folders are of one ABI.
        JavaError: the classes can't be compiled.
    """
    found: Dict[str, Path] = {}
    for folder in folders:
        abi = _abi_of(folder)
        if abi in found:
            raise AarError(f"two folders for {abi}: {found[abi]} and {folder}")
        for name in LIBRARIES:
            if not (folder / name).is_file():
                raise AarError(f"{folder} has no {name}; run: bash tools/build-aar.sh")
        found[abi] = folder
    if not found:
        raise AarError(f"no folder of an ABI is named: {', '.join(ABIS)}")
    dsp = [folder for folder in found.values() if (folder / DSP).is_file()]
    if dsp and len(dsp) < len(found):
        lacking = next(folder for folder in found.values() if folder not in dsp)
        raise AarError(
            f"{dsp[0]} has {DSP}, and {lacking} has not; build both with the same"
            " runtimes"
        )
    with tempfile.TemporaryDirectory() as temporary:
        jar = _jar(Path(temporary))
    libraries = {abi: (found[abi] / "libmace.so").read_bytes() for abi in sorted(found)}
    members = {
        "AndroidManifest.xml": _manifest(libraries.values()),
        "META-INF/com/android/build/gradle/aar-metadata.properties": _METADATA.encode(),
        "R.txt": b"",
        "classes.jar": jar,
        "proguard.txt": _PROGUARD.encode(),
    }
    for abi in libraries:
        for name in (*LIBRARIES, DSP) if dsp else LIBRARIES:
            members[f"jni/{abi}/{name}"] = (found[abi] / name).read_bytes()
    members.update(_prefab(libraries, version, ndk))
    out.parent.mkdir(parents=True, exist_ok=True)
    part = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        _zip(part, members)
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)
    return list(members)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--version", default="")
    parser.add_argument("--check", action="store_true", help="only look for javac")
    parser.add_argument("folders", type=Path, nargs="*", metavar="FOLDER")
    args = parser.parse_args()
    try:
        require_javac()
        if not args.check:
            ndk = _ndk_revision(os.environ)
            pack(args.out, args.folders, args.version, ndk)
    except (AarError, JavaError) as error:
        sys.stderr.write(f"build-aar: {error}\n")
        return 2
    except OSError as error:
        sys.stderr.write(f"build-aar: {error.filename}: {error.strerror}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
