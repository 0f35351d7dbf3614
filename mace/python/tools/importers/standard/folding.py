# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Computes nodes for which MACE has no operator during conversion.

Exporters compute shapes and tables with operators that no network needs at
run time (Range, NonZero, Trilu, ...). If all inputs of such a node are known,
ONNX's own reference implementation computes the result.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import onnx

from mace.python.tools.ir.builder import GraphBuilder
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import static

# Their results differ from run to run, so they must not become constants.
RANDOM = frozenset(
    {
        "Bernoulli",
        "Multinomial",
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
    }
)

# The shapes of their results depend on the elements, but they are never larger than the
# input.
_NEVER_GROWS = frozenset({"Compress", "NonZero", "Unique"})

# Anything larger is not a shape or table, and would be stored in the model.
_LARGEST_RESULT = 1 << 24


def fold_node(
    proto: onnx.NodeProto,
    opset: int,
    inputs: Sequence[Value | None],
    builder: GraphBuilder,
) -> dict[str, Value] | None:
    """The outputs of a node as constants, None if they are not known."""
    if any(value is not None and not value.is_constant for value in inputs):
        return None
    if sum(math.prod(static(v.shape) or ()) for v in inputs if v) > _LARGEST_RESULT:
        return None
    feeds = {
        name: _as_onnx(value.numpy())
        for name, value in zip(proto.input, inputs)
        if value is not None
    }
    results = evaluate_node(proto, opset, feeds)
    if results is None:
        return None
    return {name: builder.constant(name, array) for name, array in results.items()}


def _as_onnx(array: Array) -> Array:
    # The builder has narrowed values that ONNX computes in 64 bits.
    return array.astype(np.int64) if array.dtype == np.int32 else array


def evaluate_node(
    proto: onnx.NodeProto, opset: int, feeds: Mapping[str, Array]
) -> dict[str, Array] | None:
    """The named outputs of a node, None if they are large or no numbers."""
    if proto.domain not in ("", "ai.onnx") or proto.op_type in RANDOM:
        return None
    if any(attribute.g.node or attribute.graphs for attribute in proto.attribute):
        return None
    names = [name for name in proto.output if name]
    graph = onnx.GraphProto(name="fold")
    graph.node.append(proto)
    graph.input.extend(onnx.ValueInfoProto(name=name) for name in feeds)
    graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", opset)]
    )
    if proto.op_type not in _NEVER_GROWS and not _is_small(model, feeds):
        return None
    # Late: it describes all operators of ONNX to itself, and most models need none.
    from onnx.reference import ReferenceEvaluator

    try:
        with np.errstate(all="ignore"):
            arrays = ReferenceEvaluator(model).run(names, dict(feeds))
    except Exception:
        # Whatever the error is, the node is not computed here; it is reported with the
        # reason from its handler.
        return None
    if not all(_is_numeric(array) for array in arrays):
        return None
    return {name: np.asarray(array) for name, array in zip(names, arrays)}


def _is_small(model: onnx.ModelProto, feeds: Mapping[str, Array]) -> bool:
    """Whether the results are known to be small before they are computed. A few numbers
    (the end of a range, a shape) can request any size.
    """
    sized = onnx.ModelProto()
    sized.CopyFrom(model)
    del sized.graph.input[:]
    for name, array in feeds.items():
        sized.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    try:
        inferred = onnx.shape_inference.infer_shapes(
            sized, check_type=False, strict_mode=True, data_prop=True
        )
    except (onnx.shape_inference.InferenceError, RuntimeError, ValueError):
        return False
    for value in inferred.graph.output:
        kind = value.type.tensor_type
        if not kind.HasField("shape"):
            return False
        if not all(dim.HasField("dim_value") for dim in kind.shape.dim):
            return False
        if math.prod(dim.dim_value for dim in kind.shape.dim) > _LARGEST_RESULT:
            return False
    return True


def _is_numeric(array: object) -> bool:
    if not isinstance(array, (np.ndarray, np.generic)):
        return False
    if array.size > _LARGEST_RESULT:
        return False
    try:
        DataType.of(array.dtype)
    except ValueError:
        return False
    return True
