# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The small table of README.md that compares MACE with other engines, made of a few
records. `benchmarks.page` writes and checks it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks import record
from benchmarks.gpu.report import PROGRAM as GPU_PROGRAM
from benchmarks.peers.engines import ENGINES, FLOAT_ENGINES
from benchmarks.peers.results import (
    Measure,
    Scoreboard,
    first_ms,
    geometric_mean,
    memory_mb,
    time_ms,
)
from benchmarks.record import Record, RecordError, instructions_of
from benchmarks.tables import Table

README = record.ROOT / "README.md"
_PLACE = re.compile(r"(<!-- compared -->\n).*?(<!-- end of compared -->)", re.DOTALL)
_ENGINES = tuple(name for name in FLOAT_ENGINES if ENGINES[name].fp32)
_LABELS = tuple(ENGINES[name].label for name in _ENGINES)
_FOOTPRINT = "footprint"
# By label, whether in fp32 or in other arithmetic.
_FLOATS = {ENGINES[name].label: name for name in _ENGINES}
_BF16 = {"MACE": "mace_bf16", "OpenVINO": "openvino_default"}
_INT8 = {
    "MACE": "mace_int8",
    "ONNX Runtime": "onnxruntime_u8s8",
    "OpenVINO": "openvino_int8",
    "LiteRT": "litert_int8",
    "ncnn": "ncnn_int8",
}
# By engine and network.
_Values = dict[str, dict[str, float]]
_GPU = {"MACE": "mace_fp16", "LiteRT": "litert_gpu_fp16", "ncnn": "ncnn_vulkan_fp16"}


@dataclass(frozen=True)
class _Row:
    """A line of ratios.

    Attributes:
        title: what was measured.
        record: where.
        engines: the names in that record by label.
        threads: of the engines; 0 for those on a GPU.
        measure: of an engine's cell.
    """

    title: str
    record: str
    engines: Mapping[str, str]
    threads: int = 1
    measure: Measure = time_ms


_ROWS = (
    _Row("fp32, 1 thread", "scoreboard", _FLOATS),
    _Row("fp32, 2 threads", "scoreboard", _FLOATS, 2),
    _Row("bf16, 1 thread", "bf16_amx", _BF16),
    _Row("bf16, 2 threads", "bf16_amx", _BF16, 2),
    _Row("int8, 1 thread", "int8", _INT8),
    _Row("int8, 2 threads", "int8", _INT8, 2),
    _Row("int8, 1 thread", "int8_avx2", _INT8),
    _Row("GPU, fp16 in memory", "gpu", _GPU, 0),
    _Row("from the file to the first result", "scoreboard", _FLOATS, 1, first_ms),
    _Row("peak memory", "scoreboard", _FLOATS, 1, memory_mb),
)


def fill(text: str, read: Callable[[str], Record] = record.read) -> str:
    """README.md with its table filled from the records.

    Raises:
        RecordError: it has no place for the table, or more than one.
    """
    if len(_PLACE.findall(text)) != 1:
        raise RecordError("README.md needs one place '<!-- compared --> ...'")
    records = {name: read(name) for name in (*_names(), _FOOTPRINT)}
    body = _body(records)
    return _PLACE.sub(lambda found: f"{found[1]}\n{body}\n\n{found[2]}", text)


def _names() -> tuple[str, ...]:
    """The records of ratios, each once."""
    return tuple(dict.fromkeys(row.record for row in _ROWS))


def _body(records: Mapping[str, Record]) -> str:
    lines = comparison(records).markdown().splitlines()
    onnx = records[_FOOTPRINT].data["onnx"]
    machines = {
        where(kept): f"{kept.machine} ({kept.date})"
        for name, kept in records.items()
        if name != _FOOTPRINT
    }
    text = (
        "Others relative to MACE, the time of an inference first: geometric means over "
        "the networks that both compute right; more than 1 is slower or larger than "
        f"MACE. {'; '.join(machines.values())}. MACE converts {onnx['converted']} of "
        f"the {onnx['standard']} operators of ONNX. [All measurements]"
        "(docs/development/benchmarks.md), also those in which MACE is not ahead."
    )
    return "\n".join([*_wrapped(text), "", *lines[2:]])


def where(kept: Record) -> str:
    """The kind of processor, in a word or two."""
    if kept.program == GPU_PROGRAM:
        return " ".join(kept.machine.split(",")[0].split()[:2])
    return instructions_of(kept.machine)


def comparison(records: Mapping[str, Record]) -> Table:
    """One row for each quantity, one column for each engine."""
    table = Table("compared", "", ("", "on", *_LABELS), labels=2)
    for row in _ROWS:
        kept = records[row.record]
        means = _means(row, kept)
        cells = (
            "-" if means[label] is None else f"{means[label]:.2f}" for label in _LABELS
        )
        table.add(row.title, where(kept), *cells)
    libraries = records[_FOOTPRINT].data["libraries"]
    sizes = {item["engine"]: item["bytes"] for item in libraries}
    table.add(
        "library with the operators (MB)",
        "x86-64",
        *(f"{sizes[label] / 1e6:.1f}" if label in sizes else "-" for label in _LABELS),
    )
    return table


def _means(row: _Row, kept: Record) -> dict[str, float | None]:
    """Of each engine's measure over MACE's, where its result was right."""
    values = _on_cpu(row, kept) if row.threads else _on_gpu(kept)
    own = values.get(row.engines["MACE"], {})
    means: dict[str, float | None] = dict.fromkeys(_LABELS)
    for label, engine in row.engines.items():
        others = values.get(engine, {})
        ratios = [value / own[key] for key, value in others.items() if key in own]
        means[label] = geometric_mean(ratios)
    return means


def _on_cpu(row: _Row, kept: Record) -> _Values:
    board = Scoreboard.of_data(kept.data, kept.machine, kept.versions)
    values: _Values = {}
    for cell in board.timed():
        if cell.threads == row.threads and not cell.reason:
            values.setdefault(cell.engine, {})[cell.network] = row.measure(cell)
    return values


def _on_gpu(kept: Record) -> _Values:
    values: _Values = {}
    for network, found in kept.data["networks"].items():
        for engine, side in found["sides"].items():
            values.setdefault(engine, {})[network] = side["times"]["minimum"]
    return values


def _wrapped(text: str, width: int = 88) -> list[str]:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] += " " * bool(lines[-1]) + word
    return lines
