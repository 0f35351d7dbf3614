# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Models on a DSP that this computer emulates, from deployment file to report."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from mace.python.tools.bazel import DspVariant, Variant, build_program
from mace.python.tools.config.deployment import Deployment
from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.errors import MissingToolError
from mace.python.tools.report.results import ModelRun
from mace.python.tools.run.accelerator_files import DspFiles
from mace.python.tools.run.options import RunOptions
from mace.python.tools.run.program import find_program
from mace.python.tools.run.testing.project import BENCHMARK_SECTIONS, Project
from test.here import only_with_all

_ROOT = Path(__file__).resolve().parents[4]

_DEPLOYMENT = """
library_name: lib
target_abis: [host]
model_graph_format: file
model_data_format: file
models:
  m:
    platform: onnx
    model_file_path: {folder}/m.onnx
    quantize: 1
    quantize_range_file: {folder}/ranges
    nnlib_graph_mode: 1
    subgraphs:
      - input_tensors: [x]
        input_shapes: ["1,6,5,4"]
        input_ranges: ["-2,2"]
        output_tensors: [y]
        output_shapes: ["1,6,5,8"]
        validation_threshold: {{HEXAGON: {threshold}}}
    runtime: {runtime}
    data_type: {data_type}
"""
_RANGES = "x@@-2,2\nr0@@0,9\ny@@-30,30\n"


_STAND_IN = "//mace/runtimes/hexagon/testing:libfastrpc_stand_in.so"
_PHONE_CODE = "//mace/kernels/hexagon/fastrpc:emulated_skel"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    """What the fixtures below give. Programs for this computer are built first, as a
    build with other options makes Bazel forget what it knows of the sources.
    """
    only_with_all("DSPs")
    if shutil.which("qemu-hexagon") is None:
        pytest.skip("no qemu-hexagon: bash tools/setup.sh --for dsp")
    options = RunOptions(build_dir=_ROOT / "build")
    folder = tmp_path_factory.mktemp("phone")
    host = Variant(Abi.HOST, gpu=False, dsp=True)
    try:
        program = find_program(Abi.HOST, options, dsp=True)
        library = build_program(_STAND_IN, host, folder / _STAND_IN.split(":")[1])
        code = DspFiles.of((), options).program
        phone_code = folder / _PHONE_CODE.split(":")[1]
        build_program(_PHONE_CODE, DspVariant(67), phone_code)
    except MissingToolError as error:
        pytest.skip(f"cannot build mace_run: {error}")
    assert code is not None
    return program, code, library, phone_code


@pytest.fixture(scope="module")
def programs(built: tuple[Path, ...]) -> tuple[Path, ...]:
    """mace_run with the DSP runtime and the DSP's code."""
    return built[:2]


@pytest.fixture(scope="module")
def phone(built: tuple[Path, ...]) -> tuple[Path, ...]:
    """A library like a phone's FastRPC library, and the code of its DSP."""
    return built[2:]


@pytest.fixture
def dsp_project(project: Project, programs: tuple[Path, ...]) -> Project:
    """A project with these programs."""
    _give(project, programs)
    return project


def _give(project: Project, programs: tuple[Path, ...]) -> None:
    for path in programs:
        copy = project.build_dir / path.relative_to(_ROOT / "build")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    (project.folder / "ranges").write_text(_RANGES)


def _deployment(project: Project, runtime: str, threshold: float = 0.9) -> Deployment:
    text = _DEPLOYMENT.format(
        folder=project.folder,
        runtime=runtime,
        threshold=threshold,
        data_type="uint8" if runtime == "dsp" else "fp32_fp32",
    )
    return load_deployment_text(text, project.folder / "d.yml")


def _run(
    project: Project,
    runtime: str = "dsp",
    threshold: float = 0.9,
    **options: object,
) -> ModelRun:
    deployment = _deployment(project, runtime, threshold)
    project.convert(deployment)
    (run,) = project.run(deployment, **options).runs
    return run


def _devices(run: ModelRun) -> set[str]:
    return {op["device"] for op in run.report["placement"]["operators"]}


