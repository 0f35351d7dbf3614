# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs frozen graphs and SavedModels in TensorFlow. Used only in the child process."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from mace.python.tools.validate.frameworks.reference import (
    Array,
    FrameworkError,
    ReferenceRequest,
    ReferenceResult,
)
from mace.python.tools.wording import near_names


def prepare_tensorflow() -> None:
    """Sets the environment, before TensorFlow or Keras is imported: no messages at
    start, no GPU, and no kernels whose rounding differs from run to run.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")


def run(request: ReferenceRequest) -> ReferenceResult:
    """Runs a model; inputs and outputs may be inner tensors."""
    prepare_tensorflow()
    import tensorflow as tf

    with tf.Graph().as_default() as graph, tf.compat.v1.Session(graph=graph) as session:
        signature = _load(tf, session, request)
        tensors = _run(session, graph, signature, request)
    return ReferenceResult(tensors, f"tensorflow {tf.__version__}")


def _run(
    session: Any, graph: Any, signature: dict[str, str], request: ReferenceRequest
) -> dict[str, Array]:
    def find(name: str) -> Any:
        return _find(graph, signature.get(name, name))

    missing = [
        name for name in [*request.outputs, *request.inputs] if find(name) is None
    ]
    if missing:
        known = [*signature, *(node.name for node in graph.get_operations())]
        raise FrameworkError(
            f"{request.model_file} has no tensor "
            + "; ".join(near_names(name, known) for name in missing)
        )
    wanted = {name: find(name) for name in request.outputs}
    for name in request.optional_outputs:
        tensor = find(name)
        if tensor is not None:
            wanted[name] = tensor
    feeds = {}
    for name, array in request.inputs.items():
        tensor = find(name)
        _check_shape(name, tensor, array)
        feeds[tensor] = array.astype(tensor.dtype.as_numpy_dtype, copy=False)
    try:
        values = session.run(list(wanted.values()), feed_dict=feeds)
    except Exception as error:  # tf.errors.*, ValueError, TypeError
        raise FrameworkError(
            f"tensorflow cannot run {request.model_file}: {str(error).splitlines()[0]}"
        ) from error
    return {name: np.asarray(value) for name, value in zip(wanted, values)}


def _load(tf: Any, session: Any, request: ReferenceRequest) -> dict[str, str]:
    """Loads the model into the session; the names that a SavedModel's signature has for
    tensors.
    """
    try:
        if request.model_file.is_dir():
            load = tf.compat.v1.saved_model.load
            return _signature(load(session, ["serve"], str(request.model_file)))
        definition = tf.compat.v1.GraphDef()
        definition.ParseFromString(request.model_file.read_bytes())
        tf.import_graph_def(definition, name="")
    except Exception as error:  # protobuf's DecodeError, ValueError, OSError, ...
        raise FrameworkError(
            f"{request.model_file} is no readable frozen GraphDef or SavedModel: "
            f"{str(error).splitlines()[0]}"
        ) from error
    return {}


def _signature(graph: Any) -> dict[str, str]:
    # As the importer chooses it.
    entries = {k: v for k, v in graph.signature_def.items() if not k.startswith("__")}
    chosen = entries.get("serving_default")
    if chosen is None and len(entries) == 1:
        (chosen,) = entries.values()
    if chosen is None:
        return {}
    return {
        key: info.name
        for side in (chosen.outputs, chosen.inputs)
        for key, info in side.items()
    }


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
