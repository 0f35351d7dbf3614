# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs `mace_run`, for benchmarks that need its own output."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.networks import ROOT, Network

MACE_RUN = ROOT / "bazel-bin/mace/tools/mace_run"


def require_program(program: Path) -> None:
    """Ends with status 2 and advice unless the program exists."""
    if not program.exists():
        sys.stderr.write(
            f"{program} is missing: bazel build //mace/tools:mace_run, or name "
            "another by --mace_run\n"
        )
        raise SystemExit(2)


def model_arguments(network: Network) -> list[str]:
    """The arguments for a model, its input and its output."""

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


def report(command: Sequence[str], flags: Sequence[str]) -> tuple[dict[str, Any], str]:
    """Runs it once; returns the report of `--report_json`, and the output.

    Raises:
        SystemExit: it failed, with its own message, or cannot be started.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        arguments = [*command, *flags, f"--report_json={path}"]
        try:
            done = subprocess.run(
                arguments, capture_output=True, text=True, check=False
            )
        except OSError as error:  # for another processor, for example
            raise SystemExit(f"{command[0]}: {error.strerror}") from None
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        return json.loads(path.read_text(encoding="utf-8")), done.stdout + done.stderr
