# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""libmace and mace_run for Android, built by a stand-in for the NDK.

Slow: each ABI is compiled anew. For 64 bits, the whole library; for 32, the operators
of a few networks: armhf compiles all of them for the same processor.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Tuple

import pytest

from mace.python.tools.build_tools import bazel_command
from test.android_ndk import stand_in
from test.android_ndk.running import run_command
from test.android_ndk.targets import TARGETS, Target

_ROOT = Path(__file__).resolve().parents[2]
_CONFIGS = {"arm64-v8a": "android_arm64", "armeabi-v7a": "android_arm"}
_MACHINES = {"arm64-v8a": "AArch64", "armeabi-v7a": "ARM"}
_PAGE = 16384
_OPERATORS = {
    "arm64-v8a": (),
    "armeabi-v7a": (
        "--//mace/ops:only=conv2d,depthwise_conv2d,eltwise,fully_connected,pooling,"
        "reduce,resize,softmax",
    ),
}

# Of Android's libc, libm, libdl and liblog. No other library is on every phone.
_LIBRARIES = {"libc.so", "libm.so", "libdl.so", "liblog.so"}

# What our own objects may import of them: each is there since API level 21 at
# the latest (libc.map.txt and libm.map.txt of Android's libc). Names of C++ and
# of the compiler's runtime, which are linked in, do not count.
_SINCE_21 = {
    "__android_log_write",
    "_exit",
    "access",
    "atoi",
    "ceil",
    "close",
    "cosf",
    "dlerror",
    "dlopen",
    "dlsym",
    "expf",
    "fchmod",
    "fcntl",
    "floor",
    "floorf",
    "fmod",
    "fmodf",
    "fork",
    "fputs",
    "fstat",
    "fsync",
    "getauxval",
    "getenv",
    "getpid",
    "getppid",
    "getrlimit",
    "kill",
    "ldexp",
    "llround",
    "log1pf",
    "logf",
    "lround",
    "lroundf",
    "madvise",
    "memchr",
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
    "mkstemp",
    "mmap",
    "munmap",
    "nearbyint",
    "open",
    "pipe2",
    "poll",
    "pow",
    "powf",
    "powl",
    "prctl",
    "pthread_mutex_lock",
    "pthread_mutex_unlock",
    "pthread_once",
    "read",
    "rename",
    "sched_getaffinity",
    "sched_setaffinity",
    "setrlimit",
    "sigemptyset",
    "signal",
    "sigprocmask",
    "sinf",
    "snprintf",
    "sqrtf",
    "stderr",
    "strchr",
    "strcmp",
    "strcspn",
    "strerror",
    "strlen",
    "strrchr",
    "strspn",
    "strstr",
    "strtod",
    "strtol",
    "strtoll",
    "strtoul",
    "syscall",
    "sysconf",
    "tolower",
    "toupper",
    "unlink",
    "waitpid",
    "write",
}
# Spelled otherwise by glibc's headers, which the stand-in has: __errno, sscanf and
# __sF in Android's, libc++'s counters.
_GLIBC_SPELLINGS = {
    "__errno_location",
    "__isoc99_sscanf",
    "__libc_single_threaded",
    "__sched_cpucount",
}
_RUNTIME = re.compile(
    r"^(_Z|__cxa_|_Unwind_|__aarch64_|__aeabi_|__gnu_|__gxx_|__stack_chk_|"
    r"__emutls_|__dso_handle|_GLOBAL_OFFSET_TABLE_|__s?u?(div|mod)|__sync_|"
    # Between double and the long double of 128 bits.
    r"__extenddftf2|__trunctfdf2)"
)


@dataclass(frozen=True)
class Build:
    """The files that Bazel built for one ABI."""

    target: Target
    folder: Path
    flags: Tuple[str, ...]
    environment: Dict[str, str]
    gpu: bool

    @property
    def library(self) -> Path:
        return self.folder / "libmace.so"

    @property
    def jni(self) -> Path:
        return self.folder / "libmace_jni.so"

    @property
    def program(self) -> Path:
        return self.folder / "tools" / "mace_run"


