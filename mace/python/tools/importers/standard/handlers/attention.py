# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Attention as one operator.

In the forms that are refused here, the operators that the specification has for it take
its place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir.dtypes import DataType
from mace.python.tools.ir.graph import Value
from mace.python.tools.ir.shapes import Dim, same_dim

_PAST_KEY, _PAST_VALUE, _LENGTHS = 4, 5, 6
_RANK = 4
_SWAPPED = {"perm": [0, 2, 1, 3]}


@dataclass(frozen=True)
class _Operands:
    """Query, key and value, of four dimensions."""

    query: Value
    key: Value
    value: Value
    tokens_first: bool

    def token_axis(self) -> int:
        return 1 if self.tokens_first else 2


@HANDLERS.register("Attention")
def _attention(node: Node) -> None:
    _refuse_other_forms(node)
    operands = _operands(node)
    depth = node.shape(operands.query)[3]
    if not isinstance(depth, int) or depth < 1:
        raise UnsupportedNodeError("the size of a head is not known before the run")
    axis = operands.token_axis()
    queries = node.shape(operands.query)[axis]
    keys = node.shape(operands.key)[axis]
    causal = "NONE"
    if node.flag("is_causal", False):
        causal = "TOP_LEFT"
        if node.has_input(_PAST_KEY):
            causal = "BOTTOM_RIGHT"
            if not _same(queries, keys):
                raise UnsupportedNodeError(
                    "is_causal with a past and as many new keys as queries only"
                )
    operands = _with_past(node, operands)
    inputs = [operands.query, operands.key, operands.value]
    if node.has_input(3):
        total = node.shape(operands.key)[operands.token_axis()]
        inputs.append(_mask(node, total, operands))
    attrs = {
        "scale": node.real("scale", depth**-0.5),
        "causal": causal,
        "tokens_first": operands.tokens_first,
    }
    result = node.make("Attention", inputs, attrs)
    if len(node.shape(node.input(0))) == _RANK - 1:
        if not operands.tokens_first:
            result = node.make("Transpose", [result], _SWAPPED)
        result = node.make("Reshape", [result], {"shape": [0, 0, -1]})
    node.set_output(0, result)


def _refuse_other_forms(node: Node) -> None:
    if node.real("softcap", 0.0) != 0:
        raise UnsupportedNodeError("softcap is not 0")
    for side in ("left_window_size", "right_window_size"):
        if node.integer(side, -1) != -1:
            raise UnsupportedNodeError(f"{side} is not -1")
    if node.has_input(_LENGTHS):
        raise UnsupportedNodeError("it has nonpad_kv_seqlen")
    if node.is_used(3):
        raise UnsupportedNodeError("the matrix of scores is used")
    if node.has_input(_PAST_KEY) != node.has_input(_PAST_VALUE):
        raise UnsupportedNodeError("it has one of past_key and past_value")
    if any(node.input(i).dtype is not DataType.FLOAT32 for i in range(3)):
        raise UnsupportedNodeError("the operands are no floats")


def _operands(node: Node) -> _Operands:
    given = [node.input(i) for i in range(3)]
    ranks = {len(node.shape(value)) for value in given}
    if ranks == {_RANK}:
        return _Operands(given[0], given[1], given[2], tokens_first=False)
    if ranks != {_RANK - 1}:
        raise UnsupportedNodeError(f"operands of {sorted(ranks)} dimensions")
    heads = [node.integer("q_num_heads", 0), *[node.integer("kv_num_heads", 0)] * 2]
    made = []
    for value, count in zip(given, heads):
        width = node.shape(value)[2]
        if count < 1 or not isinstance(width, int) or width % count:
            raise UnsupportedNodeError(f"{value.name} cannot be {count} heads")
        shape = [0, 0, count, width // count]
        made.append(node.make("Reshape", [value], {"shape": shape}))
    return _Operands(made[0], made[1], made[2], tokens_first=True)


def _with_past(node: Node, given: _Operands) -> _Operands:
    """Keys and values behind those of the past, which the node returns too."""
    has_past = node.has_input(_PAST_KEY)
    if not has_past and not node.is_used(1) and not node.is_used(2):
        return given
    values = [given.query, given.key, given.value]
    if given.tokens_first:
        values = [node.make("Transpose", [value], _SWAPPED) for value in values]
    query, *present = values
    if has_past:
        past = [node.input(_PAST_KEY), node.input(_PAST_VALUE)]
        present = [
            node.make("Concat", [old, new], {"axis": 2})
            for old, new in zip(past, present)
        ]
    for index, value in enumerate(present, 1):
        node.set_output(index, value)
    return _Operands(query, present[0], present[1], tokens_first=False)


def _mask(node: Node, keys: Dim, operands: _Operands) -> Value:
    """What is added to the scores, of four dimensions."""
    mask = node.input(3)
    shape = node.shape(mask)
    if len(shape) > _RANK or not shape or not _same(shape[-1], keys):
        raise UnsupportedNodeError(f"{mask.name} does not have a column for each key")
    query = node.shape(operands.query)
    wanted = [query[0], query[3 - operands.token_axis()], query[operands.token_axis()]]
    for dim, other in zip(shape[-2::-1], wanted[::-1]):
        if dim != 1 and not _same(dim, other):
            raise UnsupportedNodeError(
                f"{mask.name} does not have a row for each query"
            )
    if mask.dtype is DataType.BOOL:
        zero, out = node.literal(0.0), node.literal(-np.inf)
        mask = node.make("Where", [mask, zero, out])
    if len(shape) < _RANK:
        axes = [*range(_RANK - len(shape))]
        mask = node.make("ExpandDims", [mask], {"axes": axes})
    return mask


def _same(a: Dim, b: Dim) -> bool:
    return a is not None and b is not None and same_dim(a, b)
