# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks whether the counted program computed the right output."""

from __future__ import annotations

from typing import Any

from benchmarks.arm.engines import MACE, arithmetic
from benchmarks.peers.goals import TOLERANCE
from mace.python.tools.config.vocabulary import Runtime
from mace.python.tools.validate import similarity_threshold


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
