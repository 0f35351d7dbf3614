# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Infers shape and element type of an operator's outputs from its inputs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from mace.python.tools.errors import MaceError
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op, Value
from mace.python.tools.ir.op_rules import OutputType, rules_of
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.quantized_ops import is_quantized
from mace.python.tools.ir.shapes import MAX_RANK, static

# Shapes are short; a longer tensor contains data.
_MOST_DIMS = 64


class ShapeError(MaceError):
    """The inputs of an operator do not match each other or its attributes."""


def infer_op(op: Op) -> list[OutputType]:
    """Infers the outputs of an operator.

    Raises:
        ShapeError: the inputs do not fit; names operator, inputs and reason.
    """
    rules = rules_of(op.type)
    try:
        found = rules.infer(op)
        for output in found:
            if output.shape is not None and len(output.shape) > MAX_RANK:
                raise ValueError(
                    f"the output would have {len(output.shape)} dimensions; at most "
                    f"{MAX_RANK} are supported"
                )
        if is_quantized(op):
            # The model says which integers stand for the numbers.
            found = [
                replace(output, dtype=value.dtype)
                for output, value in zip(found, op.outputs)
            ]
        return found
    except ValueError as error:
        shapes = ", ".join(f"{v.name} {v.shown_shape}" for v in op.inputs if v)
        raise ShapeError(
            f"{op.type} {op.name!r}: {error} (inputs: {shapes})"
        ) from error


def update_outputs(op: Op) -> None:
    """Writes the result of `infer_op` to the outputs of `op`."""
    for value, found in zip(op.outputs, infer_op(op)):
        value.dtype, value.shape = found.dtype, found.shape
    if len(op.outputs) == 1:
        op.output.dims = _dims(op)
    for value, quantization in zip(op.outputs, infer_quantization(op)):
        # If the operator's rules say nothing, the quantization of the framework's model
        # applies.
        value.quantization = quantization or value.quantization


def _dims(op: Op) -> Array | None:
    """The elements of the output if they follow from shapes, some of which are open."""
    shape = static(op.output.shape)
    if shape is None or math.prod(shape) > _MOST_DIMS:
        return None
    # What depends only on constants is computed.
    follows = any(value is not None and value.dims is not None for value in op.inputs)
    if not follows and op.type != "Shape":
        return None
    found = rules_of(op.type).symbolic(op, [_elements(v) for v in op.inputs])
    return None if found is None else np.asarray(found, object).reshape(shape)


def _elements(value: Value | None) -> Array | None:
    if value is None:
        return None
    if value.constant is None:
        return value.dims
    if value.constant.size > _MOST_DIMS:
        return None
    if value.dtype not in (DataType.INT32, DataType.BOOL):
        return None
    return value.numpy().astype(object)


def infer_quantization(op: Op) -> list[Quantization | None]:
    """The quantization of each output by the rules of its producer; None if unknown."""
    return rules_of(op.type).quantization(op)


def state_quantization(value: Value, quantization: Quantization) -> None:
    """Sets what the integers of a value stand for, and of what operators move of it."""
    value.quantization = quantization
    for op, _ in value.uses:
        for output, known in zip(op.outputs, infer_quantization(op)):
            if known is not None and known != output.quantization:
                state_quantization(output, known)
