# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The outputs of models as their graphs make them; what a file declares may be old."""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from mace.python.installation import deployment_keys, typed
from mace.python.tools.config.deployment import Deployment, ModelConfig
from mace.python.tools.config.subgraph import BorderTensor
from mace.python.tools.config.values import Constant, shape_text
from mace.python.tools.config.vocabulary import DataFormat as UsersFormat
from mace.python.tools.config.vocabulary import border_type
from mace.python.tools.convert.requests import holds_nothing, import_request
from mace.python.tools.convert.source import fetch_sources
from mace.python.tools.data_type import DataType
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


def deployment_text(deployment: Deployment) -> str:
    """The text of a deployment file, with comments on what can be changed."""
    lines = [
        "# How MACE converts and runs this model. All keys:",
        f"# {deployment_keys()}",
        f"library_name: {_word(deployment.library_name)}",
        "# host: this computer; arm64-v8a, armeabi-v7a: Android; arm64, armhf: Linux.",
        f"target_abis: [{', '.join(abi.value for abi in deployment.target_abis)}]",
        "model_graph_format: file  # or code, to link the model into the application",
        "model_data_format: file",
        "models:",
    ]
    for name, model in deployment.models.items():
        lines.append(f"  {_word(name)}:")
        lines += (f"    {line}" for line in _model(model))
    return "".join(f"{line}\n" for line in lines)


def _model(model: ModelConfig) -> Iterator[str]:
    yield f"platform: {model.platform.value}"
    for key, file in (
        ("model_file_path", model.model_file_path),
        ("weight_file_path", model.weight_file_path),
    ):
        if file is not None:
            yield f"{key}: {_word(file.location)}"
    yield f"runtime: {model.whole.runtime.value}  # or gpu, or cpu+gpu"
    yield (
        f"data_type: {model.whole.data_type.value}  # or fp16_fp32: weights in 16 bits"
    )
    yield "subgraphs:"
    part = model.whole
    first = "- "
    for side, tensors, shapes in (
        ("input", part.inputs, part.input_shapes),
        ("output", part.outputs, part.output_shapes),
    ):
        for line in _side(side, tensors, shapes is not None):
            yield f"  {first}{line}"
            first = "  "
    if part.constants:
        pairs = (f"{_quoted(k)}: {_value(c)}" for k, c in part.constants.items())
        yield f"    constants: {{{', '.join(pairs)}}}  # inputs, the same in every run"
    if part.states:
        pairs = (f"{_quoted(k)}: {_quoted(to)}" for k, to in part.states.items())
        yield f"    states: {{{', '.join(pairs)}}}  # kept from one run to the next"
    yield "# To compute in integers of 8 bits, with samples in a folder:"
    yield f"#   {typed('quantize')} --config=FILE --input_dir=FOLDER"


def _side(
    side: str, tensors: Sequence[BorderTensor], has_shapes: bool
) -> Iterator[str]:
    yield f"{side}_tensors: {_listed([tensor.name for tensor in tensors])}"
    if has_shapes:
        shapes = [shape_text(tensor.shape) for tensor in tensors]
        yield f"{side}_shapes: {_listed(shapes)}"
    types = [tensor.data_type for tensor in tensors]
    if any(kind is not DataType.FLOAT32 for kind in types):
        yield f"{side}_data_types: {_listed([kind.value for kind in types])}"
    formats = [tensor.data_format.value for tensor in tensors]
    yield (
        f"{side}_data_formats: {_listed(formats)}  "
        "# order of the application: NCHW, NHWC or NONE"
    )


def _listed(words: Sequence[str]) -> str:
    return f"[{', '.join(map(_quoted, words))}]"


def _value(constant: Constant) -> str:
    """All of a constant, as YAML has it."""
    if constant.file is not None:
        return _quoted(constant.file.location)
    return json.dumps(constant.value)


def _quoted(word: str) -> str:
    """A text that no YAML takes for anything else."""
    text: str = yaml.safe_dump(
        word, default_style='"', width=float("inf"), allow_unicode=True
    )
    return text.strip()


def _word(word: str) -> str:
    plain: str = yaml.safe_dump(word, width=float("inf"), allow_unicode=True)
    return plain.split("\n")[0]
