# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""`mace_run`, where a benchmark needs what the program itself tells."""

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


def report(command: Sequence[str], flags: Sequence[str]) -> tuple[dict[str, Any], str]:
    """Runs it once: what `--report_json` holds, and what it printed.

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
        except OSError as error:  # for another processor, say
            raise SystemExit(f"{command[0]}: {error.strerror}") from None
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        return json.loads(path.read_text(encoding="utf-8")), done.stdout + done.stderr
