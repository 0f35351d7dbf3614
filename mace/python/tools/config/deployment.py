# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A deployment: every key of the file, and what every command works from.

This is the one place that lists the keys. The reader, the reference page, the
JSON Schema for editors, what is told of keys without effect and the hints in
the model file all come from these declarations. Nothing here reads files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Dict, Optional, Tuple

from annotated_types import MinLen
from pydantic import AfterValidator, BeforeValidator, ValidationInfo, field_validator
from pydantic.json_schema import SkipJsonSchema

from mace.python.tools.config import limits
from mace.python.tools.config import values as v
from mace.python.tools.config import vocabulary as words
from mace.python.tools.config.calibration import CalibrationConfig
from mace.python.tools.config.cpp_names import cpp_name_problem
from mace.python.tools.config.custom_ops import CustomOps
from mace.python.tools.config.effect import Command, no_effect, refused
from mace.python.tools.config.keys import Section, key, keys_of
from mace.python.tools.config.vocabulary import Platform, Runtime
from mace.python.tools.config.yaml_source import Table, Text
from mace.python.tools.data_type import DataType, Precision
from mace.python.tools.wording import listed, shown


@dataclass(frozen=True)
class BorderTensor:
    """An input, an output or a tensor to compare of a subgraph.

    Attributes:
        shape: -1 for what is decided at run time.
        largest: of an input, the shape with its upper limits; empty if it has none.
        alias: name that the application uses instead of `name`.
        validation_data: of an input; of an output what is expected, None:
            computed by the original framework.
        range: lowest and highest value of an input; None: not given.
        means, scales: of an input, one for all channels or one for each: the
            original model takes (input - mean) * scale; None: not given.
    """

    name: str
    shape: tuple[int, ...]
    data_type: DataType = DataType.FLOAT32
    data_format: words.DataFormat = words.DataFormat.NHWC
    alias: str | None = None
    validation_data: v.FileRef | None = None
    range: tuple[float, float] | None = None
    means: tuple[float, ...] | None = None
    scales: tuple[float, ...] | None = None
    largest: tuple[int, ...] = ()

    @property
    def public_name(self) -> str:
        return self.alias or self.name

    @property
    def is_scaled(self) -> bool:
        """Whether the converted model takes it before it is normalised."""
        return self.means is not None or self.scales is not None

    @property
    def channels(self) -> int | None:
        """How many it has; None if it has no such dimension, -1: any number."""
        if not self.shape:
            return None
        channels_second = self.data_format is words.DataFormat.NCHW
        return self.shape[1 if channels_second and len(self.shape) > 2 else -1]


# Winograd was a switch when the one tile size was 2.
_TILE_OF_SWITCH = {
    **dict.fromkeys(("1", "true", "yes", "on"), "2"),
    **dict.fromkeys(("false", "no", "off"), "0"),
}


_ON_THE_GPU = (
    f"; on the GPU, `{Precision.FP16_FP32.value}` stores activations in 16 bits, too"
)
_EVERYWHERE = Runtime.CPU_GPU.precisions
_PRECISIONS = "; on the CPU also ".join(
    (
        " or ".join(f"`{item.value}`" for item in _EVERYWHERE),
        ", ".join(f"`{i.value}`" for i in Precision if i not in _EVERYWHERE),
    )
)


_USABLE = listed(f"`{item.value}`" for item in Runtime if item.in_release)


