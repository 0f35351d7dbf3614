# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Products with a learned matrix."""

from __future__ import annotations

import math

from mace.python.tools.importers.caffe.layer import HANDLERS, STATIC_HINT, Layer
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.ir.graph import Value


@HANDLERS.register("InnerProduct")
def _inner_product(layer: Layer) -> None:
    x, param = layer.bottom(), layer.proto.inner_product_param
    dims = layer.shape(x)
    axis = layer.axis(param.axis, len(dims))
    inner = [dim for dim in dims[axis:] if isinstance(dim, int)]
    if len(inner) < len(dims) - axis:
        raise UnsupportedNodeError("the length of its rows is not known", STATIC_HINT)
    depth, outputs = math.prod(inner), param.num_output
    shape = (depth, outputs) if param.transpose else (outputs, depth)
    weights = layer.lazy(layer.blob(0, shape, "weights"), "weights")
    if len(inner) > 1:
        x = layer.make("Reshape", [x], shape=[*[0] * axis, depth])
    attrs: dict[str, object] = {"transpose_b": not param.transpose}
    lone = axis == 0  # a vector
    if lone:
        x = layer.make("Reshape", [x], shape=[1, depth])
    bias = []
    if param.bias_term:
        bias = [layer.lazy(layer.blob(1, (outputs,), "bias"), "bias")]
    steps: list[tuple[str, list[Value], dict[str, object]]]
    steps = [("MatMul", [weights], attrs)]
    steps += [("Eltwise", [b], {"mode": "ADD"}) for b in bias]
    steps += [("Reshape", [], {"shape": [outputs]})] if lone else []
    for op_type, more, attributes in steps[:-1]:
        x = layer.make(op_type, [x, *more], **attributes)
    op_type, more, attributes = steps[-1]
    layer.emit(op_type, [x, *more], **attributes)


@HANDLERS.register("Embed")
def _embed(layer: Layer) -> None:
    param = layer.proto.embed_param
    shape = (param.input_dim, param.num_output)
    table = layer.lazy(layer.blob(0, shape, "table"), "table")
    indices = layer.bottom()
    if indices.dtype.is_float:
        indices = layer.make("Cast", [indices], to="INT32")
    if not param.bias_term:
        layer.emit("Gather", [table, indices], axis=0)
        return
    rows = layer.make("Gather", [table, indices], axis=0)
    bias = layer.lazy(layer.blob(1, (param.num_output,), "bias"), "bias")
    layer.emit("Eltwise", [rows, bias], mode="ADD")
