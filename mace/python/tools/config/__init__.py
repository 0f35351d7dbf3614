# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Deployment files: `load_deployment(path)` gives the normal form."""

from mace.python.tools.config.deployment import (
    Abi,
    BorderTensor,
    CaffeDocker,
    CheckTensor,
    ClMemoryType,
    DataFormat,
    DataType,
    Deployment,
    FileRef,
    GivenKey,
    InputInfo,
    Level,
    ModelConfig,
    ModelFormat,
    OnnxBackend,
    OutputInfo,
    Platform,
    QuantizeConfig,
    QuantizeSchema,
    Runtime,
    SubgraphConfig,
    TensorType,
)
from mace.python.tools.config.load import (
    Overrides,
    load_deployment,
    load_deployment_text,
)
from mace.python.tools.config.problems import ConfigError, Problem

__all__ = [
    "Abi",
    "BorderTensor",
    "CaffeDocker",
    "CheckTensor",
    "ClMemoryType",
    "ConfigError",
    "DataFormat",
    "DataType",
    "Deployment",
    "FileRef",
    "GivenKey",
    "InputInfo",
    "Level",
    "ModelConfig",
    "ModelFormat",
    "OnnxBackend",
    "OutputInfo",
    "Overrides",
    "Platform",
    "Problem",
    "QuantizeConfig",
    "QuantizeSchema",
    "Runtime",
    "SubgraphConfig",
    "TensorType",
    "load_deployment",
    "load_deployment_text",
]
