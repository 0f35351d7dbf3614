# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A deployment: every key of the file, and what every command works from.

This is the one place that lists the keys. The reader, the reference page, the
JSON Schema for editors, what is told of keys without effect and the hints in
the model file all come from these declarations. Nothing here reads files.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from mace.python.tools.config import limits
from mace.python.tools.config import values as v
from mace.python.tools.config import vocabulary as words
from mace.python.tools.config.effect import Command, no_effect, refused
from mace.python.tools.config.keys import Key, Section, key
from mace.python.tools.config.vocabulary import Platform, Runtime


@dataclass(frozen=True)
class FileRef:
    """A file a deployment names: a local path or an http(s) address.

    Local paths are looked for in `search_dirs`, in order: the working
    directory, then the folder of the deployment file.
    """

    location: str
    # Where it was named, for messages: 'models.m.model_file_path'.
    key: str
    # Lower-case hex, or None when the deployment gives no checksum.
    sha256: str | None = None
    # Key that gives (or would give) the checksum.
    sha256_key: str | None = None
    search_dirs: tuple[Path, ...] = ()

    @property
    def is_url(self) -> bool:
        return self.location.lower().startswith(("http://", "https://"))

    @property
    def candidates(self) -> tuple[Path, ...]:
        """The local paths this may mean, most preferred first."""
        path = Path(self.location).expanduser()
        if path.is_absolute():
            return (path,)
        return tuple(dict.fromkeys(d / path for d in self.search_dirs))


@dataclass(frozen=True)
class BorderTensor:
    """An input or output tensor of a subgraph.

    Attributes:
        shape: -1 for what is decided at run time.
        alias: name that the application uses instead of `name`.
        validation_data: of an input; of an output what is expected, None:
            computed by the original framework.
        range: lowest and highest value of an input; None: not given.
    """

    name: str
    shape: tuple[int, ...]
    data_type: words.TensorType = words.TensorType.FLOAT32
    data_format: words.DataFormat = words.DataFormat.NHWC
    alias: str | None = None
    validation_data: FileRef | None = None
    range: tuple[float, float] | None = None

    @property
    def public_name(self) -> str:
        return self.alias or self.name


# Winograd was a switch when the one tile size was 2.
_TILE_OF_SWITCH = {
    **dict.fromkeys(("1", "true", "yes", "on"), "2"),
    **dict.fromkeys(("false", "no", "off"), "0"),
}


@dataclass(frozen=True)
class _Computation(Section):
    """How a model, or a subgraph of it, is computed."""

    runtime: Runtime = key(
        v.word(Runtime, {"gpu+cpu": "cpu+gpu"}),
        "Device the model is for; required of the model unless every subgraph has "
        "its own.",
        "where the model runs",
        refused(
            limits.no_file_for_device,
            "unless `cpu`, `gpu` or `cpu+gpu`",
            Command.CONVERT,
        ),
        refused(limits.no_device, "unless `cpu` or `cpu+gpu`", Command.RUN),
        no_effect(limits.file_for_absent_device, "for the GPU", Command.CONVERT),
        no_effect(limits.part_of_devices, "for the GPU", Command.RUN),
        words={"cpu_gpu": "cpu+gpu", "hexagon": "dsp", "neon": "cpu"},
        hint="runtime",
        inherited=True,
    )
    data_type: words.DataType = key(
        v.word(
            words.DataType,
            accepts="`fp16_fp32` or `fp32_fp32`; on the CPU also `bf16_fp32`, "
            "`bf16_bf16`, `fp16_fp16`",
        ),
        "Type weights are stored in, then type of computation.",
        "how weights are stored, and whether operators compute in 16 bits",
        default=words.DataType.FP16_FP32,
        words={"fp32": "fp32_fp32", "bf16": "bf16_bf16"},
        hint="data_type",
        inherited=True,
    )
    winograd: int = key(
        v.WINOGRAD,
        "Largest tile of Winograd convolution, `0` for none: each 3x3 layer takes "
        "it where that is estimated to be faster, for up to 1.8 (`2`) or 4 (`4`) "
        "times the memory of its filter.",
        "how the CPU computes 3x3 convolutions",
        default=4,
        was={"fast_conv": {**_TILE_OF_SWITCH, "0": "0"}},
        words=_TILE_OF_SWITCH,
        hint="winograd",
        inherited=True,
    )