class _Computation(Section):
    """How a model, or a subgraph of it, is computed."""

    runtime: Annotated[Runtime, v.Words(Runtime)] = key(
        "Device the model is for; required of the model unless every subgraph has "
        "its own.",
        "where the model runs",
        refused(limits.no_device, f"unless {_USABLE}"),
        no_effect(limits.part_of_devices, "for a device that the library lacks"),
        words={"cpu_gpu": "cpu+gpu", "hexagon": "dsp", "neon": "cpu"},
        hint="runtime",
    )
    data_type: Annotated[Precision, v.Words(Precision)] = key(
        "Type weights are stored in, then type of computation.",
        "how weights are stored, and whether operators compute in 16 bits"
        + (_ON_THE_GPU if Runtime.GPU.in_release else ""),
        default=Precision.FP16_FP32,
        words={"fp32": Precision.FP32_FP32.value, "bf16": Precision.BF16_BF16.value},
        accepts=_PRECISIONS,
        hint="data_type",
    )
    winograd: v.WinogradTile = key(
        "Largest tile of Winograd convolution, `0` for none: each 3x3 layer takes "
        "it where that is estimated to be faster, for up to 1.8 (`2`) or 4 (`4`) "
        "times the memory of its filter.",
        "how the CPU computes 3x3 convolutions",
        default=4,
        was={"fast_conv": {**_TILE_OF_SWITCH, "0": "0"}},
        words=_TILE_OF_SWITCH,
        hint="winograd",
    )


_PART = "the name of the part in `SetRuntimeType` and in what is told of the model"
_BORDER = "the model's inputs and outputs"
_VALIDATION = "`run --validate`"


BorderType = Annotated[DataType, v.Words(words.BORDER_TYPES)]
BorderFormat = Annotated[words.DataFormat, v.Words(words.DataFormat)]


