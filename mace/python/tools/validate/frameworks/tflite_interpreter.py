# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs TensorFlow Lite models in its interpreter. Used only in the child process."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mace.python.tools.importers.tflite.reader import read_network, unique_names
from mace.python.tools.validate.frameworks.reference import (
    Array,
    FrameworkError,
    ReferenceRequest,
    ReferenceResult,
)
from mace.python.tools.wording import near_names


def run(request: ReferenceRequest) -> ReferenceResult:
    """Runs a `.tflite` file; outputs may be inner tensors."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    try:
        interpreter, version = _interpreter(request)
    except (ValueError, RuntimeError) as error:
        raise FrameworkError(
            f"tflite cannot read {request.model_file}: {_first_line(error)}"
        ) from error
    details = interpreter.get_tensor_details()
    names = unique_names(detail["name"] for detail in details)
    numbers = {name: detail["index"] for name, detail in zip(names, details)}
    # The interpreter changes states in place.
    network = read_network(Path(request.model_file))
    for state, after in network.states.items():
        numbers[network.tensors[after].name] = state
    unknown = [n for n in (*request.outputs, *request.inputs) if n not in numbers]
    if unknown:
        raise FrameworkError(
            f"{request.model_file} has no tensor "
            + "; ".join(near_names(name, list(numbers)) for name in unknown)
        )
    try:
        _feed(interpreter, request, numbers, details, set(network.states))
        interpreter.invoke()
        wanted = [*request.outputs, *request.optional_outputs]
        tensors = {}
        for name in wanted:
            if name in numbers:
                tensors[name] = np.asarray(interpreter.get_tensor(numbers[name]))
    except (ValueError, RuntimeError) as error:
        raise FrameworkError(
            f"tflite cannot run {request.model_file}: {_first_line(error)}"
        ) from error
    return ReferenceResult(tensors, version)


def _interpreter(request: ReferenceRequest) -> tuple[Any, str]:
    """The interpreter, and its version. LiteRT has no more than that, and loads in a
    tenth of the time of TensorFlow.
    """
    try:
        module: Any = importlib.import_module("ai_edge_litert.interpreter")
        version = f"litert {importlib.metadata.version('ai-edge-litert')}"
        kinds = module.OpResolverType
    except ImportError:
        import tensorflow as tf

        module, version = tf.lite, f"tflite of tensorflow {tf.__version__}"
        kinds = tf.lite.experimental.OpResolverType
    # Delegates round quantized numbers differently.
    made = module.Interpreter(
        model_path=str(request.model_file),
        experimental_op_resolver_type=kinds.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        experimental_preserve_all_tensors=True,
    )
    return made, version


def _feed(
    interpreter: Any,
    request: ReferenceRequest,
    numbers: dict[str, int],
    details: Sequence[Any],
    states: set[int],
) -> None:
    inputs = {detail["index"]: detail for detail in interpreter.get_input_details()}
    inputs.update((d["index"], d) for d in details if d["index"] in states)
    for name, array in request.inputs.items():
        if numbers[name] not in inputs:
            raise FrameworkError(
                f"{name} is an inner tensor of {request.model_file}; the interpreter "
                "takes only the model's inputs"
            )
        if list(inputs[numbers[name]]["shape"]) != list(array.shape):
            interpreter.resize_tensor_input(numbers[name], array.shape)
    interpreter.allocate_tensors()
    for name, array in request.inputs.items():
        interpreter.set_tensor(numbers[name], _as(array, inputs[numbers[name]]))


def _as(array: Array, detail: Any) -> Array:
    return np.ascontiguousarray(array.astype(detail["dtype"], copy=False))


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
