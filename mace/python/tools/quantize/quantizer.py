# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Quantizes a graph by the ranges of its tensors."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from mace.python.installation import command
from mace.python.tools.ir import DataType, Graph, Value
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.quantize.insert import (
    Plan,
    QuantizeOptions,
    has_known_size,
    insert,
    plan,
    tensors_of,
)
from mace.python.tools.quantize.known_ranges import (
    is_trained_for_integers,
    known_ranges,
)
from mace.python.tools.quantize.ranges import Range, RangeFileError
from mace.python.tools.wording import counted

_LOG = logging.getLogger(__name__)

_BYTES = (DataType.INT8, DataType.UINT8)
# The most names that a message lists.
_MOST_NAMES = 20


@dataclass
class Quantizer:
    """The step of a conversion that puts Quantize and Dequantize into the graph.

    Attributes:
        model: its name, for messages.
        ranges: by the name of the tensor.
        source: where the ranges are from, for messages; '' if there are none.
        prepare: rewrites the graph in floats before, with what it computes the same.
        means: of the channels of tensors, by name, to correct biases by.
        input_ranges: of the inputs, in their order; None: not given.
        done: what was quantized, after the call.
    """

    model: str
    ranges: Mapping[str, Range]
    source: str
    options: QuantizeOptions
    prepare: Callable[[Graph], object] | None = None
    means: Mapping[str, Array] | None = None
    input_ranges: Sequence[tuple[float, float] | None] = ()
    done: Plan | None = None

    def __call__(self, graph: Graph) -> int:
        """Quantizes the graph; returns how many pairs were put into it.

        Raises:
            RangeFileError: names the tensors without range.
        """
        if self.prepare is not None:
            self.prepare(graph)
        if self.options.dtype in _BYTES:
            dtype = _type_in_file(graph, self.options.dtype)
            self.options = replace(self.options, dtype=dtype)
        given = self._of_inputs(graph)
        given.update(_by_name(graph, self.ranges))
        known = known_ranges(graph, given)
        own = graph.values.keys() | {public_name(v) for v in graph.values.values()}
        unknown = [name for name in self.ranges if name not in own]
        found = plan(graph, self.options)
        missing = [name for name in found.tensors if name not in known]
        if missing:
            names = [public_name(graph.values[name]) for name in missing]
            if self.source or not is_trained_for_integers(graph):
                raise RangeFileError(self._missing(names, unknown))
            found = self._without(graph, known, found)
            self._tell_of_floats(names)
        if unknown:
            _LOG.warning(
                "%s: %s has ranges of tensors that the model does not have: %s",
                self.model,
                self.source,
                _few(unknown),
            )
        self.done = found
        return insert(graph, known, self.options, found.quantized, self.means)

    def _of_inputs(self, graph: Graph) -> dict[str, Range]:
        return {
            value.name: Range(*given)
            for value, given in zip(graph.inputs, self.input_ranges)
            if given is not None
        }

    def _without(self, graph: Graph, known: Mapping[str, Range], found: Plan) -> Plan:
        """What can be quantized by the ranges that are known."""
        while True:
            reasons: dict[str, str] = {}
            chosen = set(found.quantized)
            for op in graph.ops:
                wanted = tensors_of(op) if op.name in chosen else ()
                missing = [v for v in wanted if v.name not in known]
                if missing:
                    name = public_name(missing[0])
                    reasons[op.name] = f"the range of {name} is not known"
            if not reasons:
                return found
            in_floats = {**self.options.in_floats, **reasons}
            self.options = replace(self.options, in_floats=in_floats)
            found = plan(graph, self.options)

    def _tell_of_floats(self, names: list[str]) -> None:
        _LOG.warning(
            "%s: quantize: neither model nor input_ranges say the range of %s; what "
            "computes or reads %s stays in floats. %s --config=FILE --input_dir=DIR "
            "finds ranges by samples",
            self.model,
            ", ".join(names),
            "it" if len(names) == 1 else "them",
            command("quantize"),
        )

    def summary(self) -> str:
        """What was quantized, and what stays in floats and why."""
        assert self.done is not None
        floats = [op for op in self.done.floats if op.reason != "it computes no floats"]
        count = len(self.done.quantized) + len(self.done.moved)
        text = f"{self.model}: {count} of {count + len(floats)} operators in integers"
        by_reason: dict[str, list[str]] = {}
        for op in floats:
            by_reason.setdefault(op.reason, []).append(op.name)
        in_floats = {op.name for op in floats}
        for name, reason in self.options.in_16_bits.items():
            if name not in in_floats:
                text += f"\n  in 16 bits: {name}: {reason}"
        for reason, names in by_reason.items():
            text += f"\n  in floats: {_few(names)}: {reason}"
        return text

    def _missing(self, missing: list[str], unknown: list[str]) -> str:
        if not self.source:
            return (
                f"models.{self.model}: quantize: the model was not trained for "
                f"integers, and the ranges of {counted(len(missing), 'tensor')} are "
                f"not known: {_few(missing)}\n"
                "give quantize_range_file, or have them computed of samples: "
                f"{command('quantize')} --config=FILE --input_dir=DIR"
            )
        text = (
            f"models.{self.model}: quantize_range_file: {self.source} has no ranges of "
            f"{counted(len(missing), 'tensor')}: {_few(missing)}"
        )
        if unknown:
            names = _few(unknown)
            text += f"\nit has ranges of tensors that the model does not have: {names}"
        if len(unknown) == len(self.ranges):
            text += "\nit is the range file of another model"
        return (
            f"{text}\ncollect the ranges again with this model and deployment file: "
            f"{command('run')} --quantize_stat --input_dir=DIR"
        )


def _type_in_file(graph: Graph, wanted: DataType) -> DataType:
    """The one type of the 8-bit integers that the model's file has, so that nothing has
    to be converted between them and what is added: the numbers are the same in both.
    """
    found = {
        value.dtype
        for value in graph.values.values()
        if value.producer is not None and value.quantization is not None
    }.intersection(_BYTES)
    return found.pop() if len(found) == 1 else wanted


def _by_name(graph: Graph, ranges: Mapping[str, Range]) -> dict[str, Range]:
    """By the names in the graph; a range file may have those of the framework."""
    return {
        value.name: ranges[name]
        for value in graph.values.values()
        for name in (value.name, public_name(value))
        if name in ranges
    }


def public_name(value: Value) -> str:
    """The name of a tensor in files of ranges: the framework's, if that knows it."""
    return value.source or value.name


def float_tensors(graph: Graph) -> dict[str, str]:
    """The public names of all tensors of float32 that are computed or given, by their
    names in the graph. Without those whose shape a run decides: they are not quantized.
    """
    return {
        value.name: public_name(value)
        for value in (*graph.inputs, *(v for op in graph.ops for v in op.outputs))
        if value.dtype is DataType.FLOAT32 and has_known_size(value)
    }


def _few(names: list[str]) -> str:
    more = len(names) - _MOST_NAMES
    shown = ", ".join(names[:_MOST_NAMES])
    return f"{shown} and {more} more" if more > 0 else shown
