# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares exports of PyTorch networks with ONNX Runtime and OpenVINO.

    bash benchmarks/setup.sh peers
    bash benchmarks/setup.sh exports
    python -m benchmarks.exports [--threads 1] [--models NAME ...]

`torch.onnx.export` writes the files from networks of torchvision, timm and Transformers
with seeded weights (`torch_exports/export.py`). MACE's converter gets these files
with no settings except input and output. The outputs of all engines are compared with
ONNX Runtime first; then the engines run in turns, see `peers/README.md`. The ratio is
MACE's minimum time divided by that of the faster of the two others; with
`--data_type bf16`, the time of MACE in bf16 divided by that of OpenVINO with its
default type.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.library import Library
from benchmarks.networks import DIRECTORY, ROOT, Network, convert_network
from benchmarks.peers.engines import REFERENCE
from benchmarks.peers.formats import require_engines
from benchmarks.peers.processor import variables
from benchmarks.peers.results import Scoreboard
from benchmarks.peers.scoreboard import (
    SEED,
    Conditions,
    add_conditions,
    check_conditions,
    measure,
    versions,
)
from benchmarks.peers.table import tables as score_tables
from benchmarks.record import add_arguments, recorder
from benchmarks.tables import Table

_HERE = Path(__file__).resolve().parent / "torch_exports"
VENV = ROOT / "build/exports-venv"
_FOLDER = DIRECTORY / "exports"
# The shapes of inputs, as in torch_exports/export.py.
SHAPES: dict[str, tuple[int, ...]] = {
    "deeplabv3_resnet50": (1, 3, 128, 128),
    "detector": (1, 3, 320, 320),
    "efficientformerv2_s0": (1, 3, 224, 224),
    "efficientnet_b0": (1, 3, 224, 224),
    "gpt2_blocks": (1, 48, 768),
    "llama_blocks": (1, 48, 768),
    "mobilenetv3_large": (1, 3, 224, 224),
    "mobilenetv3_small": (1, 3, 224, 224),
    "regnety_400mf": (1, 3, 224, 224),
    "resnext50_32x4d": (1, 3, 224, 224),
    "segformer_b0": (1, 3, 224, 224),
    "style_transfer": (1, 3, 256, 256),
    "super_resolution": (1, 3, 128, 128),
    "swin_tiny": (1, 3, 224, 224),
    "t5_blocks": (1, 48, 512),
    "unet_resnet18": (1, 3, 256, 256),
    "vit_tiny": (1, 3, 224, 224),
}
_ENGINES = {
    "fp32": ["mace", REFERENCE, "openvino"],
    "bf16": [REFERENCE, "mace_bf16", "openvino_default"],
}
# The tables of the scoreboard that make sense for few engines.
_TABLES = ("time", "means", "bf16", "remarks")


def require_exporter() -> None:
    """Raises SystemExit unless setup.sh installed the current requirements."""
    installed, wanted = VENV / "installed.txt", _HERE / "requirements.txt"
    if not installed.is_file() or installed.read_bytes() != wanted.read_bytes():
        sys.stderr.write("PyTorch is missing: bash benchmarks/setup.sh exports\n")
        raise SystemExit(2)


def make_export(name: str) -> Network:
    """Exports a network, unless its file is newer than the program, and converts it.

    Raises:
        SystemExit: PyTorch is missing or cannot export the network.
    """
    _FOLDER.mkdir(parents=True, exist_ok=True)
    path, program = _FOLDER / f"{name}.onnx", _HERE / "export.py"
    sources = [
        program,
        *(_HERE / name for name in ("operators.py", "vision.py", "requirements.txt")),
    ]
    newest = max(source.stat().st_mtime for source in sources)
    if not path.exists() or path.stat().st_mtime < newest:
        require_exporter()
        partial = path.with_suffix(".tmp")
        command = [VENV / "bin/python", program, name, partial]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.stderr.write(done.stderr)
            raise SystemExit(f"PyTorch could not export {name}, see above")
        partial.replace(path)
    network = Network(name, path, _FOLDER / name, "input", "output", SHAPES[name])
    convert_network(network)
    return network


def tables(data: Any) -> list[Table]:
    """Times by network, failures of engines, and differences of outputs."""
    found = score_tables(Scoreboard.of_data(data, "", {}))
    return [table for table in found if table.name in _TABLES]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--models", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--threads", nargs="+", type=int, default=[1])
    parser.add_argument("--data_type", choices=_ENGINES, default="fp32")
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="per network and threads"
    )
    parser.add_argument(
        "--no-timing", action="store_true", help="only export and convert"
    )
    add_conditions(parser)
    add_arguments(parser)
    args = parser.parse_args()
    check_conditions(parser, args)
    output = recorder("benchmarks.exports", args)
    if args.no_timing:
        for name in args.models:
            output.console.print(f"made: {make_export(name).mace}", markup=False)
        return 0
    require_engines()
    engines = _ENGINES[args.data_type]
    how = Conditions(
        args.threads,
        engines,
        args.seconds,
        loads=1,
        variables=variables(args.processor),
        clock=args.clock,
    )
    board = Scoreboard(output.machine, versions(Library(), engines), SEED, [])
    for name in args.models:
        network = make_export(name)
        output.console.print(f"measuring {name}")
        board.cells += measure(network, how)
    output.finish(board.data(), board.versions)
    mine = [cell for cell in board.cells if cell.engine.startswith("mace")]
    return int(any(cell.reason for cell in mine))


if __name__ == "__main__":
    sys.exit(main())
