# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The outputs of models as their graphs make them; what a file declares may be old."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import Any

from mace.python.tools.config.deployment import Deployment, ModelConfig
from mace.python.tools.config.vocabulary import DataFormat as UsersFormat
from mace.python.tools.config.vocabulary import border_type
from mace.python.tools.convert.requests import holds_nothing, import_request
from mace.python.tools.convert.source import fetch_sources
from mace.python.tools.errors import MaceError, UsageError
from mace.python.tools.importers.frame.opened import OpenedModels
from mace.python.tools.importers.frame.request import user_to_framework
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.ir.shapes import to_ints
from mace.python.tools.load.deployments import Loaded


def with_inferred_outputs(loaded: Loaded) -> Deployment:
    """The deployment with shapes, types and orders of all outputs. A model that cannot
    be imported stays as it is: whatever uses it says why.

    Raises:
        UsageError: an output holds nothing.
    """
    models = {
        name: _with_outputs(model, loaded.opened)
        for name, model in loaded.deployment.models.items()
    }
    return loaded.deployment.model_copy(update={"models": models})


def _with_outputs(model: ModelConfig, opened: OpenedModels) -> ModelConfig:
    if len(model.subgraphs) > 1:
        return model
    (source,) = fetch_sources([model], opened)
    request = import_request(model, source.model, source.weights)
    try:
        with _quiet():
            graph = source.opened.import_graph(request)
    except MaceError:
        return model
    if any(value.shape is None for value in graph.outputs):
        return model
    for value, name in zip(graph.outputs, model.whole.output_tensors):
        if 0 in (value.shape or ()):
            location = model.model_file_path.location
            raise UsageError(f"{location}: {holds_nothing('output', name)}")
    framework = source.opened.describe().image_order
    orders = [
        order if len(value.shape or ()) == 4 else UsersFormat.NONE
        for value, order in zip(graph.outputs, model.whole.output_data_formats)
    ]
    found: dict[str, Any] = {
        "output_shapes": tuple(
            user_to_framework(
                to_ints(value.shape or ()), framework, DataFormat(order.value)
            )
            for value, order in zip(graph.outputs, orders)
        ),
        "output_data_types": tuple(border_type(value.dtype) for value in graph.outputs),
        "output_data_formats": tuple(orders),
    }
    part = model.subgraphs[0].model_copy(update=found)
    return model.model_copy(update={"subgraphs": (part,)})


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """What an import tells is told when the model is converted."""
    log = logging.getLogger("mace.python.tools.importers")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)