class SubgraphConfig(_Computation):
    """One entry of ``subgraphs``: what goes in and what comes out."""

    name: Optional[v.Name] = key(
        "Name of the subgraph, to tell it from others (`<model>_<index>` if absent).",
        _PART,
        no_effect(limits.only_subgraph, "unless there are several subgraphs"),
    )
    input_tensors: v.ManyApart[v.Name] = key(
        "Input tensors, by the names they have in the model file.",
        _BORDER,
        was={"input_nodes": {}},
        required=True,
        of_model=True,
    )
    input_shapes: v.Many[v.LimitedShape] = key(
        "One shape per input tensor, in the order of its `input_data_formats`. A "
        "dimension that is decided at run time is -1, or `1..512` with an upper "
        "limit.",
        _BORDER,
        each="input_tensors",
        required=True,
        of_model=True,
    )
    input_data_types: v.OneForAll[BorderType] = key(
        "Element types the application passes: any floating type for a floating "
        "tensor, else the model's, for example `int32` indices of a gather. "
        "`float32` stands for what the model has.",
        _BORDER,
        default=(DataType.FLOAT32,),
        each="input_tensors",
    )
    input_data_formats: v.OneForAll[BorderFormat] = key(
        "Order of the dimensions the application passes; `NONE` for tensors that "
        "have no image layout.",
        _BORDER,
        default=(words.DataFormat.NHWC,),
        each="input_tensors",
    )
    input_ranges: Optional[
        Annotated[Tuple[v.Range, ...], v.OneOrMany(one_for_all=True)]
    ] = key(
        "Smallest and largest value of each input, for synthetic inputs "
        "(`-1.0,1.0` if absent).",
        "random inputs of `run`, and a hint in the model file",
        each="input_tensors",
    )
    input_means: Optional[
        Annotated[Tuple[v.Numbers, ...], v.OneOrMany(one_for_all=True)]
    ] = key(
        "What the model subtracts from each input before anything else (`0` if "
        "absent), so that the application passes pixels as they are, also in "
        "`uint8`: the original model takes (input - mean) * scale.",
        "the first operators of the model, and what `--validate` gives the original",
        each="input_tensors",
    )
    input_scales: Optional[
        Annotated[Tuple[v.Factors, ...], v.OneOrMany(one_for_all=True)]
    ] = key(
        "By what it multiplies the difference (`1` if absent).",
        "the first operators of the model, and what `--validate` gives the original",
        each="input_tensors",
    )
    input_aliases: Optional[v.ManyApart[v.Name]] = key(
        "Names the application uses for the inputs.", _BORDER, each="input_tensors"
    )
    output_tensors: v.ManyApart[v.Name] = key(
        "Output tensors, named as the inputs are.",
        _BORDER,
        was={"output_nodes": {}},
        required=True,
        of_model=True,
    )
    output_shapes: v.Many[v.Shape] = key(
        "One shape per output tensor.",
        _BORDER,
        each="output_tensors",
        required=True,
        of_model=True,
    )
    output_data_types: v.OneForAll[BorderType] = key(
        "Element types the application receives, likewise.",
        _BORDER,
        default=(DataType.FLOAT32,),
        each="output_tensors",
    )
    output_data_formats: v.OneForAll[BorderFormat] = key(
        "Order of the dimensions the application receives.",
        _BORDER,
        default=(words.DataFormat.NHWC,),
        each="output_tensors",
    )
    output_aliases: Optional[v.ManyApart[v.Name]] = key(
        "Names the application uses for the outputs.", _BORDER, each="output_tensors"
    )
    states: Optional[v.Renamings] = key(
        "Tensors that live across runs, as the cache of a decoder: from the input to "
        "the output whose value it has in the next run. The application does not "
        "give these inputs; they are zero at first and after it resets them.",
        "what the application passes, and the model file",
    )
    order: Optional[v.Integer] = key(
        "Position in the run order among the subgraphs.",
        no_effect("operators run in the order in which their inputs are ready"),
    )
    validation_inputs_data: Optional[v.Many[v.Location]] = key(
        "NumPy files (`.npy`), one per input, to run and validate with; random "
        "values within `input_ranges` if absent.",
        "the inputs of `run`",
        each="input_tensors",
        was={"input_files": {}},
    )
    validation_outputs_data: Optional[v.Many[v.Location]] = key(
        "NumPy files with the expected outputs, one per output; the original "
        "framework computes them if absent.",
        _VALIDATION,
        each="output_tensors",
    )
    validation_threshold: Optional[v.Thresholds] = key(
        "Least cosine similarity that passes, per device (if absent 0.999; 0.995 "
        "for 16-bit arithmetic and for large weights in 8 bits), and on every device "
        "for models that compute in 8 bits (`quantize`, `quantize_dynamic`, 0.98).",
        _VALIDATION,
    )
    accuracy_validation_script: Optional[v.Many[v.Location]] = key(
        "Python plug-in that measures accuracy.", _VALIDATION
    )
    check_tensors: Optional[v.Many[v.Name]] = key(
        "Intermediate tensors to compare as well.", _VALIDATION
    )
    check_shapes: Optional[v.Many[v.Shape]] = key(
        "One shape per entry of `check_tensors`.", _VALIDATION, each="check_tensors"
    )
    backend: Optional[Annotated[words.OnnxBackend, v.Words(words.OnnxBackend)]] = key(
        "Framework an ONNX model is compared with: always ONNX Runtime in this "
        "release.",
        _VALIDATION,
        no_effect(limits.other_reference, "unless `onnxruntime`", Command.RUN),
    )

    @property
    def inputs(self) -> tuple[BorderTensor, ...]:
        """The input tensors, one by one."""
        return self._border("input", self.input_tensors)

    @property
    def outputs(self) -> tuple[BorderTensor, ...]:
        """The output tensors, one by one."""
        return self._border("output", self.output_tensors)

    @property
    def checks(self) -> tuple[BorderTensor, ...]:
        """The intermediate tensors to compare, one by one."""
        pairs = zip(self.check_tensors or (), self.check_shapes or ())
        return tuple(BorderTensor(*pair) for pair in pairs)

    @field_validator("data_type")
    @classmethod
    def _fits_runtime(cls, given: Precision, info: ValidationInfo) -> Precision:
        runtime = info.data.get("runtime")
        if runtime is not None and given not in runtime.precisions:
            raise v.told(
                f"found {shown(given.value)}, which runtime {runtime.value} cannot "
                f"use; accepted: {listed(item.value for item in runtime.precisions)}"
            )
        return given

    @field_validator("check_shapes")
    @classmethod
    def _has_shapes(cls, shapes: Any, info: ValidationInfo) -> Any:
        if shapes is None and info.data.get("check_tensors"):
            raise v.told("is missing; it goes with check_tensors")
        return shapes

    @field_validator("input_means", "input_scales")
    @classmethod
    def _fit_channels(cls, given: Any, info: ValidationInfo) -> Any:
        names = info.data.get("input_tensors", ())
        shapes = info.data.get("input_shapes", ())
        formats = info.data.get("input_data_formats", ())
        if not given or not len(given) == len(names) == len(shapes) == len(formats):
            return given
        problems = []
        for name, shape, data_format, numbers in zip(names, shapes, formats, given):
            tensor = BorderTensor(name, shape.dims, data_format=data_format)
            if len(numbers) not in (1, tensor.channels):
                problems.append(
                    f"has {len(numbers)} numbers for {shown(name)}, which has "
                    f"{tensor.channels} channels in input_shapes {shape}"
                )
        if problems:
            raise v.told("; ".join(problems))
        return given

    @field_validator("states")
    @classmethod
    def _are_tensors(cls, states: Any, info: ValidationInfo) -> Any:
        inputs, outputs = (info.data.get(f"{s}_tensors") for s in ("input", "output"))
        if not states or not inputs or not outputs:
            return states
        shapes = dict(zip(inputs, info.data.get("input_shapes", ())))
        problems = []
        for name, becomes in states.items():
            if name not in inputs:
                problems.append(f"{shown(name)} is not in input_tensors")
            elif name in shapes and -1 in shapes[name].dims:
                problems.append(
                    f"{shown(name)} needs a fixed shape, input_shapes says "
                    f"{shapes[name]}"
                )
            if becomes not in outputs:
                problems.append(f"{shown(becomes)} is not in output_tensors")
            for column, neutral in (("input_means", 0), ("input_scales", 1)):
                numbers = dict(zip(inputs, info.data.get(column) or ())).get(name, ())
                if any(number != neutral for number in numbers):
                    problems.append(
                        f"{shown(name)} is not from the application, its {column} "
                        f"must be {neutral}"
                    )
        if set(inputs) <= set(states):
            problems.append(
                "names every input; one at least must come from the application"
            )
        problems += v.twice(states.values())
        if problems:
            raise v.told("; ".join(problems))
        return states

    def _border(self, side: str, names: Sequence[str]) -> tuple[BorderTensor, ...]:
        columns = {
            "shape": f"{side}_shapes",
            "data_type": f"{side}_data_types",
            "data_format": f"{side}_data_formats",
            "alias": f"{side}_aliases",
            "validation_data": f"validation_{side}s_data",
            "range": f"{side}_ranges",
            "means": f"{side}_means",
            "scales": f"{side}_scales",
        }
        given = {name: getattr(self, column, None) for name, column in columns.items()}
        tensors = []
        for index, name in enumerate(names):
            values: dict[str, Any] = {
                key: column and column[index] for key, column in given.items()
            }
            tensor = BorderTensor(name, **values)
            if isinstance(tensor.shape, v.InputShape):
                shape, largest = tensor.shape.dims, tensor.shape.largest
                tensor = replace(tensor, shape=shape, largest=largest)
            tensors.append(tensor)
        return tuple(tensors)


