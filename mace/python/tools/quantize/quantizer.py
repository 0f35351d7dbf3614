# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Quantizes a graph by the ranges of its tensors."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mace.python.installation import command
from mace.python.tools.ir import DataType, Graph, Value
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.quantize.insert import (
    Plan,
    QuantizeOptions,
    has_known_size,
    insert,
    plan,
)
from mace.python.tools.quantize.range_file import RangeFileError
from mace.python.tools.quantize.ranges import Range

_LOG = logging.getLogger(__name__)

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
        done: what was quantized, after the call.
    """

    model: str
    ranges: Mapping[str, Range]
    source: str
    options: QuantizeOptions
    prepare: Callable[[Graph], object] | None = None
    means: Mapping[str, Array] | None = None
    done: Plan | None = None

    def __call__(self, graph: Graph) -> int:
        """Quantizes the graph; returns how many pairs were put into it.

        Raises:
            RangeFileError: names the tensors without range.
        """
        if self.prepare is not None:
            self.prepare(graph)
        found = plan(graph, self.options)
        known = _by_name(graph, self.ranges)
        missing = [
            public_name(graph.values[name])
            for name in found.tensors
            if name not in known
        ]
        own = graph.values.keys() | {public_name(v) for v in graph.values.values()}
        unknown = [name for name in self.ranges if name not in own]
        if missing:
            raise RangeFileError(self._missing(missing, unknown))
        if unknown:
            _LOG.warning(
                "%s: %s has ranges of tensors that the model does not have: %s",
                self.model,
                self.source,
                _few(unknown),
            )
        self.done = found
        return insert(graph, known, self.options, found.quantized, self.means)

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
                f"models.{self.model}: quantize: the ranges of {len(missing)} tensors "
                f"are not known ({_few(missing)}); give quantize_range_file, or have "
                "them computed of "
                f"samples: {command('quantize')} --config=FILE --input_dir=DIR"
            )
        text = (
            f"models.{self.model}: quantize_range_file: {self.source} has no ranges of "
            f"{len(missing)} tensors: {_few(missing)}"
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
