# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Inlines the functions that a model defines."""

from __future__ import annotations

import onnx
import onnx.inliner

from mace.python.tools.importers.base import ImportModelError
from mace.python.tools.importers.onnx.mapped_file import MappedModel


def inline_functions(model: MappedModel) -> onnx.ModelProto:
    """The model, with calls of its own functions replaced by their nodes.

    Raises:
        ImportModelError: the functions contradict each other.
    """
    if not model.proto.functions:
        return model.proto
    try:
        return onnx.inliner.inline_local_functions(model.proto)
    except (RuntimeError, ValueError, onnx.checker.ValidationError) as error:
        reason = str(error).strip().splitlines()[0] if str(error) else "unknown"
        raise ImportModelError(
            f"{model.path}: its functions cannot be put in place: {reason}"
        ) from error