@dataclass(frozen=True)
class CheckTensor:
    """An intermediate tensor to compare during validation."""

    name: str
    shape: tuple[int, ...]


_SUBGRAPHS = no_effect(
    "tells the subgraphs of a model apart, and this one has no other"
)
_BORDER = "the model's inputs and outputs"
_VALIDATION = "`run --validate`"


@dataclass(frozen=True)
class SubgraphConfig(_Computation):
    """One entry of ``subgraphs``: what goes in and what comes out."""

    name: str | None = key(
        v.NAME, "Name of the subgraph, to tell it from others.", "", _SUBGRAPHS
    )
    input_tensors: tuple[str, ...] = key(
        v.many(v.NAME),
        "Input tensors, by the names they have in the model file.",
        _BORDER,
        required=True,
        was={"input_nodes": {}},
    )
    input_shapes: tuple[tuple[int, ...], ...] = key(
        v.many(v.SHAPE),
        "One shape per input tensor, in the order of its `input_data_formats`. Of "
        "several possible sizes give the largest.",
        _BORDER,
        required=True,
        each="input_tensors",
    )
    input_data_types: tuple[words.TensorType, ...] = key(
        v.one_for_all(v.word(words.TensorType)),
        "Element types the application passes: any floating type for a floating "
        "tensor, else the model's, for example `int32` indices of a gather. "
        "`float32` stands for what the model has.",
        _BORDER,
        default=(words.TensorType.FLOAT32,),
        each="input_tensors",
        one_for_all=True,
    )
    input_data_formats: tuple[words.DataFormat, ...] = key(
        v.one_for_all(v.word(words.DataFormat)),
        "Order of the dimensions the application passes; `NONE` for tensors that "
        "have no image layout.",
        _BORDER,
        default=(words.DataFormat.NHWC,),
        each="input_tensors",
        one_for_all=True,
    )
    input_ranges: tuple[tuple[float, float], ...] | None = key(
        v.many(v.RANGE),
        "Smallest and largest value of each input, for synthetic inputs "
        "(`-1.0,1.0` if absent).",
        "random inputs of `run`, and a hint in the model file",
        each="input_tensors",
        one_for_all=True,
    )
    input_aliases: tuple[str, ...] | None = key(
        v.many(v.NAME),
        "Names the application uses for the inputs.",
        _BORDER,
        each="input_tensors",
    )
    output_tensors: tuple[str, ...] = key(
        v.many(v.NAME),
        "Output tensors, named as the inputs are.",
        _BORDER,
        required=True,
        was={"output_nodes": {}},
    )
    output_shapes: tuple[tuple[int, ...], ...] = key(
        v.many(v.SHAPE),
        "One shape per output tensor.",
        _BORDER,
        required=True,
        each="output_tensors",
    )
    output_data_types: tuple[words.TensorType, ...] = key(
        v.one_for_all(v.word(words.TensorType)),
        "Element types the application receives, likewise.",
        _BORDER,
        default=(words.TensorType.FLOAT32,),
        each="output_tensors",
        one_for_all=True,
    )
    output_data_formats: tuple[words.DataFormat, ...] = key(
        v.one_for_all(v.word(words.DataFormat)),
        "Order of the dimensions the application receives.",
        _BORDER,
        default=(words.DataFormat.NHWC,),
        each="output_tensors",
        one_for_all=True,
    )
    output_aliases: tuple[str, ...] | None = key(
        v.many(v.NAME),
        "Names the application uses for the outputs.",
        _BORDER,
        each="output_tensors",
    )
    states: Mapping[str, str] | None = key(
        v.NAME_TO_NAME,
        "Tensors that live across runs, as the cache of a decoder: from the input to "
        "the output whose value it has in the next run. The application does not "
        "give these inputs; they are zero at first and after it resets them.",
        "what the application passes, and the model file",
    )
    order: int | None = key(
        v.INTEGER, "Position in the run order among the subgraphs.", "", _SUBGRAPHS
    )
    validation_inputs_data: tuple[FileRef, ...] | None = key(
        v.many(v.LOCATION),
        "NumPy files (`.npy`), one per input, to run and validate with; random "
        "values within `input_ranges` if absent.",
        "the inputs of `run`",
        each="input_tensors",
        was={"input_files": {}},
    )
    validation_outputs_data: tuple[FileRef, ...] | None = key(
        v.many(v.LOCATION),
        "NumPy files with the expected outputs, one per output; the original "
        "framework computes them if absent.",
        _VALIDATION,
        each="output_tensors",
    )
    validation_threshold: Mapping[Runtime, float] | None = key(
        v.THRESHOLDS,
        "Least cosine similarity that passes, per device (if absent 0.999; 0.995 "
        "for 16-bit arithmetic and for large weights in 8 bits).",
        _VALIDATION,
    )
    accuracy_validation_script: tuple[FileRef, ...] | None = key(
        v.many(v.LOCATION), "Python plug-in that measures accuracy.", _VALIDATION
    )
    check_tensors: tuple[str, ...] | None = key(
        v.many(v.NAME), "Intermediate tensors to compare as well.", _VALIDATION
    )
    check_shapes: tuple[tuple[int, ...], ...] | None = key(
        v.many(v.SHAPE),
        "One shape per entry of `check_tensors`.",
        _VALIDATION,
        each="check_tensors",
    )
    backend: words.OnnxBackend | None = key(
        v.word(words.OnnxBackend),
        "Framework an ONNX model is compared with: always ONNX Runtime in this "
        "release.",
        _VALIDATION,
        no_effect(limits.other_reference, "unless `onnxruntime`", Command.RUN),
    )

    @functools.cached_property
    def inputs(self) -> tuple[BorderTensor, ...]:
        """The input tensors, one by one."""
        return tuple(self._border("input"))

    @functools.cached_property
    def outputs(self) -> tuple[BorderTensor, ...]:
        """The output tensors, one by one."""
        return tuple(self._border("output"))

    @property
    def checks(self) -> tuple[CheckTensor, ...]:
        """The intermediate tensors to compare, one by one."""
        pairs = zip(self.check_tensors or (), self.check_shapes or ())
        return tuple(CheckTensor(*pair) for pair in pairs)

    def _border(self, side: str) -> Iterator[BorderTensor]:
        names = getattr(self, f"{side}_tensors")
        columns = {
            "shape": f"{side}_shapes",
            "data_type": f"{side}_data_types",
            "data_format": f"{side}_data_formats",
            "alias": f"{side}_aliases",
            "validation_data": f"validation_{side}s_data",
            "range": f"{side}_ranges",
        }
        for index, name in enumerate(names):
            tensor: dict[str, Any] = {}
            for name_of_value, column in columns.items():
                # None given, one for all, or one for each.
                given = getattr(self, column, None) or (None,)
                one_each = len(given) == len(names)
                tensor[name_of_value] = given[index if one_each else 0]
            yield BorderTensor(name, **tensor)


