# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Lists the compared engines, without loading any of them."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Engine:
    """One row of the scoreboard.

    Attributes:
        label: as people read it.
        format: which file it loads, a key of `formats.FORMATS`.
        package: whose version is shown; empty for MACE.
        fp32: computes in fp32 throughout; only such an engine can be the
            fastest that others are measured by.
        rival: the engine that an own row of ratios measures it by; or empty.
    """

    label: str
    format: str
    package: str
    fp32: bool = True
    rival: str = ""


_ENGINES = {
    "mace": Engine("MACE", "mace", ""),
    "onnxruntime": Engine("ONNX Runtime", "onnx", "onnxruntime"),
    "openvino": Engine("OpenVINO", "onnx", "openvino"),
    "litert": Engine("LiteRT", "tflite", "ai-edge-litert"),
    "ncnn": Engine("ncnn", "ncnn", "ncnn"),
    "mnn": Engine("MNN", "mnn", "MNN"),
    # `data_type: bf16_bf16`, to be compared with the next row.
    "mace_bf16": Engine(
        "MACE bf16", "mace_bf16", "", fp32=False, rival="openvino_default"
    ),
    # OpenVINO's default: bf16 if the CPU supports it.
    "openvino_default": Engine("OpenVINO default", "onnx", "openvino", fp32=False),
}
ENGINES = MappingProxyType(_ENGINES)
# The engine whose outputs are the reference.
REFERENCE = "onnxruntime"


def product(engine: str) -> str:
    """The product of which an engine is a configuration, for people."""
    package = ENGINES[engine].package
    return next(e.label for e in ENGINES.values() if e.package == package)
