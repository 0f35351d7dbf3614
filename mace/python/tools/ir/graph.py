# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The graph, and edits that keep it consistent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.node import (
    DataFormat,
    GraphError,
    Op,
    Value,
    normalize_attribute,
)
from mace.python.tools.ir.shapes import Shape
from mace.python.tools.ir.target import Target

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
        """Orders the operators: producers first, else as they were added.

        Raises:
            GraphError: the graph has a cycle.
        """
        ordered: dict[Op, None] = {}
        for root in self._ops:
            _visit(root, ordered)
        self._ops = ordered

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
