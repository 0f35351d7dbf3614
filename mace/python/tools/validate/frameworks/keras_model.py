# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs models of Keras. Used only in the child process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from mace.python.tools.importers.keras.network import BEFORE_ACTIVATION, meaning
from mace.python.tools.validate.frameworks.reference import (
    Array,
    FrameworkError,
    ReferenceRequest,
    ReferenceResult,
)
from mace.python.tools.validate.frameworks.tensorflow_v1 import prepare_tensorflow
from mace.python.tools.wording import near_names


def run(request: ReferenceRequest) -> ReferenceResult:
    """Runs a model; inputs and outputs may be tensors of inner layers."""
    prepare_tensorflow()
    import keras

    try:
        model = keras.models.load_model(str(request.model_file), compile=False)
    except Exception as error:  # ValueError, OSError, TypeError, ...
        raise FrameworkError(
            f"keras cannot read {request.model_file}: {_first_line(error)}"
        ) from error
    tensors = _Tensors(model)
    known = {
        name: tensor
        for name in (*request.inputs, *request.outputs, *request.optional_outputs)
        if (tensor := tensors.find(name)) is not None
    }
    missing = [n for n in (*request.outputs, *request.inputs) if n not in known]
    if missing:
        raise FrameworkError(
            f"{request.model_file} has no tensor "
            + "; ".join(near_names(name, tensors.results) for name in missing)
        )
    feeds = {name: _cast(name, known[name], a) for name, a in request.inputs.items()}
    wanted = [*request.outputs]
    wanted += [name for name in request.optional_outputs if name in known]
    wanted = list(dict.fromkeys(wanted))
    try:
        part = keras.Model(
            [known[name] for name in feeds],
            [known[name] for name in wanted],
        )
        values = part([*feeds.values()], training=False)
        values = values if isinstance(values, (list, tuple)) else [values]
    except Exception as error:
        raise FrameworkError(
            f"keras cannot run {request.model_file}: {_first_line(error)}"
        ) from error
    found = {name: np.asarray(value) for name, value in zip(wanted, values)}
    return ReferenceResult(found, f"keras {keras.__version__}")


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


class _Tensors:
    """The tensors of the outermost model.

    Attributes:
        results: of layers, as the importer names them, with the calls that make them.
    """

    def __init__(self, model: Any) -> None:
        self.results = {name: (tensor, call) for name, tensor, call in _results(model)}

    def find(self, name: str) -> Any:
        """The tensor that a name means, None if there is none."""
        found = meaning(name, self.results, self._config)
        if found is None:
            return None
        if found.layer is None:
            return self.results[found.name][0]
        _, (layer, node) = self.results[found.layer]
        config = {**layer.get_config(), "activation": "linear"}
        config["name"] = f"{layer.name}_{BEFORE_ACTIVATION}"
        linear = type(layer).from_config(config)
        result = linear(*node.arguments.args, **node.arguments.kwargs)
        linear.set_weights(layer.get_weights())
        return result

    def _config(self, name: str) -> Mapping[str, Any] | None:
        layer, _ = self.results[name][1]
        return None if hasattr(layer, "layers") else layer.get_config()


def _results(model: Any) -> Iterator[tuple[str, Any, tuple[Any, Any]]]:
    """Name, tensor, and the layer and its call that make it."""
    functional = getattr(model, "_functional", None) or model
    if not hasattr(functional, "operations"):
        raise FrameworkError("the model is neither functional nor sequential")
    own = {id(n) for nodes in functional._nodes_by_depth.values() for n in nodes}
    for operation in functional.operations:
        nodes = [node for node in operation._inbound_nodes if id(node) in own]
        for number, node in enumerate(nodes):
            name = f"{operation.name}#{number}" if number else operation.name
            for index, tensor in enumerate(node.output_tensors):
                shown = f"{name}:{index}" if index else name
                yield shown, tensor, (operation, node)


def _cast(name: str, tensor: Any, array: Array) -> Array:
    shape = tuple(tensor.shape)
    fits = len(shape) == array.ndim and all(
        dim is None or dim == own for dim, own in zip(shape, array.shape)
    )
    if not fits:
        raise FrameworkError(
            f"input {name} has shape {list(array.shape)}, and the model wants "
            f"{list(shape)}; check input_shapes and input_data_formats in the "
            "deployment file"
        )
    return array.astype(str(tensor.dtype), copy=False)
