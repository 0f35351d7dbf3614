# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""How much memory a run of a converted model takes, as far as its graph tells."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mace.python.installation import command
from mace.python.tools.config.deployment import ModelConfig
from mace.python.tools.ir import DataFormat, Graph, Value
from mace.python.tools.ir.evaluate import ShapeError, update_outputs
from mace.python.tools.ir.loops import loops_of
from mace.python.tools.ir.shapes import NCHW_TO_NHWC, is_static, permute, product


@dataclass(frozen=True)
class MemoryBound:
    """What tensors take in a run with the largest inputs.

    Attributes:
        tensor_bytes: the most that operators' outputs take at one time; None: not
            known before a run.
        state_bytes: of the values that are kept from one run to the next.
        unknown: why `tensor_bytes` is not known.
    """

    tensor_bytes: int | None
    state_bytes: int = 0
    unknown: str = ""

    def summary(self, weight_bytes: int) -> str:
        """For people: one line."""
        explain = f"`{command('explain')}` measures it"
        if self.tensor_bytes is None:
            return f"memory of a run is not known: {self.unknown}; {explain}"
        parts = [
            (self.tensor_bytes, "of intermediate tensors at one time"),
            (self.state_bytes, "of states"),
            (weight_bytes, "of weights"),
        ]
        sizes = ", ".join(f"{size / 1e6:.2f} MB {what}" for size, what in parts if size)
        return (
            f"memory of a run with the largest inputs: at most {sizes}; not counted is "
            "what kernels need for themselves (scratch memory, transformed weights): "
            f"{explain} too"
        )


def memory_bound(graph: Graph, model: ModelConfig) -> MemoryBound:
    """What a run of the model takes; leaves the largest shapes in `graph`.

    Every operator's output counts as a whole, from the operator that makes it to the
    last that reads it, an output of the model to the end. The engine may need less:
    it computes in place and in bands of rows where it can.
    """
    for info, value in zip(model.whole.inputs, graph.inputs):
        if info.largest:
            is_image = graph.formats[value.name] is DataFormat.NHWC
            is_nchw = is_image and info.data_format.value == DataFormat.NCHW.value
            value.shape = (
                permute(info.largest, NCHW_TO_NHWC) if is_nchw else info.largest
            )
        if not is_static(value.shape):
            return _unknown(
                f"input {value.name!r} has a dimension without an upper limit (write "
                "1..512 instead of -1 in input_shapes)"
            )
    for op in graph.ops:
        try:
            update_outputs(op)
        except ShapeError as error:
            return _unknown(f"the largest inputs do not fit: {error}")
        for value in op.outputs:
            if not is_static(value.shape):
                return _unknown(f"a run decides the shape of {value.name!r}")
    live = live_bytes(len(graph.ops), _lives(graph))
    states = model.whole.states or {}
    kept = sum(_size(value) for value in graph.inputs if value.name in states)
    return MemoryBound(max(live, default=0), kept)


def _unknown(why: str) -> MemoryBound:
    return MemoryBound(None, unknown=why)


def _lives(graph: Graph) -> Iterator[tuple[int, int, int]]:
    """First and last operator and bytes of each tensor that an operator makes."""
    index = {op: i for i, op in enumerate(graph.ops)}
    loops = loops_of(list(graph.ops))
    # Each round of a loop writes what it collects.
    first = {graph.ops[end]: begin for begin, end in loops}
    for op in graph.ops:
        for value in op.outputs:
            readers = [index[reader] for reader, _ in value.uses]
            last = len(index) - 1 if value in graph.outputs else max(readers, default=0)
            for begin, end in loops:
                if index[op] < begin < last < end:
                    last = end  # every round reads it
            yield first.get(op, index[op]), max(index[op], last), _size(value)


def _size(value: Value) -> int:
    return (product(value.shape or ()) or 0) * value.dtype.numpy.itemsize


def live_bytes(steps: int, tensors: Iterable[tuple[int, int, int]]) -> tuple[int, ...]:
    """Bytes of the tensors that exist during each step.

    Args:
        tensors: of each the first and the last step in which it exists, and its size
            in bytes.
    """
    change = [0] * (steps + 1)
    for first, last, size in tensors:
        change[first] += size
        change[last + 1] -= size
    return tuple(itertools.accumulate(change))[:steps]
