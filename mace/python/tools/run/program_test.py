# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Finding and building mace_run, with a stand-in for Bazel."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from mace.python.tools.bazel import BuildError
from mace.python.tools.config.deployment import Deployment
from mace.python.tools.config.vocabulary import Abi, ModelFormat
from mace.python.tools.errors import MissingToolError, UnsupportedError
from mace.python.tools.run import program as program_module
from mace.python.tools.run.options import RunOptions
from mace.python.tools.run.program import find_dsp_program, find_program


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of programs."""
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    for name in ("BAZEL", "BAZEL_STARTUP_FLAGS", "BAZEL_FLAGS"):
        monkeypatch.delenv(name, raising=False)
    return folder


def _bazel(tools: Path, status: int = 0) -> None:
    """Writes down its arguments; `info` names a folder with a program."""
    output = tools / "bazel-bin" / "mace" / "tools" / "mace_run"
    output.parent.mkdir(parents=True)
    output.write_text("the program")
    script = tools / "bazel"
    script.write_text(
        "#!/bin/sh\n"
        f'echo "$@" >> {tools}/log\n'
        f'[ "$1" = info ] && echo {tools}/bazel-bin\n'
        f'[ "$1" = build ] && [ {status} != 0 ] && echo "error: oops" >&2\n'
        f"exit {status}\n"
    )
    script.chmod(0o755)


def _existing(build_dir: Path, age_s: float) -> Path:
    program = build_dir / "bin" / "host" / "mace_run"
    program.parent.mkdir(parents=True)
    program.write_text("old")
    stamp = program.stat().st_mtime - age_s
    os.utime(program, (stamp, stamp))
    return program


def test_a_current_program_is_used(tools: Path, tmp_path: Path) -> None:
    program = _existing(tmp_path / "build", -3600)
    options = RunOptions(build_dir=tmp_path / "build")
    assert find_program(Abi.HOST, options) == program


def test_a_missing_program_is_built(tools: Path, tmp_path: Path) -> None:
    _bazel(tools)
    program = find_program(Abi.HOST, RunOptions(build_dir=tmp_path / "build"))
    assert program.read_text() == "the program"
    assert os.access(program, os.X_OK)
    first = (tools / "log").read_text().splitlines()[0]
    assert first.startswith("build ") and first.endswith("//mace/tools:mace_run")


def test_models_as_code_are_built_from_their_own_build_folder(
    tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two projects whose libraries have one name share one checkout."""
    _bazel(tools)
    place = tmp_path / "source" / "libraries" / "lib"
    made = tools / "bazel-bin" / "source" / "libraries" / "lib" / "mace_run"
    made.parent.mkdir(parents=True)
    made.write_text("the program")
    monkeypatch.setattr(program_module, "bazel_package", lambda name: place)
    monkeypatch.setattr(program_module, "_ROOT", tmp_path)
    deployment = cast(
        Deployment,
        SimpleNamespace(library_name="lib", model_graph_format=ModelFormat.CODE),
    )
    for build, files in (("one", {"a.h", "a.pb"}), ("two", {"a.pb", "b.h"})):
        package = tmp_path / build / "lib" / "code"
        package.mkdir(parents=True)
        for name in files:
            (package / name).write_text(build)
        options = RunOptions(build_dir=tmp_path / build)
        found = find_program(Abi.HOST, options, deployment)
        assert found == tmp_path / build / "lib/bin/host/mace_run"
        assert {path.name: path.read_text() for path in place.iterdir()} == (
            dict.fromkeys(files, build)
        )
    # The first one is current: nothing is put there again.
    options = RunOptions(build_dir=tmp_path / "one")
    assert find_program(Abi.HOST, options, deployment).is_file()
    assert (place / "b.h").is_file()