def test_the_result_is_that_of_the_cpu(dsp_project: Project, tmp_path: Path) -> None:
    outputs = {}
    for runtime in ("dsp", "cpu"):
        folder = tmp_path / runtime
        run = _run(dsp_project, runtime, validate=True, output_dir=folder)
        assert not run.failure
        assert all(comparison.passed for comparison in run.comparisons)
        assert ("dsp" in _devices(run)) == (runtime == "dsp")
        outputs[runtime] = np.fromfile(folder / "y", np.float32)
    assert outputs["dsp"].size == 240
    assert np.array_equal(outputs["dsp"], outputs["cpu"])


def test_the_least_similarity_is_that_of_hexagon(dsp_project: Project) -> None:
    run = _run(dsp_project, threshold=1.0, validate=True)
    (comparison,) = run.comparisons
    assert comparison.threshold == 1.0
    assert not comparison.passed


def test_operators_are_measured(dsp_project: Project) -> None:
    run = _run(dsp_project, benchmark=True, full=True, warmup_rounds=1)
    assert not run.failure
    printed = dsp_project.output.getvalue()
    places = [printed.index(section) for section in BENCHMARK_SECTIONS]
    assert places == sorted(places)
    ops = run.report["benchmark"]["ops"]
    convolutions = [op["avg_ms"] for op in ops if op["type"] == "Conv2D"]
    assert len(convolutions) == 2
    assert all(millis > 0 for millis in convolutions)


def test_a_computer_without_an_emulator(
    dsp_project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingToolError, match="tools/setup.sh --for dsp"):
        _run(dsp_project)


# An emulator that behaves as arguments say: {python}, {version}, {fault}, and {places}
# of its mailbox's words.
_EMULATOR = """#!{python} -S
import mmap, os, struct, sys, time
box = mmap.mmap(os.open(sys.argv[2], os.O_RDWR), 4096)
parent = os.getppid()
places = {places}
def put(name, number, word=0):
    at = places[name] + 4 * word
    box[at : at + 4] = struct.pack("<I", number)
fault = "{fault}"
if fault == "no start":
    sys.exit(3)
put("skel_version", 1000 if fault == "other release" else {version})
put("reply", 1)
request = slice(places["request"], places["request"] + 4)
while box[request] == bytes(4) and os.getppid() == parent:
    time.sleep(0.002)
if fault == "ends":
    sys.exit(7)
if fault == "signal":
    os.kill(os.getpid(), 9)
if fault == "nonsense":
    # Neither status nor instruction, and nothing is computed.
    put("result", 77)
    put("result", 12345, word=1)
    put("reply", 2)
while os.getppid() == parent:
    time.sleep(0.002)
"""
_PROGRAM = _ROOT / "mace/kernels/hexagon/program"
_FIELD = re.compile(r"^  (uint32_t|FileRange|ProgramReply) (\w+)(\[kAreas\])?;", re.M)


def _constant(name: str) -> int:
    found = re.search(rf"\b{name} = (\d+);", (_PROGRAM / "program.h").read_text())
    assert found is not None
    return int(found[1])


def _mailbox() -> dict[str, int]:
    """Where each field of struct Mailbox is, in bytes."""
    text = (_PROGRAM / "mailbox.h").read_text()
    places = {}
    at = 0
    for kind, name, is_array in _FIELD.findall(text[text.index("struct Mailbox {") :]):
        places[name] = at
        words = 2 if kind == "FileRange" else 1
        at += 4 * words * (_constant("kAreas") if is_array else 1)
    return places


@pytest.fixture(scope="module")
def right_result(
    tmp_path_factory: pytest.TempPathFactory, programs: tuple[Path, ...]
) -> tuple[Project, Deployment, bytes]:
    """A converted model, and what the CPU computes."""
    folder = tmp_path_factory.mktemp("faults")
    faulty = Project(folder / "build")
    _give(faulty, programs)
    results = []
    for runtime in ("cpu", "dsp"):
        deployment = _deployment(faulty, runtime)
        faulty.convert(deployment)
        (run,) = faulty.run(deployment, output_dir=folder / runtime).runs
        assert ("dsp" in _devices(run)) == (runtime == "dsp")
        results.append((folder / runtime / "y").read_bytes())
    assert results[0] == results[1]
    return faulty, deployment, results[0]


