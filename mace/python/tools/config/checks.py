# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The rules of a deployment file that involve more than one key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mace.python.tools.config.cpp_names import cpp_name_problem
from mace.python.tools.config.keys import Key, keys_of
from mace.python.tools.config.reader import Parsed
from mace.python.tools.config.values import FILE_STEM
from mace.python.tools.config.vocabulary import DataType, ModelFormat, Platform, Runtime
from mace.python.tools.wording import listed, shown

# Reports one problem: section, key, message.
Report = Callable[[Parsed, str, str], None]


def check_deployment(deployment: Parsed, report: Report) -> None:
    """Reports every rule the deployment breaks."""
    graph = deployment.get("model_graph_format")
    data = deployment.get("model_data_format")
    if graph is ModelFormat.FILE and data is ModelFormat.CODE:
        report(
            deployment,
            "model_data_format",
            "found code, but model_graph_format is file; "
            "weights go into code only together with the graph",
        )
    _check_unique(deployment, "target_abis", report)
    for model in deployment.get("models") or ():
        _check_name(model, graph, report)
        _check_files(model, report)
        subgraphs = model.get("subgraphs") or ()
        names = [s.get("name") for s in subgraphs if s.get("name")]
        _report_twice(model, "subgraphs", names, report)
        for subgraph in subgraphs:
            _check_subgraph(model, subgraph, report)


def _check_name(model: Parsed, graph: ModelFormat | None, report: Report) -> None:
    if graph is ModelFormat.CODE:
        problem = cpp_name_problem(model.name)
        if problem:
            report(
                model,
                "",
                f"the model name {shown(model.name)} {problem}; "
                "with model_graph_format: code it names C++ code",
            )
        return
    try:
        FILE_STEM.read(model.name)
    except ValueError as error:
        report(model, "", f"model name: {error}")


def _check_files(model: Parsed, report: Report) -> None:
    for key in keys_of(model.section).values():
        if not {key.name, key.checksum} <= set(model.values):
            continue
        location, checksum = model.get(key.name), model.get(key.checksum)
        if checksum and not location:
            report(model, key.checksum, f"is given without {key.name}")
        elif location and not checksum and _is_url(location):
            report(
                model,
                key.checksum,
                f"is missing; it is required as {key.name} is an address "
                "(sha256sum FILE prints it)",
            )
    if "weight_file_path" not in model.values:
        return
    platform, weights = model.get("platform"), model.get("weight_file_path")
    if weights and platform not in (None, Platform.CAFFE):
        report(
            model,
            "weight_file_path",
            f"is only for Caffe models; {platform.value} models are one file",
        )


def _check_subgraph(model: Parsed, subgraph: Parsed, report: Report) -> None:
    for key in keys_of(subgraph.section).values():
        if key.each:
            _check_count(subgraph, key, report)
    lacks_shapes = subgraph.values.get("check_shapes", ()) is None
    if subgraph.get("check_tensors") and lacks_shapes:
        report(subgraph, "check_shapes", "is missing; it goes with check_tensors")
    for side in ("input", "output"):
        _check_unique(subgraph, f"{side}_tensors", report)
        _check_unique(subgraph, f"{side}_aliases", report)
    _check_states(subgraph, report)
    _check_runtime(model, subgraph, report)


def _check_states(subgraph: Parsed, report: Report) -> None:
    states = subgraph.get("states")
    inputs, outputs = subgraph.get("input_tensors"), subgraph.get("output_tensors")
    if not states or not inputs or not outputs:
        return
    shapes = subgraph.get("input_shapes") or ()
    shape_of = dict(zip(inputs, shapes)) if len(shapes) == len(inputs) else {}
    for name, becomes in states.items():
        if name not in inputs:
            report(subgraph, "states", f"{shown(name)} is not in input_tensors")
        elif any(dim < 0 for dim in shape_of.get(name, ())):
            found = ",".join(map(str, shape_of[name]))
            report(
                subgraph,
                "states",
                f"{shown(name)} needs a fixed shape, input_shapes says {found}",
            )
        if becomes not in outputs:
            report(subgraph, "states", f"{shown(becomes)} is not in output_tensors")
    _report_twice(subgraph, "states", list(states.values()), report)
    if set(inputs) <= set(states):
        report(
            subgraph,
            "states",
            "names every input; one at least must come from the application",
        )


def _check_count(subgraph: Parsed, key: Key, report: Report) -> None:
    values, tensors = subgraph.get(key.name), subgraph.get(key.each)
    if values is None or key.each not in subgraph.values:
        return
    if tensors is None:
        report(subgraph, key.name, f"is given without {key.each}")
        return
    if len(values) == len(tensors) or (key.one_for_all and len(values) == 1):
        return
    message = (
        f"found {_counted(len(values), 'value')} for "
        f"{_counted(len(tensors), 'tensor')} in {key.each}"
    )
    if key.one_for_all:
        message += "; give one for each, or one for all"
    elif key.name.endswith("shapes") and all(len(shape) == 1 for shape in values):
        dims = ",".join(str(shape[0]) for shape in values)
        message += f'; if this is one shape, write "{dims}" without [ ]'
    else:
        message += "; give one for each"
    report(subgraph, key.name, message)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


def _check_unique(section: Parsed, name: str, report: Report) -> None:
    _report_twice(section, name, list(section.get(name) or ()), report)


def _report_twice(
    section: Parsed, name: str, values: list[Any], report: Report
) -> None:
    for value in dict.fromkeys(v for v in values if values.count(v) > 1):
        word = getattr(value, "value", value)
        report(section, name, f"names {shown(word)} twice")


def _check_runtime(model: Parsed, subgraph: Parsed, report: Report) -> None:
    if "runtime" not in subgraph.values or "runtime" not in model.values:
        return
    if not subgraph.gives("runtime") and not model.gives("runtime"):
        misspelled = "runtime" in model.misspelled | subgraph.misspelled
        if subgraph is model.get("subgraphs")[0] and not misspelled:
            runtimes = listed(member.value for member in Runtime if member.in_release)
            report(model, "runtime", f"is missing; it is required: {runtimes}")
        return
    owner = subgraph if subgraph.gives("runtime") else model
    runtime: Runtime = owner.get("runtime")
    owner = subgraph if subgraph.gives("data_type") else model
    data_type: DataType | None = owner.get("data_type")
    if data_type is None:
        return
    if not all(data_type.fits(device) for device in runtime.devices):
        accepted = [
            other.value
            for other in DataType
            if all(other.fits(device) for device in runtime.devices)
        ]
        report(
            owner,
            "data_type",
            f"found {shown(data_type.value)}, which runtime {runtime.value} cannot "
            f"use; accepted: {listed(accepted)}",
        )


def _is_url(location: str) -> bool:
    return location.lower().startswith(("http://", "https://"))
