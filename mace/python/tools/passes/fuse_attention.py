# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes one Attention of two products with a softmax between them, where the devices
of the model have it.

The scores, queries or keys may be multiplied by constants, and a mask may be added.
Transposes that move heads before tokens, and back, become part of the operator.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mace.python.tools.ir import Graph, Op, Value
from mace.python.tools.ir.dtypes import Array, DataType
from mace.python.tools.ir.shapes import same_dim
from mace.python.tools.passes.base import Pass
from mace.python.tools.passes.match import (
    eltwise,
    is_scalar,
    only_reader,
    producer,
    scalar,
)

_ATTENTION = "Attention"
_HEADS_FIRST = (0, 2, 1, 3)
_RANK = 4
# Scores of keys that are left out are at most this.
_OUT = -1e30


class FuseAttention(Pass):
    """Replaces MatMul, Softmax and MatMul by Attention."""

    name = "fuse_attention"
    last = True

    def run(self, graph: Graph) -> int:
        count = 0
        if not graph.target.takes(_ATTENTION):
            return count
        for op in graph.ops:
            if op in graph and op.type == "MatMul":
                found = _find(graph, op)
                if found is not None:
                    _replace(graph, found)
                    count += 1
        return count


@dataclass(frozen=True)
class _Found:
    query: Value
    key: Value
    key_perm: tuple[int, ...]
    value: Value
    mask: Value | None
    scale: float
    causal: str
    # The last product, or a Where behind it that gives zeros to queries without a key.
    result: Op
    zeroed: bool


def _find(graph: Graph, op: Op) -> _Found | None:
    if op.attr("transpose_a") or op.attr("transpose_b"):
        return None
    softmax = producer(op.input(0), "Softmax")
    if softmax is None or only_reader(graph, softmax.output) is not op:
        return None
    if softmax.attr("log") or softmax.attr("axis") not in (-1, _RANK - 1):
        return None
    scores = _alone(graph, softmax.input(0), softmax)
    for product, mask, causal in _masked(graph, scores):
        scaled = _product(graph, product)
        if scaled is None:
            continue
        first, scale = scaled
        # Exporters also multiply queries and keys, by its root.
        query, by_query = _unscaled(graph, first.input(0), first)
        key, by_key = _unscaled(graph, first.input(1), first)
        perm = (0, 1, 2, 3) if first.attr("transpose_b") else (0, 1, 3, 2)
        scale *= by_query * by_key
        zeroed = _zeroed(graph, op, mask)
        found = _Found(
            query=query,
            key=key,
            key_perm=perm,
            value=op.input(1),
            mask=mask,
            scale=scale,
            causal=causal,
            result=zeroed or op,
            zeroed=zeroed is not None,
        )
        if _fits(op, found):
            return found
    return None


def _masked(
    graph: Graph, scores: Value | None
) -> Iterator[tuple[Value | None, Value | None, str]]:
    """The values that may be a product, with what is added to each, and the keys that
    each query takes if a constant says so.
    """
    yield scores, None, "NONE"
    added = eltwise(scores, "ADD")
    if added is not None:
        operands = [added.input(0), added.input(1)]
        for product, mask in (operands, operands[::-1]):
            causal = "NONE"
            if mask.constant is not None and mask.dtype is DataType.FLOAT32:
                numbers = mask.numpy()
                if np.all((numbers == 0) | (numbers <= _OUT)):
                    causal = _causal(numbers == 0)
            kept = mask if causal == "NONE" else None
            yield _alone(graph, product, added), kept, causal
    chosen = producer(scores, "Where")
    if chosen is None or chosen.input(0).constant is None:
        return
    out = chosen.input(2).constant
    if out is not None and out.size == 1 and float(out.numpy().reshape(())) <= _OUT:
        causal = _causal(chosen.input(0).numpy().astype(bool))
        if causal != "NONE":
            yield _alone(graph, chosen.input(1), chosen), None, causal


def _zeroed(graph: Graph, op: Op, mask: Value | None) -> Op | None:
    """The Where behind the last product that gives zeros to queries without a key, as
    Attention does.
    """
    chosen = only_reader(graph, op.output)
    if mask is None or chosen is None or chosen.type != "Where":
        return None
    if chosen.input(2) is not op.output or not is_scalar(chosen.input(1), 0):
        return None
    nothing = chosen.input(0)
    if nothing.is_constant:
        if not mask.is_constant:
            return None
        wanted = np.isneginf(mask.numpy()).all(-1, keepdims=True)
        return chosen if np.array_equal(nothing.numpy(), wanted) else None
    equal = eltwise(nothing, "EQUAL")
    largest = None if equal is None else producer(equal.input(0), "Reduce")
    out = None if equal is None else equal.input(1).constant
    if largest is None or largest.input(0) is not mask or out is None:
        return None
    last = len(mask.shape or ()) - 1
    is_row = largest.attr("mode") == "MAX" and largest.attr("keep_dims")
    if not is_row or tuple(largest.attr("axes")) not in ((-1,), (last,)):
        return None
    return chosen if out.size == 1 and np.isneginf(out.numpy()).all() else None


def _causal(taken: Array) -> str:
    """Which of the forms of Attention leaves out just these keys."""
    if taken.ndim < 2 or taken.size != taken.shape[-2] * taken.shape[-1]:
        return "NONE"
    queries, keys = taken.shape[-2:]
    taken = taken.reshape(queries, keys)
    if np.array_equal(taken, np.tri(queries, keys, dtype=bool)):
        return "TOP_LEFT"
    offset = keys - queries
    if offset > 0 and np.array_equal(taken, np.tri(queries, keys, offset, dtype=bool)):
        return "BOTTOM_RIGHT"
    return "NONE"


