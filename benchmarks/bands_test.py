# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Whole networks give the same bits in bands of rows as without."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from benchmarks.networks import make_network, make_variant
from benchmarks.runner import model_arguments
from test.conformance.native import native

_JOINED = (
    "mobilenet_v1",
    "mobilenet_v2",
    "squeezenet",
    "densenet121",
    "shufflenet",
)


def _run(name: str, threads: int, data_type: str | None, bands: str, out: Path) -> int:
    """Writes the output, and returns how many operators can run in bands."""
    network = make_network(name)
    arguments = model_arguments(network)
    if data_type is not None:
        path = make_variant(network, data_type)
        arguments[:2] = [f"--model_file={path}.pb", f"--model_data_file={path}.data"]
    done = subprocess.run(
        [
            *(*native("host").command, *arguments, f"--num_threads={threads}"),
            *("--explain", f"--output_file={out}"),
        ],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "MACE_ROW_BANDS": bands},
    )
    return (done.stdout + done.stderr).count(" in bands for ")


def _expect_same(name: str, threads: int, data_type: str | None, folder: Path) -> None:
    assert _run(name, threads, data_type, "0", folder / "whole") == 0
    assert _run(name, threads, data_type, "1", folder / "bands") > 0
    answers = [
        [path.read_bytes() for path in sorted(folder.glob(f"{side}_*"))]
        for side in ("whole", "bands")
    ]
    assert len(answers[0]) == 1
    assert answers[0] == answers[1]


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("name", _JOINED)
def test_bands_do_not_change_bits(name: str, threads: int, tmp_path: Path) -> None:
    _expect_same(name, threads, None, tmp_path)


@pytest.mark.parametrize("data_type", ["fp16_fp16", "bf16_bf16"])
@pytest.mark.parametrize("name", ["mobilenet_v1", "mobilenet_v2"])
def test_bands_of_16_bits_do_not_change_bits(
    name: str, data_type: str, tmp_path: Path
) -> None:
    _expect_same(name, 2, data_type, tmp_path)
