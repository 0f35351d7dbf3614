# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs for the GPU, with a stand-in for a `mace_run` that has a GPU runtime.

The stand-in notes its arguments and MACE_ variables, leaves the files that such a
program leaves, and runs the model on the CPU.
"""

from __future__ import annotations

import dataclasses
import io
import logging
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from rich.console import Console

from mace.python.tools.config.vocabulary import Abi, Runtime
from mace.python.tools.devices import (
    CommandResult,
    DeviceProperties,
    DeviceQuery,
    HostDevice,
    close_all,
    find_devices,
)
from mace.python.tools.errors import MissingToolError, UnsupportedError
from mace.python.tools.report.results import RunReport
from mace.python.tools.run import accelerator_files, deployment_run
from mace.python.tools.run.accelerator_files import (
    _FILES,
    DspFiles,
    OpenclFiles,
    uses_gpu,
)
from mace.python.tools.run.deployment_run import _with_gpu, run_models
from mace.python.tools.run.options import GpuHint, RunOptions
from mace.python.tools.run.program import find_program
from mace.python.tools.run.testing.project import Project
from test.device_farm.farm import Farm, Running

_ROOT = Path(__file__).resolve().parents[4]

_GPU = Runtime.GPU

_STAND_IN = """\
#!/bin/bash
printf '%s\\n' "$@" "$(tail -1 "$0")" > '{record}'
env | grep ^MACE_ >> '{record}'
store=$MACE_INTERNAL_STORAGE_PATH
if [[ -n $store && -z '{writes_nothing}' ]]; then
  printf kernel >> "$store/mace_cl_compiled_program.bin"
  if [[ $MACE_TUNING == 1 ]]; then
    printf parameter >> "$store/mace_cl_tuned_parameter.bin"
  fi
fi
for word; do
  case $word in
    --runtime=*) set -- "$@" --runtime=cpu ;;
    *) set -- "$@" "$word" ;;
  esac
  shift
