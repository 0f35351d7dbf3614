# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The Java interface, on this computer's JVM: test/ with JUnit, against `mace_run`.

The JVM checks each call of JNI (-Xcheck:jni) and says what it finds on its output.
"""

from __future__ import annotations

import random
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from mace.java import android_stubs
from mace.java.classes import compile_classes, compile_sources
from mace.python.tools.build_tools import bazel_command
from test.here import only_with_all

_ROOT = Path(__file__).resolve().parents[2]
_DIGITS = _ROOT / "mace" / "examples" / "digits"
_APP = _ROOT / "mace" / "examples" / "android" / "app" / "src" / "main"
_EXAMPLE = _APP / "java" / "com" / "xiaomi" / "mace" / "examples" / "digits"
_JARS = [Path("/usr/share/java") / name for name in ("junit4.jar", "hamcrest.jar")]
_LABELS = ("//mace:libmace.so", "//mace/java:libmace_jni.so", "//mace/tools:mace_run")
_MODEL = (
    *("--input_node=image", "--input_shape=1,8,8,1"),
    *("--output_node=probability", "--output_shape=1,10"),
)
# All memory of the heap is taken at once, so that what grows is not Java's.
_JVM = (
    *("-Xcheck:jni", "-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch"),
    "-XX:+UseSerialGC",
)


def _run(*words: str | Path) -> str:
    ran = subprocess.run(
        [str(word) for word in words],
        cwd=_ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-6000:]
    return ran.stdout


@pytest.fixture(scope="module")
def bin_folder() -> Path:
    """Where Bazel's results are."""
    only_with_all("Java")
    for jar in _JARS:
        if not jar.exists():
            pytest.skip(f"no {jar}; run: bash tools/setup.sh --for test")
    _run(*bazel_command().words("build", *_LABELS))
    info = subprocess.run(
        bazel_command().words("info", "bazel-bin"),
        cwd=_ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    return Path(info.stdout.strip()) / "mace"


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled package."""
    only_with_all("Java")
    if shutil.which("javac") is None:
        pytest.skip("no javac; run: bash tools/setup.sh --for test")
    folder = tmp_path_factory.mktemp("classes")
    compile_classes(folder)
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The converted digit classifier: what its two files are called but for the end."""
    folder = tmp_path_factory.mktemp("model")
    return _convert(_DIGITS / "digits.yml", folder)


@pytest.fixture(scope="module")
def open_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with batches that runs decide."""
    folder = tmp_path_factory.mktemp("open_model")
    text = (_DIGITS / "digits.yml").read_text(encoding="utf-8")
    for shape in ("1,8,8,1", "1,10"):
        text = text.replace(f'["{shape}"]', f'["-1,{shape[2:]}"]')
    deployment = folder / "digits.yml"
    deployment.write_text(text, encoding="utf-8")
    return _convert(deployment, folder)


def _convert(deployment: Path, folder: Path) -> Path:
    converter = _ROOT / "tools" / "converter.py"
    config = f"--config={deployment}"
    _run(sys.executable, converter, "convert", config, f"--build_dir={folder}")
    return folder / "digits" / "model" / "digits"


def test_on_the_jvm(
    bin_folder: Path, classes: Path, model: Path, open_model: Path, tmp_path: Path
) -> None:
    numbers = random.Random(1)
    pixels = [numbers.random() for _ in range(64)]
    (tmp_path / "in_image").write_bytes(struct.pack("=64f", *pixels))
    files = (f"--model_file={model}.pb", f"--model_data_file={model}.data")
    tensors = (f"--input_file={tmp_path}/in", f"--output_file={tmp_path}/out")
    _run(bin_folder / "tools" / "mace_run", *files, *_MODEL, *tensors)

    libraries = tmp_path / "lib"
    libraries.mkdir()
    for library in ("libmace.so", "java/libmace_jni.so"):
        shutil.copy(bin_folder / library, libraries)
    tests = tmp_path / "tests"
    jars = ":".join(map(str, (classes, *_JARS)))
    sources = sorted((_ROOT / "mace" / "java" / "test").rglob("*.java"))
    sources.append(_EXAMPLE / "Classifier.java")
    _run("javac", "-Xlint:all", "-Werror", "-cp", jars, "-d", tests, *sources)

    properties = {
        "java.library.path": libraries,
        "mace.graph": f"{model}.pb",
        "mace.weights": f"{model}.data",
        "mace.open_graph": f"{open_model}.pb",
        "mace.open_weights": f"{open_model}.data",
        "mace.input": tmp_path / "in_image",
        "mace.output": tmp_path / "out_probability",
        "mace.images": _DIGITS / "images",
    }
    defines = [f"-D{name}={value}" for name, value in properties.items()]
    suites = [f"com.xiaomi.mace.{name}" for name in ("MaceEngineTest", "ExampleTest")]
    junit = ("org.junit.runner.JUnitCore", *suites)
    output = _run("java", *_JVM, *defines, "-cp", f"{tests}:{jars}", *junit)
    assert "OK (19 tests)" in output
    assert "WARNING" not in output, output


# Tells what the library is given, in its place; libmace.so is behind it.
_TELLING = """
#include <cstdio>
#include "mace/public/mace.h"
namespace mace {
MaceStatus accelerator::Configure(MaceEngineConfig *, const AcceleratorSetting &one) {
  const std::string none;
  std::printf("accelerator %d: %d %d '%s' '%s'\\n", one.kind, one.first, one.second,
              (one.binary_file ? *one.binary_file : none).c_str(),
              (one.storage_file ? *one.storage_file : none).c_str());
  std::fflush(stdout);
  return MaceStatus();
}
MaceStatus MaceEngineConfig::SetHexagon(bool pd, int corner, bool dcvs, int us) {
  std::printf("hexagon: %d %d %d %d\\n", pd, corner, dcvs, us);
  std::fflush(stdout);
  return MaceStatus();
}
}  // namespace mace
"""
_SETTINGS = """
import com.xiaomi.mace.*;
public class Settings {
  public static void main(String[] files) {
    MaceEngineConfig config = new MaceEngineConfig()
        .setHexagonToUnsignedPd()
        .setHexagonPower(HexagonCorner.SVS, true, 250)
        .setAcceleratorCache(AcceleratorCache.LOAD_OR_STORE, "/b", "/\\u00e4")
        .setApuHints(70, ApuPreference.SUSTAINED_SPEED)
        .setHtpPerformance(HtpPerformance.SYSTEM_SETTINGS)
        .setOpenCLBinaryPaths("/one", "/two")
        .setSubgraphRuntimeTypes("digits", RuntimeType.CPU)
        .setRuntimeTypes(RuntimeType.HTP, RuntimeType.NPU, RuntimeType.CPU);
    MaceEngine.create(MaceModel.fromFiles(files[0], files[1]), config).close();
    MaceEngine.create(MaceModel.fromFiles(files[0], files[1])).close();
  }
}
"""
_TOLD = [
    "hexagon: 1 0 0 0",
    "hexagon: 0 6 1 250",
    "accelerator 0: 3 0 '/b' '/ä'",
    "accelerator 1: 70 2 '' ''",
    "accelerator 2: 8 0 '' ''",
]


def test_settings_of_accelerators_reach_the_library(
    bin_folder: Path, classes: Path, model: Path, tmp_path: Path
) -> None:
    """In order, once, and only where they are set."""
    telling = tmp_path / "telling.cc"
    telling.write_text(_TELLING)
    library = tmp_path / "libtelling.so"
    compiler = ("clang++-19", "-std=c++17", "-shared", "-fPIC", f"-I{_ROOT}")
    _run(*compiler, telling, bin_folder / "libmace.so", "-o", library)
    (tmp_path / "Settings.java").write_text(_SETTINGS)
    _run("javac", "-cp", classes, "-d", tmp_path, tmp_path / "Settings.java")
    path = f"{bin_folder}:{bin_folder / 'java'}"
    environment = ("env", f"LD_PRELOAD={library}", f"LD_LIBRARY_PATH={bin_folder}")
    virtual_machine = ("java", "-cp", f"{classes}:{tmp_path}")
    files = (f"{model}.pb", f"{model}.data")
    said = _run(
        *environment,
        *virtual_machine,
        f"-Djava.library.path={path}",
        "Settings",
        *files,
    )
    assert [line for line in said.splitlines() if ": " in line][:5] == _TOLD
    assert said.count("hexagon: ") == 2 and said.count("accelerator ") == 3


def test_missing_libraries_are_named(classes: Path, tmp_path: Path) -> None:
    """One exception each time, and no NoClassDefFoundError at the second."""
    source = tmp_path / "Twice.java"
    source.write_text(
        "public class Twice {\n"
        "  public static void main(String[] arguments) {\n"
        "    for (int i = 0; i < 2; ++i) {\n"
        "      try {\n"
        "        com.xiaomi.mace.MaceEngine.getVersion();\n"
        "      } catch (com.xiaomi.mace.MaceException exception) {\n"
        "        System.out.println(\n"
        '            exception.getCode() + ": " + exception.getMessage());\n'
        "      }\n"
        "    }\n"
        "  }\n"
        "}\n"
    )
    _run("javac", "-cp", classes, "-d", tmp_path, source)
    path = f"{classes}:{tmp_path}"
    output = _run("java", "-cp", path, f"-Djava.library.path={tmp_path}", "Twice")
    said = [line for line in output.splitlines() if line.startswith("UNSUPPORTED")]
    assert len(said) == 2
    assert all("libmace.so and libmace_jni.so can't be loaded" in line for line in said)


def test_the_example_compiles(classes: Path, tmp_path: Path) -> None:
    """Against stand-ins for Android's classes, see android_stubs.py."""
    android = tmp_path / "android"
    stubs = android_stubs.write(tmp_path / "sources")
    _run("javac", "--release", "8", "-Xlint:-options", "-d", android, *stubs)
    compile_sources(
        sorted(_EXAMPLE.glob("*.java")), tmp_path / "app", [classes, android]
    )
    assert list((tmp_path / "app").rglob("MainActivity.class"))