def misfits(subgraphs: Sequence[SubgraphConfig]) -> Iterator[str]:
    """Why these cannot be the parts of one model."""
    for column in ("data_type", "winograd", "backend"):
        values = dict.fromkeys(getattr(part, column) for part in subgraphs)
        if len(values) > 1:
            found = listed(str(getattr(value, "value", value)) for value in values)
            yield f"the subgraphs of a model have one {column}, found {found}"
    made = [name for part in subgraphs for name in part.output_tensors]
    for name in dict.fromkeys(name for name in made if made.count(name) > 1):
        yield f"{shown(name)} is in output_tensors of two subgraphs"
    forms: dict[str, Any] = {}
    for tensor in (t for part in subgraphs for t in (*part.outputs, *part.inputs)):
        form = tensor.shape, tensor.data_type, tensor.data_format
        if forms.setdefault(tensor.name, form) != form:
            yield (
                f"{shown(tensor.name)} has another shape, type or format in one "
                "subgraph than in another"
            )
    if all(name in made for part in subgraphs for name in part.input_tensors):
        yield (
            "every input is the output of a subgraph; one at least must come from "
            "the application"
        )


def joined(subgraphs: Sequence[SubgraphConfig]) -> SubgraphConfig:
    """All of them as one subgraph, without name and order.

    An input that another subgraph makes is left out, and so is an output that
    another one takes.
    """
    made = {name for part in subgraphs for name in part.output_tensors}
    taken = {name for part in subgraphs for name in part.input_tensors}
    states = {k: to for part in subgraphs for k, to in (part.states or {}).items()}
    thresholds = [part.validation_threshold for part in subgraphs]
    changed = {
        "name": None,
        "order": None,
        "states": states or None,
        "validation_threshold": next(filter(None, thresholds), None),
        **_columns(subgraphs, "input_tensors", made),
        **_columns(subgraphs, "output_tensors", taken),
    }
    for column in ("check_tensors", "check_shapes", "accuracy_validation_script"):
        values = [value for part in subgraphs for value in getattr(part, column) or ()]
        changed[column] = tuple(values) or None
    return subgraphs[0].model_copy(update=changed)


