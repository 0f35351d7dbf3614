# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Figures derived from the report of a benchmarked run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mace.python.tools.convert.memory import live_bytes
from mace.python.tools.data_type import DataType
from mace.python.tools.export.model_file import ModelFile

_ELEMENT_BYTES = {
    DataType.FLOAT16: 2,
    DataType.BFLOAT16: 2,
    DataType.INT16: 2,
    DataType.INT8: 1,
    DataType.UINT8: 1,
    DataType.BOOL: 1,
}


@dataclass(frozen=True)
class OpFigures:
    """One operator.

    Attributes:
        device: on which it ran, as ``cpu``.
        quantized: whether it computes in integers that stand for floats.
        start_ms, last_ms: of the last round, since the run began.
        share: of the time of all operators, 0 to 1. Like the rates, it is of medians:
            one interrupted round would make any operator the slowest.
        gflops: 10^9 operations per second, two per multiply-accumulate.
        gbytes_per_s: 10^9 bytes of inputs, constants and outputs per second.
        intensity: operations per byte; 0 without multiply-accumulates.
        peak_share: `gflops` divided by the peak of its device, in integers if it is
            quantized; None without one.
            Above 1 where an algorithm (Winograd) needs fewer multiply-adds
            than the operator's definition, which are counted, where a GPU has units
            for matrix products, and where the machine was busy while its peak was
            measured.
    """

    index: int
    name: str
    type: str
    device: str
    quantized: bool
    output_shape: tuple[int, ...]
    avg_ms: float
    median_ms: float
    min_ms: float
    start_ms: float
    last_ms: float
    share: float
    macs: int
    bytes: int
    gflops: float
    gbytes_per_s: float
    intensity: float
    peak_share: float | None


@dataclass(frozen=True)
class TypeFigures:
    """All operators of one type together; their time is the sum of medians."""

    type: str
    count: int
    median_ms: float
    share: float
    macs: int
    gflops: float


@dataclass(frozen=True)
class DevicePeak:
    """What a device can do at least: the best of the measurements before and after the
    benchmark.
    """

    gflops: float
    gbytes_per_s: float
    cache_gbytes_per_s: float

    @property
    def source(self) -> str:
        """What was measured, in a few words."""
        raise NotImplementedError

    def operations(self, quantized: bool) -> float:
        """10^9 operations per second, of floats or of integers of 8 bits."""
        del quantized
        return self.gflops


@dataclass(frozen=True)
class MachinePeak(DevicePeak):
    """The CPU, on as many threads as the run had.

    Attributes:
        int8_gops: 10^9 operations per second with integers of 8 bits.
        least_round_trip_ns: in which a cache line goes to another core and back;
            0 with one thread or one core.
        most_round_trip_ns: the most of them.
    """

    threads: int
    int8_gops: float
    least_round_trip_ns: float
    most_round_trip_ns: float

    @property
    def source(self) -> str:
        return f"threads: {self.threads}"

    def operations(self, quantized: bool) -> float:
        return self.int8_gops if quantized else self.gflops


@dataclass(frozen=True)
class GpuPeak(DevicePeak):
    """The GPU.

    Attributes:
        name: by its driver.
    """

    name: str

    @property
    def source(self) -> str:
        return self.name


@dataclass(frozen=True)
class Analysis:
    """What the page shows of a benchmark.

    Attributes:
        peak: of the CPU.
        gpu_peak: of the GPU, if the run was for one.
        live_bytes: memory of the activations alive while each operator runs.
    """

    ops: tuple[OpFigures, ...]
    types: tuple[TypeFigures, ...]
    peak: MachinePeak | None
    gpu_peak: GpuPeak | None
    live_bytes: tuple[int, ...]
    total_ms: float
    macs: int

    @property
    def peaks(self) -> Mapping[str, DevicePeak]:
        """Those that were measured, by the device of operators."""
        found = {"cpu": self.peak, "gpu": self.gpu_peak}
        return {device: peak for device, peak in found.items() if peak is not None}

    @property
    def above_peak(self) -> int:
        """How many operators have a rate above the measured peak."""
        return sum(1 for op in self.ops if (op.peak_share or 0.0) > 1.0)


