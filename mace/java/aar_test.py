# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The AAR: its layout, and that its classes are those that Android 5 runs.

test/android_ndk/ndk_test.py packs real libraries.
"""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mace.java import aar
from mace.java.classes import JavaError

pytestmark = pytest.mark.skipif(
    shutil.which("javac") is None,
    reason="no javac; run: bash tools/setup.sh --for test",
)

_ROOT = Path(__file__).resolve().parents[2]
_ANDROID = "{http://schemas.android.com/apk/res/android}"
# Of Java's library, what the package uses: all of it is in Android 5 (API level 21).
_JAVA = {
    "java.io.Closeable",
    "java.io.FileDescriptor",
    "java.io.FileInputStream",
    "java.io.IOException",
    "java.lang.Class",
    "java.lang.Enum",
    "java.lang.IllegalArgumentException",
    "java.lang.Integer",
    "java.lang.Math",
    "java.lang.Object",
    "java.lang.OutOfMemoryError",
    "java.lang.RuntimeException",
    "java.lang.SecurityException",
    "java.lang.String",
    "java.lang.StringBuilder",
    "java.lang.System",
    "java.lang.Throwable",
    "java.lang.UnsatisfiedLinkError",
    "java.lang.ref.PhantomReference",
    "java.lang.ref.Reference",
    "java.lang.ref.ReferenceQueue",
    "java.nio.Buffer",
    "java.nio.ByteBuffer",
    "java.nio.ByteOrder",
    "java.nio.FloatBuffer",
    "java.nio.MappedByteBuffer",
    "java.nio.channels.FileChannel",
    "java.nio.channels.FileChannel$MapMode",
    "java.nio.charset.Charset",
    "java.nio.charset.StandardCharsets",
    "java.util.ArrayList",
    "java.util.Arrays",
    "java.util.Collection",
    "java.util.Collections",
    "java.util.HashSet",
    "java.util.Iterator",
    "java.util.LinkedHashMap",
    "java.util.LinkedHashSet",
    "java.util.List",
    "java.util.Map",
    "java.util.Map$Entry",
    "java.util.Set",
}


# Where each runtime opens libraries of the system, and the macro before those of Linux.
_OPENERS = {
    "opencl/driver/cl_api.cc": '"libOpenCL.so.1"',
    "hexagon/fastrpc_api.cc": "",
    "neuron/neuron_api.cc": "",
    "hta/hta_api.cc": "",
}


def _opened(runtime: str) -> set[str]:
    """The libraries that the sources of a runtime name."""
    source = (_ROOT / "mace" / "runtimes" / runtime).read_text("utf-8")
    linux = _OPENERS[runtime]
    assert linux in source
    android = source.partition(linux)[0] if linux else source
    return set(re.findall(r'"(?:/[\w/]+/)?(lib[\w.-]+\.so)"', android))


def _folders(parent: Path, dsp: bool = False) -> list[Path]:
    made = []
    for abi in aar.ABIS:
        folder = parent / "lib" / abi / "cpu_gpu"
        folder.mkdir(parents=True)
        for name in (*aar.LIBRARIES, aar.DSP) if dsp else aar.LIBRARIES:
            (folder / name).write_text(f"{name} of {abi}")
        drivers = _opened("opencl/driver/cl_api.cc")
        if dsp:
            drivers |= _opened("hexagon/fastrpc_api.cc")
        with (folder / "libmace.so").open("a") as stream:
            stream.write("\0".join(sorted(drivers)))
        made.append(folder)
    return made


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """Stand-ins for the libraries of both ABIs."""
    return _folders(tmp_path)


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of them."""
    folder = tmp_path_factory.mktemp("packed")
    out = folder / "out" / "mace.aar"
    aar.pack(out, _folders(folder), "v1.2.3-4-gabcdef", ndk=27)
    return out


def _members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_layout(packed: Path) -> None:
    content = _members(packed)
    for abi in aar.ABIS:
        for name in aar.LIBRARIES:
            assert content[f"jni/{abi}/{name}"].startswith(f"{name} of {abi}".encode())
        assert f"jni/{abi}/{aar.DSP}" not in content
        module = f"prefab/modules/mace/libs/android.{abi}"
        assert content[f"{module}/libmace.so"] == content[f"jni/{abi}/libmace.so"]
        about = json.loads(content[f"{module}/abi.json"])
        assert (about["abi"], about["api"], about["ndk"]) == (abi, aar.MIN_SDK, 27)
    assert json.loads(content["prefab/prefab.json"])["version"] == "1.2.3"
    assert content["prefab/modules/mace/include/mace/public/mace_c.h"]
    assert content["prefab/modules/mace/include/mace/pipeline/mace_pipeline.h"]
    assert content["R.txt"] == b""
    assert [path.name for path in packed.parent.iterdir()] == ["mace.aar"]


