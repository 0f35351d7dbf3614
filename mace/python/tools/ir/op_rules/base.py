# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The interface of an operator's rules for the converter."""

from __future__ import annotations

import abc
import functools
import importlib
import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, ClassVar, Optional, Protocol

import numpy as np

from mace.python.tools.catalogue import CatalogueError, default_catalogue
from mace.python.tools.custom_ops import call_on_change, import_custom
from mace.python.tools.ir.constant import Constant, Integers
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Op, Value
from mace.python.tools.ir.op_rules.activations import activation_bounds
from mace.python.tools.ir.op_rules.axes import broadcast_axis
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.shapes import Shape

Perm = tuple[int, ...]
# The least and the largest number that a tensor can have.
Bounds = tuple[float, float]
BoundsOf = Callable[[Value], Optional[Bounds]]

# Of a function of one number between its bounds: more than the integers of 8 bits.
_SAMPLES = 1025

# Kernels that only some models need: convolution by Winograd's method, pooling of
# images with few channels by their lines, and code for depthwise and narrow grouped
# filters that are 5 wide.
WINOGRAD = "Winograd"
FEW_CHANNELS = "FewChannels"
FIVE_WIDE = "FiveWide"

# Types of few bits, in which not all operators compute, and those that hold them.
NARROW_TYPES = frozenset({DataType.BOOL, DataType.INT8, DataType.UINT8})
WIDE_TYPES = (DataType.INT32, DataType.FLOAT32)


# Makes an operator from its type, inputs and attributes.
Make = Callable[[str, "Sequence[Value | None]", "Mapping[str, Any]"], Value]


class Emitter(Protocol):
    """Adds operators in the place of another one."""

    def __call__(
        self, op_type: str, inputs: Sequence[Value | None], attrs: Mapping[str, Any], /
    ) -> Value:
        """The result of a new operator."""

    def constant(self, array: Array) -> Value:
        """A new constant, in a type that MACE computes in."""


@dataclass(frozen=True)
class OutputType:
    """What is known about an output before the run."""

    dtype: DataType
    shape: Shape | None


@dataclass(frozen=True)
class SunkTranspose:
    """An operator that now runs before a transpose, instead of after it.

    Attributes:
        output_perm: the transpose of its outputs.
        attrs: its attributes that change.
    """

    output_perm: Perm
    attrs: Mapping[str, Any] = field(default_factory=dict)


def _is_vector(value: Value) -> bool:
    shape = value.shape or ()
    return 0 not in shape and all(dim == 1 for dim in shape[:-1])


def hull(bounds: Iterable[Bounds | None]) -> Bounds | None:
    """The bounds of all tensors together; None if those of one are unknown."""
    low, high = math.inf, -math.inf
    for each in bounds:
        if each is None:
            return None
        low, high = min(low, each[0]), max(high, each[1])
    return (low, high) if low <= high else None


