# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The metadata of a converted model (mace/proto/README.md)."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError

from mace.python.installation import command
from mace.python.tools.catalogue import AttributeKind, default_catalogue
from mace.python.tools.config.subgraph import SubgraphConfig
from mace.python.tools.config.vocabulary import DataFormat
from mace.python.tools.data_type import DataType
from mace.python.tools.errors import MaceError
from mace.python.tools.export.places import ModelPlaces
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.proto import load_proto

_PROTO = "mace/proto/mace.proto"

# DataType of the model file -> the word mace_run and numpy use.
_TYPES = {item.proto_name: item for item in DataType if item.in_models}


class ModelFileError(MaceError):
    """A converted model is missing or unreadable."""


@dataclass(frozen=True)
class TensorInfo:
    """A tensor of a converted model.

    Attributes:
        shape: as the user sees it for inputs and outputs, as it lies in memory
            (channels last) for inner tensors; -1 where unknown.
        type_recorded: whether the file says the type; that of an inner tensor is
            optional, and then FLOAT32 here.
        largest: of an input, its shape with upper limits; empty if it has none.
        means, scales: of an input that the model normalises; empty if it does not.
        source: the framework's tensor with the same values; '' if none.
        source_axes: axis i is axis source_axes[i] of that tensor; empty for the
            framework's own order, None if the file does not say (earlier releases).
        quantization: what its integers stand for; its axis is that of the tensor as
            it lies inside the model (channels last).
    """

    name: str
    shape: tuple[int, ...]
    data_type: DataType
    data_format: DataFormat = DataFormat.NONE
    source: str = ""
    source_axes: tuple[int, ...] | None = None
    quantization: Quantization | None = None
    largest: tuple[int, ...] = ()
    means: tuple[float, ...] = ()
    scales: tuple[float, ...] = ()
    type_recorded: bool = True

    @property
    def is_static(self) -> bool:
        return all(dim >= 0 for dim in self.shape)


@dataclass(frozen=True)
class OperatorInfo:
    """An operator of a converted model."""

    name: str
    type: str
    inputs: tuple[str, ...]
    outputs: tuple[TensorInfo, ...]


@dataclass(frozen=True)
class StateInfo:
    """An input that is not given but has the value of an output of the last run.

    Attributes:
        becomes: the name of that output.
    """

    tensor: TensorInfo
    becomes: str


@dataclass(frozen=True)
class ModelFile:
    """A converted model on disk.

    Attributes:
        inputs: that the application gives.
        graph_linked, data_linked: `mace_run` contains it.
        producer: the program that wrote it, with its version.
        devices: the kinds of devices that it was made for.
        source_sha256: of the files it was converted from, and then of constants for its
            inputs, if it has any; empty if unknown.
        external_sha256: of files that the first of these names, by their path
            relative to its folder.
    """

    name: str
    graph_path: Path
    data_path: Path
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    operators: tuple[OperatorInfo, ...]
    graph_linked: bool = False
    data_linked: bool = False
    hints: Mapping[str, Any] = field(default_factory=dict)
    source_sha256: tuple[str, ...] = ()
    external_sha256: Mapping[str, str] = field(default_factory=dict)
    states: tuple[StateInfo, ...] = ()
    producer: str = ""
    devices: tuple[str, ...] = ()

    @property
    def converter_version(self) -> str:
        """The version of MACE that converted it; empty if unknown."""
        return next(iter(self.producer.split()[1:]), "")

    @property
    def is_quantized(self) -> bool:
        """Whether operators compute in quantized integers."""
        return bool(self.quantized_types)

    @property
    def quantized_types(self) -> frozenset[DataType]:
        """The types of these integers."""
        tensors = (tensor for op in self.operators for tensor in op.outputs)
        return frozenset(t.data_type for t in tensors if t.quantization is not None)

    def output(self, name: str) -> TensorInfo | None:
        """The model output of that name, if it has one."""
        return next((tensor for tensor in self.outputs if tensor.name == name), None)