def _drivers(packed: Path) -> set[str | None]:
    manifest = ElementTree.fromstring(_members(packed)["AndroidManifest.xml"])
    assert manifest.get("package") == "com.xiaomi.mace"
    sdk = manifest.find("uses-sdk")
    assert sdk is not None
    assert sdk.get(f"{_ANDROID}minSdkVersion") == str(aar.MIN_SDK)
    drivers = manifest.findall("application/uses-native-library")
    assert {item.get(f"{_ANDROID}required") for item in drivers} == {"false"}
    return {item.get(f"{_ANDROID}name") for item in drivers}


def test_the_manifest_names_the_drivers(packed: Path) -> None:
    assert _drivers(packed) == _opened("opencl/driver/cl_api.cc")


def test_all_drivers_are_known() -> None:
    opened = set().union(*(_opened(runtime) for runtime in _OPENERS))
    assert opened == set(aar.DRIVERS)


def test_the_code_of_the_dsp_is_packed(tmp_path: Path) -> None:
    folders = _folders(tmp_path, dsp=True)
    out = tmp_path / "mace.aar"
    aar.pack(out, folders, "1.2.3", ndk=27)
    content = _members(out)
    for abi in aar.ABIS:
        assert content[f"jni/{abi}/{aar.DSP}"] == f"{aar.DSP} of {abi}".encode()
    both = _opened("opencl/driver/cl_api.cc") | _opened("hexagon/fastrpc_api.cc")
    assert _drivers(out) == both
    (folders[1] / aar.DSP).unlink()
    with pytest.raises(aar.AarError, match="build both with the same runtimes"):
        aar.pack(out, folders, "1.2.3", ndk=27)


def test_same_inputs_give_the_same_bytes(
    packed: Path, folders: list[Path], tmp_path: Path
) -> None:
    again = tmp_path / "again.aar"
    aar.pack(again, folders[::-1], "v1.2.3-4-gabcdef", ndk=27)
    assert again.read_bytes() == packed.read_bytes()


def test_classes_are_those_that_android_takes(packed: Path, tmp_path: Path) -> None:
    """d8 takes class files of Java 8 (version 52) at every API level."""
    jar = tmp_path / "classes.jar"
    jar.write_bytes(_members(packed)["classes.jar"])
    classes = {
        name: content
        for name, content in _members(jar).items()
        if name.endswith(".class")
    }
    assert "com/xiaomi/mace/MaceEngine.class" in classes
    for name, content in classes.items():
        magic, _, major = struct.unpack(">IHH", content[:8])
        assert (magic, major) == (0xCAFEBABE, 52), name
    asked = subprocess.run(
        ["jdeps", "-verbose:class", "-filter:none", str(jar)],
        capture_output=True,
        text=True,
        check=True,
    )
    used = set(re.findall(r"^ +\S+ +-> (java\.\S+)", asked.stdout, re.MULTILINE))
    assert "java.nio.ByteBuffer" in used
    assert used <= _JAVA, used - _JAVA


def test_proguard_keeps_what_native_code_finds(packed: Path) -> None:
    """The classes of the rules and those of JNI_OnLoad are the same."""
    source = (_ROOT / "mace" / "java" / "jni" / "mace_jni.cc").read_text("utf-8")
    found = set(re.findall(r'FindClass\("(com/xiaomi/\S+)"\)', source))
    rules = _members(packed)["proguard.txt"].decode()
    kept = set(re.findall(r"-keep class (\S+)", rules))
    assert {name.replace("/", ".") for name in found} == kept


def test_what_is_missing_is_named(folders: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "mace.aar"
    with pytest.raises(aar.AarError, match="lies in no folder of an ABI"):
        aar.pack(out, [tmp_path], "", ndk=27)
    with pytest.raises(aar.AarError, match="two folders for arm64-v8a"):
        aar.pack(out, [folders[0], folders[0]], "", ndk=27)
    with pytest.raises(aar.AarError, match="no folder of an ABI is named"):
        aar.pack(out, [], "", ndk=27)
    (folders[1] / "libmace_jni.so").unlink()
    with pytest.raises(aar.AarError, match="armeabi-v7a.* has no libmace_jni.so"):
        aar.pack(out, folders, "", ndk=27)
    assert not out.exists()


def test_no_compiler(
    folders: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nonexistent")
    with pytest.raises(JavaError, match=r"setup\.sh --for java"):
        aar.pack(tmp_path / "mace.aar", folders, "", ndk=27)
