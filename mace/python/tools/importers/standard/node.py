# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A node of an operator with ONNX's meaning, as passed to its handler.

It knows no file: whoever reads one gives the attributes as plain values.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from mace.python.tools.catalogue import attribute_problems, default_catalogue
from mace.python.tools.importers.frame.errors import (
    UnsupportedNodeError,
)
from mace.python.tools.importers.frame.handlers import HandlerTable
from mace.python.tools.importers.frame.known import KnownShapes, known_elements
from mace.python.tools.ir.builder import GraphBuilder, narrow
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.op_rules import WIDE_TYPES, rules_of

_T = TypeVar("_T")

Handler = Callable[["Node"], None]

# Users' own are for files of ONNX.
HANDLERS: HandlerTable[Handler] = HandlerTable(
    "mace.python.tools.importers.standard.handlers", "onnx"
)

STATIC_HINT = (
    "give fixed input_shapes, or simplify the model (tools/onnx_optimizer.py) so "
    "that it becomes a constant"
)


@dataclass(frozen=True)
class StandIn:
    """How an operator computes that lacks the type of some inputs.

    Attributes:
        ports: of these inputs.
        kept: their type, which the results get.
        wide: the type in which it computes.
    """

    ports: tuple[int, ...]
    kept: DataType
    wide: DataType


def stand_in(
    op_type: str, inputs: Sequence[Value | None], attrs: Mapping[str, Any]
) -> StandIn | None:
    """None if the operator takes its inputs, or its result would not be the same."""
    rules, schema = rules_of(op_type), default_catalogue()[op_type]
    ports, kept, shared = [], set(), set(DataType)
    for index, value in enumerate(inputs):
        if value is None:
            continue
        types = schema.input_port(index).types
        wider = rules.computes_in(attrs, index, value.dtype)
        if value.dtype in types and value.dtype is not DataType.INT32:
            continue
        if wider:
            ports.append(index)
            kept.add(value.dtype)
            shared &= set(wider) & set(types)
        elif value.dtype not in types:
            return None
    wide = next((dtype for dtype in WIDE_TYPES if dtype in shared), None)
    if len(kept) != 1 or wide is None:
        return None
    return StandIn(tuple(ports), kept.pop(), wide)


class StatedTypes(Protocol):
    """What a file says of the types of a node's inputs, whose values are narrowed."""

    def integer_type(self, index: int) -> DataType | None:
        """The type of an input of integers; None if it is not known."""

    def has_four_bits(self, index: int) -> bool:
        """Whether the file has an input in 4 bits; its value has 8."""


class NothingStated:
    """No file: types are those of the values."""

    def integer_type(self, index: int) -> DataType | None:
        del index
        return None

    def has_four_bits(self, index: int) -> bool:
        del index
        return False


_NOTHING_STATED = NothingStated()


