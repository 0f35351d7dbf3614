# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The graph: operators, values, edits that keep it consistent, its text form."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mace.python.tools.catalogue import AttributeValue, default_catalogue
from mace.python.tools.catalogue.schema import OpSchema
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.loops import arranged, decides
from mace.python.tools.ir.quantization import Quantization
from mace.python.tools.ir.shapes import Shape, format_shape


class GraphError(Exception):
    """An invalid edit of the graph: a defect of an importer or a pass."""


class DataFormat(str, enum.Enum):
    """Meaning of the four dimensions of an image-like tensor."""

    NONE = "NONE"
    NHWC = "NHWC"
    NCHW = "NCHW"


class Value:
    """A tensor: a model input, a constant or an output of an operator.

    Attributes:
        name: unique in the graph.
        dtype, shape: as far as known; see `shapes`.
        quantization: what its integers stand for, None if for themselves. Stated
            by the framework's model and by Quantize; inference keeps it.
        constant: its elements if they are known.
        dims: its elements if they follow from shapes that the run determines: an array
            of `Dim`. The conditions that compare them are bool.
        producer: the operator whose output this is, None for inputs and
            constants.
        uses: (operator, input number) of every reader.
        source: name of the framework's tensor that has the same values up to
            the order of dimensions, None if there is none.
        source_axes: axis i of this value is axis source_axes[i] of that tensor; None
            for the framework's own order. A constant that is another one transposed
            has them without `source`.
    """

    def __init__(self, name: str, dtype: DataType, shape: Shape | None) -> None:
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.constant: Constant | None = None
        self.dims: Array | None = None
        self.producer: Op | None = None
        self.uses: list[tuple[Op, int]] = []
        self.source: str | None = None
        self.source_axes: tuple[int, ...] | None = None
        self.quantization: Quantization | None = None

    @property
    def source_shape(self) -> Shape | None:
        """The shape in the order of dimensions of the framework's tensor."""
        if self.shape is None or self.source_axes is None:
            return self.shape
        placed = dict(zip(self.source_axes, self.shape))
        return tuple(placed[axis] for axis in range(len(self.shape)))

    @property
    def shown_shape(self) -> str:
        """The shape for messages: that of a constant as the framework has it; that of
        others as operators see it, with the framework's where that is another one.
        """
        known = format_shape(self.source_shape)
        if self.is_constant or self.source_axes is None:
            return known
        return f"{format_shape(self.shape)} ({known} in the framework)"

    def take_source(self, other: Value, perm: tuple[int, ...] | None = None) -> None:
        """Takes the framework's tensor of a value that has the same elements.

        Args:
            perm: this value is `other`, transposed by it.
        """
        self.source, self.source_axes = other.source, other.source_axes
        if perm is not None:
            axes = other.source_axes or tuple(range(len(perm)))
            self.source_axes = tuple(axes[axis] for axis in perm)

    @property
    def is_constant(self) -> bool:
        """Whether the elements are known now."""
        return self.constant is not None

    def numpy(self) -> Array:
        """The elements of a constant; do not write into the result."""
        if self.constant is None:
            raise GraphError(f"{self.name} is not a constant")
        return self.constant.numpy()

    @property
    def rank(self) -> int | None:
        """Number of dimensions, None if unknown."""
        return None if self.shape is None else len(self.shape)

    @property
    def consumers(self) -> list[Op]:
        """The operators that read this, each once, in no special order."""
        return list(dict.fromkeys(op for op, _ in self.uses))

    def __repr__(self) -> str:
        return f"Value({self.name!r}, {self.dtype.value}, {self.shape})"


