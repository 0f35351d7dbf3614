# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Each layer of a quantized network by itself, with ONNX Runtime's own integers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx

from mace.python.tools.ir import Graph, Value
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.ir.shapes import NCHW_TO_NHWC
from mace.python.tools.passes.quantized_operators import BYTES
from test.conformance.onnx.reference import run_onnxruntime


def rounded_by_onnxruntime(
    network: Path, feeds: Mapping[str, Array], folder: Path
) -> dict[str, Array]:
    """The results of all QuantizeLinear."""
    model = onnx.load(network)
    nodes = [n for n in model.graph.node if n.op_type == "QuantizeLinear"]
    names = [node.output[0] for node in nodes]
    for name in names:
        model.graph.output.append(onnx.helper.make_empty_tensor_value_info(name))
    path = folder / "all.onnx"
    onnx.save(model, path)
    return run_onnxruntime(path, names, feeds)


def cut(
    graph: Graph, known: Mapping[str, Array]
) -> tuple[dict[str, Array], dict[Value, Array]]:
    """Makes each value that is known an input, for its readers, and an output.

    Returns:
        The feeds of the inputs, and the results of the outputs.
    """
    feeds, wanted = {}, {}
    graph.outputs.clear()
    for value in [value for op in graph.ops for value in op.outputs]:
        name = value.name.removesuffix("/nhwc")
        if name not in known or value.dtype not in BYTES:
            continue
        numbers = known[name]
        if value.name != name:
            if numbers.ndim != 4:
                continue
            numbers = np.ascontiguousarray(numbers.transpose(NCHW_TO_NHWC))
        # A pass may have moved a transpose of other axes.
        if numbers.shape != value.shape:
            continue
        assert value.dtype is DataType.of(numbers.dtype)
        if value.uses:
            given = graph.add_value(
                graph.unique_name(f"{value.name}/given"), value.dtype, value.shape
            )
            given.quantization = value.quantization
            graph.replace_uses(value, given)
            graph.inputs.append(given)
            graph.formats[given.name] = DataFormat.NONE
            feeds[given.name] = numbers
        graph.outputs.append(value)
        graph.formats[value.name] = DataFormat.NONE
        wanted[value] = numbers
    return feeds, wanted