class Node(KnownShapes):
    """A node with its inputs resolved.

    Handlers read attributes and inputs and emit operators of the catalogue;
    every named output that somebody reads must be set once, by `emit` or
    `set_output`. What they cannot express they raise as UnsupportedNodeError.

    Attributes:
        type: of the operator, without its domain.
        opset: version of ONNX's operator set the model was made for.
        inputs: in ONNX's order, None for one left out.
        builder: where operators go.
        label: the node in words, for the names of helper values.
    """

    static_hint = STATIC_HINT

    def __init__(
        self,
        op_type: str,
        opset: int,
        inputs: Sequence[Value | None],
        outputs: Sequence[str],
        attributes: Mapping[str, Any],
        builder: GraphBuilder,
        *,
        label: str = "",
        wanted: Set[str] | None = None,
        stated: StatedTypes = _NOTHING_STATED,
    ) -> None:
        """
        Args:
            outputs: names, unique in the model; "" for one that nobody reads.
            attributes: numbers, texts, lists of them, and `Constant` for tensors.
            label: if empty, the name of the first output.
            wanted: the tensors that somebody reads; if None, all outputs.
            stated: what is known of the inputs besides their values.
        """
        self.type = op_type
        self.opset = opset
        self.inputs = tuple(inputs)
        self.builder = builder
        self.label = label or next(filter(None, outputs), op_type)
        self.results: dict[str, Value] = {}
        self._outputs = list(outputs)
        self._attributes = attributes
        self._wanted = frozenset(outputs) if wanted is None else wanted
        self._stated = stated

    # Attributes -----------------------------------------------------------

    def has(self, name: str) -> bool:
        """Whether the node gives the attribute."""
        return name in self._attributes

    def integer(self, name: str, default: int) -> int:
        """An integer attribute."""
        return int(self._attribute(name, int, default))

    def flag(self, name: str, default: bool) -> bool:
        """An integer attribute that is 0 or not."""
        return bool(self.integer(name, int(default)))

    def real(self, name: str, default: float) -> float:
        """A floating-point attribute."""
        return float(self._attribute(name, float, default))

    def text(self, name: str, default: str) -> str:
        """A string attribute."""
        return str(self._attribute(name, str, default))

    def choice(self, name: str, default: str, known: Mapping[str, _T]) -> _T:
        """What a string attribute stands for, one of those that are known."""
        found = self.text(name, default)
        if found not in known:
            raise UnsupportedNodeError(
                f"{name} is {found!r}; {', '.join(known)} are known"
            )
        return known[found]

    def integers(self, name: str, default: Sequence[int] | None = None) -> list[int]:
        """A list of integers; must be given if there is no default."""
        return self._list(name, int, default)

    def reals(self, name: str, default: Sequence[float] | None = None) -> list[float]:
        """A list of floating-point numbers; must be given if there is no default."""
        return self._list(name, float, default)

    def texts(self, name: str, default: Sequence[str] | None = None) -> list[str]:
        """A list of strings; must be given if there is no default."""
        return self._list(name, str, default)

    def attribute_tensor(self, name: str) -> Constant:
        """A tensor attribute."""
        tensor: Constant | None = self._attribute(name, Constant, None)
        if tensor is None:
            raise UnsupportedNodeError(f"attribute {name} is missing")
        return tensor

    def attribute_value(self, name: str) -> Any:
        """An attribute of any type."""
        return self._attributes[name]

    def _list(
        self, name: str, kind: type[_T], default: Sequence[_T] | None
    ) -> list[_T]:
        found = self._attribute(name, list, default)
        if found is None:
            raise UnsupportedNodeError(f"attribute {name} is missing")
        if not all(isinstance(item, kind) for item in found):
            raise UnsupportedNodeError(f"attribute {name} has the wrong type")
        return list(found)

    def _attribute(self, name: str, kind: type, default: Any) -> Any:
        if name not in self._attributes:
            return default
        value = self._attributes[name]
        if not isinstance(value, kind):
            raise UnsupportedNodeError(f"attribute {name} has the wrong type")
        return value

    # Inputs ---------------------------------------------------------------

    def has_input(self, index: int) -> bool:
        """Whether an optional input is given."""
        return self.optional(index) is not None

    def optional(self, index: int) -> Value | None:
        """An input that may be left out; None if it is."""
        return self.inputs[index] if index < len(self.inputs) else None

    def input(self, index: int) -> Value:
        """An input that must be given."""
        value = self.optional(index)
        if value is None:
            raise UnsupportedNodeError(f"input {index} is missing")
        return value

    def integer_type(self, index: int) -> DataType:
        """The type that ONNX gives an input of integers; its value is narrowed."""
        value = self.input(index)
        if value.dtype is not DataType.INT32:
            return value.dtype
        dtype = self._stated.integer_type(index)
        if dtype is None:
            raise UnsupportedNodeError(
                f"the number of bits of {value.name} is not known"
            )
        return dtype

    def has_four_bits(self, index: int) -> bool:
        """Whether the model's file has an input in 4 bits; its value has 8."""
        return self._stated.has_four_bits(index)

    def elements(self, index: int, what: str) -> Constant:
        """Those of an input, which must be known now."""
        return known_elements(self.input(index), what, STATIC_HINT)

    def constant(self, index: int, what: str) -> Array:
        """The same, as an array."""
        return self.elements(index, what).numpy()

    def constant_ints(self, index: int, what: str) -> list[int]:
        """`constant` as a list of integers."""
        return [int(v) for v in self.constant(index, what).reshape(-1)]

    def constant_number(self, index: int, what: str) -> Any:
        """`constant` as a number: that of its only element."""
        values = self.constant(index, what)
        if values.size != 1:
            raise UnsupportedNodeError(f"{what} has {values.size} elements, not 1")
        return values.item()

    def integers_of(
        self, name: str, index: int, since: int, default: Sequence[int] | None = None
    ) -> list[int] | None:
        """The integers of an attribute that became an input in operator set `since`."""
        if self.opset < since:
            if not self.has(name):
                return None if default is None else list(default)
            return self.integers(name)
        if not self.has_input(index):
            return None if default is None else list(default)
        return self.constant_ints(index, name)

    def require_shape_only(self, value: Value, what: str) -> None:
        """Refuses a value that depends on more than the shapes of inputs.

        The runtime plans its memory before it computes, so it must be able to
        compute this beforehand, from the results of Shape and constants.
        """
        found = self.unshaped(value)
        if found is not None:
            raise UnsupportedNodeError(
                f"{what} ({value.name}) depends on the elements of {found.name}, not "
                "only on shapes",
                f"no shape decides it: make {found.name} a constant of the model, or "
                "end the model before it with output_tensors",
            )

    def unshaped(self, value: Value) -> Value | None:
        """What a value depends on besides the shapes of inputs; None if nothing."""
        stack, seen = [value], {value}
        while stack:
            current = stack.pop()
            if current.is_constant or current.dims is not None:
                continue
            if current.producer is None:
                return current
            if current.producer.type == "Shape":
                continue
            fresh = {v for v in current.producer.inputs if v is not None} - seen
            stack.extend(fresh)
            seen |= fresh
        return None

    def axis(self, axis: int, rank: int) -> int:
        """An axis counted from the front."""
        if not -rank <= axis < rank:
            raise UnsupportedNodeError(f"axis {axis} is outside a rank of {rank}")
        return axis % rank

    # Outputs --------------------------------------------------------------

    @property
    def output_name(self) -> str:
        """The name of the first output that has one: unique in the model."""
        return next(filter(None, self._outputs), self.label)

    def name_of(self, index: int) -> str:
        """The name of an output."""
        return self._outputs[index]

    @property
    def output_count(self) -> int:
        """Number of outputs, unnamed ones included."""
        return len(self._outputs)

    def is_used(self, index: int) -> bool:
        """Whether somebody reads an output."""
        name = self._outputs[index] if index < len(self._outputs) else ""
        return bool(name) and name in self._wanted

    def refuse_output(self, index: int, what: str) -> None:
        """Refuses the node if an output that MACE lacks is read."""
        if self.is_used(index):
            raise UnsupportedNodeError(
                f"output {index} ({what}) is used", "export the model for inference"
            )

    def make(
        self,
        op_type: str,
        inputs: Sequence[Value | None],
        attrs: Mapping[str, Any] | None = None,
    ) -> Value:
        """Emits a helper operator and returns its output."""
        return self._op(op_type, inputs, None, attrs)[0]

    def eltwise(self, mode: str, *operands: Value) -> Value:
        """`make` for an Eltwise."""
        return self.make("Eltwise", operands, {"mode": mode})

    def reshape(self, value: Value, shape: Sequence[int]) -> Value:
        """`make` for a Reshape: 0 is the dimension of the value, -1 what is left."""
        return self.make("Reshape", [value], {"shape": shape})

    def transpose(self, value: Value, perm: Sequence[int]) -> Value:
        """`make` for a Transpose: axis perm[i] becomes axis i."""
        return self.make("Transpose", [value], {"perm": perm})

    def expand_dims(self, value: Value, axes: Sequence[int]) -> Value:
        """`make` for an ExpandDims."""
        return self.make("ExpandDims", [value], {"axes": axes})

    def squeeze(self, value: Value, axes: Sequence[int]) -> Value:
        """`make` for a Squeeze."""
        return self.make("Squeeze", [value], {"axes": axes})

    def slice(
        self, value: Value, axis: int, begin: int, end: int, step: int = 1
    ) -> Value:
        """`make` for a StridedSlice along one axis."""
        attrs = {"axes": [axis], "begins": [begin], "ends": [end], "strides": [step]}
        return self.make("StridedSlice", [value], attrs)

    def reduce(
        self, mode: str, value: Value, axes: Sequence[int], keep_dims: bool = True
    ) -> Value:
        """`make` for a Reduce."""
        attrs = {"mode": mode, "axes": axes, "keep_dims": keep_dims}
        return self.make("Reduce", [value], attrs)

    def cast(self, value: Value, to: DataType) -> Value:
        """`make` for a Cast."""
        return self.make("Cast", [value], {"to": to.value.upper()})

    def make_all(
        self,
        op_type: str,
        inputs: Sequence[Value | None],
        attrs: Mapping[str, Any],
        count: int,
    ) -> list[Value]:
        """Emits a helper operator and returns its outputs."""
        unique = self.builder.graph.unique_name
        names = [unique(f"{self.label}/{op_type}_{index}") for index in range(count)]
        values = self._op(op_type, inputs, names, attrs)
        for value in values:
            value.source = None  # no tensor of the framework's
        return values

    def emit(
        self,
        op_type: str,
        inputs: Sequence[Value | None],
        attrs: Mapping[str, Any] | None = None,
    ) -> None:
        """Emits the operator whose outputs are the node's."""
        names = [
            name or self.builder.graph.unique_name(f"{self.label}/unnamed")
            for name in self._outputs
        ]
        ports = default_catalogue()[op_type].outputs
        if not ports[-1].variadic:
            names = names[: len(ports)]
            while len(names) < len(ports):
                names.append(self.builder.graph.unique_name(f"{self.label}/unnamed"))
        for name, value in zip(names, self._op(op_type, inputs, names, attrs)):
            self.results[name] = value

    def apply(self, op_type: str, inputs: Sequence[Value | None]) -> Value:
        """The result of another ONNX operator with this node's attributes."""
        return self.apply_all(op_type, inputs, 1)[0]

    def apply_all(
        self, op_type: str, inputs: Sequence[Value | None], count: int
    ) -> list[Value]:
        """Its first results."""
        handler = HANDLERS.find(op_type)
        assert handler is not None, op_type
        graph = self.builder.graph
        other = copy.copy(self)
        other.type = op_type
        other.inputs = tuple(inputs)
        other.results = {}
        names: list[str] = []
        for index in range(count):
            names.append(graph.unique_name(f"{self.label}/of_{op_type}_{index}"))
        other._outputs = names
        other._wanted = frozenset(names)
        handler(other)
        values = [other.results[name] for name in names]
        for value in values:
            if value.source in names:
                value.source = None  # no tensor of the framework's
        return values

    def set_output(self, index: int, value: Value) -> None:
        """Makes a helper value an output of the node."""
        if not self.is_used(index):
            return
        name = self._outputs[index]
        fresh = (
            value.producer is not None
            and not value.uses
            and value.source is None
            and value not in self.inputs
            and value not in self.builder.graph.outputs
        )
        if fresh:
            # Made for this node alone, so it may take the framework's name.
            self.builder.graph.rename_value(value, name)
            value.source = name
            self.results[name] = value
        else:
            self.results[name] = self.builder.alias(value, name)

    def discard_outputs(self) -> None:
        """Renames outputs that a handler created before it failed."""
        graph = self.builder.graph
        for name in filter(None, self._outputs):
            value = graph.values.get(name)
            if value is not None:
                graph.rename_value(value, graph.unique_name(f"{name}/discarded"))
                value.source = None

    def scalar(self, number: float, like: Value) -> Value:
        """A constant of rank 0 in the type of another value."""
        return self.literal(number, like.dtype)

    def literal(self, data: Any, dtype: DataType = DataType.FLOAT32) -> Value:
        """A helper constant."""
        array = narrow(np.asarray(data, dtype.numpy))
        return self.builder.graph.add_constant(f"{self.label}/constant", array)

    def lazy(self, constant: Constant, suffix: str) -> Value:
        """A helper constant that is computed when it is needed."""
        return self.builder.graph.add_constant(f"{self.label}/{suffix}", constant)

    def transposed(self, constant: Constant, perm: Sequence[int], suffix: str) -> Value:
        """The same with axis perm[i] as axis i."""
        name = f"{self.label}/{suffix}"
        return self.builder.transposed_constant(name, constant, perm)

    def _op(
        self,
        op_type: str,
        inputs: Sequence[Value | None],
        outputs: Sequence[str] | None,
        attrs: Mapping[str, Any] | None,
    ) -> list[Value]:
        other = stand_in(op_type, inputs, attrs or {})
        if other is not None:
            return self._widened_op(op_type, inputs, outputs, attrs, other)
        values = self.builder.op(
            op_type,
            inputs,
            outputs,
            attrs,
            "" if outputs else f"{self.label}/{op_type}",
        )
        producer = values[0].producer
        if producer is None:
            return values  # known now; nothing of it is left for the run
        schema = default_catalogue()[op_type]
        own = {k: v for k, v in producer.attrs.items() if k != "data_format"}
        problems = attribute_problems(schema, own)
        if problems:
            raise UnsupportedNodeError(f"{op_type} {'; '.join(problems)}")
        for index, value in enumerate(inputs):
            if value is None:
                continue
            types = schema.input_port(index).types
            if value.dtype not in types:
                raise UnsupportedNodeError(
                    f"{value.name} has elements of type {value.dtype.value}; "
                    f"{op_type} takes {', '.join(t.value for t in types)}"
                )
        return values

    def _widened_op(
        self,
        op_type: str,
        inputs: Sequence[Value | None],
        outputs: Sequence[str] | None,
        attrs: Mapping[str, Any] | None,
        other: StandIn,
    ) -> list[Value]:
        """The same in another type, between casts that change no number."""
        wide = other.wide.value
        widened = list(inputs)
        for port in other.ports:
            widened[port] = self.make("Cast", [inputs[port]], {"to": wide.upper()})
        helpers = outputs and [
            self.builder.graph.unique_name(f"{name}/{wide}") for name in outputs
        ]
        values = self._op(op_type, widened, helpers, attrs)
        back = {"to": other.kept.value.upper()}
        results = []
        for index, value in enumerate(values):
            value.source = None
            names = outputs and [outputs[index]]
            results += self._op("Cast", [value], names, back)
        return results
