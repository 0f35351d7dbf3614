# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import argparse
import io
import json
import os
import re
import stat
from pathlib import Path
from typing import Any, Dict, List, Optional

import pytest

from mace.python.tools.doctor import command, requirements
from mace.python.tools.doctor.computer import Computer, Version, at_least, parse_version
from mace.python.tools.doctor.diagnosis import Diagnosis, State, diagnose
from mace.python.tools.doctor.requirements import included, listed, read_tasks
from setup import tables

TASKS = list(read_tasks(command.ROOT))
PROGRAMS = {
    "protoc": "libprotoc 3.21.12",
    "bazel": "bazel 5.4.1",
    "clang-19": "Debian clang version 19.1.7 (3)\nTarget: x86_64",
    "ld.lld-19": "Debian LLD 19.1.7 (compatible with GNU linkers)",
    "llvm-ar-19": "LLVM (http://llvm.org/):\n  Debian LLVM version 19.1.7",
    "llvm-strip-19": "llvm-strip, compatible with GNU strip\nLLVM version 19.1.7",
    "git": "git version 2.39.5",
    "cmake": "cmake version 3.25.1\n\nCMake suite maintained and supported by Kitware",
    "pkg-config": "1.8.1",
    "make": "GNU Make 4.3",
    "fish": "fish, version 3.6.0",
    "zsh": "zsh 5.9 (x86_64-debian-linux-gnu)",
    "gdb-multiarch": "GNU gdb (Debian 13.1-3) 13.1",
    "gdbserver": "GNU gdbserver (Debian 13.1-3) 13.1",
    "clang-format-19": "Debian clang-format version 19.1.7",
    "qemu-aarch64": "qemu-aarch64 version 7.2.11 (Debian 1:7.2)",
    "qemu-arm": "qemu-arm version 7.2.11 (Debian 1:7.2)",
    "qemu-hexagon": "qemu-hexagon version 7.2.11 (Debian 1:7.2)",
    "qemu-aarch64-static": "qemu-aarch64 version 7.2.11 (Debian 1:7.2)",
    "qemu-arm-static": "qemu-arm version 7.2.11 (Debian 1:7.2)",
    # Lists a phone that has what one can have; it prints all at any question.
    "adb": """Android Debug Bridge version 1.0.41
s0    device usb:1-1 product:p model:Xiaomi_13
dsp-property ro.soc.manufacturer QTI
dsp-property ro.soc.model SM8550
dsp-node /dev/fastrpc-cdsp open
dsp-library /vendor/lib64/libcdsprpc.so
accelerator-library htp open /vendor/lib64/libQnnHtp.so
accelerator-library hta open /vendor/lib64/libhta_hexagon_runtime.so
accelerator-library apu open /vendor/lib64/libneuron_adapter.so""",
    "ssh": "OpenSSH_9.2p1 Debian-2, OpenSSL 3.0.15",
    "rsync": "rsync  version 3.2.7  protocol version 31",
    "oclgrind": "\nOclgrind 21.10\n\nCopyright (c) 2013-2019",
    "javac": "javac 17.0.15",
    "buildah": "buildah version 1.28.2 (image-spec 1.1.0-rc2)",
    "docker": "Docker version 20.10.24, build 297e128",
}
FILES = (
    "/usr/include/c++/12",
    "/usr/include/protozero/pbf_reader.hpp",
    "/usr/include/CLI/CLI.hpp",
    "/usr/include/nlohmann/json.hpp",
    "/usr/include/CL/cl.h",
    "/usr/src/googletest/googletest/src/gtest.cc",
    "/usr/aarch64-linux-gnu/include/c++",
    "/usr/arm-linux-gnueabihf/include/c++",
    "/usr/arm-linux-gnueabi/include/c++",
    "/usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.asan-x86_64.a",
    "/usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.fuzzer-x86_64.a",
    "/usr/include/CL/cl.h",
    "/etc/OpenCL/vendors/pocl.icd",
    "/usr/sbin/debootstrap",
    "/usr/sbin/sshd",
    "/usr/include/sodium.h",
    "/usr/include/zlib.h",
    "/usr/lib/jvm/default-java/include/jni.h",
    "/usr/include/android/nativehelper/jni.h",
    "/usr/share/java/junit4.jar",
)


