# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Builds graphs for importers; infers shapes and folds constants at the same time.

An importer walks the framework's nodes from inputs to outputs. `op` infers
shapes at once and, where all inputs are known, computes the result, so that a
handler can ask for the *value* of an input (the axes of a reduction, the shape
of a reshape) even if the framework computes it with a chain of nodes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from mace.python.tools.catalogue import default_catalogue
from mace.python.tools.ir.constant import Constant
from mace.python.tools.ir.counted import CountedValues
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.evaluate import ShapeError, fold_op, update_outputs
from mace.python.tools.ir.graph import DataFormat, Graph, Value
from mace.python.tools.ir.op_rules import rules_of
from mace.python.tools.ir.shapes import Shape
from mace.python.tools.ir.verify import declaration_problems

_LOG = logging.getLogger(__name__)

# The types of which int32 stands for a part.
_WIDE = frozenset({DataType.INT64, DataType.UINT32, DataType.UINT64})


def narrow(array: Array, what: str = "a constant") -> Array:
    """`array` in the type that MACE uses.

    Integers saturate: frameworks write 'to the end' as the largest integer. Numbers
    of double precision beyond float32 become infinite, with a warning.

    Args:
        array: of any type that `DataType` names.
        what: it is, for the warning.
    """
    wanted = DataType.of(array.dtype).narrowed
    if wanted is DataType.of(array.dtype):
        # Otherwise big-endian arrays would be taken for native ones.
        return array.astype(array.dtype.newbyteorder("="), copy=False)
    if wanted is DataType.INT32:
        bounds = np.iinfo(np.int32)
        low = 0 if array.dtype.kind == "u" else bounds.min
        array = np.clip(array, low, bounds.max)
    with np.errstate(over="ignore"):
        narrowed = array.astype(wanted.numpy)
    is_double = array.dtype == np.float64
    if is_double and np.any(np.isinf(narrowed) & np.isfinite(array)):
        _LOG.warning(
            "%s holds numbers of float64 that float32 cannot; they become infinite",
            what,
        )
    return narrowed


def narrow_constant(array: Array, what: str = "a constant") -> Constant:
    """An array as `narrow` makes it, which knows whether integers saturated."""
    narrowed = narrow(array, what)
    is_narrower = narrowed.dtype.kind == "i" and array.dtype != narrowed.dtype
    saturated = is_narrower and not np.array_equal(narrowed, array)
    return replace(Constant.of(narrowed), saturated=saturated)