def analyse(report: Mapping[str, Any], model: ModelFile) -> Analysis | None:
    """None when the run was not benchmarked."""
    benchmark = report.get("benchmark")
    if benchmark is None or not benchmark["ops"]:
        return None
    peak = MachinePeak(**report["peak"]) if "peak" in report else None
    gpu_peak = GpuPeak(**report["gpu_peak"]) if "gpu_peak" in report else None
    peaks: dict[str, DevicePeak | None] = {"cpu": peak, "gpu": gpu_peak}
    total = sum(op["median_ms"] for op in benchmark["ops"])
    ops = tuple(
        _op(i, op, total, peaks.get(op["device"]))
        for i, op in enumerate(benchmark["ops"])
    )
    types = [_type(kind, ops) for kind in dict.fromkeys(op.type for op in ops)]
    return Analysis(
        ops=ops,
        types=tuple(sorted(types, key=lambda t: -t.median_ms)),
        peak=peak,
        gpu_peak=gpu_peak,
        live_bytes=_live_bytes(benchmark["ops"], model),
        total_ms=total,
        macs=benchmark["macs"],
    )


def _type(kind: str, ops: Sequence[OpFigures]) -> TypeFigures:
    own = [op for op in ops if op.type == kind]
    time, macs = sum(op.median_ms for op in own), sum(op.macs for op in own)
    return TypeFigures(
        type=kind,
        count=len(own),
        median_ms=time,
        share=sum(op.share for op in own),
        macs=macs,
        gflops=_rate(2 * macs, time),
    )


def _op(
    index: int, op: Mapping[str, Any], total: float, peak: DevicePeak | None
) -> OpFigures:
    gflops = _rate(2 * op["macs"], op["median_ms"])
    shapes = op["output_shape"]
    return OpFigures(
        index=index,
        name=op["name"],
        type=op["type"],
        device=op["device"],
        quantized=op["quantized"],
        output_shape=tuple(shapes[0]) if shapes else (),
        avg_ms=op["avg_ms"],
        median_ms=op["median_ms"],
        min_ms=op["min_ms"],
        start_ms=op["last_start_ms"],
        last_ms=op["last_ms"],
        share=_ratio(op["median_ms"], total),
        macs=op["macs"],
        bytes=op["bytes"],
        gflops=gflops,
        gbytes_per_s=_rate(op["bytes"], op["median_ms"]),
        intensity=_ratio(2 * op["macs"], op["bytes"]),
        peak_share=(_ratio(gflops, peak.operations(op["quantized"])) if peak else None),
    )


def _live_bytes(ops: list[Any], model: ModelFile) -> tuple[int, ...]:
    """Bytes of the operator outputs that are in use while each operator runs. A tensor
    is in use from the operator that computes it to the last that reads it; an output of
    the model to the end.
    """
    by_name = {op.name: op for op in model.operators}
    kept = {tensor.name for tensor in model.outputs}
    born: dict[str, tuple[int, int]] = {}  # tensor -> (operator, bytes)
    dies: dict[str, int] = {}
    for i, entry in enumerate(ops):
        op = by_name.get(entry["name"])
        if op is None:
            continue
        for name in op.inputs:
            if name in born:
                dies[name] = i
        for tensor, shape in zip(op.outputs, entry["output_shape"]):
            size = _ELEMENT_BYTES.get(tensor.data_type, 4) * math.prod(shape)
            born[tensor.name] = (i, size)
            dies[tensor.name] = len(ops) - 1 if tensor.name in kept else i
    spans = [(first, dies[name], size) for name, (first, size) in born.items()]
    return live_bytes(len(ops), spans)


def _rate(amount: float, ms: float) -> float:
    """10^9 per second."""
    return amount / ms * 1e-6 if ms > 0 else 0.0


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0
