# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A part of a model: how it is computed, what goes in and what comes out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Optional, Tuple

from pydantic import PrivateAttr, ValidationInfo, field_validator, model_validator

from mace.python.tools.config import limits
from mace.python.tools.config import values as v
from mace.python.tools.config import vocabulary as words
from mace.python.tools.config.effect import Command, no_effect, refused
from mace.python.tools.config.keys import Section, key, keys_of
from mace.python.tools.config.vocabulary import Runtime
from mace.python.tools.data_type import DataType, Precision
from mace.python.tools.wording import listed, shown


@dataclass(frozen=True)
class BorderTensor:
    """An input, an output or a tensor to compare of a subgraph.

    Attributes:
        shape: -1 for what is decided at run time; of an output, empty if the
            deployment does not say it.
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


def _words(precisions: Iterable[Precision], last: str = ", ") -> str:
    return last.join(f"`{item.value}`" for item in precisions)


_EVERYWHERE = Runtime.DSP.precisions
_ON_GPU_TOO = [item for item in Runtime.GPU.precisions if item not in _EVERYWHERE]
_ON_CPU = [item for item in Precision if item not in Runtime.GPU.precisions]
_PRECISIONS = (
    f"{_words(_EVERYWHERE, ' or ')}; on the CPU and the GPU also "
    f"{_words(_ON_GPU_TOO)}; on the CPU also {_words(_ON_CPU)}"
)


_USABLE = listed(f"`{item.value}`" for item in Runtime if item.in_release)


class Computation(Section):
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
        no_effect(
            limits.without_precision, "on a device of several that does not have it"
        ),
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
BORDER = "the model's inputs and outputs"
_VALIDATION = "`run --validate`"


BorderType = Annotated[DataType, v.Words(words.BORDER_TYPES)]
BorderFormat = Annotated[words.DataFormat, v.Words(words.DataFormat)]


class SubgraphConfig(Computation):
    """One entry of ``subgraphs``: what goes in and what comes out."""

    _left_out: tuple[Runtime, ...] = PrivateAttr(default=())

    name: Optional[v.Name] = key(
        "Name of the subgraph, to tell it from others (`<model>_<index>` if absent).",
        _PART,
        no_effect(limits.only_subgraph, "unless there are several subgraphs"),
    )
    input_tensors: v.ManyApart[v.Name] = key(
        "Input tensors, by the names they have in the model file.",
        BORDER,
        was={"input_nodes": {}},
        required=True,
        of_model=True,
    )
    input_shapes: v.Many[v.LimitedShape] = key(
        "One shape per input tensor, in the order of its `input_data_formats`. A "
        "dimension that is decided at run time is -1, or `1..512` with an upper "
        "limit.",
        BORDER,
        each="input_tensors",
        required=True,
        of_model=True,
    )
    input_data_types: v.OneForAll[BorderType] = key(
        "Element types the application passes: any floating type for a floating "
        "tensor, else the model's, for example `int32` indices of a gather. "
        "`float32` stands for what the model has.",
        BORDER,
        default=(DataType.FLOAT32,),
        each="input_tensors",
    )
    input_data_formats: v.OneForAll[BorderFormat] = key(
        "Order of the dimensions the application passes; `NONE` for tensors that "
        "have no image layout.",
        BORDER,
        default=(words.DataFormat.NHWC,),
        each="input_tensors",
    )
    input_ranges: Optional[
        Annotated[Tuple[v.Range, ...], v.OneOrMany(one_for_all=True)]
    ] = key(
        "Smallest and largest value of each input, for synthetic inputs "
        "(`-1.0,1.0` if absent), and with `quantize: 1` for its scale.",
        "random inputs of `run`, the scales of inputs with `quantize: 1`, a hint in "
        "the model file",
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
        "Names the application uses for the inputs.", BORDER, each="input_tensors"
    )
    output_tensors: v.ManyApart[v.Name] = key(
        "Output tensors, named as the inputs are.",
        BORDER,
        was={"output_nodes": {}},
        required=True,
        of_model=True,
    )
    output_shapes: Optional[v.Many[v.Shape]] = key(
        "One shape per output tensor.",
        BORDER,
        each="output_tensors",
        of_model=True,
    )
    output_data_types: v.OneForAll[BorderType] = key(
        "Element types the application receives, likewise.",
        BORDER,
        default=(DataType.FLOAT32,),
        each="output_tensors",
    )
    output_data_formats: v.OneForAll[BorderFormat] = key(
        "Order of the dimensions the application receives.",
        BORDER,
        default=(words.DataFormat.NHWC,),
        each="output_tensors",
    )
    output_aliases: Optional[v.ManyApart[v.Name]] = key(
        "Names the application uses for the outputs.", BORDER, each="output_tensors"
    )
    states: Optional[v.Renamings] = key(
        "Tensors that live across runs, as the cache of a decoder: from the input to "
        "the output whose value it has in the next run. The application does not "
        "give these inputs; they are zero at first and after it resets them.",
        "what the application passes, and the model file",
    )
    constants: Optional[v.Constants] = key(
        "Inputs that are the same in every run, as a sample rate, with what they hold, "
        "in the order of dimensions of the model: the application does not pass them, "
        "and conditions that depend on nothing else are decided by the converter.",
        "what the application passes, the operators of the model, and what "
        "`--validate` gives the original",
        was={"inputs": {}},
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

    @model_validator(mode="after")
    def _without_devices(self) -> SubgraphConfig:
        """Leaves out the devices that do not have its precision."""
        asked: Optional[Runtime] = self.runtime
        # A model whose subgraphs have none is refused elsewhere.
        found = asked and asked.with_precision(self.data_type)
        if asked and found and found is not asked:
            left = tuple(d for d in asked.devices if d not in found.devices)
            self._left_out = left
            # The configuration cannot be changed any more but here.
            self.__dict__["runtime"] = found
        return self

    @property
    def left_out(self) -> tuple[Runtime, ...]:
        """The devices that were asked for and do not have its precision."""
        return self._left_out

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

    @field_validator("constants")
    @classmethod
    def _are_no_tensors(cls, constants: Any, info: ValidationInfo) -> Any:
        problems = [
            f"{shown(name)} is in {side}_tensors as well; name it in one of both"
            for side in ("input", "output")
            for name in info.data.get(f"{side}_tensors") or ()
            if constants and name in constants
        ]
        if problems:
            raise v.told("; ".join(problems))
        return constants

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
            values["shape"] = values["shape"] or ()
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
    for tensor in (t for part in subgraphs for t in (*part.inputs, *part.outputs)):
        form = tensor.shape, tensor.data_type, tensor.data_format
        known = forms.setdefault(tensor.name, form)
        if form[0 if tensor.shape else 1 :] != known[0 if tensor.shape else 1 :]:
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
    constants = {k: c for part in subgraphs for k, c in (part.constants or {}).items()}
    thresholds = [part.validation_threshold for part in subgraphs]
    changed = {
        "name": None,
        "order": None,
        "states": states or None,
        "constants": constants or None,
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