def _bazel(
    environment: dict[str, str], *words: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        bazel_command().words(*words),
        cwd=_ROOT,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(
    scope="module",
    params=[
        ("arm64-v8a", "r27", "cpu_gpu"),
        ("armeabi-v7a", "r21", "cpu"),
    ],
    ids="-".join,
)
def build(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Build]:
    """Both ABIs: with link-time optimisation and GPU, and without them.

    The same folder in each run: Bazel caches.
    """
    abi, layout, runtimes = request.param
    target = TARGETS[abi]
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    ndk = base / "mace" / "android_ndk" / layout
    shutil.rmtree(ndk, ignore_errors=True)
    try:
        stand_in.make(ndk, layout)
    except stand_in.StandInError as error:
        pytest.skip(str(error))
    gpu = runtimes == "cpu_gpu"
    flags = (
        f"--config={_CONFIGS[abi]}",
        f"--define=opencl={str(gpu).lower()}",
        *_OPERATORS[abi],
    )
    environment = {"ANDROID_NDK_HOME": str(ndk)}
    built = _bazel(
        environment,
        *("build", *flags, "//mace:libmace.so", "//mace:libmace.a"),
        *("//mace/java:libmace_jni.so", "//mace/tools:mace_run"),
    )
    assert built.returncode == 0, built.stderr[-3000:]
    info = _bazel(environment, "info", *flags, "bazel-bin")
    # What is built next goes to the same folder.
    bin_folder = Path(info.stdout.strip()) / "mace"
    folder = tmp_path_factory.mktemp(abi)
    (folder / "tools").mkdir()
    for name in ("libmace.so", "libmace_object.pic.o", "tools/mace_run"):
        shutil.copy(bin_folder / name, folder / name)
    shutil.copy(bin_folder / "java" / "libmace_jni.so", folder)
    yield Build(target, folder, flags, environment, gpu)


def _readelf(*words: str | Path) -> str:
    return subprocess.run(
        ["llvm-readelf-19", *map(str, words)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_machine_pages_and_libraries(build: Build) -> None:
    for file in (build.library, build.jni, build.program):
        text = _readelf("--file-header", "--program-headers", "--dynamic", file)
        assert re.search(rf"Machine: +{_MACHINES[build.target.abi]}$", text, re.M)
        alignments = re.findall(r"^ +LOAD .* (0x[0-9a-f]+)$", text, re.MULTILINE)
        assert alignments
        assert {int(number, 16) for number in alignments} == {_PAGE}
        needed = set(re.findall(r"\(NEEDED\) .*\[(.*)\]", text))
        if file == build.jni:
            assert "libmace.so" in needed
            assert needed <= {*_LIBRARIES, "libmace.so"}
        else:
            assert needed <= _LIBRARIES
            assert "liblog.so" in needed
        # Android refuses code with text relocations.
        assert "TEXTREL" not in text
        # Android does not support versions of symbols of other libraries.
        assert "(VERNEED)" not in text
    program = _readelf("--program-headers", build.program)
    assert "/system/bin/linker" in program


def test_build_id(build: Build) -> None:
    """Crash reports find symbols by the build id."""
    for file in (build.library, build.jni, build.program):
        assert re.search(r"Build ID: [0-9a-f]{40}", _readelf("--notes", file))


def _names(file: Path, *flags: str) -> List[str]:
    return subprocess.run(
        ["llvm-nm-19", "--format=just-symbols", *flags, str(file)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()


def test_exports_the_interface_only(build: Build) -> None:
    names = _names(build.library, "--dynamic", "--defined-only", "--demangle")
    interface = re.compile(
        r"^((vtable|typeinfo|typeinfo name|VTT) for )?(mace(::|_)|MACE)"
    )
    assert "mace_version" in names or any(name.startswith("mace_") for name in names)
    assert [name for name in names if not interface.match(name)] == []


def test_the_java_library_exports_what_java_looks_for(build: Build) -> None:
    """All that it takes of libmace.so is exported there, but for what only a library
    with accelerators has.
    """
    assert _names(build.jni, "--dynamic", "--defined-only") == ["JNI_OnLoad"]
    undefined = ("--dynamic", "--undefined-only")
    wanted = set(_names(build.jni, *undefined, "--no-weak"))
    offered = set(_names(build.library, "--dynamic", "--defined-only"))
    ours = {name for name in wanted if re.match(r"_ZNK?4mace", name)}
    assert any("CreateMaceEngineFromProto" in name for name in ours)
    optional = {n for n in _names(build.jni, *undefined) if n.startswith("_ZN4mace")}
    assert all("accelerator9Configure" in name for name in optional - ours)
    assert ours <= offered


def test_imports_what_android_5_has(build: Build) -> None:
    merged = build.folder / "libmace_object.pic.o"
    listed = _names(merged, "--undefined-only")
    ours = {name for name in listed if not _RUNTIME.match(name)}
    assert "mmap" in ours
    assert ("dlopen" in ours) == build.gpu
    assert ours - _SINCE_21 - _GLIBC_SPELLINGS == set()


def test_an_aar(build: Build, tmp_path: Path) -> None:
    """The command, whose libraries are those of this module."""
    if build.target.abi != "arm64-v8a":
        pytest.skip("the archive is made of all operators")
    script = "tools/build-aar.sh"
    made = subprocess.run(
        ["bash", script, f"-abi={build.target.abi}"],
        cwd=_ROOT,
        env={**os.environ, **build.environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    path = _ROOT / "build" / "aar" / "cpu_gpu" / "mace.aar"
    assert str(path.relative_to(_ROOT)) in made.stdout
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path)
    libraries = tmp_path / "jni" / build.target.abi
    module = tmp_path / "prefab" / "modules" / "mace" / "libs" / "android.arm64-v8a"
    assert json.loads((module / "abi.json").read_text())["ndk"] == 27
    for file in (libraries / "libmace.so", libraries / "libmace_jni.so"):
        text = _readelf("--file-header", "--program-headers", "--sections", file)
        assert re.search(r"Machine: +AArch64$", text, re.M)
        alignments = re.findall(r"^ +LOAD .* (0x[0-9a-f]+)$", text, re.MULTILINE)
        assert {int(number, 16) for number in alignments} == {_PAGE}
        assert ".symtab" not in text
    exported = _names(libraries / "libmace_jni.so", "--dynamic", "--defined-only")
    assert exported == ["JNI_OnLoad"]


def test_archives_of_a_release(build: Build, tmp_path: Path) -> None:
    """tools/package.sh for this ABI, of the libraries of this module."""
    if build.target.abi != "arm64-v8a":
        pytest.skip("the archive is made of all operators")
    changed = subprocess.run(
        ["git", "status", "--porcelain"], cwd=_ROOT, capture_output=True, check=True
    )
    if changed.stdout:
        pytest.skip("there are changes that no commit has: packages are of commits")
    flags = (f"-abi={build.target.abi}", "-runtimes=cpu,gpu", "-wheels=none")
    made = subprocess.run(
        ["bash", "tools/package.sh", *flags, f"-out={tmp_path / 'out'}"],
        cwd=_ROOT,
        env={**os.environ, **build.environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    (release,) = (tmp_path / "out").iterdir()
    packed = _ROOT / "build" / "aar" / "cpu_gpu" / "mace.aar"
    (archive,) = release.glob("*-cpu_gpu.aar")
    assert archive.read_bytes() == packed.read_bytes()
    (archive,) = release.glob(f"libmace-*-{build.target.abi}-cpu_gpu.tar.gz")
    subprocess.run(["tar", "-xzf", archive, "-C", tmp_path], check=True)
    (prefix,) = tmp_path.glob("libmace-*")
    for file in ("lib/libmace.so", "bin/mace_run"):
        text = _readelf("--file-header", "--sections", prefix / file)
        assert re.search(r"Machine: +AArch64$", text, re.M)
        assert ".symtab" not in text
    command = ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"]
    subprocess.run(command, cwd=release, check=True)


def _stripped_size(library: Path, folder: Path) -> int:
    copy = folder / library.name
    subprocess.run(
        ["llvm-strip-19", "--strip-unneeded", str(library), "-o", str(copy)], check=True
    )
    return copy.stat().st_size


def test_what_the_gpu_adds(build: Build, tmp_path: Path) -> None:
    assert (b"clGetPlatformIDs" in build.library.read_bytes()) == build.gpu
    if not build.gpu:
        return
    ours = _stripped_size(build.library, tmp_path)
    flags = (*build.flags, "--define=opencl=false")
    built = _bazel(build.environment, "build", *flags, "//mace:libmace.so")
    assert built.returncode == 0, built.stderr[-3000:]
    info = _bazel(build.environment, "info", *flags, "bazel-bin")
    other = Path(info.stdout.strip()) / "mace" / "libmace.so"
    limit = 1.6 * _stripped_size(other, tmp_path)
    assert limit / 1.6 < ours <= limit


def test_has_variables_of_threads_without_the_loader(build: Build) -> None:
    """Android's loader supports thread-local variables only since version 10."""
    names = _names(build.library, "--defined-only")
    assert [name for name in names if re.match(r"__emutls_v\..*mace", name)]


def test_floats_go_through_integer_registers(build: Build) -> None:
    """As in Android's 32-bit ABI, unlike armhf."""
    if build.target.abi != "armeabi-v7a":
        pytest.skip("64-bit ARM has one way")
    assert "Tag_ABI_VFP_args" not in _readelf("--arch-specific", build.library)


def test_runs(build: Build, tmp_path: Path) -> None:
    """On glibc, under Android's names of libraries."""
    if shutil.which(build.target.emulator) is None:
        pytest.skip(f"no {build.target.emulator}")
    start = run_command(build.target, build.program, tmp_path)
    flags = [
        *("--model_file=none", "--model_data_file=none", "--input_node=a"),
        *("--input_shape=1", "--output_node=b", "--output_shape=1"),
    ]
    ran = subprocess.run([*start, *flags], capture_output=True, text=True, check=False)
    assert ran.returncode == 2, ran.stdout + ran.stderr
    assert "cannot read --model_file none" in ran.stderr


@pytest.mark.parametrize("abi", list(_CONFIGS))
def test_a_program_by_r25(abi: str, tmp_path: Path) -> None:
    """Its clang keeps headers elsewhere than r27's: one file shows it."""
    ndk = tmp_path / "ndk"
    try:
        stand_in.make(ndk, "r25")
    except stand_in.StandInError as error:
        pytest.skip(str(error))
    environment = {"ANDROID_NDK_HOME": str(ndk)}
    label, flags = "//toolchains/test:overflow", (f"--config={_CONFIGS[abi]}",)
    built = _bazel(environment, "build", *flags, label)
    assert built.returncode == 0, built.stderr[-3000:]
    info = _bazel(environment, "info", *flags, "bazel-bin")
    program = Path(info.stdout.strip()) / "toolchains" / "test" / "overflow"
    text = _readelf("--file-header", "--dynamic", program)
    assert re.search(rf"Machine: +{_MACHINES[abi]}$", text, re.M)
    assert set(re.findall(r"\(NEEDED\) .*\[(.*)\]", text)) <= _LIBRARIES
    (tmp_path / "run").mkdir()
    start = run_command(TARGETS[abi], program, tmp_path / "run")
    if shutil.which(start[0]) is None:
        pytest.skip(f"no {start[0]}")
    ran = subprocess.run([*start, "4"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "sum 1.00\n"), ran.stderr


_TROUBLE = {
    "": "ANDROID_NDK_HOME is not set",
    "none": "no such folder",
    "empty": "holds no NDK",
    "old": "NDK r17, which is too old",
    "mac": "an NDK for darwin-x86_64, not for linux-x86_64",
    "broken": r"is not complete: .*bin lacks clang, ld.lld, llvm-ar or",
}


@pytest.mark.parametrize("case", list(_TROUBLE))
def test_an_unfit_ndk_is_named(case: str, tmp_path: Path) -> None:
    home = tmp_path / case
    if case not in ("", "none"):
        home.mkdir()
    if case in ("old", "mac", "broken"):
        revision = "17.2.4988734" if case == "old" else "25.2.9519653"
        (home / "source.properties").write_text(f"Pkg.Revision = {revision}\n")
        host = "darwin-x86_64" if case == "mac" else "linux-x86_64"
        (home / "toolchains" / "llvm" / "prebuilt" / host / "bin").mkdir(parents=True)
    asked = _bazel(
        {"ANDROID_NDK_HOME": str(home) if case else ""},
        *("build", "--nobuild", "--config=android_arm64", "//mace/core/base"),
    )
    assert asked.returncode != 0
    assert re.search(_TROUBLE[case], asked.stderr), asked.stderr
    assert "unpack an Android NDK (r21 to r27, for Linux)" in asked.stderr
