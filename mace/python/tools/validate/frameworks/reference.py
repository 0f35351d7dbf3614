# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The request to a framework, and its response."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy.typing as npt

from mace.python.tools.errors import MaceError

Array = npt.NDArray[Any]


class FrameworkError(MaceError):
    """The original framework cannot run the model as asked."""


@dataclass(frozen=True)
class ReferenceRequest:
    """One run of the original model.

    Attributes:
        framework: 'onnxruntime', 'tensorflow', 'tflite', 'keras', 'torch' or 'cv2'.
        model_file: in the framework's own format.
        inputs: by framework tensor name, in the framework's layout.
        outputs: tensors that must be returned.
        optional_outputs: tensors to return if the framework knows them.
        weight_file: where the weights are, if not in model_file.
    """

    framework: str
    model_file: Path
    inputs: dict[str, Array]
    outputs: tuple[str, ...]
    optional_outputs: tuple[str, ...] = ()
    weight_file: Path | None = None


@dataclass(frozen=True)
class ReferenceResult:
    """Tensors by the requested names, in the framework's layout."""

    tensors: dict[str, Array] = field(default_factory=dict)
    version: str = ""


# The interface of a framework's module: `run`, executed in the child process. It raises
# FrameworkError for problems that the user can solve.
Runner = Callable[[ReferenceRequest], ReferenceResult]