class Op:
    """An operator. Made by `Graph.add_op` or by `GraphBuilder.op`.

    Attributes:
        subgraph: index of the graph's subgraph that it belongs to; None for one
            that a pass added, see `subgraphs.assign_rest`.
    """

    def __init__(
        self, name: str, op_type: str, attrs: Mapping[str, AttributeValue]
    ) -> None:
        self.name = name
        self.type = op_type
        self.attrs: dict[str, AttributeValue] = dict(attrs)
        self.subgraph: int | None = None
        self._inputs: list[Value | None] = []
        self._outputs: list[Value] = []

    @property
    def inputs(self) -> tuple[Value | None, ...]:
        """Values in port order; None is an optional input left out."""
        return tuple(self._inputs)

    @property
    def outputs(self) -> tuple[Value, ...]:
        """Values in port order."""
        return tuple(self._outputs)

    @property
    def output(self) -> Value:
        """The only output."""
        if len(self._outputs) != 1:
            raise GraphError(f"{self.name} has {len(self._outputs)} outputs")
        return self._outputs[0]

    def input(self, index: int) -> Value:
        """An input that must be connected."""
        value = self.get_input(index)
        if value is None:
            raise GraphError(f"{self.name} has no input {index}")
        return value

    def get_input(self, index: int) -> Value | None:
        """An input, None if it is not connected."""
        return self._inputs[index] if index < len(self._inputs) else None

    def attr(self, name: str) -> Any:
        """An attribute, or the default that its declaration gives."""
        if name in self.attrs:
            return self.attrs[name]
        schema = default_catalogue()[self.type]
        attribute = schema.attributes.get(name)
        if attribute is None or attribute.default is None:
            raise GraphError(f"{self.name} ({self.type}) has no {name!r}")
        return attribute.default

    def set_attr(self, name: str, value: Any) -> None:
        """Sets an attribute; lists and NumPy numbers are accepted."""
        self.attrs[name] = normalize_attribute(value)

    def set_input(self, index: int, value: Value | None) -> None:
        """Connects an input port, adding ports up to it if needed."""
        while len(self._inputs) <= index:
            self._inputs.append(None)
        old = self._inputs[index]
        if old is not None:
            old.uses.remove((self, index))
        self._inputs[index] = value
        if value is not None:
            value.uses.append((self, index))
        while self._inputs and self._inputs[-1] is None:
            self._inputs.pop()

    def set_inputs(self, values: Sequence[Value | None]) -> None:
        """Replaces all inputs."""
        for index in reversed(range(len(self._inputs))):
            self.set_input(index, None)
        for index, value in enumerate(values):
            if value is not None:
                self.set_input(index, value)

    def __repr__(self) -> str:
        return f"Op({self.name!r}, {self.type})"


def normalize_attribute(value: Any) -> AttributeValue:
    """An attribute in the form the catalogue checks: plain and immutable."""
    if isinstance(value, enum.Enum):
        return str(value.value)
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value)
    if isinstance(value, str):
        return value
    if isinstance(value, np.ndarray):
        return tuple(value.reshape(-1).tolist())
    if isinstance(value, Iterable):
        return tuple(normalize_attribute(v) for v in value)  # type: ignore
    raise TypeError(f"{value!r} cannot be an attribute")


__all__ = ["DataFormat", "Graph", "GraphError", "Op", "Value", "normalize_attribute"]


