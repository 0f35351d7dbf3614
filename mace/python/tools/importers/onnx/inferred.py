# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Types and shapes of tensors, as an ONNX model states them or ONNX infers them.

Values of the graph have narrowed types. Few operators depend on the others: where bits
move out of a number, its width matters.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

import onnx

from mace.python.tools.importers.standard.attributes import (
    ELEMENT_TYPES,
    FOUR_BITS,
    tensor_type_of,
)
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import Shape


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


# Shapes, axes and the like are read for the inference; weights are not.
_MOST_ELEMENTS = 64


def inferred_outputs(
    proto: onnx.NodeProto, opset: int, inputs: Sequence[Value | None]
) -> Mapping[str, tuple[DataType, Shape]]:
    """What is known of the outputs, by name; empty if ONNX does not know the rank of
    one of them.

    Args:
        opset: version of ONNX's own operator set.
        inputs: of the node, None for one left out.
    """
    try:
        schema = onnx.defs.get_schema(proto.op_type, opset, proto.domain)
        named = [(n, v) for n, v in zip(proto.input, inputs) if v is not None]
        types = {n: onnx.TypeProto.FromString(tensor_type_of(v)) for n, v in named}
        data = {n: _data(v) for n, v in named if _is_small(v)}
        opsets = [onnx.helper.make_opsetid("", opset)]
        found = onnx.shape_inference.infer_node_outputs(
            schema, proto, types, data, opset_imports=opsets
        )
    except (onnx.defs.SchemaError, onnx.shape_inference.InferenceError, RuntimeError):
        return {}
    outputs = {}
    for name in filter(None, proto.output):
        kind = found[name].tensor_type if name in found else onnx.TypeProto.Tensor()
        if kind.elem_type not in ELEMENT_TYPES or not kind.HasField("shape"):
            return {}
        shape = tuple(
            dim.dim_value if dim.HasField("dim_value") else f"{name}:{axis}"
            for axis, dim in enumerate(kind.shape.dim)
        )
        outputs[name] = (ELEMENT_TYPES[kind.elem_type].narrowed, shape)
    return outputs


def _is_small(value: Value) -> bool:
    constant = value.constant
    return constant is not None and constant.size <= _MOST_ELEMENTS


def _data(value: Value) -> onnx.TensorProto:
    array = value.numpy()
    wide = array.astype("int64") if value.dtype is DataType.INT32 else array
    return onnx.numpy_helper.from_array(wide)
