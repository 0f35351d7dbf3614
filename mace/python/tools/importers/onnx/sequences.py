# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Sequences and optional values, which exist only during the import.

A sequence is a tuple of tensors whose length is known, so that its operators are
computed at once: they only choose, join and divide tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Union

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.frame.known import known_elements
from mace.python.tools.importers.standard.node import STATIC_HINT, Node
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import static

# Each tensor becomes an output of an operator.
MOST_TENSORS = 4096


@dataclass(frozen=True)
class Tensors:
    """A sequence."""

    values: tuple[Value, ...] = ()


@dataclass(frozen=True)
class Nothing:
    """An optional value that is not there."""


# What a name of the model stands for.
Known = Union[Value, Tensors, Nothing]
_Handler = Callable[[Node, "Sequence[Known | None]"], Known]


def find_handler(op_type: str, inputs: Sequence[Known | None]) -> _Handler | None:
    """What computes the only output of an operator from and to such values."""
    handler = _HANDLERS.get(op_type)
    if handler is None and op_type == "Identity" and inputs:
        return None if isinstance(inputs[0], Value) else _optional
    return handler


def sequence_types() -> list[str]:
    """The operators of sequences and optional values, sorted."""
    return sorted(_HANDLERS)


def describe(value: Known) -> str:
    """In words, for errors."""
    if isinstance(value, Tensors):
        return f"a sequence of {len(value.values)} tensors"
    return (
        "an optional value that is absent" if isinstance(value, Nothing) else "a tensor"
    )


def tensor(inputs: Sequence[Known | None], index: int) -> Value:
    """An input that must be a tensor."""
    value = inputs[index] if index < len(inputs) else None
    if not isinstance(value, Value):
        found = "missing" if value is None else describe(value)
        raise UnsupportedNodeError(f"input {index} is {found}")
    return value


def _sequence(inputs: Sequence[Known | None]) -> tuple[Value, ...]:
    value = inputs[0] if inputs else None
    if not isinstance(value, Tensors):
        found = "missing" if value is None else describe(value)
        raise UnsupportedNodeError(f"input 0 is {found}, not a sequence")
    return value.values


def _position(
    inputs: Sequence[Known | None], index: int, count: int, default: int
) -> int:
    """A position within `count`; the default if it is not given."""
    if index >= len(inputs) or inputs[index] is None:
        return default
    value = tensor(inputs, index)
    known = known_elements(value, "the position", STATIC_HINT)
    position = int(known.numpy().reshape(-1)[0])
    if not -count <= position < count:
        raise UnsupportedNodeError(f"position {position} is outside of {count}")
    return position % count


def _construct(node: Node, inputs: Sequence[Known | None]) -> Known:
    return Tensors(tuple(tensor(inputs, i) for i in range(len(inputs))))


def _empty(node: Node, inputs: Sequence[Known | None]) -> Known:
    return Tensors()


def _at(node: Node, inputs: Sequence[Known | None]) -> Known:
    values = _sequence(inputs)
    if not values:
        raise UnsupportedNodeError("the sequence is empty")
    return values[_position(inputs, 1, len(values), 0)]


def _insert(node: Node, inputs: Sequence[Known | None]) -> Known:
    values = _sequence(inputs)
    if len(values) == MOST_TENSORS:
        raise UnsupportedNodeError(f"a sequence of more than {MOST_TENSORS} tensors")
    at = len(values)
    if len(inputs) > 2 and inputs[2] is not None:
        # Behind the last one is a position, too.
        position = tensor(inputs, 2)
        end = position.is_constant and int(position.numpy().reshape(-1)[0]) == at
        at = at if end else _position(inputs, 2, at, at)
    return Tensors((*values[:at], tensor(inputs, 1), *values[at:]))


def _erase(node: Node, inputs: Sequence[Known | None]) -> Known:
    values = _sequence(inputs)
    if not values:
        raise UnsupportedNodeError("the sequence is empty")
    at = _position(inputs, 1, len(values), len(values) - 1)
    return Tensors((*values[:at], *values[at + 1 :]))


