# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What a command says of values that it cannot honour; '' of all others.

Each function is the `says` of a rule that `deployment.py` or `subgraph.py` gives a key.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mace.python.tools.config.effect import Asked, Command
from mace.python.tools.config.vocabulary import (
    ModelFormat,
    OnnxBackend,
    Platform,
    QuantizeSchema,
    Runtime,
)
from mace.python.tools.data_type import DataType
from mace.python.tools.errors import UnsupportedError
from mace.python.tools.wording import listed, nearest, shown

if TYPE_CHECKING:
    from mace.python.tools.config.deployment import ModelConfig

# Of the keys and the flag that say where Caffe runs.
NO_CONTAINER = "Caffe models are compared with OpenCV, which needs no container"

# Of the keys that are modes of the DSP's former code.
NO_MODES = (
    "the DSP runs MACE's own code, which has no modes; its power is chosen by the "
    "application (SetHexagonPower)"
)
# Of the flag that chooses this code.
NO_NNLIB = "the DSP runs MACE's own code, not libhexagon_nn"
# The element types of what the DSP computes.
_OF_THE_DSP = frozenset({DataType.INT8, DataType.UINT8})

FRAMEWORKS = listed(item.value for item in Platform if item.in_release)


def no_runtime(device: Runtime) -> str:
    """What everything says of a device that the library does not have.

    The library says it in these words, too (`mace/core/graph/device.cc`);
    `../inspection/no_runtime_test.py` compares.
    """
    there = [item for item in Runtime if item.in_release and len(item.devices) == 1]
    names = ", ".join(item.value.upper() for item in there)
    return f"the library has no {device.value.upper()} runtime; it has: {names}"


def no_device(asked: Asked) -> str:
    """That there is nothing to convert for, or to run on."""
    return "" if _is_usable(asked) else _absent_devices(asked)


def part_of_devices(asked: Asked) -> str:
    """That the command goes on without some of the devices."""
    return _absent_devices(asked) if _is_usable(asked) else ""


def _is_usable(asked: Asked) -> bool:
    runtime: Runtime = asked.value
    is_conversion = asked.command is Command.CONVERT
    return runtime.is_convertible if is_conversion else runtime.in_release


def _absent_devices(asked: Asked) -> str:
    absent = [device for device in asked.value.devices if not device.in_release]
    if not absent:
        return ""
    text = "; ".join(no_runtime(device) for device in absent)
    if asked.value.in_release:
        return f"{text}, on which models run"
    if Runtime.GPU.in_release:
        return (
            f"{text}; write {listed(item.value for item in Runtime if item.in_release)}"
        )
    return f"{text}; write cpu, or cpu+gpu, which means the CPU for now"


def without_precision(asked: Asked) -> str:
    """That some of the devices are left out, which do not have the precision."""
    absent = {device for part in asked.subgraphs for device in part.left_out}
    if not absent:
        return ""
    left = {device for part in asked.subgraphs for device in part.runtime.devices}
    absent_, left_ = (
        " and ".join(sorted(device.value.upper() for device in devices))
        for devices in (absent, left)
    )
    return (
        f"the {absent_} has no {asked.value.value} and is left out; the model is for "
        f"the {left_} alone"
    )


def check_for_dsp(model: ModelConfig, quantized: Iterable[DataType]) -> None:
    """Checks that a model, or the part of it that is for the DSP, can run there.

    Args:
        quantized: the element types of the model's quantized tensors.

    Raises:
        UnsupportedError: it is for the DSP and computes in other types.
    """
    if all(Runtime.DSP not in part.runtime.devices for part in model.subgraphs):
        return
    found = set(quantized)
    if found & _OF_THE_DSP:
        return
    names = sorted(data_type.value for data_type in found)
    what = f"in {listed(names)}" if names else "in floats"
    raise UnsupportedError(
        f"models.{model.name}.runtime: dsp computes in integers of 8 bits, and this "
        f"model computes {what}; add quantize: 1 with quantize_range_file or "
        "calibration (converter.py quantize finds the ranges), or write runtime: cpu"
    )


def other_reference(asked: Asked) -> str:
    if not getattr(asked.options, "validate", False):
        return ""
    others = {
        Platform.TENSORFLOW: "TensorFlow",
        Platform.TFLITE: "the interpreter of TensorFlow Lite",
        Platform.CAFFE: "OpenCV",
        Platform.KERAS: "Keras",
        Platform.PYTORCH: "PyTorch",
    }
    found = [others[m.platform] for m in asked.models if m.platform in others]
    if asked.value is OnnxBackend.ONNXRUNTIME and not found:
        return ""
    return f"the model is compared with {found[0] if found else 'ONNX Runtime'}"


def no_importer(asked: Asked) -> str:
    if asked.value.in_release:
        return ""
    way = ""
    if asked.value is Platform.MEGENGINE:
        way = "; convert the model to ONNX with MgeConvert, and say platform: onnx"
    return f"{asked.value.value} is not in this release; accepted: {FRAMEWORKS}{way}"


def only_subgraph(asked: Asked) -> str:
    (model, *_) = asked.models
    if len(model.subgraphs) > 1:
        return ""
    return "tells the subgraphs of a model apart, and this one has no other"


def unknown_passes(asked: Asked) -> str:
    known = asked.known.get("graph_optimize_options")
    problems = []
    for name in asked.value:
        if known is not None and name not in known:
            near = nearest(name, known)
            problems.append(shown(name) + (f" (did you mean {near}?)" if near else ""))
    if not problems:
        return ""
    return f"no such pass: {', '.join(problems)}; known: {', '.join(known or ())}"


def not_quantized(asked: Asked) -> str:
    if all(model.quantize for model in asked.models):
        return ""
    return "is for quantize: 1, which is not given"


def quantized_already(asked: Asked) -> str:
    if not any(model.quantize for model in asked.models):
        return ""
    return (
        "quantizes products in each run, `quantize` by ranges that are known before; "
        "remove one of both keys (the command `quantize` sets `quantize`)"
    )


def other_schema(asked: Asked) -> str:
    accepted = (QuantizeSchema.UINT8, QuantizeSchema.INT8, QuantizeSchema.INT16)
    if asked.value in accepted:
        return ""
    return (
        f"{asked.value.value} is not in this release; accepted: uint8, int8, or int16 "
        "(activations of 16 bits, weights of 8)"
    )


def flag_of_run(asked: Asked) -> str:
    # In the file it is there for `run`; as a flag somebody wants something.
    as_code = asked.deployment.model_graph_format is ModelFormat.CODE
    if as_code or not asked.origin.startswith("--"):
        return ""
    return "a converted model is the same for all of them"