def read_model_file(places: ModelPlaces, source: Sequence[str] = ()) -> ModelFile:
    """Reads a converted model; both of its files must be there.

    Args:
        source: the arguments of `convert` that make it, for messages.

    Raises:
        ModelFileError: names the file and the command that makes it.
    """
    graph_path, data_path = places.graph, places.data
    for path in (graph_path, data_path):
        if not path.is_file():
            raise ModelFileError(
                f"{path} does not exist: convert the model first "
                f"({command('convert')} {shlex.join(source) or '...'})"
            )
    types = {
        number: _TYPES[name]
        for number, name in load_proto(_PROTO).enum_names("DataType").items()
        if name in _TYPES
    }
    message = read_message(graph_path)
    if not message.inputs or not message.outputs:
        # An empty file would be a valid message.
        raise ModelFileError(
            f"{graph_path} is no MACE model: it has no inputs or no outputs; "
            "convert it again"
        )
    becomes = {state.input: state.output for state in message.states}
    inputs = [_value(graph_path, value, types) for value in message.inputs]
    return ModelFile(
        name=message.name,
        graph_path=graph_path,
        data_path=data_path,
        inputs=tuple(tensor for tensor in inputs if tensor.name not in becomes),
        outputs=tuple(_value(graph_path, value, types) for value in message.outputs),
        operators=tuple(_operator(op, types) for op in message.operators),
        graph_linked=places.graph_linked,
        data_linked=places.data_linked,
        hints={key.name: value for key, value in message.hints.ListFields()},
        source_sha256=tuple(message.source_sha256),
        external_sha256={file.path: file.sha256 for file in message.external_sources},
        states=tuple(
            StateInfo(tensor, becomes[tensor.name])
            for tensor in inputs
            if tensor.name in becomes
        ),
        producer=message.producer,
        devices=tuple(message.devices),
    )


def read_message(graph_path: Path) -> Any:
    """The message `mace.Model` of a graph.

    Raises:
        ModelFileError: the file is none, or unreadable.
    """
    message = load_proto(_PROTO).Model()
    try:
        message.ParseFromString(graph_path.read_bytes())
    except (DecodeError, OSError) as error:
        raise ModelFileError(
            f"{graph_path} is no readable MACE model: {error}; convert it again"
        ) from error
    return message


def as_declared(file: ModelFile, subgraph: SubgraphConfig) -> ModelFile:
    """The model with inputs and outputs of the types the application uses.

    MACE converts between floating types at the model's border; other types
    are those of the model.
    """
    declared = {info.name: info.data_type for info in subgraph.inputs}
    declared.update((info.name, info.data_type) for info in subgraph.outputs)

    def tensor(own: TensorInfo) -> TensorInfo:
        wanted = declared.get(own.name)
        if wanted is None or not wanted.is_float or not own.data_type.is_float:
            return own
        return dataclasses.replace(own, data_type=wanted)

    return dataclasses.replace(
        file,
        inputs=tuple(tensor(own) for own in file.inputs),
        outputs=tuple(tensor(own) for own in file.outputs),
    )


_FORMATS = (DataFormat.NONE, DataFormat.NHWC, DataFormat.NCHW)


def _value(path: Path, value: Any, types: dict[int, DataType]) -> TensorInfo:
    if value.data_type not in types:
        raise ModelFileError(
            f"{path}: the element type of {value.name} is number {value.data_type}, "
            "which this release does not know; convert it again"
        )
    return TensorInfo(
        name=value.name,
        shape=tuple(value.shape),
        data_type=types[value.data_type],
        data_format=_FORMATS[value.data_format]
        if value.data_format < 3
        else _FORMATS[0],
        quantization=read_quantization(value.quantization),
        largest=tuple(value.largest_shape),
        means=tuple(value.means),
        scales=tuple(value.scales),
    )


def read_quantization(message: Any) -> Quantization | None:
    """The quantization in a message `mace.Quantization`; None if it has no scales."""
    if not message.scales:
        return None
    return Quantization(tuple(message.scales), tuple(message.zero_points), message.axis)


def _operator(op: Any, types: dict[int, DataType]) -> OperatorInfo:
    outputs = []
    for i, name in enumerate(op.outputs):
        dtype = types.get(op.output_types[i]) if i < len(op.output_types) else None
        outputs.append(
            TensorInfo(
                name=name,
                # Shapes and types are optional in the file.
                shape=tuple(op.output_shapes[i].dims)
                if i < len(op.output_shapes)
                else (-1,),
                data_type=dtype or DataType.FLOAT32,
                type_recorded=dtype is not None,
                source=op.source_outputs[i] if i < len(op.source_outputs) else "",
                source_axes=tuple(op.source_axes[i].dims)
                if i < len(op.source_axes)
                else None,
                quantization=read_quantization(op.output_quantization[i])
                if i < len(op.output_quantization)
                else None,
            )
        )
    return OperatorInfo(op.name, op.type, tuple(op.inputs), tuple(outputs))


def attribute_value(op_type: str, attr: Any) -> Any:
    """An attribute of an operator in the model file, in the graph's form."""
    kind = attr.WhichOneof("value")
    value = getattr(attr, kind or "i")
    if kind in ("ints", "floats"):
        return tuple(value.values)
    declared = default_catalogue()[op_type].attributes.get(attr.name)
    is_bool = declared is not None and declared.kind is AttributeKind.BOOL
    return bool(value) if is_bool else value
