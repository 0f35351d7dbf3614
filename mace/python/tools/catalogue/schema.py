# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Typed form of an operator declaration."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Union

from mace.python.tools.data_type import DataType

# Integer and float lists are tuples, so that a value can be a dictionary key
# and cannot be changed behind its owner's back.
AttributeValue = Union[bool, int, float, str, "tuple[int, ...]", "tuple[float, ...]"]


class AttributeKind(str, enum.Enum):
    """Kind of value an attribute holds."""

    INT = "int"
    BOOL = "bool"
    FLOAT = "float"
    STRING = "string"
    ENUM = "enum"
    INTS = "ints"
    FLOATS = "floats"


@dataclass(frozen=True)
class Enumeration:
    """Words that several operators' attributes accept.

    Attributes:
        name: as declarations and C++ call it.
        values: what each word means, by word.
    """

    name: str
    doc: str
    values: Mapping[str, str]


class Packing(str, enum.Enum):
    """How the converter packs a constant at a port (`mace.proto`, ConstantLayout)."""

    # CL_PACKED_O16, CL_PACKED_O16_PAIRS or CL_PACKED_O16_SCALED; of a quantized
    # operator CL_PACKED_O16_FOURS, or CL_PLAIN if its last dimension is no multiple
    # of 4.
    FILTER = "filter"
    # CL_PACKED_N16_FOURS; CL_PLAIN if it is empty.
    INTEGER_MATRICES = "integer_matrices"


@dataclass(frozen=True)
class Port:
    """An input or output of an operator."""

    name: str
    types: tuple[DataType, ...]
    # Instead of float32, where the operator is quantized; () if it then has no such
    # input.
    quantized: tuple[DataType, ...] = ()
    optional: bool = False
    # Must be a constant of the model.
    constant: bool = False
    # None: constants are stored with their elements in order.
    packed: Packing | None = None
    # Last port only: stands for one or more tensors.
    variadic: bool = False
    doc: str = ""


@dataclass(frozen=True)
class Attribute:
    """An attribute of an operator."""

    name: str
    kind: AttributeKind
    required: bool = False
    # None only if required.
    default: AttributeValue | None = None
    # Bounds of the number, or of each number of a list.
    min: float | None = None
    max: float | None = None
    # Length of a list; None: any.
    size: int | None = None
    # Accepted words of an ENUM with what each means ('' if not said).
    values: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    # Name of the shared enumeration that has them, '' if they are its own.
    enum: str = ""
    doc: str = ""


@dataclass(frozen=True)
class Signature:
    """In which types other than float32 one device stores an operator's floats.

    What every device does is not declared: it takes and gives float32. A signature
    holds where the deployment asks for one of `floats` and every condition is met.

    Attributes:
        floats: what floats at the ports may be stored as, one for each precision
            that the deployment file may ask for.
        follows_inputs: the operator does what its inputs do: it takes and gives
            `floats` if all its float inputs are stored so. Otherwise it takes and
            gives nothing else, and its neighbours' values are converted.
        float32_inputs: computed inputs that are taken in float32, too, at less
            cost than that of a conversion; only without `follows_inputs`.
        float32_constants: inputs of which a constant of float32 does not keep the
            operator from following the others; only with `follows_inputs`.
        kernels: the family of kernels that must exist for the type, '' if it
            needs none: a processor or a library may lack them.
        constants: how constant inputs must be stored, by port: the name of an
            element type, or of a layout.
        when: values of attributes one of which must be set, by attribute.
        unless: values of attributes none of which may be set, by attribute.
    """

    floats: tuple[DataType, ...]
    follows_inputs: bool = False
    float32_inputs: tuple[str, ...] = ()
    float32_constants: tuple[str, ...] = ()
    kernels: str = ""
    constants: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    when: Mapping[str, tuple[AttributeValue, ...]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    unless: Mapping[str, tuple[AttributeValue, ...]] = field(
        default_factory=lambda: MappingProxyType({})
    )


class SharedCode(str, enum.Enum):
    """What operators without code of their own compute, on each device."""

    # The output has the elements of input 0 in their order.
    SAME_ELEMENTS = "same_elements"


class Signedness(str, enum.Enum):
    """Which of int8 and uint8 an operator takes where they stand for the same numbers,
    with zero points that differ by 128.
    """

    # What the model says: it computes with the integers.
    OF_MODEL = "of_model"
    # Either, but all its tensors the same: it only moves elements.
    SAME = "same"
    # Each tensor either. So does every quantized operator.
    ANY = "any"


class ControlFlow(str, enum.Enum):
    """What an operator decides on others."""

    NONE = "none"
    # Those between the two run as often as the run decides.
    LOOP_BEGIN = "loop_begin"
    LOOP_END = "loop_end"
    # If input 0 is one element, the CPU runs what only input 1 needs if it is true, and
    # what only input 2 needs if it is false.
    CHOICE = "choice"
    # It ends the run.
    FAILURE = "failure"


@dataclass(frozen=True)
class OpSchema:
    """One operator type.

    Attributes:
        signatures: by device; of a device's the first that holds counts.
        depends_on_shapes_only: the outputs depend on no element of the inputs, so
            that the engine computes them before the run.
        cpu_kernels: the families of kernels, folders of mace/kernels/cpu, that the
            room calls by itself on the CPU.
        computes: what devices do, if code that operators share does it and the room
            has none; None where it has.
        signedness: of quantized tensors of 8 bits, where it is not quantized itself.
        control: what it decides on other operators.
    """

    type: str
    summary: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    attributes: Mapping[str, Attribute]
    doc: str = ""
    signatures: Mapping[str, tuple[Signature, ...]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    depends_on_shapes_only: bool = False
    cpu_kernels: tuple[str, ...] = ()
    computes: SharedCode | None = None
    signedness: Signedness = Signedness.OF_MODEL
    control: ControlFlow = ControlFlow.NONE

    @property
    def can_be_quantized(self) -> bool:
        """Whether it also computes in quantized numbers."""
        return any(port.quantized for port in self.outputs)

    def input_port(self, index: int) -> Port:
        """The port of input number `index`; the last may be variadic."""
        return _port(self.inputs, index, self.type, "input")

    def output_port(self, index: int) -> Port:
        """The port of output number `index`; the last may be variadic."""
        return _port(self.outputs, index, self.type, "output")

    def input_index(self, name: str) -> int:
        """Number of the input port called `name`; KeyError if none is."""
        for index, port in enumerate(self.inputs):
            if port.name == name:
                return index
        raise KeyError(f"{self.type} has no input {name!r}")


@dataclass(frozen=True)
class Catalogue:
    """Every operator type, by name.

    Attributes:
        rooms: the name of the folder that holds each type.
        names: of each type in files' names and in Bazel: `depth_to_space`.
        devices: those that have kernels for each type, as ``CPU``.
        custom: the folder of each type that is not in mace/ops.
    """

    ops: Mapping[str, OpSchema]
    rooms: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    names: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    devices: Mapping[str, tuple[str, ...]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    custom: Mapping[str, Path] = field(default_factory=lambda: MappingProxyType({}))

    def __contains__(self, op_type: object) -> bool:
        return op_type in self.ops

    def __getitem__(self, op_type: str) -> OpSchema:
        return self.ops[op_type]


def _port(ports: tuple[Port, ...], index: int, op: str, side: str) -> Port:
    if index < len(ports):
        return ports[index]
    if ports and ports[-1].variadic:
        return ports[-1]
    raise IndexError(f"{op} has no {side} {index}")
