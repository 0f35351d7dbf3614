# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The rules of a deployment file that involve more than one key."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from mace.python.tools.config import deployment as normal
from mace.python.tools.config.sections import (
    ParsedDeployment,
    ParsedModel,
    ParsedSection,
)
from mace.python.tools.config.value_parsers import parse_file_stem
from mace.python.tools.wording import listed, shown

# Reports one problem: section, key, message.
Report = Callable[[ParsedSection, str, str], None]

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# [lex.key] of C++17 plus the alternative tokens and what C++20 adds, so that
# generated code compiles under both.
_KEYWORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char
    char16_t char32_t char8_t class co_await co_return co_yield compl concept
    const const_cast consteval constexpr constinit continue decltype default
    delete do double dynamic_cast else enum explicit export extern false float
    for friend goto if inline int long mutable namespace new noexcept not
    not_eq nullptr operator or or_eq private protected public register
    reinterpret_cast requires return short signed sizeof static static_assert
    static_cast struct switch template this thread_local throw true try typedef
    typeid typename union unsigned using virtual void volatile wchar_t while
    xor xor_eq
"""
CPP_KEYWORDS = frozenset(_KEYWORDS.split())

_GPU_TYPES = (normal.DataType.FP16_FP32, normal.DataType.FP32_FP32)
# What a device can store and compute; all others as the GPU.
DATA_TYPES_OF = {normal.Runtime.CPU: tuple(normal.DataType)}

# Keys with one value per tensor: key -> (key of the tensors, one for all?).
_PER_TENSOR = {
    "input_shapes": ("input_tensors", False),
    "input_data_types": ("input_tensors", True),
    "input_data_formats": ("input_tensors", True),
    "input_ranges": ("input_tensors", True),
    "input_aliases": ("input_tensors", False),
    "validation_inputs_data": ("input_tensors", False),
    "output_shapes": ("output_tensors", False),
    "output_data_types": ("output_tensors", True),
    "output_data_formats": ("output_tensors", True),
    "output_aliases": ("output_tensors", False),
    "validation_outputs_data": ("output_tensors", False),
    "check_shapes": ("check_tensors", False),
}


def check_deployment(deployment: ParsedDeployment, report: Report) -> None:
    """Reports every rule the deployment breaks."""
    graph = deployment.get("model_graph_format")
    data = deployment.get("model_data_format")
    if graph is normal.ModelFormat.FILE and data is normal.ModelFormat.CODE:
        report(
            deployment,
            "model_data_format",
            "found code, but model_graph_format is file; "
            "weights go into code only together with the graph",
        )
    abis = deployment.get("target_abis")
    _check_unique(deployment, "target_abis", abis, report)
    for model in deployment.models:
        _check_name(model, graph, report)
        _check_files(model, report)
        _check_quantize(model, report)
        _check_unique(
            model,
            "subgraphs",
            [s.get("name") for s in model.subgraphs if s.get("name")],
            report,
        )
        for subgraph in model.subgraphs:
            _check_subgraph(model, subgraph, report)


def _check_name(
    model: ParsedModel, graph: normal.ModelFormat | None, report: Report
) -> None:
    if graph is normal.ModelFormat.CODE:
        if model.name in CPP_KEYWORDS:
            report(
                model,
                "",
                f"the model name {shown(model.name)} is a C++ keyword; "
                "with model_graph_format: code it names C++ code",
            )
        elif not _IDENTIFIER.fullmatch(model.name):
            report(
                model,
                "",
                f"the model name {shown(model.name)} is not a C++ name "
                '(letters, digits and "_", not beginning with a digit); '
                "with model_graph_format: code it names C++ code",
            )
        return
    try:
        parse_file_stem(model.name)
    except ValueError as error:
        report(model, "", f"model name: {error}")


def _check_files(model: ParsedModel, report: Report) -> None:
    pairs = (
        ("model_file_path", "model_sha256_checksum"),
        ("weight_file_path", "weight_sha256_checksum"),
        ("dockerfile_path", "dockerfile_sha256_checksum"),
    )
    for path_key, sum_key in pairs:
        if path_key not in model.values or sum_key not in model.values:
            continue
        location, checksum = model.get(path_key), model.get(sum_key)
        if checksum and not location:
            report(model, sum_key, f"is given without {path_key}")
        elif location and not checksum and _is_url(location):
            report(
                model,
                sum_key,
                f"is missing; it is required as {path_key} is an address "
                "(sha256sum FILE prints it)",
            )
    if "weight_file_path" not in model.values:
        return
    platform, weights = model.get("platform"), model.get("weight_file_path")
    if platform is normal.Platform.CAFFE and not weights:
        report(model, "weight_file_path", "is missing; Caffe models require it")
    elif weights and platform not in (None, normal.Platform.CAFFE):
        report(
            model,
            "weight_file_path",
            f"is only for Caffe models; {platform.value} models are one file",
        )


def _check_quantize(model: ParsedModel, report: Report) -> None:
    if not model.get("quantize"):
        return
    if model.get("quantize_large_weights"):
        report(
            model,
            "quantize_large_weights",
            "contradicts quantize: 1, which makes all weights 8 bit; "
            "remove one of the two",
        )
    if "quantize_range_file" not in model.values:
        return
    if model.get("quantize_range_file"):
        return
    for subgraph in model.subgraphs:
        if "input_ranges" in subgraph.values and subgraph.get("input_ranges") is None:
            report(
                model,
                "quantize",
                "needs quantize_range_file (ranges from sample inputs) or "
                f"{subgraph.path('input_ranges')} (a model trained for "
                "quantization)",
            )


def _check_subgraph(
    model: ParsedModel, subgraph: ParsedSection, report: Report
) -> None:
    for key, (tensors_key, one_for_all) in _PER_TENSOR.items():
        _check_count(subgraph, key, tensors_key, one_for_all, report)
    lacks_shapes = subgraph.values.get("check_shapes", ()) is None
    if subgraph.get("check_tensors") and lacks_shapes:
        report(subgraph, "check_shapes", "is missing; it goes with check_tensors")
    for key in (
        "input_tensors",
        "output_tensors",
        "input_aliases",
        "output_aliases",
    ):
        _check_unique(subgraph, key, subgraph.get(key), report)
    _check_runtime(model, subgraph, report)


def _check_count(
    subgraph: ParsedSection,
    key: str,
    tensors_key: str,
    one_for_all: bool,
    report: Report,
) -> None:
    values, tensors = subgraph.get(key), subgraph.get(tensors_key)
    if values is None or tensors_key not in subgraph.values:
        return
    if tensors is None:
        report(subgraph, key, f"is given without {tensors_key}")
        return
    if len(values) == len(tensors) or (one_for_all and len(values) == 1):
        return
    message = (
        f"found {_counted(len(values), 'value')} for "
        f"{_counted(len(tensors), 'tensor')} in {tensors_key}"
    )
    if one_for_all:
        message += "; give one for each, or one for all"
    elif key.endswith("shapes") and all(len(shape) == 1 for shape in values):
        dims = ",".join(str(shape[0]) for shape in values)
        message += f'; if this is one shape, write "{dims}" without [ ]'
    else:
        message += "; give one for each"
    report(subgraph, key, message)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


def _check_unique(
    section: ParsedSection, key: str, values: Any, report: Report
) -> None:
    twice = dict.fromkeys(v for v in values or () if values.count(v) > 1)
    for value in twice:
        word = getattr(value, "value", value)
        report(section, key, f"names {shown(word)} twice")


def _check_runtime(model: ParsedModel, subgraph: ParsedSection, report: Report) -> None:
    if "runtime" not in subgraph.values or "runtime" not in model.values:
        return
    runtime = subgraph.get("runtime") or model.get("runtime")
    if runtime is None:
        if subgraph is model.subgraphs[0]:
            runtimes = listed(member.value for member in normal.Runtime)
            report(model, "runtime", f"is missing; it is required, one of {runtimes}")
        return
    owner = subgraph if subgraph.get("data_type") else model
    data_type = owner.get("data_type")
    if data_type is None:
        return
    for device in runtime.devices:
        accepted = DATA_TYPES_OF.get(device, _GPU_TYPES)
        if data_type not in accepted:
            report(
                owner,
                "data_type",
                f"found {shown(data_type.value)}, which runtime "
                f"{runtime.value} cannot use; accepted: "
                f"{listed(member.value for member in accepted)}",
            )
            break


def _is_url(location: str) -> bool:
    return location.lower().startswith(("http://", "https://"))
