# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime's quantizer, which must be installed, and each layer of a network that
it quantized by itself, with ONNX Runtime's own integers.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import onnx

from mace.python.tools.ir import Graph, Value
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.ir.shapes import NCHW_TO_NHWC
from mace.python.tools.passes.quantized_operators import BYTES
from test.conformance.reference import run_onnxruntime

# How it chooses ranges, by its names.
MIN_MAX, PERCENTILE, ENTROPY = "MinMax", "Percentile", "Entropy"


def prepare(source: Path, to: Path) -> None:
    """Writes a network with its batch normalisations in the filters, as ONNX Runtime
    advises before quantizing.
    """
    from onnxruntime.quantization.shape_inference import quant_pre_process

    # It prints what it does.
    with redirect_stdout(io.StringIO()):
        # Its symbolic inference needs a package that is not installed.
        quant_pre_process(str(source), str(to), skip_symbolic_shape=True)


def quantize(
    source: Path,
    to: Path,
    name: str,
    samples: Iterable[Array],
    *,
    activations: str = "QUInt8",
    per_channel: bool = True,
    method: str = MIN_MAX,
    seven_bits: bool = False,
) -> None:
    """Writes a network with QuantizeLinear and DequantizeLinear; weights are int8.

    Args:
        source: in float32.
        name: of its input.
        samples: for the ranges, each what one run takes.
        activations: QUInt8, QInt8, QUInt16 or QInt16.
        per_channel: whether weights have a scale for each output.
        method: one of those above.
        seven_bits: of weights, whose products with uint8 ONNX Runtime adds without
            saturation on every processor.
    """
    from onnxruntime import quantization

    left = iter(samples)

    class Samples(quantization.CalibrationDataReader):  # type: ignore[misc]
        def get_next(self) -> dict[str, Array] | None:
            sample = next(left, None)
            return None if sample is None else {name: sample}

    with redirect_stdout(io.StringIO()):
        quantization.quantize_static(
            str(source),
            str(to),
            Samples(),
            quant_format=quantization.QuantFormat.QDQ,
            activation_type=quantization.QuantType[activations],
            weight_type=quantization.QuantType.QInt8,
            per_channel=per_channel,
            reduce_range=seven_bits,
            calibrate_method=quantization.CalibrationMethod[method],
        )


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