class OpRules(abc.ABC):
    """The rules of one operator.

    A room derives one class. Ports, types and attributes are in the declaration;
    the rules say what cannot be declared. `infer` and `evaluate` must be given,
    and a test holds both against the native operator. All others are
    opportunities: the default is right for any operator.
    """

    # Inputs that have channels. The attribute `data_format` gives their axis until the
    # pass `channels_last` has run. Empty: the operator does not depend on the layout.
    layout_inputs: ClassVar[tuple[int, ...]] = ()

    # Whether all inputs have the axes of the output; otherwise only the first one.
    inputs_share_axes: ClassVar[bool] = False

    # Whether inputs broadcast to each other, as in NumPy.
    broadcasts: ClassVar[bool] = False

    # Whether the output is the first input with another shape.
    only_reshapes: ClassVar[bool] = False

    # Whether a run can have smaller outputs, whose shapes its data determine: `infer`
    # gives the largest ones. No operator reads such an output.
    largest_shape: ClassVar[bool] = False

    # Whether each element of the output depends on those at its place alone, of inputs
    # that are computed or have one number, or one for each channel.
    elementwise: ClassVar[bool] = False

    # Whether all elements of the outputs are elements of the first input, which the
    # others and the attributes only choose and arrange.
    keeps_elements: ClassVar[bool] = False

    # Whether all elements of the output are elements of the inputs, or a number that is
    # an attribute (`integer_attrs`).
    joins_elements: ClassVar[bool] = False

    def computes_in(
        self, attrs: Mapping[str, Any], port: int, dtype: DataType
    ) -> Sequence[DataType]:
        """Types in which the results are the same, for one that an input lacks, or in
        which the operator does not compute with these attributes.

        Importers convert the input to the first one that it takes, and the results
        back. Without any, the operator is refused.
        """
        moves = self.keeps_elements or self.joins_elements
        return WIDE_TYPES if moves and dtype in NARROW_TYPES else ()

    def kernels(self, op: Op) -> tuple[str, ...]:
        """Kernels that only some models need, of which this operator may be one.

        It may when a run can have shapes for which the native operator takes them.
        """
        return ()

    @abc.abstractmethod
    def infer(self, op: Op) -> list[OutputType]:
        """Element type and shape of each output.

        Raises:
            ValueError: the inputs do not fit each other or the attributes; says
                what was found and what would fit. The caller adds the operator.
        """

    @abc.abstractmethod
    def evaluate(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        """The outputs by the formula, in plain NumPy.

        Slow, simple and precise: computes in float64 where sums or functions
        are involved. The caller rounds to the types that `infer` gave.

        Args:
            op: whose attributes count.
            inputs: an array for each port, None for an optional one left out.
        """

    def can_exceed(self, op: Op) -> bool:
        """Whether integers of 64 bits could give results that int32 cannot hold, though
        it holds all operands. Such an operator has the attribute `wide`.
        """
        return False

    def macs(self, op: Op) -> int | None:
        """Multiply-accumulates of a run, as the definition counts them; None if shapes
        that they depend on are unknown.
        """
        return 0

    def quantized_constants(
        self, op: Op, quantization: Quantization | None
    ) -> Mapping[int, tuple[Constant, Quantization]] | None:
        """The constants of the operator if it computed in quantized numbers.

        None if it cannot: for attributes that it has, or because its constants are
        not such integers.

        Args:
            op: in float32.
            quantization: of its first input; None if that is a constant.

        Returns:
            Integers and what they stand for, by input number.
        """
        return {}

    def keeps_scale(self, op: Op) -> bool:
        """Whether the quantized operator has the scale of its first input."""
        return False

    def keeps_range(self, op: Op) -> bool:
        """Whether every element of the outputs is one of the first input, so that one
        scale is right for both.
        """
        return self.keeps_elements or self.keeps_scale(op)

    def bounds(self, op: Op, known: BoundsOf) -> Bounds | None:
        """Numbers between which every element of the outputs is; None if no such
        numbers follow from the inputs'.

        Args:
            op: in float32, with one output or several that all have these bounds.
            known: the bounds of an input, None: unknown; those of a constant too.
        """
        if self.keeps_range(op):
            return known(op.input(0))
        if self.joins_elements:
            return hull(known(value) for value in op.inputs if value is not None)
        sampled = self._sampled_bounds(op, known) if self.elementwise else None
        return sampled or activation_bounds(op)

    def _sampled_bounds(self, op: Op, known: BoundsOf) -> Bounds | None:
        """Of an elementwise operator of one computed tensor, whose constants are one
        number or one for each channel.
        """
        given = [value for value in op.inputs if value is not None]
        computed = {value for value in given if not value.is_constant}
        if len(computed) != 1 or not all(_is_vector(v) for v in given if v.is_constant):
            return None
        found = known(*computed)
        if found is None:
            return None
        numbers = np.linspace(*found, _SAMPLES, dtype=np.float32).reshape(-1, 1)
        arrays = [
            value and (value.numpy().reshape(-1) if value.is_constant else numbers)
            for value in op.inputs
        ]
        with np.errstate(all="ignore"):
            (results,) = self.evaluate(op, arrays)
        if not results.size or not np.isfinite(results).all():
            return None
        return float(results.min()), float(results.max())

    def integer_attrs(
        self, op: Op, integers: Callable[[Array], Array]
    ) -> Mapping[str, Any]:
        """The attributes that change if the operator moves integers instead of floats.

        Args:
            op: in float32; it moves or joins elements.
            integers: what makes integers of floats.
        """
        return {}

    def evaluate_quantized(self, op: Op, inputs: Sequence[Any]) -> list[Array]:
        """The outputs of a quantized operator, to the bit.

        For every operator whose declaration has quantized ports.
        """
        raise NotImplementedError(op.type)

    def integers(self, op: Op) -> Integers | None:
        """What the only output was made of, where all inputs are constants."""
        return None

    def quantization(self, op: Op) -> list[Quantization | None]:
        """How each output is quantized, where the operator decides that.

        Called after `infer`, whose results the outputs have. None: the operator
        does not know; the outputs keep what the framework's model said of them.
        """
        return [None] * len(op.outputs)

    def moves_axis(self, op: Op, axes: Mapping[int, int]) -> int | None:
        """Where elements along an axis come, if those along it do not meet: the run may
        then compute with a part of them alone.

        Args:
            op: whose inputs have known ranks.
            axes: by the number of an input, its axis; the same part of each counts.

        Returns:
            The axis of all outputs. None: elements meet, or the operator cannot tell.
        """
        return broadcast_axis(op, axes) if self.elementwise else None

    def sink_transpose(self, op: Op, perm: Perm) -> SunkTranspose | None:
        """How the operator changes when the transpose before it moves behind it.

        With `y = op(T(x))` and `T` by `perm`: what is `op'`, and the transpose
        `Q`, with `y = Q(op'(x))`? None if there is none.
        """
        return None

    def is_identity(self, op: Op) -> bool:
        """Whether the only output equals the first input in every run."""
        return False

    def known_outputs(self, op: Op) -> list[Constant] | None:
        """The outputs where more than constant inputs makes them known.

        None leaves it to `evaluate`, which folding runs if all inputs are
        constants.
        """
        return None

    def symbolic(self, op: Op, inputs: Sequence[Array | None]) -> Array | None:
        """The output if the inputs hold dimensions, some of them symbols.

        What frameworks compute of shapes is followed through the operators that
        know this rule. The elements of the arrays are `Dim`.

        Args:
            op: with one output.
            inputs: an array for each port, None where the elements are not known.
        """
        return None

    @property
    def is_composite(self) -> bool:
        """Whether simpler operators can take its place (`expand`)."""
        return type(self).expand is not OpRules.expand

    def expand(self, op: Op, emit: Emitter) -> Value:
        """The result of simpler operators that compute the same.

        The converter asks for it if one of the devices that the model is made for
        (`Target`) lacks the operator. Without this rule, that device hands it over.
        """
        raise NotImplementedError(f"{op.type} is no composite")


# Finds the rules in the operators' folders, in mace/ops and those of users' own; there
# is no list of operators.


_INT32 = np.iinfo(np.int32)


def int32_of(op: Op, exact: Array) -> Array:
    """The results of an operator whose integers wrap around, unless they are `wide`.

    Args:
        op: with the attribute `wide`.
        exact: its results, in more bits.

    Raises:
        OverflowError: int32 cannot hold a result that stands for 64 bits.
    """
    exact = np.asarray(exact)
    if exact.size == 0:
        return exact.astype(np.int32)
    low, high = exact.min(), exact.max()
    if low >= _INT32.min and high <= _INT32.max:
        return exact.astype(np.int32)
    if op.attr("wide"):
        raise OverflowError(f"{op.type} {op.name!r}: a result exceeds 32 bits")
    return (exact & 0xFFFFFFFF).astype(np.uint32).astype(np.int32)


@functools.cache
def rules_of(op_type: str) -> OpRules:
    """The rules of an operator of the catalogue.

    Raises:
        CatalogueError: its room has no `<room>.py`, or not one class of rules in it, or
            of the operator's name, if it is the room of several operators.
    """
    module, file = _module(op_type)
    found = [
        item
        for item in vars(module).values()
        # In Python 3.9 this alone is true of tuple[int, ...], too.
        if inspect.isclass(item)
        and issubclass(type(item), type)
        and issubclass(item, OpRules)
        and item.__module__ == module.__name__
        and not inspect.isabstract(item)
    ]
    # In the room of several operators, the classes are called like them.
    found = [item for item in found if item.__name__ == op_type] or found
    if len(found) != 1:
        raise CatalogueError(
            f"{file} must have one class derived from OpRules, "
            f"which gives infer and evaluate; it has {len(found)}"
        )
    return found[0]()


call_on_change(rules_of.cache_clear)


def _module(op_type: str) -> tuple[ModuleType, str]:
    """The module with the rules of an operator, and its file for messages."""
    room = default_catalogue().rooms[op_type]
    custom = default_catalogue().custom.get(op_type)
    if custom is not None:
        path = custom / f"{room}.py"
        return import_custom(f"{room}.{room}", path), str(path)
    name = f"mace.ops.{room}.{room}"
    try:
        return importlib.import_module(name), f"mace/ops/{room}/{room}.py"
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise CatalogueError(
            f"mace/ops/{room} declares {op_type}, but has no {room}.py with its "
            "shape rule and formula"
        ) from error
