# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What every key of a deployment file does."""

from __future__ import annotations

from collections.abc import Mapping

from mace.python.tools.config import (
    Level,
    ModelFormat,
    OnnxBackend,
    Platform,
    Runtime,
)
from mace.python.tools.config.spellings import WITHOUT_EFFECT
from mace.python.tools.effects.effect import (
    Asked,
    Command,
    Effect,
    no_effect,
    not_caffe,
    refused,
    unless_device,
)
from mace.python.tools.importers.base import available_importers
from mace.python.tools.wording import listed, nearest, shown

_CONVERTIBLE = (Runtime.CPU, Runtime.GPU, Runtime.CPU_GPU)
_CPU_ONLY = (
    "only the CPU can run models in this version; the model will run on the CPU too"
)


def _on_convert(asked: Asked) -> str:
    # In the file it is there for `run`; as a flag somebody wants something.
    if not asked.origin.startswith("--"):
        return ""
    if asked.deployment.model_graph_format is ModelFormat.CODE:
        return ""
    return "a converted model is the same for all of them"


def _platform(asked: Asked) -> str:
    known = available_importers()
    if asked.value.value in known:
        return ""
    return f"{shown(asked.value.value)} cannot be imported yet; use {listed(known)}"


def _subgraphs(asked: Asked) -> str:
    count = len(asked.subgraphs)
    return "" if count == 1 else f"{count} subgraphs; give each its own model"


def _unconvertible(asked: Asked) -> str:
    if asked.value in _CONVERTIBLE:
        return ""
    return (
        f"{shown(asked.value.value)} is not supported; "
        f"use {listed(runtime.value for runtime in _CONVERTIBLE)}"
    )


def _converted_for_gpu(asked: Asked) -> str:
    return _CPU_ONLY if asked.value in (Runtime.GPU, Runtime.CPU_GPU) else ""


def _not_run(asked: Asked) -> str:
    if Runtime.CPU in asked.value.devices:
        return ""
    return f"{asked.value.value} cannot be run yet; use cpu or cpu+gpu"


def _left_out(asked: Asked) -> str:
    if asked.value is not Runtime.CPU_GPU:
        return ""
    return "runtime gpu cannot be run yet and is left out"


def _quantize(asked: Asked) -> str:
    return "8-bit models are not supported; remove the key"


def _without_quantize(asked: Asked) -> str:
    if any(m.quantize.enabled for m in asked.models):
        return ""
    return "is for quantize: 1, which is not given"


def _unknown_pass(asked: Asked) -> str:
    # A room that `run` need not load.
    from mace.python.tools.passes.manager import all_passes

    known = [item.name for item in all_passes()]
    problems = []
    for name in asked.value:
        if name not in known:
            near = nearest(name, known)
            problems.append(shown(name) + (f" (did you mean {near}?)" if near else ""))
    if not problems:
        return ""
    return f"no such pass: {', '.join(problems)}; known: {', '.join(sorted(known))}"


def _memory_type(asked: Asked) -> str:
    if Runtime.GPU not in asked.devices:
        return ""
    return "this version has no GPU memory to choose"


def _one_subgraph(asked: Asked) -> str:
    return "tells the subgraphs of a model apart, and this one has no other"


def _backend(asked: Asked) -> str:
    validates = getattr(asked.options, "validate", False)
    if not validates or asked.value is OnnxBackend.ONNXRUNTIME:
        return ""
    return f"the model is compared with {_compared_with(asked)}"


def _compared_with(asked: Asked) -> str:
    if any(model.platform is Platform.TENSORFLOW for model in asked.models):
        return "TensorFlow"
    return "ONNX Runtime"


def _micro(asked: Asked) -> str:
    return "is for --enable_micro, which is not supported"


_RUNTIME = Effect(
    "the devices the model is converted for and run on",
    (
        *refused(
            "unless cpu, gpu or cpu+gpu",
            _unconvertible,
            Command.CONVERT,
        ),
        *no_effect(
            "for gpu: nothing runs on it yet", _converted_for_gpu, Command.CONVERT
        ),
        *refused("unless cpu or cpu+gpu", _not_run, Command.RUN),
        *no_effect("for the gpu of cpu+gpu", _left_out, Command.RUN),
    ),
)
_DATA_TYPE = Effect(
    "how weights are stored, and whether convolutions multiply in 16 bits"
)
_WINOGRAD = Effect("the convolutions of the CPU")
_QUANTIZE = refused("always", _quantize)
_ONLY_QUANTIZED = no_effect("without `quantize: 1`", _without_quantize)
_ONLY_CAFFE = no_effect("unless `platform` is caffe", not_caffe)
_ONE_SUBGRAPH = no_effect("always: a model has one subgraph", _one_subgraph)
_ACCELERATORS = unless_device(Runtime.DSP, Runtime.HTA, Runtime.HTP, Runtime.APU)
_FETCHED = Effect("the file that is fetched")
_VALIDATION = Effect("`run --validate`")

