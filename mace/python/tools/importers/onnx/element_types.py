# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The element types that an ONNX model gives its tensors.

Values of the graph have narrowed types. Few operators depend on the others: where bits
move out of a number, its width matters.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

import onnx
from mace.python.tools.importers.standard.element_types import ELEMENT_TYPES, FOUR_BITS
from mace.python.tools.ir.dtypes import DataType


class ElementTypes:
    """Finds the types when somebody asks for the first one."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self._model = model

    def find(self, name: str) -> DataType | None:
        """The type of a tensor of the graph; None if it is not known."""
        return ELEMENT_TYPES.get(self._all.get(name, onnx.TensorProto.UNDEFINED))

    def declared_output(self, name: str) -> DataType | None:
        """The type that the file states for an output; None if it states none."""
        for value in self._model.graph.output:
            if value.name == name:
                return ELEMENT_TYPES.get(value.type.tensor_type.elem_type)
        return None

    def has_four_bits(self, name: str) -> bool:
        """Whether a constant has integers of 4 bits."""
        return name in self._of_four_bits

    @functools.cached_property
    def _of_four_bits(self) -> frozenset[str]:
        graph = self._model.graph
        stored = {tensor.name: tensor.data_type for tensor in graph.initializer}
        for node in graph.node:
            if node.op_type == "Constant" and node.output:
                for attribute in node.attribute:
                    stored[node.output[0]] = attribute.t.data_type
        return frozenset(n for n, kind in stored.items() if kind in FOUR_BITS)

    @functools.cached_property
    def _all(self) -> Mapping[str, int]:
        try:
            # The model holds no large weights (mapped_file.py).
            graph = onnx.shape_inference.infer_shapes(self._model).graph
        except (onnx.shape_inference.InferenceError, RuntimeError, ValueError):
            graph = self._model.graph
        types = {tensor.name: tensor.data_type for tensor in graph.initializer}
        for value in (*graph.value_info, *graph.output, *graph.input):
            types[value.name] = value.type.tensor_type.elem_type
        return types
