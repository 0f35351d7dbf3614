# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""One inference of one engine in the emulator."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray

from benchmarks.arm.emulator import CPUS, Block, Counts, EmulationError, Run, execute
from benchmarks.networks import (
    DIRECTORY,
    ROOT,
    Network,
    convert_network,
    make_variant,
)
from benchmarks.peers.formats import make_model
from benchmarks.quantized import quantized
from mace.python.tools.validate import Metrics, compute_metrics

Array = NDArray[np.float32]
PEERS_ROOT = ROOT / "build/arm-peers"
# The file format of each engine.
PEERS = {
    "onnxruntime": "onnx",
    "litert": "tflite",
    "ncnn": "ncnn",
    "mnn": "mnn",
    "ncnn_fp16": "ncnn",
    "mnn_fp16": "mnn",
    "litert_int8": "tflite_int8",
    "onnxruntime_s8s8": "onnx_s8s8",
    "onnxruntime_u8s8": "onnx",
    "ncnn_int8": "ncnn_int8",
}
# `data_type` in MACE's rows.
MACE = {"mace": "fp32_fp32", "mace_fp16": "fp16_fp16", "mace_int8": "fp32_fp32"}
# Engines are compared only with those of the same arithmetic.
ARITHMETICS = ("fp32", "fp16", "int8")
# On these processors, they compute in single precision.
LACKS_FP16 = ("cortex-a53", "cortex-a15")
_RUNS = 1

_FEATURES = "fp asimd evtstrm aes pmull sha1 sha2 crc32 cpuid"


@dataclass(frozen=True)
class _Guest:
    """The /proc/cpuinfo of a processor, and the ABI of its packages. QEMU shows the
    host's file to the guest; with it, engines would choose other kernels or crash.
    """

    abi: str
    architecture: int
    variant: int
    part: int
    features: str

    def root(self) -> Path:
        return PEERS_ROOT / self.abi / "root"

    def packages(self) -> Path:
        return PEERS_ROOT / self.abi / "packages"


_GUESTS = {
    "cortex-a53": _Guest("arm64", 8, 0x0, 0xD03, _FEATURES),
    "cortex-a76": _Guest(
        "arm64",
        8,
        0x4,
        0xD0B,
        f"{_FEATURES} atomics fphp asimdhp asimdrdm lrcpc dcpop asimddp",
    ),
    "cortex-a15": _Guest(
        "armhf",
        7,
        0x2,
        0xC0F,
        "half thumb fastmult vfp edsp neon vfpv3 tls vfpv4 idiva idivt vfpd32 lpae",
    ),
}
# The engines with packages for each ABI.
_PACKAGED = {"arm64": tuple(PEERS), "armhf": ("ncnn", "ncnn_int8")}


def arithmetic(engine: str) -> str:
    """One of ARITHMETICS."""
    suffix = engine.rpartition("_")[2]
    return {"fp16": "fp16", "int8": "int8", "s8s8": "int8", "u8s8": "int8"}.get(
        suffix, "fp32"
    )


def network_for(engine: str, network: Network) -> Network:
    """The network as an engine computes it: for engines in int8, the quantized one."""
    if arithmetic(engine) != "int8":
        return network
    made = quantized(network)
    convert_network(made)
    return made


def is_packaged(engine: str, cpu: str) -> bool:
    """Whether another engine has a package for this processor."""
    return cpu in _GUESTS and engine in _PACKAGED[_GUESTS[cpu].abi]


def missing_packages(cpus: Iterable[str]) -> list[str]:
    """What must be installed before other engines can be counted on these
    processors.
    """
    missing = {
        _GUESTS[cpu].abi
        for cpu in cpus
        if cpu in _GUESTS and not _GUESTS[cpu].packages().is_dir()
    }
    return [
        f"the engines for {abi} are missing: bash benchmarks/arm/setup.sh"
        for abi in sorted(missing)
    ]


@dataclass(frozen=True)
class Measurement:
    """Instructions of one inference, and how far its output is off.

    Attributes:
        agreement: with ONNX Runtime's output on this computer.
        blocks: the hottest, of the whole run.
    """

    counts: Counts
    agreement: Metrics
    blocks: tuple[Block, ...] = ()


def reference_output(network: Network) -> Array:
    """The output of ONNX Runtime on this computer."""
    session = onnxruntime.InferenceSession(
        str(network.onnx), providers=["CPUExecutionProvider"]
    )
    feed = {network.input_name: network.image()}
    (output,) = session.run([network.output_name], feed)
    return np.asarray(output, np.float32).ravel()


def output_step(network: Network) -> float:
    """The difference between neighbouring outputs of a quantized network."""
    graph = onnx.load(str(network.onnx)).graph
    (last,) = (node for node in graph.node if network.output_name in node.output)
    scales = {tensor.name: tensor for tensor in graph.initializer}
    return float(onnx.numpy_helper.to_array(scales[last.input[1]]))


