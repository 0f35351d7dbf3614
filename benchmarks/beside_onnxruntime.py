# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Code shared by programs that run MACE and ONNX Runtime in turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnxruntime

from benchmarks.timing import Times


@dataclass(frozen=True)
class Row:
    """One case measured.

    Attributes:
        name: of the network or operator.
        error: the largest difference of outputs, relative to what the program says.
        mace: times of MACE.
        onnxruntime: times of ONNX Runtime.
    """

    name: str
    error: float
    mace: Times
    onnxruntime: Times

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> Row:
        """The row from fields that `asdict` wrote; other fields are ignored."""
        return cls(
            fields["name"],
            fields["error"],
            Times(**fields["mace"]),
            Times(**fields["onnxruntime"]),
        )

    @property
    def ratio(self) -> float:
        """The minimum time of MACE divided by that of ONNX Runtime."""
        return self.mace.minimum / self.onnxruntime.minimum

    @property
    def ratio_of_medians(self) -> float:
        """The same for the median times."""
        return self.mace.median / self.onnxruntime.median


def open_session(model: Path, threads: int) -> onnxruntime.InferenceSession:
    """ONNX Runtime's engine for a model, on the CPU and without its warnings."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(
        str(model), options, providers=["CPUExecutionProvider"]
    )
