# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""`mace_run`, where a benchmark needs what the program itself tells."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.networks import ROOT, Network

MACE_RUN = ROOT / "bazel-bin/mace/tools/mace_run"


def require_program(program: Path) -> None:
    """Exit status 2 with what to do unless the program is there."""
    if not program.exists():
        sys.stderr.write(
            f"{program} is missing: bazel build //mace/tools:mace_run, or name "
            "another by --mace_run\n"
        )
        raise SystemExit(2)


def model_arguments(network: Network) -> list[str]:
    """What names a model, its input and its output."""

    def text(shape: tuple[int, ...]) -> str:
        return ",".join(map(str, shape))

    n, c, h, w = network.input_shape
    return [
        f"--model_file={network.mace}.pb",
        f"--model_data_file={network.mace}.data",
        f"--input_node={network.input_name}",
        f"--input_shape={text((n, h, w, c))}",
        f"--output_node={network.output_name}",
        f"--output_shape={text(network.mace_output_shape())}",
    ]
