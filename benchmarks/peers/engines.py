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
        arithmetic: "fp32", "int8" or another; only peers in fp32 can be the fastest
            that others are measured by, and those in int8 for engines in int8.
        rival: the engine that an own row of ratios measures it by; or empty.
    """

    label: str
    format: str
    package: str
    arithmetic: str = "fp32"
    rival: str = ""

    @property
    def fp32(self) -> bool:
        """Whether it computes in fp32 throughout."""
        return self.arithmetic == "fp32"

    @property
    def is_mace(self) -> bool:
        """Whether it is no peer."""
        return not self.package


_ENGINES = {
    "mace": Engine("MACE", "mace", ""),
    "onnxruntime": Engine("ONNX Runtime", "onnx", "onnxruntime"),
    "openvino": Engine("OpenVINO", "onnx", "openvino"),
    "litert": Engine("LiteRT", "tflite", "ai-edge-litert"),
    "ncnn": Engine("ncnn", "ncnn", "ncnn"),
    "mnn": Engine("MNN", "mnn", "MNN"),
    # `data_type: bf16_bf16`, to be compared with the next row.
    "mace_bf16": Engine("MACE bf16", "mace_bf16", "", "bf16", rival="openvino_default"),
    # OpenVINO's default: bf16 if the CPU supports it.
    "openvino_default": Engine("OpenVINO default", "onnx", "openvino", "bf16"),
}
# Networks with 8-bit integers, see quantized.py.
_INT8_ENGINES = {
    "mace_int8": Engine("MACE", "mace", "", "int8"),
    "mace_float": Engine("MACE fp32", "mace_fp32", ""),
    "onnxruntime_u8s8": Engine("ONNX Runtime", "onnx", "onnxruntime", "int8"),
    "onnxruntime_s8s8": Engine("ONNX Runtime S8S8", "onnx_s8s8", "onnxruntime", "int8"),
    "openvino_int8": Engine("OpenVINO", "onnx", "openvino", "int8"),
    "litert_int8": Engine("LiteRT", "tflite_int8", "ai-edge-litert", "int8"),
    "ncnn_int8": Engine("ncnn", "ncnn_int8", "ncnn", "int8"),
}
INT8_ENGINES = tuple(_INT8_ENGINES)
ENGINES = MappingProxyType({**_ENGINES, **_INT8_ENGINES})
# Those of the scoreboard of floats.
FLOAT_ENGINES = tuple(_ENGINES)
# The engine whose outputs are the reference.
REFERENCE = "onnxruntime"


def product(engine: str) -> str:
    """The product of which an engine is a configuration, for people."""
    package = ENGINES[engine].package
    return next(e.label for e in _ENGINES.values() if e.package == package)
