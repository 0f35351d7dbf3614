# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What a model file says of itself, before anything of it is converted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.ir.shapes import Shape


@dataclass(frozen=True)
class TensorDescription:
    """An input or output of a model.

    Attributes:
        name: as the deployment file has to spell it.
        shape: in the framework's order of dimensions; None as a dimension is one that
            the run decides, a text is one that has a name, too. None as a whole: the
            file does not say it.
        dtype: None: the file does not say it, or MACE has no such type.
    """

    name: str
    shape: Shape | None = None
    dtype: DataType | None = None


@dataclass(frozen=True)
class ModelDescription:
    """What a model file says of itself.

    Attributes:
        framework: and the version of its format, for people ("ONNX, operator set 17").
        image_order: of the dimensions of images.
        inputs, outputs: of the model as a whole, in its own order.
        operators: how many nodes there are of each type.
        states: inputs that last from one run to the next, and the outputs that they
            become; both are among the inputs and outputs.
    """

    framework: str
    image_order: DataFormat
    inputs: tuple[TensorDescription, ...]
    outputs: tuple[TensorDescription, ...]
    operators: Mapping[str, int]
    states: Mapping[str, str] = field(default_factory=dict)