class GraphBuilder:
    """Adds operators to a graph; infers shapes and folds constants immediately.

    Args:
        constants: elements of inputs that are the same in every run, by name: `input`
            makes them constants of the graph.
    """

    def __init__(
        self, name: str, framework: str, constants: Mapping[str, Array] | None = None
    ) -> None:
        self.graph = Graph(name, framework)
        self._constants = constants or {}
        self.counted = CountedValues()
        self._made: dict[tuple[Constant, str], Value] = {}
        self._types: Callable[[], Sequence[DataType | None]] = tuple

    @classmethod
    def of(cls, graph: Graph) -> GraphBuilder:
        """Adds to a graph that is there."""
        builder = cls(graph.name, graph.framework)
        builder.graph = graph
        return builder

    @contextmanager
    def results_of(
        self, types: Callable[[], Sequence[DataType | None]]
    ) -> Iterator[None]:
        """While operators are added that compute one node of the framework.

        Integers of 64 bits become int32. Operators whose results may exceed them are
        marked as `wide`: such results are errors of the run.

        Args:
            types: gives the types of the node's results in the framework, None for one
                that is not known. Called if an operator depends on it.
        """
        before, self._types = self._types, types
        try:
            yield
        finally:
            self._types = before

    def _is_wide(self) -> bool:
        known = [dtype for dtype in self._types() if dtype is not None]
        # Rather an error too many than a wrong number.
        return not known or not _WIDE.isdisjoint(known)

    def input(
        self,
        name: str,
        dtype: DataType,
        shape: Shape,
        data_format: DataFormat = DataFormat.NONE,
        widen: bool = True,
        source: str = "",
    ) -> Value:
        """Adds an input of the model, and returns the value that operators read.

        Args:
            name: as the deployment file calls it.
            dtype: element type of the framework; narrowed. Integers of 16 bits are
                what the application passes, and int32 for operators.
            shape: in the framework's order. An unknown dimension becomes a
                symbol, so that it is known to be equal wherever it goes.
            data_format: the framework's order if the dimensions are those of
                an image and the user did not say NONE; see README.md.
            widen: integers of 16 bits; otherwise they are returned as they are.
            source: the framework's name for it; empty: `name`.
        """
        if name in self._constants:
            return self._constant_input(name, dtype, widen)
        symbolic = tuple(
            f"{name}:{axis}" if dim is None else dim for axis, dim in enumerate(shape)
        )
        at_border = dtype if dtype is DataType.INT16 else dtype.narrowed
        value = self.graph.add_value(name, at_border, symbolic)
        value.source = source or name
        self.graph.inputs.append(value)
        self.graph.formats[name] = _image_format(shape, data_format)
        if at_border is DataType.INT16 and widen:
            wide = self.graph.unique_name(f"{name}/int32")
            return self.one("Cast", [value], None, {"to": "INT32"}, wide)
        return value

    def _constant_input(self, name: str, dtype: DataType, widen: bool) -> Value:
        """An input that every run has the same elements of."""
        array = self._constants[name]
        if dtype is DataType.INT16 and not widen:
            return self.graph.add_constant(name, array)
        return self.constant(name, array)

    def made_of(
        self, constant: Constant, name: str, make: Callable[[], Constant | Array]
    ) -> Value:
        """A constant made of another one: the same value each time that it is asked
        for, as in the steps of a loop, so that it is stored once.

        Args:
            constant: the other one, by identity.
            name: of the result; begins anew in another graph.
            make: its elements.
        """
        if (constant, name) not in self._made:
            made = self.graph.add_constant(self.graph.unique_name(name), make())
            self._made[constant, name] = made
        return self._made[constant, name]

    def transposed_constant(
        self, name: str, constant: Constant, perm: Sequence[int]
    ) -> Value:
        """A constant of the framework's whose axis perm[i] becomes axis i."""
        axes = tuple(perm)
        shape = tuple(constant.shape[axis] for axis in axes)
        moved = constant.moved(lambda array: array.transpose(axes), shape)
        value = self.graph.add_constant(name, moved)
        value.source_axes = axes
        return value

    def output(
        self,
        value: Value,
        name: str,
        data_format: DataFormat = DataFormat.NONE,
        dtype: DataType | None = None,
    ) -> Value:
        """Makes a value an output of the model under `name`.

        The value is renamed, or copied by an Identity where it cannot be (it
        is an input, a constant or another output). What does not count of it
        (ir/counted.py) is removed, and such a value has the framework's order.

        Args:
            dtype: element type that the application gets, if that is int16; such
                values are int32 for operators.
        """
        graph = self.graph
        counted = self.counted.get(value)
        if counted is not None:
            (value,) = self.op(
                "Trim",
                [value, counted.count],
                [graph.unique_name(f"{name}/trimmed")],
                {"axis": counted.axis},
            )
            # The inner values are no tensors of the framework's.
            self.counted.forget_sources()
            value.source = name
            # Results of a list are no image.
            data_format = DataFormat.NONE
        if dtype is DataType.INT16 and value.dtype is DataType.INT32:
            short = graph.unique_name(f"{name}/int16")
            value = self.one("Cast", [value], None, {"to": "INT16"}, short)
            value.source = name
        if value.name != name:
            taken = graph.values.get(name)
            if taken is not None:
                graph.rename_value(taken, graph.unique_name(f"{name}/inner"))
        fixed = value in graph.inputs or value in graph.outputs
        if fixed or value.is_constant:
            if value.name == name:
                graph.rename_value(value, graph.unique_name(f"{name}/inner"))
            (value,) = self.op("Identity", [value], [name], fold=False)
        elif value.name != name:
            graph.rename_value(value, name)
        graph.outputs.append(value)
        graph.formats[name] = _image_format(value.shape, data_format)
        return value

    def constant(self, name: str, array: Array) -> Value:
        """Adds a constant, narrowed to a type MACE computes in."""
        return self.graph.add_constant(name, narrow_constant(np.asarray(array)))

    def op(
        self,
        op_type: str,
        inputs: Sequence[Value | None],
        outputs: Sequence[str] | None = None,
        attrs: Mapping[str, Any] | None = None,
        name: str = "",
        *,
        fold: bool = True,
        source: bool = True,
    ) -> list[Value]:
        """Adds an operator of the catalogue and returns its outputs.

        Args:
            op_type: as the catalogue calls it.
            inputs: in port order, None for an optional one left out.
            outputs: the framework's tensor names; one made from `name` if
                None (for operators the framework does not have).
            attrs: attributes, with `data_format` for layout-bound operators;
                lists and NumPy numbers are accepted.
            name: of the operator; the first output's if empty.
            fold: compute the outputs now if all inputs are known.
            source: the outputs equal the framework's tensors of these names.

        Raises:
            ShapeError: the inputs or attributes do not fit the operator; the
                graph is as it was before.
        """
        graph = self.graph
        assert op_type in default_catalogue(), op_type
        names = outputs or [graph.unique_name(name or f"{op_type}_out")]
        values = [
            graph.add_value(
                n if outputs else graph.unique_name(n), DataType.FLOAT32, None
            )
            for n in names
        ]
        op = graph.add_op(op_type, inputs, values, attrs, name)
        try:
            problems = declaration_problems(op)
            if problems:
                raise ShapeError(f"{op.type} {op.name!r}: " + "; ".join(problems))
            update_outputs(op)
            if rules_of(op_type).can_exceed(op) and self._is_wide():
                op.set_attr("wide", True)
            if op_type != "Trim":
                self.counted.follow(op)
        except Exception:
            graph.remove_op(op)
            for value in values:
                graph.remove_value(value)
            raise
        if outputs and source:
            for value in values:
                value.source = value.name
        if fold:
            fold_op(graph, op)
        return values

    def one(
        self,
        op_type: str,
        inputs: Sequence[Value | None],
        output: str | None = None,
        attrs: Mapping[str, Any] | None = None,
        name: str = "",
    ) -> Value:
        """`op` for an operator with a single output."""
        outputs = None if output is None else [output]
        return self.op(op_type, inputs, outputs, attrs, name)[0]

    def alias(self, value: Value, name: str) -> Value:
        """A value under a further framework name, by an Identity.

        For nodes that do nothing in inference (Dropout); the pass
        `remove_no_ops` drops it.
        """
        return self.one("Identity", [value], name)


def _image_format(shape: Shape | None, data_format: DataFormat) -> DataFormat:
    if shape is None or len(shape) != 4:
        return DataFormat.NONE
    return data_format
