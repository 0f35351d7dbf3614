# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A small ONNX graph that `operators.py` measures, and functions that build one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

Shape = Sequence[int]
Constants = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Case:
    """One model.

    Attributes:
        inputs: shapes by name, NCHW where they are images.
        outputs: names.
        images: whether tensors of rank 4 are images; else both engines take
            the same array.
        range: the inputs are drawn uniformly from it.
        types: of inputs and outputs that are not float32, by name.
        opset: of the operators.
    """

    name: str
    nodes: Sequence[onnx.NodeProto]
    inputs: Mapping[str, Shape]
    constants: Sequence[onnx.TensorProto] = ()
    outputs: Sequence[str] = ("y",)
    images: bool = True
    range: tuple[float, float] = (-2.0, 2.0)
    types: Mapping[str, str] = field(default_factory=dict)
    opset: int = 20

    def type_of(self, name: str) -> np.dtype[Any]:
        """That of the elements of an input or output."""
        return np.dtype(self.types.get(name, "float32"))


def one(
    name: str,
    op: str,
    *shapes: Shape,
    constants: Constants | None = None,
    outputs: Sequence[str] = ("y",),
    images: bool = True,
    range: tuple[float, float] = (-2.0, 2.0),  # noqa: A002
    types: Mapping[str, str] | None = None,
    opset: int = 20,
    **attributes: Any,
) -> Case:
    """A model of one node: inputs a, b, ..., then the constants."""
    inputs = {chr(ord("a") + i): shape for i, shape in enumerate(shapes)}
    stored = constants or {}
    node = helper.make_node(op, [*inputs, *stored], list(outputs), **attributes)
    return Case(
        name,
        [node],
        inputs,
        tensors(stored),
        outputs,
        images,
        range,
        types or {},
        opset,
    )


def tensors(constants: Constants) -> list[onnx.TensorProto]:
    """Constants as a graph stores them."""
    return [numpy_helper.from_array(array, key) for key, array in constants.items()]


def then_cast(case: Case, *types: int) -> Case:
    """The case with its output cast to each of the types, the last of which is
    float.
    """
    (node,) = case.nodes
    names = [*(f"t{i}" for i, _ in enumerate(types)), case.outputs[0]]
    first = onnx.NodeProto()
    first.CopyFrom(node)
    first.output[0] = names[0]
    casts = [
        helper.make_node("Cast", [names[i]], [names[i + 1]], to=kind)
        for i, kind in enumerate(types)
    ]
    return Case(
        case.name,
        [first, *casts],
        case.inputs,
        case.constants,
        case.outputs,
        case.images,
        case.range,
    )


def floats(*shape: int) -> NDArray[np.float32]:
    """Random weights from a fixed seed; products with inputs neither grow nor
    vanish.
    """
    deviation = float(np.prod(shape[1:])) ** -0.5
    return np.random.default_rng(1).normal(0, deviation, shape).astype(np.float32)


def ints(*values: int) -> NDArray[np.int64]:
    """Axes, sizes and the like."""
    return np.array(values, np.int64)


def scalar(value: float) -> NDArray[np.float32]:
    """A constant of no dimensions."""
    return np.array(value, np.float32)
