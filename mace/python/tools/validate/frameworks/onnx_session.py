# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime as a reference: the same results on every processor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Dict, Tuple, Union

# Where an x86 processor has no instruction for products of uint8 and int8 (VNNI), ONNX
# Runtime adds pairs of them in 16 bits, which saturate: sums of large weights are wrong
# by any amount. With this option it computes with uint8 weights, which is exact.
_EXACT_BYTES = "session.x64quantprecision"
_OF_BYTES = ("QLinear", "QGemm", "QAttention", "QOrdered", "DynamicQuantize")
_ERRORS = 3


def open_plain_session(model: Any) -> Tuple[Any, bool]:
    """A session that computes what the file says, node by node, and true; or the usual
    one, and false, for a model that runs only after optimizations, or whose 8-bit
    products are exact only after them.

    ONNX Runtime's optimizer changes the results of some models by any amount, as where
    it moves a DequantizeLinear of channels over a Transpose (1.32).

    Args:
        model: an onnx.ModelProto.
    """
    from onnxruntime import GraphOptimizationLevel

    data = model.SerializeToString()
    # The optimizer is what makes weights uint8.
    if any(_multiplies_bytes(node.op_type) for node in model.graph.node):
        return open_session(data), False
    try:
        plain = GraphOptimizationLevel.ORT_DISABLE_ALL
        return _open(data, 0, {_EXACT_BYTES: "1"}, plain), True
    except Exception:  # the package has no common base class
        return open_session(data), False


def _multiplies_bytes(op_type: str) -> bool:
    """Whether an operator multiplies integers of 8 bits. Between DequantizeLinear and
    QuantizeLinear, floats are multiplied.
    """
    return op_type.startswith(_OF_BYTES) or "Integer" in op_type


def open_session(model: Union[str, bytes], threads: int = 0) -> Any:
    """An onnxruntime.InferenceSession on the CPU that computes 8-bit sums exactly.

    Args:
        model: the file's path, or its bytes.
        threads: 0 for one on each core.
    """
    from onnxruntime import GraphOptimizationLevel
    from onnxruntime.capi.onnxruntime_pybind11_state import Fail
    from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as Missing

    exact = {_EXACT_BYTES: "1"}
    try:
        return _open(model, threads, exact)
    except Missing:
        # There is no QLinearConv of int8 with uint8 weights; that with int8 is exact.
        return _open(model, threads, {})
    except Fail:
        # 1.32 fails at int8 weights that two nodes read. Without its later
        # optimizations it computes them as floats, which is exact too.
        return _open(model, threads, {}, GraphOptimizationLevel.ORT_ENABLE_BASIC)


def _open(
    model: Union[str, bytes],
    threads: int,
    entries: Dict[str, str],
    optimizations: Any = None,
) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    if optimizations is not None:
        options.graph_optimization_level = optimizations
    options.log_severity_level = _ERRORS
    options.intra_op_num_threads = threads
    for key, value in entries.items():
        options.add_session_config_entry(key, value)
    return onnxruntime.InferenceSession(
        model, options, providers=["CPUExecutionProvider"]
    )


def all_nodes(nodes: Iterable[Any]) -> Iterator[Any]:
    """These nodes, each followed by those of its sub-graphs."""
    for node in nodes:
        yield node
        for attribute in node.attribute:
            for graph in [attribute.g, *attribute.graphs]:
                yield from all_nodes(graph.node)


def reads(node: Any) -> Iterator[str]:
    """Names a node reads, those of its sub-graphs included."""
    for inner in all_nodes([node]):
        yield from filter(None, inner.input)