def _product(graph: Graph, scores: Value | None) -> tuple[Op, float] | None:
    """The product that makes the scores, and what they are multiplied by."""
    if scores is None:
        return None
    product, scale = _unscaled(graph, scores, only_reader(graph, scores))
    first = producer(product, "MatMul")
    if first is None or first.attr("transpose_a"):
        return None
    if only_reader(graph, product) is None:
        return None
    return first, scale


def _unscaled(graph: Graph, value: Value, reader: Op | None) -> tuple[Value, float]:
    """What the value is a multiple of, if nothing else reads it, and the factor."""
    if reader is None or only_reader(graph, value) is not reader:
        return value, 1.0
    for mode in ("MUL", "DIV"):
        by = eltwise(value, mode)
        number = None if by is None else scalar(by.get_input(1))
        if by is not None and number:
            return by.input(0), number if mode == "MUL" else 1 / number
    return value, 1.0


def _alone(graph: Graph, value: Value | None, reader: Op) -> Value | None:
    """The value if nothing else reads it."""
    if value is None or only_reader(graph, value) is not reader:
        return None
    return value


def _fits(op: Op, found: _Found) -> bool:
    """Whether shapes and types are those of Attention."""
    values = [found.query, found.key, found.value, op.output]
    if found.mask is not None and not _mask_fits(found.mask, op.input(0)):
        return False
    for each in values:
        floats = each.dtype is DataType.FLOAT32 and each.quantization is None
        if not floats or each.shape is None or len(each.shape) != _RANK:
            return False
    query, key, value = (v.shape or () for v in (found.query, found.key, found.value))
    key = tuple(key[axis] for axis in found.key_perm)
    pairs = [
        *((a, b) for batch in (key, value) for a, b in zip(query[:2], batch[:2])),
        (key[2], value[2]),
    ]
    if any(a is None or b is None or not same_dim(a, b) for a, b in pairs):
        return False
    sizes = (query[1], query[3], value[3])
    return all(isinstance(dim, int) and dim > 0 for dim in sizes)


def _mask_fits(mask: Value, scores: Value) -> bool:
    """Whether the mask has a column for each key, and four dimensions or a constant."""
    shape, wanted = mask.shape, scores.shape
    if mask.dtype is not DataType.FLOAT32 or mask.quantization is not None:
        return False
    if not shape or not wanted or len(shape) > len(wanted):
        return False
    if len(shape) < _RANK and not mask.is_constant:
        return False
    pairs = list(zip(shape[::-1], wanted[::-1]))
    return all(
        a is not None and b is not None and same_dim(a, b)
        for index, (a, b) in enumerate(pairs)
        if a != 1 or index == 0
    )


def _replace(graph: Graph, found: _Found) -> None:
    tokens_first = _tokens_first(graph, found)
    attrs = {
        "scale": found.scale,
        "causal": found.causal,
        "tokens_first": tokens_first is not None,
        # A softmax without scores is NaN.
        "zero_without_keys": found.mask is None or found.zeroed,
    }
    masks = [] if found.mask is None else [_of_four(graph, found.mask)]
    if tokens_first is not None:
        sources, back = tokens_first
        graph.replace_op(back, _ATTENTION, [*sources, *masks], attrs)
        return
    key = found.key
    if found.key_perm != (0, 1, 2, 3):
        key = _turned(graph, key, found.key_perm)
    graph.replace_op(
        found.result, _ATTENTION, [found.query, key, found.value, *masks], attrs
    )


def _tokens_first(graph: Graph, found: _Found) -> tuple[list[Value], Op] | None:
    """The inputs before heads were moved, and the transpose that moves them back."""
    back = only_reader(graph, found.result.output)
    if back is None or back.type != "Transpose":
        return None
    if tuple(back.attr("perm")) != _HEADS_FIRST:
        return None
    key_perm = tuple(_HEADS_FIRST[axis] for axis in found.key_perm)
    sources = []
    for value, perm in (
        (found.query, _HEADS_FIRST),
        (found.key, key_perm),
        (found.value, _HEADS_FIRST),
    ):
        turn = producer(value, "Transpose")
        if turn is None or tuple(turn.attr("perm")) != perm:
            return None
        sources.append(turn.input(0))
    return sources, back


def _of_four(graph: Graph, mask: Value) -> Value:
    """The mask with four dimensions."""
    shape = mask.shape or ()
    missing = _RANK - len(shape)
    if not missing:
        return mask
    wide = mask.numpy().reshape((1,) * missing + mask.numpy().shape)
    return graph.add_constant(f"{mask.name}/wide", wide)


def _turned(graph: Graph, value: Value, perm: tuple[int, ...]) -> Value:
    """The value transposed; a transpose that makes it is undone if that gives it."""
    shape = value.shape
    assert shape is not None
    name = graph.unique_name(f"{value.name}/turned")
    if value.is_constant:
        turned = np.ascontiguousarray(value.numpy().transpose(perm))
        return graph.add_constant(name, turned)
    result = graph.add_value(name, value.dtype, tuple(shape[axis] for axis in perm))
    turn, source = producer(value, "Transpose"), value
    if turn is not None:
        source = turn.input(0)
        perm = tuple(turn.attr("perm")[axis] for axis in perm)
    if perm == tuple(range(len(perm))):
        return source
    graph.add_op("Transpose", [source], [result], {"perm": list(perm)})
    return result
