# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Translates a deployment into requests to the importer and the exporter."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mace.python.tools.config.deployment import ModelConfig
from mace.python.tools.config.subgraph import BorderTensor
from mace.python.tools.config.vocabulary import Runtime
from mace.python.tools.convert.constants import constants_text, input_constants
from mace.python.tools.export import ExportOptions, InputSignature
from mace.python.tools.export.storage import Storage
from mace.python.tools.importers.frame.errors import ImportModelError
from mace.python.tools.importers.frame.request import (
    ImportRequest,
    InputSpec,
    OutputSpec,
)
from mace.python.tools.ir import DataFormat, DataType, Graph, SubgraphSpec, Value
from mace.python.tools.ir.graph import Target
from mace.python.tools.ir.shapes import (
    NHWC_TO_NCHW,
    Shape,
    format_shape,
    from_ints,
    permute,
    product,
    to_ints,
)

_LOG = logging.getLogger(__name__)

# As the catalogue calls them; accelerators have no operators of their own.
_DEVICES = {Runtime.DSP: "HEXAGON"}


def import_request(
    model: ModelConfig, model_path: Path, weight_path: Path | None
) -> ImportRequest:
    """What the importer is asked for a model of the deployment."""
    subgraph = model.whole
    return ImportRequest(
        name=model.name,
        model_path=model_path,
        weight_path=weight_path,
        inputs=tuple(
            InputSpec(
                name=info.name,
                shape=info.shape,
                # The type of a scaled input is that of the application alone.
                dtype=DataType.FLOAT32 if info.is_scaled else info.data_type,
                data_format=DataFormat(info.data_format.value),
            )
            for info in subgraph.inputs
        ),
        outputs=tuple(
            OutputSpec(info.name, DataFormat(info.data_format.value), info.data_type)
            for info in subgraph.outputs
        ),
        constants=input_constants(model),
    )


def target_of(model: ModelConfig) -> Target:
    """What the deployment makes a model for."""
    devices = {
        _DEVICES.get(device, device.name): None
        for part in model.subgraphs
        for device in part.runtime.devices
    }
    return Target(
        devices=tuple(devices),
        floats=model.whole.data_type.arithmetic,
        integers=model.quantize or model.quantize_dynamic,
    )


def subgraph_specs(model: ModelConfig) -> list[SubgraphSpec]:
    """The parts of the model, as the deployment names them."""
    return [
        SubgraphSpec(part.name or "", part.input_tensors, part.output_tensors)
        for part in model.subgraphs
    ]


def export_options(
    model: ModelConfig,
    source_sha256: Sequence[str] = (),
    external_sources: Sequence[tuple[str, str]] = (),
) -> ExportOptions:
    """How the exporter is to write a model of the deployment.

    Args:
        source_sha256: of the files it names.
        external_sources: path and SHA-256 of the files that these name.
    """
    subgraph = model.whole
    precision = subgraph.data_type
    return ExportOptions(
        storage=Storage(precision.weights.value),
        pairs=precision.arithmetic is DataType.BFLOAT16,
        eight_bit_weights=model.quantize_large_weights,
        whatever_size=precision.computes_in_half,
        obfuscate=model.obfuscate,
        hints=model.hints(),
        inputs={info.name: _signature(info, info.range) for info in subgraph.inputs},
        outputs={info.name: _signature(info, None) for info in subgraph.outputs},
        states=subgraph.states or {},
        constants="" if model.obfuscate else constants_text(subgraph.constants),
        source_sha256=source_sha256,
        external_sources=external_sources,
    )


def _signature(
    info: BorderTensor,
    value_range: tuple[float, float] | None,
) -> InputSignature:
    return InputSignature(
        data_format=DataFormat(info.data_format.value),
        alias=info.alias or "",
        value_range=value_range,
        largest=info.largest,
        means=info.means or (),
        scales=info.scales or (),
    )


def users_shape(info: BorderTensor, graph: Graph, value: Value) -> Shape | None:
    """The shape of an input or output in the order that the deployment gives it."""
    is_nchw = DataFormat(info.data_format.value) is DataFormat.NCHW
    if value.shape is None or not is_nchw:
        return value.shape
    turned = graph.formats[value.name] is DataFormat.NHWC
    return permute(value.shape, NHWC_TO_NCHW) if turned else value.shape


def check_input_shapes(model: ModelConfig, graph: Graph) -> None:
    """Refuses -1 for a dimension that the model fixes.

    Raises:
        ImportModelError: lists the inputs.
    """
    problems = []
    for info, value in zip(model.whole.inputs, graph.inputs):
        shape = users_shape(info, graph, value)
        if shape is None or len(shape) != len(info.shape):
            continue
        fixed = [
            axis
            for axis, (asked, own) in enumerate(zip(info.shape, shape))
            if asked < 0 and isinstance(own, int)
        ]
        if fixed:
            own = tuple(
                dim if axis in fixed or dim >= 0 else None
                for axis, dim in enumerate(to_ints(shape))
            )
            problems.append(
                f"models.{model.name}: input_shapes says "
                f"{format_shape(from_ints(info.shape))} for {info.name!r}, and the "
                f"model fixes dimension {', '.join(map(str, fixed))}: it is "
                f"{format_shape(own)}; write that, or export the model with a dynamic "
                "dimension"
            )
    if problems:
        raise ImportModelError("\n".join(problems))


