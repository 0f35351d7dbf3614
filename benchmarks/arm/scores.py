# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Counted inferences as tables, one per processor; whether MACE's outputs are right."""

from __future__ import annotations

from typing import Any

from benchmarks.arm.engines import ARITHMETICS, MACE, arithmetic
from benchmarks.peers.goals import TOLERANCE
from benchmarks.tables import Table
from mace.python.tools.config.vocabulary import Runtime
from mace.python.tools.validate import similarity_threshold

Row = dict[str, Any]
# Names of engines in tables, in order; MACE's first in each arithmetic.
_LABELS = {
    "mace": "MACE",
    "ncnn": "ncnn",
    "mnn": "MNN",
    "onnxruntime": "ONNX Runtime",
    "litert": "LiteRT",
    "mace_fp16": "MACE, fp16",
    "ncnn_fp16": "ncnn, fp16",
    "mnn_fp16": "MNN, fp16",
    "mace_int8": "MACE, int8",
    "litert_int8": "LiteRT, int8",
    "onnxruntime_s8s8": "ONNX Runtime, int8",
    "onnxruntime_u8s8": "ONNX Runtime, uint8",
    "ncnn_int8": "ncnn, int8",
}
_NONE = "-"


def tables(data: dict[str, list[Row]]) -> list[Table]:
    """A table per processor, with a row per engine and a column per network.

    Args:
        data: `rows`, each with cpu, engine, network, and what was counted:
            millions, multiply_add_share; or `failed`.
    """
    rows = data["rows"]
    cpus = dict.fromkeys(row["cpu"] for row in rows)
    return [_table(cpu, [row for row in rows if row["cpu"] == cpu]) for cpu in cpus]


def _table(cpu: str, rows: list[Row]) -> Table:
    networks = tuple(dict.fromkeys(row["network"] for row in rows))
    cells = {(row["engine"], row["network"]): row for row in rows}
    engines = [engine for engine in _LABELS if any(engine == e for e, _ in cells)]
    title = f"{cpu}: million instructions per inference (multiply-adds)"
    table = Table(cpu.replace("-", "_"), title, ("engine", *networks))
    for kind in ARITHMETICS:
        group = [engine for engine in engines if arithmetic(engine) == kind]
        for engine in group:
            found = (cells.get((engine, network)) for network in networks)
            table.add(_LABELS[engine], *map(_cell, found))
        ours, *others = group or [""]
        if ours in MACE and others:
            ratios = (_ratio(cells, ours, others, network) for network in networks)
            table.add(f"{_LABELS[ours]} / least of the others", *ratios)
    return table


def _cell(row: Row | None) -> str:
    if row is None:
        return _NONE
    if "failed" in row:
        return "failed"
    text = f"{row['millions']:.1f}"
    share = row["multiply_add_share"]
    return f"{text} ({share:.0%})" if share else text


def _ratio(
    cells: dict[tuple[str, str], Row], ours: str, others: list[str], network: str
) -> str:
    def millions(engine: str) -> float | None:
        return cells.get((engine, network), {}).get("millions")

    counted = [count for count in map(millions, others) if count is not None]
    own = millions(ours)
    return f"{own / min(counted):.3f}" if own is not None and counted else _NONE


def failure(row: dict[str, Any]) -> str:
    """Why a row of MACE's fails; empty if it passes, or is another engine's.

    Sums in single precision differ only by their order, so their error must be small
    relative to the largest output. 16-bit arithmetic rounds every operand, and the
    errors add up in a deep network: it is judged like in `converter.py run --validate`,
    and so is int8, where ONNX Runtime rounds at other places. Where outputs are a few
    steps of an integer, a difference of one step makes them dissimilar, but cannot be
    avoided.
    """
    if row["engine"] not in MACE:
        return ""
    why = _why(row)
    return f"{row['cpu']}, {row['engine']}, {row['network']}: {why}" if why else ""


def _why(row: dict[str, Any]) -> str:
    if "failed" in row:
        return str(row["failed"])
    kind = arithmetic(row["engine"])
    if kind == "int8" and row["steps"] <= 1:
        return ""
    if kind != "fp32":
        least = similarity_threshold(
            Runtime.CPU, {}, quantized=kind == "int8", rounded=kind == "fp16"
        )
        similarity = row["similarity"]
        # The negation is also right for NaN.
        if not similarity >= least:
            return f"cosine similarity {similarity:.6f} is below {least:g}"
    elif not row["error"] <= TOLERANCE:
        return f"off by {row['error']:.3g} of the largest output, above {TOLERANCE:g}"
    return ""