_MICRO = no_effect("the microcontroller form is not in this release")


@dataclass(frozen=True)
class MicroConfig(Section):
    """Options of the microcontroller form."""

    backend: str | None = key(
        v.NAME, "Kernel library, for example `cmsis`.", "", _MICRO
    )


_EIGHT_BITS = "8-bit models are not in this release"
_QUANTIZED = no_effect(_EIGHT_BITS)
_CAFFE = no_effect("models of Caffe are not in this release")
_FETCHED = "the file that is fetched"
_ACCELERATOR = dict.fromkeys((Runtime.HTA, Runtime.APU), "how the model is compiled")
_OLD_DSP = {Runtime.DSP: "the mode of older DSPs"}


@dataclass(frozen=True)
class ModelConfig(_Computation):
    """One entry of ``models``."""

    # The key of the mapping that the model is the value of.
    name: str = ""
    platform: Platform = key(
        v.word(Platform),
        "Framework the model comes from.",
        "how the model file is read",
        refused(limits.no_importer, f"unless {limits.FRAMEWORKS}"),
        required=True,
    )
    model_file_path: FileRef = key(
        v.LOCATION,
        "The model file.",
        _FETCHED,
        required=True,
        checksum="model_sha256_checksum",
    )
    model_sha256_checksum: str | None = key(
        v.SHA256,
        "SHA-256 of the model file, verified before use; required for an http(s) "
        "address.",
        _FETCHED,
    )
    weight_file_path: FileRef | None = key(
        v.LOCATION,
        "The weights file of Caffe models, which require it.",
        "",
        _CAFFE,
        checksum="weight_sha256_checksum",
    )
    weight_sha256_checksum: str | None = key(
        v.SHA256, "SHA-256 of the weights file, likewise.", "", _CAFFE
    )
    subgraphs: tuple[SubgraphConfig, ...] = key(
        None,
        "Inputs and outputs of the model.",
        _BORDER,
        refused(limits.several_subgraphs, "unless there is one"),
        required=True,
        section=SubgraphConfig,
        container=list,
    )
    quantize: bool = key(
        v.FLAG,
        "Convert to an 8-bit model.",
        "",
        refused(f"{_EIGHT_BITS}; remove the key"),
        default=False,
    )
    quantize_range_file: FileRef | None = key(
        v.LOCATION,
        "Ranges of all tensors, from the statistics tool, for `quantize`.",
        "",
        _QUANTIZED,
    )
    quantize_large_weights: bool = key(
        v.FLAG,
        "Store large weights of convolutions (not depthwise) and fully connected "
        "layers in 8 bit, a quarter of the size of float, and compute in float.",
        "how large weights are stored",
        default=False,
        hint="quantize_large_weights",
    )
    quantize_schema: words.QuantizeSchema | None = key(
        v.word(words.QuantizeSchema),
        "Representation of quantized values, for `quantize`.",
        "",
        _QUANTIZED,
    )
    change_concat_ranges: bool = key(
        v.FLAG,
        "Give all inputs of a concat its output range, for `quantize`.",
        "",
        _QUANTIZED,
        default=False,
    )
    obfuscate: bool = key(
        v.FLAG,
        "Replace operator names by meaningless ones.",
        "names in the model file",
        default=False,
        hint="obfuscated",
    )
    limit_opencl_kernel_time: bool = key(
        v.FLAG,
        "`1`: split OpenCL kernels to run at most 1 ms each, so that the user "
        "interface stays responsive.",
        on={Runtime.GPU: "how long kernels run"},
        default=False,
        was={"limit_opencl_kernel_completion": {}},
        hint="limit_opencl_kernel_time",
    )
    opencl_queue_window_size: int = key(
        v.COUNT,
        "Most commands waiting in the OpenCL queue, for the same reason; `0`: no "
        "limit.",
        on={Runtime.GPU: "how full the queue is"},
        default=0,
        hint="opencl_queue_window_size",
    )
    cl_mem_type: words.ClMemoryType | None = key(
        v.word(words.ClMemoryType),
        "OpenCL memory for activations.",
        on={Runtime.GPU: "where activations lie"},
    )
    graph_optimize_options: tuple[str, ...] | None = key(
        v.many(v.NAME),
        "Passes to run instead of all, besides the indispensable ones.",
        "which passes rewrite the graph",
        refused(limits.unknown_passes, "for unknown names", Command.CONVERT),
    )
    docker_image_tag: str | None = key(
        v.NAME, "Container image for validating with Caffe.", "", _CAFFE
    )
    dockerfile_path: FileRef | None = key(
        v.LOCATION,
        "Dockerfile that builds this image.",
        "",
        _CAFFE,
        checksum="dockerfile_sha256_checksum",
    )
    dockerfile_sha256_checksum: str | None = key(
        v.SHA256, "SHA-256 of the Dockerfile.", "", _CAFFE
    )
    nnlib_graph_mode: int = key(
        v.COUNT,
        "Precision and power mode of older Hexagon DSPs.",
        on=_OLD_DSP,
        default=0,
    )
    dsp_mode: int = key(
        v.COUNT, "Graph mode of older Hexagon DSPs.", on=_OLD_DSP, default=0
    )
    accelerator_api: str | None = key(
        v.NAME, "Vendor interface of an accelerator.", on=_ACCELERATOR
    )
    apu_version_with_no_device: str | None = key(
        v.NAME,
        "APU version to convert for with no device at hand.",
        on={Runtime.APU: "how the model is compiled"},
    )
    micro: MicroConfig | None = key(
        None, "Options for microcontrollers.", "", _MICRO, section=MicroConfig
    )

    def hints(self) -> dict[str, Any]:
        """What the model file hands to the runtime, by `DeploymentHints` field."""
        (subgraph, *_) = self.subgraphs
        found = {}
        # What a subgraph says holds for it.
        for section in (self, subgraph):
            for item in fields(section):
                declared = item.metadata.get("key")
                if declared is not None and declared.hint:
                    value = getattr(section, item.name)
                    found[declared.hint] = getattr(value, "value", value)
        return found