def _length(node: Node, inputs: Sequence[Known | None]) -> Known:
    return node.builder.constant(
        f"{node.label}/length", np.array(len(_sequence(inputs)), np.int64)
    )


def _split(node: Node, inputs: Sequence[Known | None]) -> Known:
    x = tensor(inputs, 0)
    axis = node.axis(node.integer("axis", 0), len(node.shape(x)))
    keep = True
    if len(inputs) > 1 and inputs[1] is not None:
        chunks = tensor(inputs, 1)
        known = known_elements(chunks, "split", STATIC_HINT)
        sizes = [int(v) for v in known.numpy().reshape(-1)]
        if not chunks.shape:
            length = node.length(x, axis)
            if sizes[0] <= 0:
                raise UnsupportedNodeError(f"split is {sizes[0]}")
            _require_few(-(-length // sizes[0]))
            sizes = [min(sizes[0], length - i) for i in range(0, length, sizes[0])]
    else:
        length = node.length(x, axis)
        _require_few(length)
        sizes = [1] * length
        keep = node.flag("keepdims", True)
    _require_few(len(sizes))
    return Tensors(tuple(slices(node, x, axis, sizes, keep=keep)))


def slices(
    node: Node, x: Value, axis: int, sizes: Sequence[int], *, keep: bool
) -> list[Value]:
    """The parts of a tensor, without the axis unless `keep`."""
    if not sizes:
        return []
    parts = [x]
    if len(sizes) > 1:
        attrs = {"axis": axis, "sizes": list(sizes)}
        parts = node.make_all("Split", [x], attrs, len(sizes))
    elif static(node.shape(x)[axis : axis + 1]) != (sizes[0],):
        raise UnsupportedNodeError(f"split is {list(sizes)}")
    if keep:
        return parts
    return [node.squeeze(part, [axis]) for part in parts]


def _require_few(count: int) -> None:
    if count > MOST_TENSORS:
        raise UnsupportedNodeError(f"a sequence of more than {MOST_TENSORS} tensors")


def _join(node: Node, inputs: Sequence[Known | None]) -> Known:
    values = _sequence(inputs)
    if not values:
        raise UnsupportedNodeError("the sequence is empty")
    rank = len(node.shape(values[0]))
    if node.flag("new_axis", False):
        axis = node.axis(node.integer("axis", 0), rank + 1)
        return stacked(node, values, axis)
    axis = node.axis(node.integer("axis", 0), rank)
    if len(values) == 1:
        return values[0]
    return node.make("Concat", values, {"axis": axis})


def stacked(node: Node, values: Sequence[Value], axis: int) -> Value:
    """One tensor with a further axis."""
    if len(values) == 1:
        return node.make("ExpandDims", values, {"axes": [axis]})
    return node.make("Stack", values, {"axis": axis})


def _optional(node: Node, inputs: Sequence[Known | None]) -> Known:
    value = inputs[0] if inputs else None
    return Nothing() if value is None else value


def _get_element(node: Node, inputs: Sequence[Known | None]) -> Known:
    value = _optional(node, inputs)
    if isinstance(value, Nothing):
        raise UnsupportedNodeError("the optional value is absent")
    return value


def _has_element(node: Node, inputs: Sequence[Known | None]) -> Known:
    there = not isinstance(_optional(node, inputs), Nothing)
    return node.builder.constant(f"{node.label}/there", np.array(there))


_HANDLERS: dict[str, _Handler] = {
    "ConcatFromSequence": _join,
    "Optional": _optional,
    "OptionalGetElement": _get_element,
    "OptionalHasElement": _has_element,
    "SequenceAt": _at,
    "SequenceConstruct": _construct,
    "SequenceEmpty": _empty,
    "SequenceErase": _erase,
    "SequenceInsert": _insert,
    "SequenceLength": _length,
    "SplitToSequence": _split,
}