def _columns(
    subgraphs: Sequence[SubgraphConfig], names: str, hidden: set[str]
) -> dict[str, Any]:
    """The key `names` and those with an entry for each of its names."""
    kept: dict[str, tuple[SubgraphConfig, int]] = {}
    for part in subgraphs:
        for index, name in enumerate(getattr(part, names)):
            if name not in hidden:
                kept.setdefault(name, (part, index))
    changed: dict[str, Any] = {names: tuple(kept)}
    for declared in keys_of(SubgraphConfig).values():
        if declared.each == names:
            columns = [(getattr(part, declared.name), i) for part, i in kept.values()]
            found = tuple(column and column[i] for column, i in columns)
            changed[declared.name] = None if set(found) == {None} else found
    return changed


_MICRO = no_effect("the microcontroller form is not in this release")


class MicroConfig(Section):
    """Options of the microcontroller form."""

    backend: Optional[v.Name] = key("Kernel library, for example `cmsis`.", _MICRO)


_QUANTIZED = no_effect(limits.not_quantized, "without `quantize`")
_NO_CONTAINER = no_effect(limits.NO_CONTAINER)
_FETCHED = "the file that is fetched"
_ACCELERATOR = dict.fromkeys((Runtime.HTA, Runtime.APU), "how the model is compiled")
_OLD_DSP = {Runtime.DSP: "the mode of older DSPs"}


def _are_entries(found: Any) -> Any:
    if isinstance(found, (list, tuple)) and found:
        return found
    wanted = "a list of at least one entry"
    if isinstance(found, dict):
        wanted += '; begin each entry of subgraphs with "- "'
    raise v.unfit(found, wanted)


Subgraphs = Annotated[Tuple[SubgraphConfig, ...], BeforeValidator(_are_entries)]


