# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs models in Python; `import mace` has what is here."""

from mace.python.runtime.accelerators import AcceleratorOptions
from mace.python.runtime.converter import convert, inspect, quantize
from mace.python.runtime.library import EngineError
from mace.python.runtime.load import load
from mace.python.runtime.model import BoundModel, Model
from mace.python.runtime.options import RunOptions
from mace.python.runtime.pipeline import Copy, Pipeline, load_pipeline
from mace.python.runtime.profile import OperatorInfo, OperatorTime, Profile
from mace.python.runtime.tensors import TensorInfo
from mace.python.runtime.text import TextModel, load_text
from mace.python.tools.errors import MaceError, UsageError

__all__ = [
    "AcceleratorOptions",
    "BoundModel",
    "Copy",
    "EngineError",
    "MaceError",
    "Model",
    "OperatorInfo",
    "OperatorTime",
    "Pipeline",
    "Profile",
    "RunOptions",
    "TensorInfo",
    "TextModel",
    "UsageError",
    "convert",
    "inspect",
    "load",
    "load_pipeline",
    "load_text",
    "quantize",
]
