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
from mace.python.tools.bazel_command import bazel_command

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
    if shutil.which("javac") is None:
        pytest.skip("no javac; run: bash tools/setup.sh --for test")
    folder = tmp_path_factory.mktemp("classes")
    compile_classes(folder)
    return folder


def test_on_the_jvm(bin_folder: Path, classes: Path, tmp_path: Path) -> None:
    config = f"--config={_DIGITS / 'digits.yml'}"
    converter = _ROOT / "tools" / "converter.py"
    _run(sys.executable, converter, "convert", config, f"--build_dir={tmp_path}")
    model = tmp_path / "digits" / "model" / "digits"
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
        "mace.input": tmp_path / "in_image",
        "mace.output": tmp_path / "out_probability",
        "mace.images": _DIGITS / "images",
    }
    defines = [f"-D{name}={value}" for name, value in properties.items()]
    suites = [f"com.xiaomi.mace.{name}" for name in ("MaceEngineTest", "ExampleTest")]
    junit = ("org.junit.runner.JUnitCore", *suites)
    output = _run("java", *_JVM, *defines, "-cp", f"{tests}:{jars}", *junit)
    assert "OK (17 tests)" in output
    assert "WARNING" not in output, output


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