class Graph:
    """A directed acyclic graph of operators.

    Attributes:
        name: of the model.
        framework: where it comes from ('onnx'), for reports.
        inputs, outputs: in the order of the deployment file.
        formats: order of dimensions, *in this graph*, of inputs and outputs
            of rank 4, by value name; NONE where the dimensions have no such
            meaning. An importer for a framework that puts channels first
            says NCHW; the pass `channels_last` turns that into NHWC.
        subgraphs: names of the parts for which an application can choose devices;
            empty if the graph is one. See `subgraphs`.
        external_files: what the model's file names besides itself and constants
            were read from, relative to its folder.
        target: what it is made for.
    """

    def __init__(self, name: str, framework: str) -> None:
        self.name = name
        self.framework = framework
        self.inputs: list[Value] = []
        self.outputs: list[Value] = []
        self.formats: dict[str, DataFormat] = {}
        self.subgraphs: tuple[str, ...] = ()
        self.external_files: tuple[str, ...] = ()
        self.target = Target()
        self._ops: dict[Op, None] = {}
        self._values: dict[str, Value] = {}
        self._op_names: set[str] = set()

    def copy(self) -> Graph:
        """A graph of its own with the same names; constants are shared."""
        made = Graph(self.name, self.framework)
        made.formats, made.subgraphs = dict(self.formats), self.subgraphs
        made.external_files = self.external_files
        made.target = self.target
        for value in self._values.values():
            twin = made.add_value(value.name, value.dtype, value.shape)
            twin.constant = value.constant
            twin.take_source(value)
            twin.quantization = value.quantization
        for op in self._ops:
            inputs = [v and made._values[v.name] for v in op.inputs]
            outputs = [made._values[v.name] for v in op.outputs]
            made.add_op(
                op.type, inputs, outputs, op.attrs, op.name
            ).subgraph = op.subgraph
        made.inputs = [made._values[v.name] for v in self.inputs]
        made.outputs = [made._values[v.name] for v in self.outputs]
        return made

    @property
    def ops(self) -> tuple[Op, ...]:
        """The operators, producers before consumers after `sort`."""
        return tuple(self._ops)

    @property
    def op_count(self) -> int:
        """How many operators there are."""
        return len(self._ops)

    def newest_ops(self) -> Iterator[Op]:
        """The operators, the last that was added first."""
        return reversed(self._ops)

    @property
    def values(self) -> Mapping[str, Value]:
        """Every value by name."""
        return self._values

    def __contains__(self, op: object) -> bool:
        return op in self._ops

    def unique_name(self, wanted: str) -> str:
        """`wanted`, with a number appended if a value or operator already has that
        name.
        """
        name, count = wanted, 0
        while name in self._values or name in self._op_names:
            count += 1
            name = f"{wanted}_{count}"
        return name

    def add_value(self, name: str, dtype: DataType, shape: Shape | None) -> Value:
        """Adds a value that nothing produces yet."""
        if name in self._values:
            raise GraphError(f"a value called {name!r} exists")
        value = Value(name, dtype, shape)
        self._values[name] = value
        return value

    def add_constant(self, name: str, data: Array | Constant) -> Value:
        """Adds a constant under `name`, or a name like it if that is taken.

        The array is not copied and must not change afterwards.
        """
        constant = Constant.of(data)
        value = self.add_value(self.unique_name(name), constant.dtype, constant.shape)
        value.constant = constant
        return value

    def add_op(
        self,
        op_type: str,
        inputs: Sequence[Value | None],
        outputs: Sequence[Value],
        attrs: Mapping[str, Any] | None = None,
        name: str = "",
    ) -> Op:
        """Adds an operator that produces `outputs`, which nothing may yet.

        Shapes of the outputs are left as they are; `GraphBuilder.op` infers
        them.
        """
        op = Op(
            self._free_op_name(name or outputs[0].name),
            op_type,
            {k: normalize_attribute(v) for k, v in (attrs or {}).items()},
        )
        for value in outputs:
            if value.producer is not None or value.is_constant:
                raise GraphError(f"{value.name} has a producer already")
            value.producer = op
        op._outputs = list(outputs)
        op.set_inputs(inputs)
        self._ops[op] = None
        self._op_names.add(op.name)
        return op

    def _free_op_name(self, wanted: str) -> str:
        # An operator may have the same name as its output, as in most frameworks.
        name, count = wanted, 0
        while name in self._op_names:
            count += 1
            name = f"{wanted}_{count}"
        return name

    def remove_op(self, op: Op) -> None:
        """Removes an operator; its outputs stay, without a producer."""
        op.set_inputs(())
        for value in op.outputs:
            value.producer = None
        op._outputs = []
        del self._ops[op]
        self._op_names.discard(op.name)

    def remove_value(self, value: Value) -> None:
        """Removes a value that is neither produced nor used."""
        if value.producer is not None or value.uses:
            raise GraphError(f"{value.name} is still connected")
        if value in self.outputs or value in self.inputs:
            raise GraphError(f"{value.name} is an input or output")
        del self._values[value.name]

    def rename_value(self, value: Value, name: str) -> None:
        """Gives a value another name, which must be free."""
        if name in self._values:
            raise GraphError(f"a value called {name!r} exists")
        del self._values[value.name]
        if value.name in self.formats and (
            value in self.inputs or value in self.outputs
        ):
            self.formats[name] = self.formats.pop(value.name)
        value.name = name
        self._values[name] = value

    def replace_uses(self, old: Value, new: Value) -> None:
        """Makes every reader of `old` read `new`. Outputs are not changed."""
        for op, index in list(old.uses):
            op.set_input(index, new)

    def replace_output(self, op: Op, old: Value, new: Value) -> None:
        """Makes `op` produce `new` instead of `old`, which loses its producer."""
        if new.producer is not None or new.is_constant:
            raise GraphError(f"{new.name} has a producer already")
        op._outputs[op._outputs.index(old)] = new
        old.producer, new.producer = None, op

    def replace_op(
        self,
        old: Op,
        op_type: str,
        inputs: Sequence[Value | None],
        attrs: Mapping[str, Any] | None = None,
    ) -> Op:
        """Replaces `old` by a new operator with the same name."""
        outputs, name = list(old.outputs), old.name
        self.remove_op(old)
        new = self.add_op(op_type, inputs, outputs, attrs, name)
        new.subgraph = old.subgraph
        return new

    def merge_into(self, first: Op, second: Op) -> None:
        """Makes `first` produce the output of `second`, its only reader. For fusions:
        `second` and the value between them are removed.
        """
        between, result = first.output, second.output
        self.remove_op(second)
        if between.uses or between in self.outputs:
            raise GraphError(f"{between.name} has other readers")
        between.producer = None
        self.remove_value(between)
        result.producer = first
        first._outputs = [result]

    def bypass(self, op: Op) -> bool:
        """Removes an operator whose only output equals its first input.

        Returns:
            False, and leaves the graph alone, if the operator must stay: its
            output is one of the model and its input is an input, a constant
            or an output too.
        """
        source, result = op.input(0), op.output
        if result not in self.outputs:
            self.replace_uses(result, source)
            self.remove_op(op)
            self.remove_value(result)
            if source.source is None:
                source.take_source(result)
            return True
        producer = source.producer
        if producer is None or source in self.outputs:
            return False
        self.remove_op(op)
        self.replace_uses(source, result)
        producer._outputs[producer._outputs.index(source)] = result
        result.producer, source.producer = producer, None
        result.quantization = result.quantization or source.quantization
        self.remove_value(source)
        return True

    def make_constants(self, op: Op, data: Sequence[Array | Constant]) -> None:
        """Converts the outputs of an operator to constants and removes it."""
        outputs = op.outputs
        self.remove_op(op)
        for value, entry in zip(outputs, data):
            value.constant = Constant.of(entry)
            value.shape = value.constant.shape
            value.dtype = value.constant.dtype

    def sort(self) -> None:
        """Orders the operators: producers first, else as they were added, and loops
        without others inside.

        Raises:
            GraphError: the graph has a cycle.
        """
        ordered: dict[Op, None] = {}
        for root in self._ops:
            _visit(root, ordered)
        self._ops = ordered
        if decides(ordered):
            self._ops = dict.fromkeys(arranged(list(ordered), self.outputs))

    def prune(self) -> int:
        """Removes everything that no output needs, except inputs. Returns the number
        of removed operators.
        """
        needed: set[Op] = set()
        stack = [v.producer for v in self.outputs if v.producer is not None]
        while stack:
            op = stack.pop()
            if op in needed:
                continue
            needed.add(op)
            stack += [v.producer for v in op.inputs if v and v.producer]
        dead = [op for op in self._ops if op not in needed]
        for op in dead:
            self.remove_op(op)
        keep = set(self.inputs) | set(self.outputs)
        for value in list(self._values.values()):
            if value.producer is None and not value.uses and value not in keep:
                self.remove_value(value)
        return len(dead)


