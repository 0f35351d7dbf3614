# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A deployment: every key of the file, and what every command works from.

This is the one place that lists the keys. The reader, the reference page, the
JSON Schema for editors, what is told of keys without effect and the hints in
the model file all come from these declarations. Nothing here reads files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Dict, Optional, Tuple

from annotated_types import Ge, Le, MinLen
from pydantic import (
    AfterValidator,
    BeforeValidator,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic.json_schema import SkipJsonSchema

from mace.python.tools.config import limits
from mace.python.tools.config import values as v
from mace.python.tools.config import vocabulary as words
from mace.python.tools.config.effect import Command, no_effect, refused
from mace.python.tools.config.keys import Section, key, keys_of
from mace.python.tools.config.subgraph import (
    BORDER,
    Computation,
    SubgraphConfig,
    joined,
    misfits,
)
from mace.python.tools.config.values import FileRef, Location, OneOrMany
from mace.python.tools.config.vocabulary import CalibrationMethod, Platform, Runtime
from mace.python.tools.config.yaml_source import Table, Text
from mace.python.tools.errors import MaceError
from mace.python.tools.wording import listed, shown

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# [lex.name] of C++17: of the language's implementation.
_RESERVED = re.compile(r"_|.*__")
# [lex.key] of C++17 plus the alternative tokens and what C++20 adds, so that
# generated code compiles under both.
_KEYWORD_TEXT = """
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
_KEYWORDS = frozenset(_KEYWORD_TEXT.split())
# Macros with small letters, of compilers and of the headers that generated code
# includes. A test asks the compilers for more.
_MACRO_TEXT = """
    L_ctermid L_cuserid L_tmpnam P_tmpdir errno i386 linux sched_priority stderr
    stdin stdout unix
"""
_MACROS = frozenset(_MACRO_TEXT.split())


def cpp_name_problem(name: str) -> str:
    """Why `name` cannot name a namespace, '' if it can."""
    if name in _KEYWORDS:
        return "is a C++ keyword"
    if not _IDENTIFIER.fullmatch(name):
        return 'is not a C++ name (letters, digits and "_", not beginning with a digit)'
    if _RESERVED.match(name):
        return 'begins with "_" or has "__" in it, as names of the C++ system do'
    if name == "std":
        return "is the namespace of the C++ library"
    if name in _MACROS:
        return "is a macro of C++ systems"
    if name.upper() == name:
        return 'is without small letters, as macros are ("EOF")'
    return ""


_Percentile = Annotated[
    float, Ge(50), Le(100), v.Accepts("a number from 50 to 100", "number")
]
_Decibels = Annotated[
    float, Ge(0), Le(200), v.Accepts("a number from 0 to 200", "number")
]


class CalibrationConfig(Section):
    """How the samples of a folder quantize a model."""

    input_dir: Optional[v.Location] = key(
        "Folder of samples, raw files `<input><suffix>` with one suffix for each "
        "sample; `--input_dir` takes its place.",
        "the scales of tensors",
    )
    samples: v.Count = key(
        "The most samples to take, evenly spread over all; `0`: all.",
        "the scales of tensors",
        default=128,
    )
    method: Annotated[CalibrationMethod, v.Words(CalibrationMethod)] = key(
        "How ranges are chosen: by all elements, by all but a share of them, with the "
        "least mean square error, or with the least divergence of distributions.",
        "the scales of tensors",
        default=CalibrationMethod.MSE,
    )
    percentile: _Percentile = key(
        "Share of elements inside the range, in percent, for the method `percentile`.",
        "the scales of tensors",
        default=99.99,
    )
    equalise: v.Flag = key(
        "Try to equalise the ranges of channels across layers; kept if outputs "
        "become more precise.",
        "the weights",
        default=True,
    )
    correct_bias: v.Flag = key(
        "Try to correct biases for the rounding of weights, likewise.",
        "the biases",
        default=True,
    )
    min_sqnr: _Decibels = key(
        "Least signal to quantization noise ratio of each output, in dB, over the "
        "samples. Layers that cost most stay in floats until it is reached, at most "
        "half of them.",
        "which operators compute in integers",
        default=20.0,
    )


CustomOps = Annotated[
    Tuple[Location, ...], OneOrMany("path, or list of paths", separated=True)
]
_READER: TypeAdapter[Tuple[FileRef, ...]] = TypeAdapter(CustomOps, config=v.WHEN_USED)


def folders_of(refs: Sequence[FileRef] | None) -> list[Path]:
    """The folders that the key names.

    Raises:
        MaceError: one is not there.
    """
    folders = []
    for ref in refs or ():
        found = [path for path in ref.candidates if path.is_dir()]
        if not found or ref.is_url:
            looked = listed(str(path) for path in ref.candidates)
            raise MaceError(
                f"{ref.place or '--custom_ops'}: {ref.location} is no folder"
                + ("" if ref.is_url else f"; looked for {looked}")
            )
        folders.append(found[0])
    return folders


def folders_in(found: Any, context: Mapping[str, Any]) -> list[Path]:
    """The folders that the key names in a file that is not read as a whole yet; none if
    it has no value that can be read, as the reader tells.

    Raises:
        MaceError: one is not there.
    """
    if found is None:
        return []
    try:
        return folders_of(_READER.validate_python(found, context=dict(context)))
    except ValidationError:
        return []


_MICRO = no_effect("the microcontroller form is not in this release")


class MicroConfig(Section):
    """Options of the microcontroller form."""

    backend: Optional[v.Name] = key("Kernel library, for example `cmsis`.", _MICRO)


_QUANTIZED = no_effect(limits.not_quantized, "without `quantize`")
_NO_CONTAINER = no_effect(limits.NO_CONTAINER)
_FETCHED = "the file that is fetched"
_OLD_DSP = no_effect(limits.NO_MODES)


def _are_entries(found: Any) -> Any:
    if isinstance(found, (list, tuple)) and found:
        return found
    wanted = "a list of at least one entry"
    if isinstance(found, dict):
        wanted += '; begin each entry of subgraphs with "- "'
    raise v.unfit(found, wanted)


Subgraphs = Annotated[Tuple[SubgraphConfig, ...], BeforeValidator(_are_entries)]


class ModelConfig(Computation):
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
        BORDER,
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
        "Precision and power mode of Qualcomm's nnlib.", _OLD_DSP, default=0
    )
    dsp_mode: v.Count = key("Graph mode of Qualcomm's nnlib.", _OLD_DSP, default=0)
    accelerator_api: Optional[v.Name] = key(
        "Vendor interface of an accelerator.",
        no_effect("each accelerator has one interface, which `runtime` tells"),
    )
    apu_version_with_no_device: Optional[v.Name] = key(
        "APU version to convert for with no device at hand.",
        no_effect("the APU compiles the model where it runs"),
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


# "model/tensor"; tensors may have slashes, models may not.
_END = re.compile(r"([^/]+)/(.+)", re.DOTALL)


@dataclass(frozen=True)
class LinkEnd:
    """An output or input of a model."""

    model: str
    tensor: str

    def __str__(self) -> str:
        return f"{self.model}/{self.tensor}"


def _end(text: str) -> LinkEnd:
    found = _END.fullmatch(text)
    if found is None:
        raise v.told(f"found {shown(text)}, accepted: MODEL/TENSOR, as halve/small")
    return LinkEnd(found[1], found[2])


Links = Annotated[
    Dict[v.Name, v.Many[v.Name]],
    MinLen(1),
    v.Accepts(
        "a mapping of outputs to inputs such as {halve/small: digits/image}",
        "mapping of MODEL/OUTPUT to MODEL/INPUT, or a list of these",
    ),
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
        "Systems to build for: `host` is this computer, `arm64` and `armhf` are Linux "
        "boards, the others Android. `aarch64`, `aarch64_linux_gnu` are other names of "
        "`arm64`, and `armv7l`, `arm_linux_gnueabihf` of `armhf`.",
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
    links: Optional[Links] = key(
        "Outputs that inputs of later models read: the models are a chain (see "
        "[Chains of models](zero_copy.md#chains-of-models)).",
        "`mace.load_pipeline`, and what `convert` checks",
        accepts="{}",
    )
    source: SkipJsonSchema[Path] = Path()
    warnings: SkipJsonSchema[Tuple[str, ...]] = ()

    @field_validator("links")
    @classmethod
    def _join_models(cls, links: Optional[Any], info: ValidationInfo) -> Any:
        """Of models of the file, forwards, and one for each input."""
        names = list(info.data.get("models", ()))
        fed: set[LinkEnd] = set()
        for writer, readers in (links or {}).items() if names else ():
            ends = [_end(text) for text in (writer, *readers)]
            for end in ends:
                if end.model not in names:
                    raise v.told(
                        f"{end}: there is no model {shown(end.model)}; there are: "
                        + ", ".join(names)
                    )
            for end in ends[1:]:
                if names.index(end.model) <= names.index(ends[0].model):
                    raise v.told(
                        f"{ends[0]} to {end}: models run in the order of the file; "
                        f"write {shown(end.model)} below {shown(ends[0].model)}"
                    )
                if end in fed:
                    raise v.told(f"input {end} has two links; leave one out")
                fed.add(end)
        return links

    @property
    def chain(self) -> tuple[tuple[LinkEnd, LinkEnd], ...]:
        """Each link: the output, and an input that reads it."""
        return tuple(
            (_end(writer), _end(reader))
            for writer, readers in (self.links or {}).items()
            for reader in readers
        )

    @property
    def stands_for_model(self) -> bool:
        """Whether a model was given in the place of a deployment file."""
        files = [
            Path(ref.location)
            for model in self.models.values()
            for ref in (model.model_file_path, model.weight_file_path)
            if ref is not None
        ]
        return self.source in files

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
