# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Shape and element type of an operator's outputs from its inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mace.python.tools.errors import MaceError
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Op
from mace.python.tools.ir.registry import OpTable
from mace.python.tools.ir.shapes import Shape, format_shape


class ShapeError(MaceError):
    """The inputs of an operator do not fit each other or its attributes."""


@dataclass(frozen=True)
class OutputType:
    """What is known about an output before the run."""

    dtype: DataType
    shape: Shape | None


InferFunction = Callable[[Op], "list[OutputType]"]

# Functions raise ValueError with what does not fit; infer_op names the rest.
INFERENCE: OpTable[InferFunction] = OpTable("mace.python.tools.ir.inference")


def infer_op(op: Op) -> list[OutputType]:
    """Infers the outputs of an operator.

    Raises:
        ShapeError: the inputs do not fit; names operator, inputs and reason.
    """
    function = INFERENCE.find(op.type)
    if function is None:
        raise ShapeError(f"{op.name}: no shape rule for operator {op.type}")
    try:
        return function(op)
    except ValueError as error:
        shapes = ", ".join(f"{v.name} {format_shape(v.shape)}" for v in op.inputs if v)
        raise ShapeError(
            f"{op.type} {op.name!r}: {error} (inputs: {shapes})"
        ) from error


def update_outputs(op: Op) -> None:
    """Writes what `infer_op` finds into the outputs of `op`."""
    for value, found in zip(op.outputs, infer_op(op)):
        value.dtype, value.shape = found.dtype, found.shape