def measure_mace(
    program: Path,
    cpu: str,
    network: Network,
    expected: Array,
    *,
    data_type: str = "fp32_fp32",
    hottest: int = 0,
) -> Measurement:
    """Counts the instructions of one more inference of `mace_run`.

    Raises:
        EmulationError: it failed.
    """
    model = network.mace
    if data_type != "fp32_fp32":
        model = make_variant(network, data_type)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        image = np.ascontiguousarray(network.image().transpose(0, 2, 3, 1))
        image.tofile(folder / f"input_{_file_name(network.input_name)}")
        shape = ",".join(str(size) for size in image.shape)
        command = [
            str(program),
            f"--model_file={model}.pb",
            f"--model_data_file={model}.data",
            f"--input_node={network.input_name}",
            f"--input_shape={shape}",
            f"--input_file={folder}/input",
            f"--output_node={network.output_name}",
            f"--output_shape=1,{expected.size}",
            f"--output_file={folder}/output",
            "--num_threads=1",
        ]
        one = execute(cpu, Run([*command, "--round=1"]))
        more = Run([*command, f"--round={1 + _RUNS}"], hottest=hottest)
        many = execute(cpu, more)
        output = np.fromfile(
            folder / f"output_{_file_name(network.output_name)}", np.float32
        )
    counts = many.total.per_run(one.total, _RUNS)
    return Measurement(counts, _agreement(output, expected), many.blocks)


def measure_peer(
    engine: str, cpu: str, network: Network, expected: Array
) -> Measurement:
    """Counts between the marks of guest.py.

    Raises:
        EmulationError: the engine failed.
        FormatError: it cannot have this network.
    """
    view = _view(cpu)
    model = make_model(network, PEERS[engine])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "image.npy", network.image())
        request = {
            "engine": engine,
            "model": str(model),
            "image": str(folder / "image.npy"),
            "input_name": network.input_name,
            "output_name": network.output_name,
            "output_shape": [1, expected.size],
            "output": str(folder / "output.npy"),
            "runs": _RUNS,
        }
        (folder / "request.json").write_text(json.dumps(request))
        execution = execute(
            cpu,
            Run(
                [
                    str(view / "usr/bin/python3"),
                    *("-m", "benchmarks.arm.guest", str(folder / "request.json")),
                ],
                libraries=view,
                environment={
                    "PYTHONPATH": f"{_GUESTS[cpu].packages()}:{ROOT}",
                    "PYTHONHASHSEED": "0",
                    "PYTHONDONTWRITEBYTECODE": "1",
                    "OMP_NUM_THREADS": "1",
                    "OPENBLAS_NUM_THREADS": "1",
                },
            ),
        )
        output = np.load(folder / "output.npy")
    try:
        return Measurement(execution.per_mark(), _agreement(output, expected))
    except ValueError as error:
        raise EmulationError(str(error)) from error


def _agreement(output: Array, expected: Array) -> Metrics:
    if output.shape != expected.shape:
        raise EmulationError(f"{output.size} outputs instead of {expected.size}")
    return compute_metrics(expected, output)


def _file_name(tensor: str) -> str:
    return re.sub(r"[^0-9A-Za-z]", "_", tensor)


def _view(cpu: str) -> Path:
    """The guest's root folder for a program on this processor."""
    view = DIRECTORY / "arm" / cpu
    guest = _GUESTS.get(cpu)
    if guest is None:
        known = ", ".join(_GUESTS)
        raise EmulationError(f"other engines run on {known}, not on {CPUS[cpu].name}")
    if (view / ".made").exists():
        return view
    system = view / "sys/devices/system/cpu"
    (view / "proc").mkdir(parents=True, exist_ok=True)
    (system / "cpu0/regs/identification").mkdir(parents=True, exist_ok=True)
    for entry in guest.root().iterdir():
        link = view / entry.name
        if entry.name not in ("proc", "sys", "dev", "tmp") and not link.exists():
            link.symlink_to(entry)
    (view / "proc/cpuinfo").write_text(
        f"processor\t: 0\nBogoMIPS\t: 100.00\nFeatures\t: {guest.features}\n"
        f"CPU implementer\t: 0x41\nCPU architecture: {guest.architecture}\n"
        f"CPU variant\t: {guest.variant:#x}\nCPU part\t: {guest.part:#05x}\n"
        "CPU revision\t: 1\n\n"
    )
    for name in ("possible", "present", "online"):
        (system / name).write_text("0\n")
    midr = 0x410F0001 | guest.variant << 20 | guest.part << 4
    (system / "cpu0/regs/identification/midr_el1").write_text(f"{midr:#018x}\n")
    (view / ".made").touch()
    return view
