# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Networks of 8-bit integers, compared with ONNX Runtime, OpenVINO, LiteRT and ncnn.

    bash benchmarks/setup.sh peers
    python -m benchmarks.int8 [--threads 1 2] [--models NAME ...]

MACE, ONNX Runtime and OpenVINO get the same file of ONNX Runtime's quantizer, uint8
activations and int8 weights (ONNX Runtime also one with int8 activations). LiteRT gets
one of TensorFlow's and ncnn one of its own scheme, from the same images
(`quantized.py`). Engines run in turns, see `peers/README.md`. The ratio is to the
fastest peer in int8; MACE in fp32 runs beside them.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from typing import Any

from benchmarks.exports import SHAPES, make_export
from benchmarks.library import Library
from benchmarks.networks import NAMES, make_network
from benchmarks.peers.engines import INT8_ENGINES
from benchmarks.peers.formats import require_engines
from benchmarks.peers.goals import Goal
from benchmarks.peers.goals import table as goal_table
from benchmarks.peers.processor import variables
from benchmarks.peers.results import (
    Cell,
    Scoreboard,
    geometric_mean,
    threads_text,
    time_ms,
)
from benchmarks.peers.scoreboard import (
    SEED,
    Conditions,
    add_conditions,
    check_conditions,
    measure,
    versions,
)
from benchmarks.peers.table import tables as score_tables
from benchmarks.quantized import quantized
from benchmarks.record import add_arguments, recorder
from benchmarks.tables import Table

_MACE, _FLOAT, _REFERENCE = "mace_int8", "mace_float", "onnxruntime_u8s8"
MODELS = (
    "mobilenet_v1",
    "mobilenet_v2",
    "squeezenet",
    "resnet50",
    "inception_v3",
    "efficientnet_lite0",
    "mobilenetv3_large",
    "mobilenetv3_small",
    "detector",
)
# Of which the gain over fp32 has a goal.
_GAINING = ("mobilenet_v1", "resnet50")
_TABLES = ("cells", "remarks")


def tables(data: Any) -> list[Table]:
    """Times by network, and ratios of MACE's."""
    board = Scoreboard.of_data(data, "", {})
    found = [table for table in score_tables(board) if table.name in _TABLES]
    rows = _rows(board)
    return [_ratios(rows), goal_table(_goals(rows)), *found]


@dataclass(frozen=True)
class _Row:
    """MACE in int8 with one network and number of threads.

    Attributes:
        ratio: of its time to the fastest peer's; None without a peer.
        gain: of its time in fp32 to that; None if it was not measured.
    """

    cell: Cell
    ratio: float | None
    gain: float | None

    @property
    def case(self) -> str:
        return f"{self.cell.network}, {threads_text(self.cell.threads)}"


def _rows(board: Scoreboard) -> list[_Row]:
    floats = {cell.case: time_ms(cell) for cell in board.of(_FLOAT)}
    return [
        _Row(
            cell,
            board.ratio(cell, time_ms),
            floats[cell.case] / time_ms(cell) if cell.case in floats else None,
        )
        for cell in board.of(_MACE)
    ]


def _ratios(rows: list[_Row]) -> Table:
    table = Table(
        "ratios",
        "MACE in int8: ms, to the fastest peer's in int8, gain over its own fp32",
        ("network, threads", "min", "ratio", "fp32 / int8"),
    )
    for row in rows:
        table.add(
            row.case,
            f"{time_ms(row.cell):.2f}",
            "" if row.ratio is None else f"{row.ratio:.2f}",
            "" if row.gain is None else f"{row.gain:.2f}",
        )
    return table


def _goals(rows: list[_Row]) -> list[Goal]:
    ratios = [(row.ratio, row.case) for row in rows if row.ratio is not None]
    gains = [
        (row.gain, row.case)
        for row in rows
        if row.gain is not None and row.cell.network in _GAINING
    ]
    mean = geometric_mean(ratio for ratio, _ in ratios)
    worst, where = max(ratios, default=(None, ""))
    least, of = min(gains, default=(None, ""))
    return [
        Goal("time / fastest peer's, geometric mean", 0.85, mean),
        Goal("time / fastest peer's, worst", 1.00, worst, where),
        Goal("fp32 / int8, least", 2.9, least, of, least=True),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    names = sorted({*NAMES, *SHAPES})
    parser.add_argument("--models", nargs="+", choices=names, default=MODELS)
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument(
        "--engines", nargs="+", choices=INT8_ENGINES, default=INT8_ENGINES
    )
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="per network and threads"
    )
    parser.add_argument(
        "--loads", type=int, default=3, help="fresh processes per engine"
    )
    add_conditions(parser)
    add_arguments(parser)
    args = parser.parse_args()
    check_conditions(parser, args)
    if args.loads < 1:
        parser.error("--loads takes numbers from 1")
    output = recorder("benchmarks.int8", args)
    require_engines()
    engines = [e for e in INT8_ENGINES if e in {*args.engines, _REFERENCE}]
    how = Conditions(
        args.threads,
        engines,
        args.seconds,
        args.loads,
        _REFERENCE,
        variables(args.processor),
        clock=args.clock,
    )
    board = Scoreboard(output.machine, versions(Library(), engines), SEED, [])
    # All of them first: what is missing for one is said before minutes have passed.
    networks = {
        name: quantized(make_export(name) if name in SHAPES else make_network(name))
        for name in args.models
    }
    for name, network in networks.items():
        output.console.print(f"measuring {name}")
        board.cells += measure(network, how)
    output.finish(board.data(), board.versions)
    return int(any(cell.reason for cell in board.cells if cell.engine == _MACE))


if __name__ == "__main__":
    sys.exit(main())