class ModelConfig(_Computation):
    """One entry of ``models``."""

    # The key of the mapping that the model is the value of.
    name: SkipJsonSchema[str] = ""
    platform: Annotated[Platform, v.Words(Platform)] = key(
        "Framework the model comes from.",
        "how the model file is read",
        refused(limits.no_importer, f"unless {limits.FRAMEWORKS}"),
        required=True,
        of_model=True,
    )
    model_file_path: v.Location = key(
        "The model file; for TensorFlow also the folder of a SavedModel.",
        _FETCHED,
        required=True,
    )
    model_sha256_checksum: Optional[v.Sha256] = key(
        "SHA-256 of the model file, verified before use; required for an http(s) "
        "address. That of a folder is the one of a list of its files.",
        _FETCHED,
        verifies="model_file_path",
    )
    weight_file_path: Optional[v.Location] = key(
        "The weights file (`.caffemodel`) of Caffe models, which require it.",
        _FETCHED,
        is_checked_if_absent=True,
    )
    weight_sha256_checksum: Optional[v.Sha256] = key(
        "SHA-256 of the weights file, likewise.",
        _FETCHED,
        verifies="weight_file_path",
    )
    subgraphs: Subgraphs = key(
        "Inputs and outputs of the model; of each part, if it has several.",
        _BORDER,
        required=True,
        of_model=True,
        accepts="list, see below",
    )
    quantize: v.Flag = key(
        "Convert to a model whose operators compute in integers of 8 bits, where they "
        "can.",
        "how operators compute",
        default=False,
    )
    quantize_dynamic: v.Flag = key(
        "Multiply by large constant matrices in integers of 8 bits, without samples: "
        "weights are stored in 8 bits, and each run quantizes what they are multiplied "
        "by.",
        "how fully connected layers compute",
        refused(limits.quantized_already, "with `quantize`"),
        default=False,
    )
    quantize_range_file: Optional[v.Location] = key(
        "Ranges of all tensors, from the statistics tool, for `quantize`.",
        "the scales of tensors",
        _QUANTIZED,
    )
    calibration: Optional[CalibrationConfig] = key(
        "How samples quantize the model, instead of `quantize_range_file`.",
        "the scales of tensors",
        _QUANTIZED,
        accepts="mapping, see below",
    )
    quantize_large_weights: v.Flag = key(
        "Store large weights of convolutions (not depthwise) and fully connected "
        "layers in 8 bit, a quarter of the size of float, and compute in float.",
        "how large weights are stored",
        default=False,
        hint="quantize_large_weights",
    )
    quantize_schema: Optional[
        Annotated[words.QuantizeSchema, v.Words(words.QuantizeSchema)]
    ] = key(
        "Type of quantized tensors, for `quantize` (`uint8` if absent).",
        "the type of tensors",
        refused(
            limits.other_schema, "unless `uint8`, `int8` or `int16`", Command.CONVERT
        ),
        _QUANTIZED,
    )
    change_concat_ranges: v.Flag = key(
        "Give all inputs of a concat its output range, for `quantize`.",
        "the scales of tensors",
        _QUANTIZED,
        default=False,
    )
    obfuscate: v.Flag = key(
        "Replace operator names by meaningless ones.",
        "names in the model file",
        default=False,
        hint="obfuscated",
    )
    limit_opencl_kernel_time: v.Flag = key(
        "`1`: split OpenCL kernels to run at most 1 ms each, so that the user "
        "interface stays responsive.",
        on={Runtime.GPU: "how long kernels run"},
        default=False,
        was={"limit_opencl_kernel_completion": {}},
        hint="limit_opencl_kernel_time",
    )
    opencl_queue_window_size: v.Count = key(
        "Most commands waiting in the OpenCL queue, for the same reason; `0`: no "
        "limit.",
        on={Runtime.GPU: "how full the queue is"},
        default=0,
        hint="opencl_queue_window_size",
    )
    cl_mem_type: Optional[
        Annotated[words.ClMemoryType, v.Words(words.ClMemoryType)]
    ] = key(
        "OpenCL memory for activations; by default the one that suits the device.",
        on={Runtime.GPU: "where activations are"},
        hint="cl_mem_type",
    )
    graph_optimize_options: Optional[v.Many[v.Name]] = key(
        "Passes to run instead of all, besides the indispensable ones.",
        "which passes rewrite the graph",
        refused(limits.unknown_passes, "for unknown names", Command.CONVERT),
    )
    docker_image_tag: Optional[v.Name] = key(
        "Container image for validating with Caffe.", _NO_CONTAINER
    )
    dockerfile_path: Optional[v.Location] = key(
        "Dockerfile that builds this image.", _NO_CONTAINER
    )
    dockerfile_sha256_checksum: Optional[v.Sha256] = key(
        "SHA-256 of the Dockerfile.", _NO_CONTAINER, verifies="dockerfile_path"
    )
    nnlib_graph_mode: v.Count = key(
        "Precision and power mode of older Hexagon DSPs.", on=_OLD_DSP, default=0
    )
    dsp_mode: v.Count = key("Graph mode of older Hexagon DSPs.", on=_OLD_DSP, default=0)
    accelerator_api: Optional[v.Name] = key(
        "Vendor interface of an accelerator.", on=_ACCELERATOR
    )
    apu_version_with_no_device: Optional[v.Name] = key(
        "APU version to convert for with no device at hand.",
        on={Runtime.APU: "how the model is compiled"},
    )
    micro: Optional[MicroConfig] = key(
        "Options for microcontrollers.", _MICRO, accepts="mapping, see below"
    )

    def hints(self) -> dict[str, Any]:
        """What the model file hands to the runtime, by `DeploymentHints` field."""
        found = {}
        # What the subgraphs say holds for them.
        for section in (self, self.whole):
            for declared in keys_of(type(section)).values():
                if declared.hint:
                    value = getattr(section, declared.name)
                    found[declared.hint] = getattr(value, "value", value)
        return found

    @field_validator("weight_file_path")
    @classmethod
    def _has_weights(
        cls, found: Optional[v.FileRef], info: ValidationInfo
    ) -> Optional[v.FileRef]:
        platform = info.data.get("platform")
        if platform is Platform.CAFFE and found is None:
            raise v.told("is missing; it is required for Caffe models")
        if found is not None and platform not in (None, Platform.CAFFE):
            raise v.told(
                f"is only for Caffe models; {platform.value} models are one file"
            )
        return found

    @field_validator("subgraphs")
    @classmethod
    def _differ(cls, found: Tuple[SubgraphConfig, ...]) -> Any:
        v.distinct(tuple(s.name for s in found if s.name))
        problems = [] if len(found) == 1 else list(misfits(found))
        if problems:
            raise v.told("; ".join(problems))
        return found

    @property
    def whole(self) -> SubgraphConfig:
        """The model as one subgraph, without name and order.

        An input of a subgraph that another one makes is none of the model, nor is
        an output that another one takes.
        """
        (first, *others) = self.subgraphs
        return joined(self.subgraphs) if others else first

    def named(self, name: str) -> ModelConfig:
        """The model of that name, its files with their checksums."""
        changed: dict[str, Any] = {"name": name}
        for declared in keys_of(ModelConfig).values():
            file = getattr(self, declared.verifies, None)
            if file is not None:
                changed[declared.verifies] = replace(
                    file,
                    sha256=getattr(self, declared.name),
                    sha256_key=f"{file.key.rpartition('.')[0]}.{declared.name}",
                )
        if self.platform is Platform.TENSORFLOW:
            model = changed.get("model_file_path", self.model_file_path)
            changed["model_file_path"] = replace(model, may_be_folder=True)
        names = [f"{name}_{index}" for index in range(len(self.subgraphs))]
        changed["subgraphs"] = tuple(
            subgraph.model_copy(update={"name": subgraph.name or default})
            for subgraph, default in zip(
                self.subgraphs, names if len(names) > 1 else [name]
            )
        )
        return self.model_copy(update=changed)