done
exec '{mace_run}' "$@"
"""


def _install(project: Project, mace_run: Path, writes_nothing: str = "") -> Path:
    """Puts it in place of both programs; returns where it notes its request."""
    record = project.folder / "request"
    text = _STAND_IN.format(
        record=record, mace_run=mace_run, writes_nothing=writes_nothing
    )
    for variant in ("host", "host-gpu"):
        program = project.build_dir / "bin" / variant / "mace_run"
        program.parent.mkdir(exist_ok=True)
        program.unlink(missing_ok=True)
        program.write_text(text + f"# {variant}\n")
        program.chmod(0o755)
    return record


@pytest.fixture
def record(project: Project, mace_run: Path, release_with_gpu: None) -> Path:
    return _install(project, mace_run)


def _run(
    project: Project, runtime: str = "gpu", socs: str = "", **options: Any
) -> RunReport:
    deployment = project.deployment(runtime=runtime)
    if socs:
        deployment = deployment.model_copy(update={"target_socs": (socs,)})
    project.convert(deployment)
    return project.run(deployment, **options)


def test_mace_run_is_asked_for_the_gpu(project: Project, record: Path) -> None:
    report = _run(
        project,
        gpu_perf_hint=GpuHint.LOW,
        gpu_priority_hint=GpuHint.NORMAL,
        opencl_cache_reuse_policy=0,
        gpu_out_of_range_check=True,
        validate=True,
    )
    assert report.runs[0].failure == ""
    assert report.runs[0].runtime is Runtime.GPU
    asked = record.read_text().splitlines()
    for line in (
        "--runtime=gpu",
        "--gpu_perf_hint=1",
        "--gpu_priority_hint=2",
        "--opencl_cache_reuse_policy=0",
        "--gpu_out_of_range_check=true",
        "MACE_INTERNAL_STORAGE_PATH=opencl/lib/host",
        "MACE_TUNING=0",
        "# host-gpu",
    ):
        assert line in asked
    assert (project.build_dir / "lib" / "model" / "gpu" / "log.csv").is_file()
    # Only a deployment for certain SoCs is tuned and copied.
    assert not (project.build_dir / "lib" / "opencl").exists()


def test_cpu_and_gpu_asks_for_both(project: Project, record: Path) -> None:
    report = _run(project, "cpu+gpu")
    assert report.runs[0].runtime is Runtime.CPU_GPU
    assert "--runtime=cpu+gpu" in record.read_text().splitlines()


def test_the_cpu_is_asked_for_nothing_of_the_gpu(
    project: Project, record: Path
) -> None:
    _run(project, "cpu")
    asked = record.read_text()
    assert "# host\n" in asked
    assert "gpu" not in asked and "opencl" not in asked
    assert "MACE_TUNING" not in asked


@pytest.mark.parametrize("by", ["target_socs", "--tuning"])
def test_tuned_files_are_copied(project: Project, record: Path, by: str) -> None:
    for _ in range(2):
        # The second run has no files of the first in its folder.
        if by == "target_socs":
            _run(project, socs="sdm845")
        else:
            _run(project, tuning=True)
        assert "MACE_TUNING=1" in record.read_text().splitlines()
        folder = project.build_dir / "lib" / "opencl" / "host"
        found = {path.name: path.read_text() for path in folder.iterdir()}
        assert found == {
            "lib_compiled_opencl_kernel.host.bin": "kernel",
            "lib_tuned_opencl_parameter.host.bin": "parameter",
        }


def test_a_real_program_is_tuned(
    project: Project,
    release_with_gpu: None,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """On the OpenCL driver of this computer."""
    program = find_program(Abi.HOST, RunOptions(build_dir=_ROOT / "build"), gpu=True)
    place = project.build_dir / "bin" / "host-gpu" / "mace_run"
    place.parent.mkdir()
    shutil.copy(program, place)
    # The model is so small that it would run on the CPU.
    monkeypatch.setenv("MACE_OPENCL_PLACE_ALL", "1")
    with caplog.at_level(logging.WARNING):
        report = _run(project, "cpu+gpu", "sdm845", cl_binary_to_code=True)
    assert report.runs[0].failure == ""
    folder = project.build_dir / "lib" / "opencl" / "host"
    kernels = folder / "lib_compiled_opencl_kernel.host.bin"
    parameters = folder / "lib_tuned_opencl_parameter.host.bin"
    for path in (kernels, parameters):
        assert path.read_bytes().startswith(b"MACEKV1\n")
        assert path.with_name(f"{path.name}.cc").is_file()
    assert b"TILE" in parameters.read_bytes()
    assert not caplog.records


def test_copied_files_become_code(project: Project, record: Path) -> None:
    assert record.parent.is_dir()
    _run(project, socs="sdm845", cl_binary_to_code=True)
    folder = project.build_dir / "lib" / "opencl" / "host"
    assert {path.name for path in folder.glob("*.cc")} == {
        "lib_compiled_opencl_kernel.host.bin.cc",
        "lib_tuned_opencl_parameter.host.bin.cc",
    }


def test_without_tuning_kernels_are_copied_alone(
    project: Project, record: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        _run(project, socs="sdm845", disable_tuning=True)
    assert "MACE_TUNING=0" in record.read_text().splitlines()
    folder = project.build_dir / "lib" / "opencl" / "host"
    assert [path.name for path in folder.iterdir()] == [
        "lib_compiled_opencl_kernel.host.bin"
    ]
    assert not caplog.records


def test_what_only_explains_a_model_tunes_nothing(
    project: Project, record: Path
) -> None:
    deployment = project.deployment(runtime="gpu")
    deployment = deployment.model_copy(update={"target_socs": ("sdm845",)})
    project.convert(deployment)
    options = RunOptions(build_dir=project.build_dir)
    run_models(deployment, options, Console(file=io.StringIO()), {"m": {"": _GPU}})
    assert "MACE_TUNING=0" in record.read_text().splitlines()
    assert not (project.build_dir / "lib" / "opencl").exists()


def test_files_that_are_not_there_are_told(
    project: Project,
    mace_run: Path,
    record: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert record == _install(project, mace_run, writes_nothing="yes")
    with caplog.at_level(logging.WARNING):
        report = _run(project, tuning=True)
    assert report.runs[0].failure == ""
    assert (
        "host (host): mace_run has written no compiled OpenCL kernel and no tuned "
        "OpenCL parameter"
    ) in caplog.text


def test_names_have_the_device_and_its_soc(tmp_path: Path) -> None:
    device = HostDevice(tmp_path / "device")
    deployment_files = OpenclFiles("net", tmp_path / "opencl", True, True, False)
    folder = tmp_path / "device" / deployment_files.store(Abi.ARM64_V8A).folder
    folder.mkdir(parents=True)
    for name in _FILES:
        (folder / name).write_text(name)
    properties = DeviceProperties("Mi Note 3/x", "serial", (), soc="sdm660")
    deployment_files.collect(device, properties, Abi.ARM64_V8A)
    found = sorted(p.name for p in (tmp_path / "opencl" / "arm64-v8a").iterdir())
    assert found == [
        "net_compiled_opencl_kernel.MiNote3_x.sdm660.bin",
        "net_tuned_opencl_parameter.MiNote3_x.sdm660.bin",
    ]
    nothing = dataclasses.replace(
        deployment_files, collects=False, target=tmp_path / "other"
    )
    nothing.collect(device, properties, Abi.ARM64_V8A)
    nothing.begin(device, Abi.ARM64_V8A)
    assert not (tmp_path / "other").exists() and folder.is_dir()
    deployment_files.begin(device, Abi.ARM64_V8A)
    assert not folder.exists()


def _collect(query: DeviceQuery, target: Path) -> list[str]:
    """What is copied from the folders of the devices, after two runs."""
    devices = find_devices(query)
    files = OpenclFiles("net", target, True, True, False)
    try:
        for item in devices.found:
            for abi in item.abis:
                item.device.prepare()
                files.begin(item.device, abi)
                folder = files.store(abi).folder
                item.device.make_folder(folder)
                for name in _FILES:
                    item.device.push(target.with_name(name), folder / name)
                files.collect(item.device, item.properties, abi)
                files.begin(item.device, abi)
                assert not item.device.has_file(folder / next(iter(_FILES)))
    finally:
        close_all(devices)
    found = [path for path in target.rglob("*") if path.is_file()]
    assert all(path.read_text() in path.name for path in found)
    return sorted(str(path.relative_to(target)) for path in found)


def _write_files(folder: Path) -> None:
    for name, what in _FILES.items():
        (folder / name).write_text(what.lower().replace(" ", "_"))


def test_phones_give_their_files(phones: list[Running], tmp_path: Path) -> None:
    assert len(phones) == 2
    _write_files(tmp_path)
    query = DeviceQuery((Abi.ARM64_V8A, Abi.ARMEABI_V7A), tmp_path)
    expected = [
        f"{abi}/net_{what}.{device}.bin"
        for abi, device in (
            ("arm64-v8a", "MI6.msm8998"),
            ("armeabi-v7a", "MI6.msm8998"),
            ("armeabi-v7a", "RedmiGo.msm8937"),
        )
        for what in ("compiled_opencl_kernel", "tuned_opencl_parameter")
    ]
    assert _collect(query, tmp_path / "opencl") == sorted(expected)


def test_boards_give_their_files(
    boards: list[Running], farm: Farm, tmp_path: Path
) -> None:
    _write_files(tmp_path)
    query = DeviceQuery((Abi.ARM64, Abi.ARMHF), tmp_path, device_yml=farm.devices_yml)
    expected = [
        f"{abi}/net_{what}.{device}.bin"
        for abi, device in (
            ("arm64", "nanopi.rk3399"),
            ("armhf", "nanopi.rk3399"),
            ("armhf", "raspberry.bcm2837"),
        )
        for what in ("compiled_opencl_kernel", "tuned_opencl_parameter")
    ]
    assert len(boards) == 2
    assert _collect(query, tmp_path / "opencl") == sorted(expected)


def test_disabled_tuning_forgets_what_was_tuned(tmp_path: Path) -> None:
    device = HostDevice(tmp_path / "device")
    kept = OpenclFiles("net", tmp_path / "opencl", False, False, False)
    folder = tmp_path / "device" / kept.store(Abi.HOST).folder
    folder.mkdir(parents=True)
    for name in _FILES:
        (folder / name).write_text(name)
    kept.begin(device, Abi.HOST)
    assert {path.name for path in folder.iterdir()} == set(_FILES)
    for _ in range(2):
        dataclasses.replace(kept, forgets=True).begin(device, Abi.HOST)
        assert [path.name for path in folder.iterdir()] == [next(iter(_FILES))]


def test_all_socs_are_no_certain_ones(project: Project) -> None:
    for socs, expected in (
        ((), False),
        (("all",), False),
        (("sdm845",), True),
        (("sdm845", "kirin970"), True),
    ):
        deployment = project.deployment().model_copy(update={"target_socs": socs})
        assert OpenclFiles.of(deployment, RunOptions(), True).collects is expected
        assert not OpenclFiles.of(deployment, RunOptions(), False).tuning


def test_a_model_is_for_the_gpu_if_a_part_is() -> None:
    assert uses_gpu([Runtime.CPU, Runtime.CPU_GPU])
    assert not uses_gpu([Runtime.CPU])


def test_the_runtime_names_its_files_so() -> None:
    header = _ROOT / "mace" / "runtimes" / "opencl_options" / "opencl_options.h"
    names = re.findall(r'Name\[\] = "(.*)";', header.read_text("utf-8"))
    # What the self-test found holds for one device, and stays on it.
    assert set(names) == {*_FILES, "mace_cl_self_test.bin"}


def test_phones_without_an_ndk_use_the_cpu_where_they_may(
    release_with_gpu: None,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.delenv("ANDROID_NDK_HOME", raising=False)
    both = {"m": {"": Runtime.CPU_GPU}}
    assert _with_gpu(Abi.HOST, both)
    assert not caplog.records
    assert not _with_gpu(Abi.ARM64_V8A, both)
    assert "models for cpu+gpu run on the CPU" in caplog.text
    # Building the program says that it cannot be.
    assert _with_gpu(Abi.ARM64_V8A, {**both, "n": {"": Runtime.GPU}})
    assert not _with_gpu(Abi.HOST, {"m": {"": Runtime.CPU}})


def test_an_installed_package_uses_the_cpu_where_it_may(
    release_with_gpu: None,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(deployment_run, "CHECKOUT", None)
    both = {"m": {"": Runtime.CPU_GPU}}
    assert not _with_gpu(Abi.HOST, both)
    assert "models for cpu+gpu run there" in caplog.text
    # Asking for the program says that it is not in the package.
    assert _with_gpu(Abi.HOST, {**both, "n": {"": Runtime.GPU}})


_PHONE = """dsp-property ro.soc.model SM8550
dsp-property ro.soc.manufacturer QTI
dsp-node /dev/fastrpc-cdsp open
dsp-library /vendor/lib64/libcdsprpc.so
"""
_BOARD = "dsp-property soc0.machine QRB5165\ndsp-property soc0.family Snapdragon\n"
_DSP_FILES = DspFiles(Path("program"), Path("library"))


class _Device(HostDevice):
    """One that answers, and notes what is sent."""

    def __init__(self, folder: Path, answer: str) -> None:
        super().__init__(folder)
        self.answer = answer
        self.sent: dict[str, str] = {}

    @property
    def is_local(self) -> bool:
        return not self.answer

    def push(self, local: Path, remote: PurePosixPath) -> None:
        self.sent[str(remote)] = str(local)

    def run(
        self,
        command: Sequence[str],
        env: Mapping[str, str] | None = None,
        time_limit_s: float | None = None,
        watch_memory_s: int = 0,
    ) -> CommandResult:
        return CommandResult(0, self.answer)


def test_this_computer_emulates_a_dsp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = _Device(tmp_path, "")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingToolError, match="qemu-hexagon is missing") as caught:
        _DSP_FILES.begin(device, Abi.HOST)
    assert "bash tools/setup.sh --for dsp" in str(caught.value)
    emulator = tmp_path / "qemu-hexagon-static"
    emulator.write_text("")
    emulator.chmod(0o755)
    assert _DSP_FILES.begin(device, Abi.HOST) == {
        "MACE_HEXAGON_SKEL": str(tmp_path / "mace_hexagon_skel"),
        "MACE_HEXAGON_EMULATOR": str(emulator),
    }
    assert device.sent == {"mace_hexagon_skel": "program"}


def test_a_phone_gets_the_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = _Device(tmp_path, _PHONE)
    monkeypatch.setattr(accelerator_files, "find_ndk", lambda: None)
    with pytest.raises(UnsupportedError, match="set ANDROID_NDK_HOME to an Android"):
        _DSP_FILES.begin(device, Abi.ARM64_V8A)
    assert not device.sent
    monkeypatch.setattr(accelerator_files, "find_ndk", lambda: "an NDK")
    (variables,) = _DSP_FILES.begin(device, Abi.ARM64_V8A).items()
    assert device.sent == {"libmace_hexagon_skel.so": "library"}
    name, folders = variables
    assert name == "ADSP_LIBRARY_PATH"
    assert folders.startswith(f"{tmp_path};/vendor/")


def test_a_phone_of_the_farm_gets_the_program(tmp_path: Path) -> None:
    device = _Device(tmp_path, f"{_PHONE}dsp-emulator /vendor/bin/qemu-hexagon\n")
    variables = _DSP_FILES.begin(device, Abi.ARM64_V8A)
    assert variables["MACE_HEXAGON_EMULATOR"] == "/vendor/bin/qemu-hexagon"
    assert device.sent == {"mace_hexagon_skel": "program"}


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("\n", "DSP: found the processor is not one of Qualcomm's; needed: Qualcomm's"),
        (_BOARD, "device file: there is none; needed: /dev/fastrpc-cdsp or"),
        (_PHONE.replace("SM8550", "MSM8998"), "DSP: found Hexagon v62 of msm8998"),
        (_PHONE.replace("open", "closed"), "device file: found /dev/fastrpc-cdsp may"),
        (_PHONE.replace("dsp-lib", "-"), "FastRPC library: there is none; needed: lib"),
    ],
)
def test_what_a_device_lacks_is_told(tmp_path: Path, answer: str, problem: str) -> None:
    device = _Device(tmp_path, answer)
    with pytest.raises(UnsupportedError) as caught:
        _DSP_FILES.begin(device, Abi.ARM64)
    assert f"host: runtime: dsp cannot be used; {problem}" in str(caught.value)
    assert not device.sent