def check_output_shapes(model: ModelConfig, graph: Graph) -> None:
    """Compares the deployment's output shapes with the inferred ones. Those that only
    the model's file declares may be old ones, of which no framework takes notice.

    Raises:
        ImportModelError: lists the outputs that differ, and those that hold nothing.
    """
    of_model = any(
        key.name == "output_shapes" and place.of_model
        for part in model.subgraphs
        for key, _, place in part.given
    )
    problems = []
    for info, value in zip(model.whole.outputs, graph.outputs):
        shape = users_shape(info, graph, value)
        if shape is not None and 0 in shape:
            problems.append(
                f"models.{model.name}: {holds_nothing('output', info.name)}"
            )
        if shape is None or 0 in shape or not info.shape:
            continue
        declared = from_ints(info.shape)
        if _agree(shape, declared):
            continue
        if of_model:
            _LOG.warning(
                "%s: its file declares %s for the output %s, which is %s",
                model.name,
                format_shape(declared),
                info.name,
                format_shape(shape),
            )
        else:
            problems.append(
                f"models.{model.name}: output_shapes says "
                f"{format_shape(declared)} for {info.name!r}, the model makes "
                f"{format_shape(shape)}"
            )
    if problems:
        raise ImportModelError("\n".join(problems))


def holds_nothing(side: str, *names: str) -> str:
    """Why inputs or outputs, as `side` says, are refused."""
    return (
        f"the {side} {', '.join(names)} has a dimension of length 0, so that it holds "
        "nothing; export the model with another length, or one that each run decides"
    )


def check_border_types(model: ModelConfig, graph: Graph) -> None:
    """Compares the deployment's element types with the model's.

    An application may pass and receive any floating type for a floating
    tensor; float32, the default, stands for whatever the model has.

    Raises:
        ImportModelError: lists the inputs and outputs that differ.
    """
    subgraph = model.whole
    sides: tuple[tuple[str, Any, list[Value]], ...] = (
        ("input", subgraph.inputs, graph.inputs),
        ("output", subgraph.outputs, graph.outputs),
    )
    problems = []
    for side, infos, values in sides:
        for info, value in zip(infos, values):
            declared = info.data_type
            if declared is DataType.FLOAT32:
                continue
            same = declared is value.dtype
            if not same and not (declared.is_float and value.dtype.is_float):
                problems.append(
                    f"models.{model.name}: {side}_data_types says {declared.value} "
                    f"for {info.name!r}, which MACE takes as {value.dtype.value}; "
                    f"say {value.dtype.value}"
                )
    if problems:
        raise ImportModelError("\n".join(problems))


def check_states(model: ModelConfig, graph: Graph) -> None:
    """Whether each state can take the output that it is to become.

    Raises:
        ImportModelError: lists the states that cannot.
    """
    infos = {info.name: info for info in model.whole.inputs}
    values = {value.name: value for value in (*graph.inputs, *graph.outputs)}
    problems = [
        f"models.{model.name}: states: {name!r} cannot become {becomes!r}: {problem}"
        for name, becomes in (model.whole.states or {}).items()
        if (
            problem := _state_problem(infos[name], graph, values[name], values[becomes])
        )
    ]
    if problems:
        raise ImportModelError("\n".join(problems))


def _state_problem(
    info: BorderTensor, graph: Graph, state: Value, becomes: Value
) -> str:
    # An operator makes every output, see `passes.invariants`.
    own, new = (
        (
            value.dtype.value,
            _shown_shape(users_shape(info, graph, value)),
            graph.formats[value.name].value,
        )
        for value in (state, becomes)
    )
    pairs = zip(("", "of shape ", "in order "), own, new)
    return "; ".join(
        f"that is {what}{after}, the state {what}{before}"
        for what, before, after in pairs
        if before != after
    )


def _shown_shape(shape: Shape | None) -> str:
    return "unknown" if shape is None else format_shape(shape)


def _agree(shape: Any, declared: Any) -> bool:
    """Whether two shapes may be the same; axes of length 1 do not count.

    Deployment files commonly give a classifier's [1, 1, 1, 1001] as
    [1, 1001].
    """
    own = [dim for dim in shape if dim != 1]
    given = [dim for dim in declared if dim != 1]
    if len(own) != len(given):
        # A dimension of either may turn out as 1.
        return product(own) is None or product(given) is None
    return all(
        a == b or not (isinstance(a, int) and isinstance(b, int))
        for a, b in zip(own, given)
    )