def _replace_emulator(folder: Path, text: str, patch: pytest.MonkeyPatch) -> None:
    """A program is qemu-hexagon from now on."""
    program = folder / "qemu-hexagon"
    program.write_text(text)
    program.chmod(0o755)
    patch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def _result(
    right_result: tuple[Project, Deployment, bytes], folder: Path
) -> tuple[set[str], str]:
    """A run that fails, or whose result is right.

    Returns:
        The devices that computed it, none if it failed; and what went wrong, if so.
    """
    faulty, deployment, wanted = right_result
    (run,) = faulty.run(deployment, output_dir=folder / "out").runs
    if run.failure:
        assert not (folder / "out/y").exists()
        return set(), run.failure
    assert (folder / "out/y").read_bytes() == wanted
    left_out = run.report["placement"]["left_out"]
    return _devices(run), " ".join(refusal["reason"] for refusal in left_out)


@pytest.mark.parametrize(
    ("fault", "message", "devices"),
    [
        # `runtime: dsp` does not mean the CPU, where there is no DSP to begin with.
        ("no start", "ended with status 3 when it started", set()),
        ("other release", "runs programs of version 1000", set()),
        ("ends", "ended with status 7 running", {"cpu"}),
        ("signal", "was ended by signal 9 running", {"cpu"}),
        ("nonsense", "the DSP refused a program: unknown status", {"cpu"}),
        ("silent", "took more than 0 s running", {"cpu"}),
    ],
)
def test_a_dsp_that_fails(
    right_result: tuple[Project, Deployment, bytes],
    fault: str,
    message: str,
    devices: set[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = _EMULATOR.format(
        python=sys.executable,
        version=_constant("kProgramVersion"),
        fault=fault,
        places=_mailbox(),
    )
    with monkeypatch.context() as patch:
        _replace_emulator(tmp_path, text, patch)
        if fault == "silent":
            patch.setenv("MACE_HEXAGON_TIMEOUT", "0.6")
        found, reason = _result(right_result, tmp_path)
    assert message in reason
    assert found == devices
    # Nothing of the fault is left.
    found, reason = _result(right_result, tmp_path)
    assert not reason
    assert "dsp" in found


@pytest.mark.parametrize("millis", [0, 30, 100])
def test_an_emulator_that_is_killed_sooner_or_later(
    right_result: tuple[Project, Deployment, bytes],
    millis: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = shutil.which("qemu-hexagon")
    text = f"""#!/bin/sh
"{real}" "$@" &
sleep 0.{millis:03}
kill -9 $!
exit 9
"""
    _replace_emulator(tmp_path, text, monkeypatch)
    found, reason = _result(right_result, tmp_path)
    # The run may be over before.
    assert "ended with status 9" in reason or "dsp" in found


def test_code_of_the_dsp_that_is_damaged_or_missing(
    right_result: tuple[Project, Deployment, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    faulty, deployment, _ = right_result
    (code,) = faulty.build_dir.glob("bin/hexagon_v67/mace_hexagon_skel")
    kept = code.read_bytes()
    try:
        code.write_bytes(kept[: len(kept) // 2])
        found, reason = _result(right_result, tmp_path)
        assert "when it started" in reason
        assert not found
        code.unlink()
        emulator = shutil.which("qemu-hexagon")
        assert emulator is not None
        (tmp_path / "qemu-hexagon").symlink_to(emulator)
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(MissingToolError, match="bazel"):
            faulty.run(deployment)
    finally:
        code.write_bytes(kept)
        code.chmod(0o755)


def test_two_at_once(
    right_result: tuple[Project, Deployment, bytes],
    programs: tuple[Path, ...],
    tmp_path: Path,
) -> None:
    faulty, _, wanted = right_result
    model = faulty.build_dir / "lib/model/m"
    data = np.random.default_rng(1).uniform(-2, 2, (1, 6, 5, 4)).astype(np.float32)
    data.tofile(tmp_path / "in_x")
    started = [
        subprocess.Popen(
            [
                programs[0],
                *(f"--model_file={model}.pb", f"--model_data_file={model}.data"),
                *("--input_node=x", "--input_shape=1,6,5,4"),
                *("--output_node=y", "--output_shape=1,6,5,8"),
                *(f"--input_file={tmp_path}/in", f"--output_file={tmp_path}/{name}"),
                *(f"--runtime={runtime}", "--round=50"),
            ],
            env={**os.environ, "MACE_HEXAGON_SKEL": str(programs[1])},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for name, runtime in (("one", "dsp"), ("other", "dsp"), ("cpu", "cpu"))
    ]
    for process in started:
        text, _ = process.communicate(timeout=600)
        assert process.returncode == 0, text
    results = [(tmp_path / f"{name}_y").read_bytes() for name in ("one", "other")]
    assert len(results[0]) == len(wanted)
    assert results == [(tmp_path / "cpu_y").read_bytes()] * 2


def _large_model(project: Project) -> Path:
    """Convolutions that are worth a remote call; the converted model without suffix."""
    rng = np.random.default_rng(3)
    weights = (rng.standard_normal((2, 64, 64, 3, 3)) / 24).astype(np.float32)
    shape = [1, 64, 56, 56]
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["x", "w0"], ["c"], pads=[1] * 4),
            helper.make_node("Relu", ["c"], ["r0"]),
            helper.make_node("Conv", ["r0", "w1"], ["y"], pads=[1] * 4),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(w, f"w{i}") for i, w in enumerate(weights)],
    )
    opset = [helper.make_opsetid("", 13)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=8)
    onnx.save(model, project.folder / "m.onnx")
    text = _DEPLOYMENT.format(
        folder=project.folder, runtime="dsp", threshold=0.9, data_type="fp32_fp32"
    )
    text = text.replace("1,6,5,4", "1,56,56,64").replace("1,6,5,8", "1,56,56,64")
    project.convert(load_deployment_text(text, project.folder / "d.yml"))
    data = rng.uniform(-2, 2, (1, 56, 56, 64)).astype(np.float32)
    data.tofile(project.folder / "in_x")
    return project.build_dir / "lib/model/m"


def test_the_cpu_answers_when_a_phone_s_dsp_is_restarted(
    dsp_project: Project, programs: tuple[Path, ...], phone: tuple[Path, ...]
) -> None:
    """Through a stand-in for the FastRPC library of phones."""
    library, code = phone
    model = _large_model(dsp_project)
    told, outputs = {}, {}
    for runtime, failing, hanging in (
        ("cpu", "0", "0"),
        ("dsp", "0", "0"),
        ("dsp", "2", "0"),
        ("dsp", "0", "2"),
    ):
        out = dsp_project.folder / f"{runtime}{failing}{hanging}"
        done = subprocess.run(
            [
                programs[0],
                *(f"--model_file={model}.pb", f"--model_data_file={model}.data"),
                *("--input_node=x", "--input_shape=1,56,56,64"),
                *("--output_node=y", "--output_shape=1,56,56,64"),
                *(f"--input_file={dsp_project.folder}/in", f"--output_file={out}"),
                *(f"--runtime={runtime}", "--explain"),
            ],
            env={
                **os.environ,
                "MACE_FASTRPC_LIBRARY": str(library),
                "MACE_TEST_SKEL": str(code),
                "MACE_TEST_FAILING_CALL": failing,
                "MACE_TEST_HANGING_CALL": hanging,
                "MACE_HEXAGON_TIMEOUT": "2",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=True,
        )
        told[out.name] = done.stdout
        outputs[out.name] = (dsp_project.folder / f"{out.name}_y").read_bytes()
    assert "2 operators on DSP" in told["dsp00"]
    assert "DSP failed" not in told["dsp00"]
    assert "did not answer: error 0x68, it was restarted" in told["dsp20"]
    assert "took more than 2.001 s running, and its process was" in told["dsp02"]
    for name in ("dsp00", "dsp20", "dsp02"):
        assert outputs[name] == outputs["cpu00"]