@pytest.mark.parametrize("name", ["conv.cc", "conv.h", "conv.cl", "tensor.clh"])
def test_a_program_is_older_than_a_changed_source(
    tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    _bazel(tools)
    _existing(tmp_path / "build", 3600)
    source = tmp_path / "mace" / "kernels" / name
    source.parent.mkdir(parents=True)
    source.touch()
    monkeypatch.setattr("mace.python.tools.run.program._ROOT", tmp_path)
    options = RunOptions(build_dir=tmp_path / "build")
    assert find_program(Abi.HOST, options).read_text() == "the program"


def test_an_outdated_program_is_built_again(tools: Path, tmp_path: Path) -> None:
    _bazel(tools)
    _existing(tmp_path / "build", 10 * 365 * 86400)
    program = find_program(Abi.HOST, RunOptions(build_dir=tmp_path / "build"))
    assert program.read_text() == "the program"


def test_variants_have_their_own_place_and_flags(tools: Path, tmp_path: Path) -> None:
    _bazel(tools)
    options = RunOptions(build_dir=tmp_path, debug_mode=True, address_sanitizer=True)
    program = find_program(Abi.ARM64, options)
    assert program == tmp_path / "bin" / "arm64-debug-asan" / "mace_run"
    words = (tools / "log").read_text().split()
    assert {"--config=arm64", "--config=debug", "--config=asan"} <= set(words)
    assert "--config=static" not in words
    # Bazel's outputs of another ABI must not take their place.
    assert "--platform_suffix=-arm64-asan" in words


@pytest.mark.parametrize(
    "abi, configs",
    [
        (Abi.HOST, {"--config=static"}),
        (Abi.ARM64, {"--config=arm64", "--config=static"}),
        (Abi.ARMHF, {"--config=armhf", "--config=static"}),
        (Abi.ARM64_V8A, {"--config=arm64-v8a"}),
        (Abi.ARMEABI_V7A, {"--config=armeabi-v7a"}),
    ],
)
def test_each_abi_has_its_configuration(
    abi: Abi, configs: set[str], tools: Path, tmp_path: Path
) -> None:
    _bazel(tools)
    find_program(abi, RunOptions(build_dir=tmp_path))
    words = (tools / "log").read_text().splitlines()[0].split()
    assert {word for word in words if word.startswith("--config")} == configs


def test_a_program_for_gpus_can_load_a_driver(
    tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _bazel(tools)
    monkeypatch.delenv("ANDROID_NDK_HOME", raising=False)
    options = RunOptions(build_dir=tmp_path)
    for abi in (Abi.HOST, Abi.ARM64):
        program = find_program(abi, options, gpu=True)
        assert program == tmp_path / "bin" / f"{abi.value}-gpu" / "mace_run"
    words = (tools / "log").read_text().split()
    assert "--define=opencl=true" in words
    assert "--config=static" not in words
    with pytest.raises(UnsupportedError, match="set ANDROID_NDK_HOME to an Android"):
        find_program(Abi.ARM64_V8A, options, gpu=True)
    monkeypatch.setenv("ANDROID_NDK_HOME", str(_ndk(tmp_path / "ndk", "25.2.1")))
    program = find_program(Abi.ARM64_V8A, options, gpu=True)
    assert program == tmp_path / "bin" / "arm64-v8a-ndk-gpu" / "mace_run"
    find_program(Abi.ARM64_V8A, options)
    assert "opencl" not in (tools / "log").read_text().splitlines()[-1]


def test_a_program_for_dsps_can_load_the_library_of_the_system(
    tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _bazel(tools)
    monkeypatch.delenv("ANDROID_NDK_HOME", raising=False)
    options = RunOptions(build_dir=tmp_path)
    for abi in (Abi.HOST, Abi.ARM64):
        program = find_program(abi, options, dsp=True)
        assert program == tmp_path / "bin" / f"{abi.value}-dsp" / "mace_run"
    words = (tools / "log").read_text().split()
    assert "--define=hexagon=true" in words
    assert "--config=static" not in words
    # It can use an emulated DSP, at least.
    find_program(Abi.ARM64_V8A, options, dsp=True)
    monkeypatch.setenv("ANDROID_NDK_HOME", str(_ndk(tmp_path / "ndk", "25.2.1")))
    program = find_program(Abi.ARM64_V8A, options, gpu=True, dsp=True)
    assert program == tmp_path / "bin" / "arm64-v8a-ndk-gpu-dsp" / "mace_run"


def test_the_code_of_the_dsp_is_built_for_the_oldest_one(
    tools: Path, tmp_path: Path
) -> None:
    _bazel(tools)
    (tools / "bazel-bin/mace/skel").mkdir()
    (tools / "bazel-bin/mace/skel/code.so").write_text("code")
    options = RunOptions(build_dir=tmp_path)
    path = find_dsp_program("//mace/skel:code.so", 66, options)
    assert path == tmp_path / "bin/hexagon_v66/code.so"
    assert path.read_text() == "code"
    lines = (tools / "log").read_text().splitlines()
    assert "build --config=hexagon_v66" in lines[0]
    assert lines[0].endswith("//mace/skel:code.so")
    assert find_dsp_program("//mace/skel:code.so", 66, options) == path
    assert len((tools / "log").read_text().splitlines()) == len(lines)


def _ndk(folder: Path, revision: str) -> Path:
    programs = folder / "toolchains/llvm/prebuilt/linux-x86_64/bin"
    programs.mkdir(parents=True)
    (programs / "clang").touch()
    (folder / "source.properties").write_text(f"Pkg.Revision = {revision}\n")
    return folder


def test_another_ndk_builds_anew(
    tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _bazel(tools)
    options = RunOptions(build_dir=tmp_path / "build")
    homes = {name: _ndk(tmp_path / name, name) for name in ("25.2.1", "27.0.1")}
    found = []
    for name, builds in (("25.2.1", 1), ("25.2.1", 1), ("27.0.1", 2), ("25.2.1", 3)):
        monkeypatch.setenv("ANDROID_NDK_HOME", str(homes[name]))
        found.append(find_program(Abi.ARM64_V8A, options))
        assert (tools / "log").read_text().count("build ") == builds
    assert set(found) == {tmp_path / "build/bin/arm64-v8a-ndk/mace_run"}
    # The same folder, and another NDK unpacked there.
    (homes["25.2.1"] / "source.properties").write_text("Pkg.Revision = 26.1.2\n")
    find_program(Abi.ARM64_V8A, options)
    assert (tools / "log").read_text().count("build ") == 4


def test_no_sanitizer_on_android(tools: Path, tmp_path: Path) -> None:
    _bazel(tools)
    options = RunOptions(build_dir=tmp_path, address_sanitizer=True)
    with pytest.raises(UnsupportedError, match="arm64-v8a"):
        find_program(Abi.ARM64_V8A, options)


def test_without_bazel(
    tools: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    options = RunOptions(build_dir=tmp_path / "build")
    with pytest.raises(MissingToolError, match=r"bazel is missing.*tools/setup\.sh"):
        find_program(Abi.HOST, options)
    program = _existing(tmp_path / "build", 10 * 365 * 86400)
    assert find_program(Abi.HOST, options) == program
    assert "older than its sources" in caplog.text


def test_a_failed_build_shows_its_last_words(tools: Path, tmp_path: Path) -> None:
    _bazel(tools, status=1)
    with pytest.raises(BuildError, match="error: oops"):
        find_program(Abi.HOST, RunOptions(build_dir=tmp_path / "build"))
    assert not (tmp_path / "build").exists()


def test_a_program_for_accelerators_can_load_their_libraries(
    tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _bazel(tools)
    monkeypatch.delenv("ANDROID_NDK_HOME", raising=False)
    options = RunOptions(build_dir=tmp_path)
    program = find_program(Abi.HOST, options, accelerators=("apu", "htp"))
    assert program == tmp_path / "bin" / "host-apu-htp" / "mace_run"
    words = (tools / "log").read_text().split()
    assert {"--define=delegates=true", "--define=apu=true", "--define=htp=true"} < set(
        words
    )
    assert "--config=static" not in words
    with pytest.raises(UnsupportedError, match="cannot load the vendor's library"):
        find_program(Abi.ARM64_V8A, options, accelerators=("apu",))
