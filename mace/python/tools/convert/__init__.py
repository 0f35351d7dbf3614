# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Converts the models of a deployment."""

from mace.python.tools.convert.convert import convert_deployment
from mace.python.tools.convert.result import ConvertResult, ModelResult

__all__ = ["ConvertResult", "ModelResult", "convert_deployment"]
