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
from mace.python.tools.validate.metrics import Metrics

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
        varied: whether to run on inputs moved by rounding, too.
    """

    framework: str
    model_file: Path
    inputs: dict[str, Array]
    outputs: tuple[str, ...]
    optional_outputs: tuple[str, ...] = ()
    weight_file: Path | None = None
    varied: bool = True


@dataclass(frozen=True)
class ReferenceResult:
    """Tensors by the requested names, in the framework's layout.

    Attributes:
        variations: how each changes if the inputs are moved by rounding; those of
            tensors with NaN or infinity are left out.
        nodes: what computes each in the model file, where its name does not say.
    """

    tensors: dict[str, Array] = field(default_factory=dict)
    version: str = ""
    variations: dict[str, Metrics] = field(default_factory=dict)
    nodes: dict[str, str] = field(default_factory=dict)


# The interface of a framework's module: `run`, executed in the child process. It raises
# FrameworkError for problems that the user can solve.
Runner = Callable[[ReferenceRequest], ReferenceResult]
