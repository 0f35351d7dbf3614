# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs frozen GraphDefs in TensorFlow. Used only in the child process."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from mace.python.tools.validate.frameworks.names import near_names
from mace.python.tools.validate.frameworks.reference import (
    Array,
    FrameworkError,
    ReferenceRequest,
    ReferenceResult,
)


def run(request: ReferenceRequest) -> ReferenceResult:
    """Runs a GraphDef; inputs and outputs may be inner tensors."""
    # Hides messages at start; avoids kernels whose rounding differs from run to run.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    import tensorflow as tf

    graph = _load(tf, request)
    missing = [
        name
        for name in [*request.outputs, *request.inputs]
        if _find(graph, name) is None
    ]
    if missing:
        known = [operation.name for operation in graph.get_operations()]
        raise FrameworkError(
            f"{request.model_file} has no tensor "
            + "; ".join(near_names(name, known) for name in missing)
        )
    wanted = {name: _find(graph, name) for name in request.outputs}
    for name in request.optional_outputs:
        tensor = _find(graph, name)
        if tensor is not None:
            wanted[name] = tensor
    feeds = {}
    for name, array in request.inputs.items():
        tensor = _find(graph, name)
        _check_shape(name, tensor, array)
        feeds[tensor] = array.astype(tensor.dtype.as_numpy_dtype, copy=False)
    try:
        with tf.compat.v1.Session(graph=graph) as session:
            values = session.run(list(wanted.values()), feed_dict=feeds)
    except Exception as error:  # tf.errors.*, ValueError, TypeError
        raise FrameworkError(
            f"tensorflow cannot run {request.model_file}: {str(error).splitlines()[0]}"
        ) from error
    tensors = {name: np.asarray(value) for name, value in zip(wanted, values)}
    return ReferenceResult(tensors, f"tensorflow {tf.__version__}")


def _load(tf: Any, request: ReferenceRequest) -> Any:
    definition = tf.compat.v1.GraphDef()
    try:
        definition.ParseFromString(request.model_file.read_bytes())
        graph = tf.Graph()
        with graph.as_default():
            tf.import_graph_def(definition, name="")
    except Exception as error:  # protobuf's DecodeError, ValueError
        raise FrameworkError(
            f"{request.model_file} is no readable frozen GraphDef: "
            f"{str(error).splitlines()[0]}"
        ) from error
    return graph


def _find(graph: Any, name: str) -> Any:
    try:
        return graph.get_tensor_by_name(name if ":" in name else f"{name}:0")
    except (KeyError, ValueError):
        return None


def _check_shape(name: str, tensor: Any, array: Array) -> None:
    if not tensor.shape.is_compatible_with(array.shape):
        raise FrameworkError(
            f"input {name} has shape {list(array.shape)} in the framework's order, "
            f"and the model wants {tensor.shape}; check input_shapes and "
            "input_data_formats in the deployment file"
        )
