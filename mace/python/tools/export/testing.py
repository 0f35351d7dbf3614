# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads a written model back into a graph, for tests.

Independent of the exporter's data structures: everything is read from the bytes of the
two files according to the specification (`mace/proto/README.md`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mace.python.tools.export.model_file import attribute_value, read_quantization
from mace.python.tools.export.packing import (
    BLOCK,
    unpack_n16_fours,
    unpack_o16,
    unpack_o16_fours,
    unpack_o16_pairs,
)
from mace.python.tools.export.storage import unpack_o16_scaled
from mace.python.tools.ir import DataFormat, DataType, Graph, Value
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import update_outputs
from mace.python.tools.ir.shapes import NCHW_TO_NHWC, from_ints, permute
from mace.python.tools.proto import load_proto


def read_model(message: bytes, data: bytes) -> Graph:
    """The graph of a model; shapes are inferred again."""
    proto = load_proto("mace/proto/mace.proto")
    model = proto.Model.FromString(message)
    assert len(data) == model.data_size
    formats = proto.enum_names("DataFormat")
    types = proto.enum_names("DataType")
    graph = Graph(model.name, "mace")
    values: dict[str, Value] = {}
    for info in model.inputs:
        shape = from_ints(info.shape)
        data_format = DataFormat(formats[info.data_format][3:])
        if data_format is DataFormat.NCHW:
            shape = permute(shape, NCHW_TO_NHWC)
        dtype = DataType[types[info.data_type][3:]]
        values[info.name] = graph.add_value(info.name, dtype, shape)
        values[info.name].quantization = read_quantization(info.quantization)
        graph.inputs.append(values[info.name])
        inside = DataFormat.NONE if data_format is DataFormat.NONE else DataFormat.NHWC
        graph.formats[info.name] = inside
    for constant in model.constants:
        array = _decode(proto, constant, data, model.format_version)
        values[constant.name] = graph.add_constant(constant.name, array)
        values[constant.name].quantization = read_quantization(constant.quantization)
    for op in model.operators:
        outputs = [graph.add_value(n, DataType.FLOAT32, None) for n in op.outputs]
        inputs = [values[name] if name else None for name in op.inputs]
        attrs = {attr.name: attribute_value(op.type, attr) for attr in op.attributes}
        update_outputs(graph.add_op(op.type, inputs, outputs, attrs, op.name))
        # The value in the file, not the inferred one.
        for index, value in enumerate(outputs):
            stored = op.output_quantization[index : index + 1]
            value.quantization = read_quantization(stored[0]) if stored else None
        values.update(zip(op.outputs, outputs))
    for info in model.outputs:
        graph.outputs.append(values[info.name])
        data_format = DataFormat(formats[info.data_format][3:])
        inside = DataFormat.NONE if data_format is DataFormat.NONE else DataFormat.NHWC
        graph.formats[info.name] = inside
    return graph


def _decode(proto: Any, constant: Any, data: bytes, model_version: int) -> Array:
    assert constant.offset % 64 == 0
    raw = data[constant.offset : constant.offset + constant.size]
    name = proto.enum_names("DataType")[constant.data_type][3:]
    if constant.layout == proto.CL_PACKED_O16_SCALED:
        assert name == "INT8" and model_version == 3
        return unpack_o16_scaled(raw, tuple(constant.dims), constant.groups or 1)
    if constant.layout == proto.CL_PACKED_N16_FOURS:
        assert model_version >= 5
        return unpack_n16_fours(raw, tuple(constant.dims), DataType[name])
    if name == "BFLOAT16":
        bits = np.frombuffer(raw, "<u2").astype(np.uint32) << np.uint32(16)
        flat = bits.view(np.float32)
    else:
        flat = np.frombuffer(raw, DataType[name].numpy)
    if name == "FLOAT16":
        flat = flat.astype(np.float32)
    dims = tuple(constant.dims)
    if constant.layout == proto.CL_PLAIN:
        return np.asarray(flat.reshape(dims))
    groups = constant.groups or 1
    blocks = -(-(dims[0] // groups) // BLOCK)
    if constant.layout == proto.CL_PACKED_O16_FOURS:
        assert name == "INT8" and model_version >= 7
        return unpack_o16_fours(
            flat.reshape(groups, blocks, -1, BLOCK, 4), dims, groups
        )
    if constant.layout == proto.CL_PACKED_O16_PAIRS:
        assert name == "BFLOAT16" and model_version >= 2
        pairs = flat.reshape(groups, blocks, -1, BLOCK, 2)
        return unpack_o16_pairs(pairs, dims, groups)
    packed = flat.reshape(groups, blocks, -1, BLOCK)
    return unpack_o16(packed, dims, groups)