_NOT_OF_CONVERT = no_effect(
    limits.flag_of_run,
    "as a flag, unless `model_graph_format` is `code`",
    Command.CONVERT,
)
_ABI_ALIASES = {
    "aarch64_linux_gnu": "arm64",
    "aarch64-linux-gnu": "arm64",
    "arm_linux_gnueabihf": "armhf",
    "arm-linux-gnueabihf": "armhf",
}


@dataclass(frozen=True)
class GivenKey:
    """A key that the file gives, whatever its value.

    Attributes:
        value: as it was read.
        path: ``models.m.cl_mem_type``, as the user wrote it.
        origin: the line as ``FILE:12``, or the flag that set the value.
        model: name of the model it belongs to, '' for keys of the file.
        subgraph: index of the subgraph it belongs to, if it stands in one.
    """

    key: Key
    value: Any
    path: str
    origin: str
    model: str = ""
    subgraph: int | None = None


@dataclass(frozen=True)
class Deployment(Section):
    """A whole deployment file.

    Attributes:
        target_socs: lower case; ('all',) means every SoC that is plugged in.
        warnings: one per old spelling met, as already logged.
        given: what the file says in so many words, for whoever must tell a
            value that was asked for from a default.
    """

    library_name: str = key(
        v.FILE_STEM,
        "Name of the library; output goes to `build/${library_name}`.",
        "the folder of the output",
        required=True,
    )
    target_abis: tuple[words.Abi, ...] = key(
        v.many(
            v.word(words.Abi, _ABI_ALIASES),
            "list of " + ", ".join(f"`{abi.value}`" for abi in words.Abi),
            separated=True,
        ),
        "Systems to build for. `aarch64_linux_gnu` and `arm_linux_gnueabihf` are "
        "other names of `arm64` and `armhf`.",
        "the devices of `run`, what `build` builds, and models as code",
        _NOT_OF_CONVERT,
        required=True,
        replaceable=True,
    )
    target_socs: tuple[str, ...] = key(
        v.many(v.SOC, "SoC name, list of SoC names, or `all`", separated=True),
        "SoCs of the devices to run on.",
        "the devices of `run`",
        _NOT_OF_CONVERT,
        default=(),
        was={"target_soc": {}},
        replaceable=True,
    )
    model_graph_format: words.ModelFormat = key(
        v.word(words.ModelFormat, accepts="`file` or `code`"),
        "`file`: graph as a `.pb` file; `code`: as C++ code.",
        "the form of the graph",
        default=words.ModelFormat.FILE,
        was={"build_type": {"proto": "file"}},
        replaceable=True,
    )
    model_data_format: words.ModelFormat = key(
        v.word(words.ModelFormat, accepts="`file` or `code`"),
        "`file`: weights as a `.data` file; `code`: as C++ code, only together with "
        "`model_graph_format: code`.",
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
    models: tuple[ModelConfig, ...] = key(
        None,
        "The models.",
        "what is converted and run",
        required=True,
        section=ModelConfig,
        container=dict,
    )
    source: Path = Path()
    warnings: tuple[str, ...] = ()
    given: tuple[GivenKey, ...] = field(default=(), compare=False)

    def model(self, name: str) -> ModelConfig:
        """The model of that name; KeyError when there is none."""
        for model in self.models:
            if model.name == name:
                return model
        raise KeyError(name)