_NOT_OF_CONVERT = no_effect(
    limits.flag_of_run,
    "as a flag, unless `model_graph_format` is `code`",
    Command.CONVERT,
)
Abis = Annotated[
    Tuple[Annotated[words.Abi, v.Words(words.Abi)], ...],
    v.OneOrMany("list of {}", separated=True),
    AfterValidator(v.distinct),
]
Socs = Annotated[
    Tuple[v.Soc, ...],
    v.OneOrMany("SoC name, list of SoC names, or `all`", separated=True),
]


def _model_name(name: str, info: ValidationInfo) -> str:
    if info.data.get("model_graph_format") is words.ModelFormat.CODE:
        problem = cpp_name_problem(name)
        if problem:
            raise v.told(
                f"the model name {shown(name)} {problem}; "
                "with model_graph_format: code it names C++ code"
            )
        return name
    return v.FILE_STEM.validate_python(name)


def _entries(found: Any) -> Any:
    """With names that have no settings, too, each with its place for messages."""
    if not isinstance(found, Table):
        return found
    return {Text(name, at): found.get(name) for name, at in found.places.items()}


def _named(models: Dict[str, ModelConfig]) -> Dict[str, ModelConfig]:
    return {name: model.named(name) for name, model in models.items()}


Models = Annotated[
    Dict[Annotated[str, AfterValidator(_model_name)], ModelConfig],
    MinLen(1),
    BeforeValidator(_entries),
    v.Accepts("a mapping from name to settings", "mapping from name, see below"),
    AfterValidator(_named),
]


