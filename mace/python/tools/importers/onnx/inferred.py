# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Types and shapes of the outputs of nodes that cannot be converted, as ONNX infers
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx
from mace.python.tools.importers.standard.element_types import (
    ELEMENT_TYPES,
    tensor_type_of,
)
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import Shape

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