_FILE: dict[str, Effect] = {
    "library_name": Effect("the folder of the output"),
    "target_abis": Effect(
        "the devices of `run` and what `build` builds",
        no_effect("as a flag of convert", _on_convert, Command.CONVERT),
    ),
    "target_socs": Effect(
        "the devices of `run`",
        no_effect("as a flag of convert", _on_convert, Command.CONVERT),
    ),
    "model_graph_format": Effect("the form of the graph"),
    "model_data_format": Effect("the form of the weights"),
    "models": Effect("what is converted and run"),
}

_MODEL: dict[str, Effect] = {
    "platform": Effect(
        "how the model file is read",
        refused("without an importer", _platform),
    ),
    "model_file_path": _FETCHED,
    "model_sha256_checksum": _FETCHED,
    "weight_file_path": _FETCHED,
    "weight_sha256_checksum": _FETCHED,
    "subgraphs": Effect(
        "inputs and outputs", refused("unless there is one", _subgraphs)
    ),
    "runtime": _RUNTIME,
    "data_type": _DATA_TYPE,
    "winograd": _WINOGRAD,
    "quantize": Effect("", _QUANTIZE),
    "quantize_large_weights": Effect("how large weights are stored"),
    "quantize_range_file": Effect("", _ONLY_QUANTIZED),
    "quantize_schema": Effect("", _ONLY_QUANTIZED),
    "change_concat_ranges": Effect("", _ONLY_QUANTIZED),
    "obfuscate": Effect("names in the model file"),
    "limit_opencl_kernel_time": Effect(
        "a hint in the model file", unless_device(Runtime.GPU)
    ),
    "opencl_queue_window_size": Effect(
        "a hint in the model file", unless_device(Runtime.GPU)
    ),
    "cl_mem_type": Effect(
        "",
        (
            *unless_device(Runtime.GPU),
            *no_effect("for gpu: nothing runs on it yet", _memory_type),
        ),
    ),
    "graph_optimize_options": Effect(
        "which passes rewrite the graph",
        refused("for unknown names", _unknown_pass, Command.CONVERT),
    ),
    "docker_image_tag": Effect("", _ONLY_CAFFE),
    "dockerfile_path": Effect("", _ONLY_CAFFE),
    "dockerfile_sha256_checksum": Effect("", _ONLY_CAFFE),
    "accelerator_api": Effect("", _ACCELERATORS),
    "apu_version_with_no_device": Effect("", _ACCELERATORS),
    "micro": Effect("", no_effect("always", _micro)),
    # Reading the file tells of these.
    **{key: Effect("") for key in WITHOUT_EFFECT},
}

_SUBGRAPH: dict[str, Effect] = {
    "name": Effect("", _ONE_SUBGRAPH),
    "order": Effect("", _ONE_SUBGRAPH),
    **{
        key: Effect("the model's inputs and outputs")
        for key in (
            "input_tensors",
            "input_shapes",
            "input_data_types",
            "input_data_formats",
            "input_aliases",
            "output_tensors",
            "output_shapes",
            "output_data_types",
            "output_data_formats",
            "output_aliases",
        )
    },
    "input_ranges": Effect("random inputs, and a hint in the model file"),
    "runtime": _RUNTIME,
    "data_type": _DATA_TYPE,
    "winograd": _WINOGRAD,
    "validation_inputs_data": Effect("the inputs of `run`"),
    "validation_outputs_data": _VALIDATION,
    "validation_threshold": _VALIDATION,
    "accuracy_validation_script": _VALIDATION,
    "check_tensors": _VALIDATION,
    "check_shapes": _VALIDATION,
    "backend": Effect(
        "`run --validate`",
        no_effect("unless onnxruntime", _backend, Command.RUN),
    ),
}

# The micro section speaks for its keys.
_MICRO: dict[str, Effect] = {"backend": Effect("")}

KEYS: Mapping[Level, Mapping[str, Effect]] = {
    Level.FILE: _FILE,
    Level.MODEL: _MODEL,
    Level.SUBGRAPH: _SUBGRAPH,
    Level.MICRO: _MICRO,
}