def _visit(root: Op, ordered: dict[Op, None]) -> None:
    # Depth first, without recursion: graphs are deeper than Python's stack.
    path: dict[Op, None] = {}
    stack: list[tuple[Op, bool]] = [(root, False)]
    while stack:
        op, done = stack.pop()
        if done:
            del path[op]
            ordered[op] = None
            continue
        if op in ordered:
            continue
        if op in path:
            raise GraphError(f"{op.name} depends on itself")
        path[op] = None
        stack.append((op, True))
        for value in reversed(op.inputs):
            if value and value.producer and value.producer not in ordered:
                stack.append((value.producer, False))


_CPU = "CPU"


@dataclass(frozen=True)
class Target:
    """The devices that are to compute a model, and in which types.

    Attributes:
        devices: as the catalogue calls them; none: any.
        floats: the type in which they store floats.
        integers: whether floats of the model become integers.
    """

    devices: tuple[str, ...] = ()
    floats: DataType = DataType.FLOAT32
    integers: bool = False

    def takes(self, op_type: str) -> bool:
        """Whether all of these devices compute an operator in these types."""
        catalogue = default_catalogue()
        if not self.devices or op_type not in catalogue:
            return False
        schema = catalogue.ops[op_type]
        if self.integers and not schema.can_be_quantized:
            return False
        has_kernels = catalogue.devices.get(op_type, ())
        return all(
            device in has_kernels and (device != _CPU or self._is_stored(schema))
            for device in self.devices
        )

    def _is_stored(self, schema: OpSchema) -> bool:
        """Whether the CPU stores its floats so; GPUs store those of all operators."""
        stored = (s.floats for s in schema.signatures.get("cpu", ()))
        return self.floats is DataType.FLOAT32 or any(self.floats in s for s in stored)


def to_text(graph: Graph) -> str:
    """The whole graph; constants appear where they are read."""
    lines = [f"graph {graph.name} ({graph.framework})"]
    for value in graph.inputs:
        lines.append(f"input  {_value(value)} {graph.formats[value.name].value}")
    lines += [_op(op) for op in graph.ops]
    for value in graph.outputs:
        lines.append(f"output {_value(value)} {graph.formats[value.name].value}")
    return "\n".join(lines) + "\n"


def _op(op: Op) -> str:
    outputs = ", ".join(_value(v) for v in op.outputs)
    inputs = ", ".join(_operand(v) for v in op.inputs)
    attrs = "".join(f" {k}={_attr(v)}" for k, v in sorted(op.attrs.items()))
    return f"{outputs} = {op.type}({inputs}){attrs}  # {op.name}"


def _value(value: Value) -> str:
    text = f"%{value.name}: {value.dtype.value}{format_shape(value.shape)}"
    return text if value.quantization is None else f"{text} ({value.quantization})"


def _operand(value: Value | None) -> str:
    if value is None:
        return "-"
    if not value.is_constant:
        return f"%{value.name}"
    return f"const {_value(value)[1:]}"


def _attr(value: object) -> str:
    if isinstance(value, tuple):
        return "[" + ",".join(str(v) for v in value) + "]"
    return str(value)