class Deployment(Section):
    """A whole deployment file.

    Attributes:
        target_socs: lower case; ('all',) means every SoC that is plugged in.
        warnings: one per old spelling met, as already logged.
    """

    library_name: v.FileStem = key(
        "Name of the library; output goes to `build/${library_name}`.",
        "the folder of the output",
        required=True,
    )
    target_abis: Abis = key(
        "Systems to build for. `aarch64_linux_gnu` and `arm_linux_gnueabihf` are "
        "other names of `arm64` and `armhf`.",
        "the devices of `run`, what `build` builds, and models as code",
        _NOT_OF_CONVERT,
        replaceable=True,
        required=True,
    )
    target_socs: Socs = key(
        "SoCs of the devices to run on.",
        "the devices of `run`"
        + ("; `run` tunes the GPU's kernels" if Runtime.GPU.in_release else ""),
        _NOT_OF_CONVERT,
        default=(),
        was={"target_soc": {}},
        replaceable=True,
    )
    model_graph_format: Annotated[words.ModelFormat, v.Words(words.ModelFormat)] = key(
        "`file`: graph as a `.pb` file; `code`: as a part of the program.",
        "the form of the graph",
        default=words.ModelFormat.FILE,
        was={"build_type": {"proto": "file"}},
        replaceable=True,
    )
    model_data_format: Annotated[words.ModelFormat, v.Words(words.ModelFormat)] = key(
        "`file`: weights as a `.data` file; `code`: as a part of the program, only "
        "together with `model_graph_format: code`.",
        "the form of the weights",
        default=words.ModelFormat.FILE,
        was={
            "embed_model_data": {
                **dict.fromkeys(("1", "true", "yes", "on"), "code"),
                **dict.fromkeys(("0", "false", "no", "off"), "file"),
            }
        },
        replaceable=True,
    )
    custom_ops: Optional[CustomOps] = key(
        "Folders with operators of your own, for the models of this file (see "
        "[Adding an operator](../development/adding_an_op.md)).",
        "what can be converted, and the operators of the library",
        replaceable=True,
        accepts="{}",
    )
    models: Models = key("The models.", "what is converted and run", required=True)
    source: SkipJsonSchema[Path] = Path()
    warnings: SkipJsonSchema[Tuple[str, ...]] = ()

    @field_validator("model_data_format")
    @classmethod
    def _goes_with_graph(cls, data: Any, info: ValidationInfo) -> Any:
        graph = info.data.get("model_graph_format")
        if (graph, data) == (words.ModelFormat.FILE, words.ModelFormat.CODE):
            raise v.told(
                "found code, but model_graph_format is file; "
                "weights go into code only together with the graph"
            )
        return data