class FakeComputer(Computer):
    """A computer whose Python packages are the ones a test names."""

    installed: Dict[str, Version]
    modules: bool = True
    cl: Dict[str, Any]

    @property
    def in_venv(self) -> bool:
        return False

    def opencl(self) -> Dict[str, Any]:
        return self.cl

    def has_module(self, name: str) -> bool:
        return self.modules

    def package(self, distribution: str) -> Optional[Version]:
        return self.installed.get(distribution)


def write_program(path: Path, output: str, status: int = 0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Shell built-ins only: PATH holds nothing but these programs.
    lines = "\n".join(f"echo '{line}'" for line in output.splitlines())
    path.write_text(f"#!/bin/sh\n{lines}\nexit {status}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def opencl(*versions: str) -> Dict[str, Any]:
    """A computer's OpenCL, with a device of each version."""
    devices = [
        {"platform": "P", "device": "GPU", "version": v, "is_gpu": True}
        for v in versions
    ]
    return {"library": "libOpenCL.so.1", "devices": devices}


_NO_LOADER = {"problem": "libOpenCL.so.1: cannot open shared object file: No such file"}


@pytest.fixture
def computer(tmp_path: Path) -> FakeComputer:
    """A computer that has everything."""
    for name, output in PROGRAMS.items():
        write_program(tmp_path / "bin" / name, output)
    write_program(tmp_path / "usr" / "bin" / "python3", "6.0")
    for file in FILES:
        target = tmp_path / file.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    ndk = tmp_path / "ndk"
    compiler = ndk / "toolchains" / "llvm" / "prebuilt" / "linux-x86_64" / "bin"
    compiler.mkdir(parents=True)
    (compiler / "clang").touch()
    (ndk / "source.properties").write_text(
        "Pkg.Desc = Android NDK\nPkg.Revision = 25.2.9519653\n", encoding="utf-8"
    )
    variables = {"PATH": str(tmp_path / "bin"), "ANDROID_NDK_HOME": str(ndk)}
    made = FakeComputer(command.ROOT, variables, tmp_path, (3, 11, 2))
    names = [
        requirement.name
        for requirement in requirements.requirements(command.ROOT)
        if requirement.group == "Python packages"
    ]
    # Newer than every minimum.
    object.__setattr__(made, "installed", dict.fromkeys(names, (9999,)))
    object.__setattr__(made, "cl", opencl("OpenCL 3.0 CUDA"))
    return made


def problems(found: Diagnosis) -> List[str]:
    return [problem.requirement.name for problem in found.problems]


def state_of(found: Diagnosis, name: str) -> State:
    return next(
        finding.state for finding in found.findings if finding.requirement.name == name
    )


@pytest.mark.parametrize("task", TASKS)
def test_complete_computer_is_ready(computer: FakeComputer, task: str) -> None:
    found = diagnose(task, computer)
    assert problems(found) == []
    assert found.ready
    assert {finding.state for finding in found.findings} == {State.GOOD}


@pytest.mark.parametrize(
    ("missing", "tasks"),
    [
        ("protoc", set(TASKS) - {"build", "cross", "java"}),
        ("bazel", set(TASKS) - {"convert", "docs", "keras"}),
        ("qemu-arm", {"dsp", "cross", "farm", "test", "all"}),
        ("adb", {"phone", "accelerators", "devices", "farm", "test", "all"}),
        ("rsync", {"board", "devices", "farm", "test", "all"}),
        ("make", {"protect", "farm", "test", "all"}),
        ("javac", {"java", "test", "all"}),
        ("gdb-multiarch", {"test", "all"}),
        ("docker", set()),
    ],
)
def test_missing_program_stops_its_tasks_alone(
    computer: FakeComputer, missing: str, tasks: set[str]
) -> None:
    (Path(computer.variables["PATH"]) / missing).unlink()
    for task in TASKS:
        found = diagnose(task, computer)
        assert problems(found) == ([missing] if task in tasks else [])
        expected = State.MISSING if task in tasks else State.NOT_NEEDED
        assert state_of(found, missing) is expected


@pytest.mark.parametrize(
    ("name", "output", "text"),
    [
        ("bazel", "bazel 3.7.2", "3.7.2 is too old"),
        ("bazel", "bazel 8.0.0", "8.0.0 is too new"),
        ("ld.lld-19", "LLD 18.1.8", "18.1.8 is too old"),
    ],
)
def test_wrong_version_is_named(
    computer: FakeComputer, name: str, output: str, text: str
) -> None:
    write_program(Path(computer.variables["PATH"]) / name, output)
    found = diagnose("build", computer)
    assert [problem.found.text for problem in found.problems] == [text]
    assert state_of(found, name) is State.UNFIT


@pytest.mark.parametrize(
    ("packaged", "ready"), [("4.2.3+ds-9", True), ("3.5.1+ds-2", False), ("", True)]
)
def test_bazel_without_version_is_asked_of_its_package(
    computer: FakeComputer, packaged: str, ready: bool
) -> None:
    folder = Path(computer.variables["PATH"])
    write_program(folder / "bazel", "bazel no_version")
    write_program(folder / "dpkg-query", packaged, 0 if packaged else 1)
    assert diagnose("build", computer).ready is ready


def test_program_that_fails_is_unfit(computer: FakeComputer) -> None:
    write_program(Path(computer.variables["PATH"]) / "bazel", "no licence", 1)
    found = diagnose("build", computer)
    assert problems(found) == ["bazel"]
    assert "does not run" in found.problems[0].found.text


def test_packages_are_checked_against_the_lists(computer: FakeComputer) -> None:
    del computer.installed["onnx"]
    computer.installed["pydantic"] = (1, 10)
    computer.installed.pop("onnxruntime")
    assert problems(diagnose("convert", computer)) == ["onnx", "pydantic"]
    found = diagnose("validate", computer)
    assert problems(found) == ["onnx", "pydantic", "onnxruntime"]
    assert found.remedies == [
        "bash tools/setup.sh --for convert",
        "bash tools/setup.sh --for validate",
    ]


def test_old_python_is_a_problem(computer: FakeComputer) -> None:
    object.__setattr__(computer, "python", (3, 8, 10))
    assert problems(diagnose("convert", computer)) == ["python"]


@pytest.mark.parametrize(
    ("revision", "text"),
    [("17.2.4988734", "is NDK r17, which is too old"), ("", "no Pkg.Revision")],
)
def test_old_ndk_is_a_problem(computer: FakeComputer, revision: str, text: str) -> None:
    properties = Path(computer.variables["ANDROID_NDK_HOME"]) / "source.properties"
    line = f"Pkg.Revision = {revision}\n" if revision else "\n"
    properties.write_text(line, encoding="utf-8")
    found = diagnose("phone", computer)
    assert problems(found) == ["Android NDK"]
    assert text in found.problems[0].found.text


def test_no_ndk_will_do(computer: FakeComputer) -> None:
    variables = {"PATH": computer.variables["PATH"]}
    object.__setattr__(computer, "variables", variables)
    assert diagnose("phone", computer).ready


@pytest.mark.parametrize("task", TASKS)
def test_an_ndk_spares_phones_the_libraries_for_linux(
    computer: FakeComputer, task: str
) -> None:
    names = ["arm64 C++ headers", "armhf C++ headers"]
    for triple in ("aarch64-linux-gnu", "arm-linux-gnueabihf"):
        (computer.path(f"/usr/{triple}/include/c++")).unlink()
    linux = {"cross", "board", "devices", "farm", "test", "all"}
    assert problems(diagnose(task, computer)) == (names if task in linux else [])
    variables = {"PATH": computer.variables["PATH"]}
    object.__setattr__(computer, "variables", variables)
    needing = {*linux, "phone"}
    # A vendor's library is opened by programs of an NDK alone.
    others = ["NDK for mace_run"] if task == "accelerators" else []
    assert problems(diagnose(task, computer)) == (names if task in needing else others)


def test_wrong_ndk_folder_is_named(computer: FakeComputer, tmp_path: Path) -> None:
    variables = {**computer.variables, "ANDROID_NDK_HOME": str(tmp_path)}
    object.__setattr__(computer, "variables", variables)
    found = diagnose("phone", computer)
    assert str(tmp_path) in found.problems[0].found.text


def test_bare_computer_lists_every_piece_once(tmp_path: Path) -> None:
    bare = FakeComputer(command.ROOT, {"PATH": ""}, tmp_path, (3, 9, 0))
    object.__setattr__(bare, "installed", {})
    object.__setattr__(bare, "cl", _NO_LOADER)
    found = diagnose("run", bare)
    names = [finding.requirement.name for finding in found.findings]
    assert len(names) == len(set(names))
    assert not found.ready
    assert "python" not in problems(found)
    assert found.remedies == [
        "bash tools/setup.sh --for convert",
        "bash tools/setup.sh --for build",
    ]


@pytest.mark.parametrize("plain", [False, True])
def test_table_names_problem_and_remedy(
    computer: FakeComputer, monkeypatch: pytest.MonkeyPatch, plain: bool
) -> None:
    (Path(computer.variables["PATH"]) / "adb").unlink()
    if plain:

        def no_rich(found: Diagnosis, stream: object) -> None:
            raise ImportError("rich")

        monkeypatch.setattr(command, "_show_rich", no_rich)
    stream = io.StringIO()
    command.show(diagnose("phone", computer), stream)
    text = stream.getvalue()
    assert "missing" in next(
        line for line in text.splitlines() if " adb " in f" {line}"
    )
    assert "Not ready to run models on phones, by adb: 1 of" in text
    assert "bash tools/setup.sh --for phone" in text


def run_command(arguments: List[str]) -> int:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return command.run(parser.parse_args(arguments))


def test_command_exits_2_on_a_bare_path(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setitem(os.environ, "PATH", str(tmp_path))
    assert run_command(["--for", "build", "--json"]) == 2
    report = json.loads(capsys.readouterr().out)
    assert report["task"] == "build"
    assert report["ready"] is False
    states = {check["name"]: check["state"] for check in report["checks"]}
    assert states["bazel"] == "missing"
    assert states["adb"] == "not needed"


def test_unknown_task_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as error:
        run_command(["--for", "cooking"])
    assert error.value.code == 2
    assert "cooking" in capsys.readouterr().err


def test_versions() -> None:
    assert parse_version("bazel 4.2.3- (@non-git)") == (4, 2, 3)
    assert parse_version("none") == ()
    assert at_least((4, 2), (4, 2, 0))
    assert at_least((10,), (9, 9))
    assert not at_least((4, 1, 9), (4, 2))


def test_every_problem_has_a_remedy() -> None:
    for requirement in requirements.requirements(command.ROOT):
        assert requirement.mend
        assert requirement.tasks or requirement.use
        assert set(requirement.tasks) <= set(TASKS)


def test_models_of_tensorflow_need_tensorflow(computer: FakeComputer) -> None:
    del computer.installed["tensorflow"]
    assert diagnose("validate", computer).ready
    assert problems(diagnose("tensorflow", computer)) == ["tensorflow"]
    assert problems(diagnose("test", computer)) == ["tensorflow"]


def test_a_python_without_venv_is_a_problem(computer: FakeComputer) -> None:
    object.__setattr__(computer, "modules", False)
    assert problems(diagnose("convert", computer)) == ["venv"]


def test_the_chosen_bazel_is_looked_at(computer: FakeComputer, tmp_path: Path) -> None:
    write_program(tmp_path / "other" / "bazelisk", "bazel 8.1.0")
    computer_bazel = {"BAZEL": str(tmp_path / "other" / "bazelisk")}
    object.__setattr__(computer, "variables", {**computer.variables, **computer_bazel})
    found = diagnose("build", computer)
    assert [problem.found.text for problem in found.problems] == ["8.1.0 is too new"]


@pytest.mark.parametrize(
    ("cl", "variable", "missing", "text"),
    [
        (_NO_LOADER, "", ["OpenCL loader", "OpenCL device"], ""),
        (
            {"problem": "a driver crashes"},
            "",
            ["OpenCL loader", "OpenCL device"],
            "a driver crashes",
        ),
        (
            _NO_LOADER,
            "/own/lib.so",
            ["OpenCL loader", "OpenCL device"],
            "MACE_OPENCL_LIBRARY=/own/lib.so: ",
        ),
        (opencl(), "", ["OpenCL device"], "no device; drivers installed: pocl"),
        (opencl("OpenCL 1.1 x"), "", ["OpenCL device"], "too old: GPU (OpenCL 1.1)"),
        (opencl("OpenCL 1.1", "OpenCL 1.2"), "", [], "GPU (OpenCL 1.2)"),
    ],
)
def test_a_gpu_needs_a_device_of_opencl(
    computer: FakeComputer,
    cl: Dict[str, Any],
    variable: str,
    missing: List[str],
    text: str,
) -> None:
    object.__setattr__(computer, "cl", cl)
    set_variables = {**computer.variables, "MACE_OPENCL_LIBRARY": variable}
    object.__setattr__(computer, "variables", set_variables)
    found = diagnose("gpu", computer)
    assert problems(found) == missing
    assert any(text in finding.found.text for finding in found.findings)
    if missing:
        assert "the driver of the GPU's vendor" in found.remedies[-1]
    # Nothing else needs one, besides the tests.
    assert diagnose("run", computer).ready


@pytest.mark.parametrize("has_nvidia", [False, True])
def test_a_processor_is_no_gpu(computer: FakeComputer, has_nvidia: bool) -> None:
    found = opencl("OpenCL 3.0 PoCL")
    found["devices"][0]["is_gpu"] = False
    object.__setattr__(computer, "cl", found)
    library = computer.path("/usr/lib64/libnvidia-opencl.so.1")
    if has_nvidia:
        library.parent.mkdir(parents=True, exist_ok=True)
        library.touch()
    diagnosis = diagnose("gpu", computer)
    texts = [finding.found.text for finding in diagnosis.findings]
    assert any("no GPU, only GPU (OpenCL 3.0)" in text for text in texts)
    assert problems(diagnosis) == (["OpenCL device"] if has_nvidia else [])
    if has_nvidia:
        assert any("no file in /etc/OpenCL/vendors names it" in text for text in texts)
        assert "/etc/OpenCL/vendors/nvidia.icd" in diagnosis.remedies[-1]


def test_headers_of_opencl_are_looked_for(computer: FakeComputer) -> None:
    computer.path("/usr/include/CL/cl.h").unlink()
    assert problems(diagnose("gpu", computer)) == ["OpenCL headers"]


def test_the_devices_of_this_computer() -> None:
    found = Computer(command.ROOT).opencl()
    if "problem" in found:
        assert "OpenCL" in found["problem"]
        pytest.skip("no OpenCL loader")
    for device in found["devices"]:
        assert device["device"]
        assert device["platform"]
        assert device["version"].startswith("OpenCL ")
        assert isinstance(device["is_gpu"], bool)


def test_a_library_that_is_none_is_a_problem(tmp_path: Path) -> None:
    library = tmp_path / "libOpenCL.so"
    library.write_text("no library")
    variables = {**os.environ, "MACE_OPENCL_LIBRARY": str(library)}
    assert "libOpenCL.so" in Computer(command.ROOT, variables).opencl()["problem"]


def test_every_package_of_the_distribution_has_a_probe() -> None:
    packages = {item.name for item in listed(command.ROOT) if item.kind == "apt"}
    assert packages == set(requirements._PIECES)


@pytest.mark.parametrize("task", TASKS)
def test_doctor_and_setup_agree_on_a_task(task: str) -> None:
    wanted = included(read_tasks(command.ROOT), task)
    ours = {
        (item.kind, item.name)
        for item in listed(command.ROOT)
        if not wanted.isdisjoint(item.tasks)
    }
    theirs = {
        (kind, re.split("[=>]=", name)[0]) for kind, name in tables.packages(task)
    }
    assert ours == theirs


def test_doctor_and_setup_have_the_same_tasks() -> None:
    assert tables.tasks() == TASKS


def test_models_of_caffe_need_opencv(computer: FakeComputer) -> None:
    computer.installed["opencv-python-headless"] = (4, 4)
    assert problems(diagnose("caffe", computer)) == ["opencv-python-headless"]
    computer.installed["opencv-python-headless"] = (4, 5, 1)
    assert diagnose("caffe", computer).ready
