# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Attention of ONNX, and as ONNX Runtime's optimizer and exporters write it (domain
com.microsoft).

ONNX's is one operator. In the forms that are refused here, the operators that the
specification has for it take its place. That of com.microsoft is made of simpler
operators, which the pass `fuse_attention` makes one of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mace.python.tools.importers.emit.lengths import Length
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.lengths import NodeLengths
from mace.python.tools.importers.standard.node import HANDLERS, Node
from mace.python.tools.ir import dims
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
        result = node.reshape(result, [0, 0, -1])
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
        made.append(node.reshape(value, shape))
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
        mask = node.expand_dims(mask, axes)
    return mask


def _same(a: Dim, b: Dim) -> bool:
    return a is not None and b is not None and same_dim(a, b)


# Of ONNX Runtime ---------------------------------------------------------------------

# What ONNX Runtime adds to the scores of keys that a mask leaves out.
_MASKED = -10000.0


@dataclass(frozen=True)
class _Attention:
    """[batch, heads, tokens, depth] each, and what is added to the scores."""

    node: Node
    query: Value
    key: Value
    value: Value

    def result(self, added: Sequence[Value], softcap: float = 0.0) -> Value:
        """[batch, tokens, heads * depth]."""
        node = self.node
        depth = node.shape(self.query)[3]
        if not isinstance(depth, int):
            raise UnsupportedNodeError("the size of a head is not known before the run")
        # As in ONNX Runtime, 0 stands for the default.
        factor = node.real("scale", 0.0) or depth**-0.5
        scores = node.make("MatMul", [self.query, self.key], {"transpose_b": True})
        scores = node.eltwise("MUL", scores, node.scalar(factor, scores))
        if softcap:
            cap = node.scalar(softcap, scores)
            small = node.eltwise("DIV", scores, cap)
            bent = node.make("Activation", [small], {"activation": "TANH"})
            scores = node.eltwise("MUL", bent, cap)
        for value in added:
            scores = node.eltwise("ADD", scores, value)
        weights = node.make("Softmax", [scores], {"axis": _RANK - 1})
        result = node.make("MatMul", [weights, self.value])
        result = node.make("Transpose", [result], _SWAPPED)
        return node.reshape(result, [0, 0, -1])


@HANDLERS.register("com.microsoft.MultiHeadAttention")
def _multi_head_attention(node: Node) -> None:
    heads = node.integer("num_heads", 0)
    if node.flag("unidirectional", False):
        raise UnsupportedNodeError("unidirectional is 1")
    for index, what in ((8, "past_sequence_length"), (9, "cache_indirection")):
        if node.has_input(index):
            raise UnsupportedNodeError(f"it has {what}")
    node.refuse_output(3, "the matrix of scores")
    if not (node.has_input(1) and node.has_input(2)):
        raise UnsupportedNodeError("query, key and value are one tensor")
    given = [node.input(i) for i in range(3)]
    if node.has_input(3):
        given = _biased(node, given, node.input(3))
    query, *present = (_split_heads(node, value, heads) for value in given)
    if node.has_input(6) and node.has_input(7):
        present = _joined(node, (node.input(6), node.input(7)), present)
    added = []
    if node.has_input(4):
        added.append(_padding(node, node.input(4), present[0]))
    if node.has_input(5):
        added.append(node.input(5))
    node.set_output(0, _Attention(node, query, present[0], present[1]).result(added))
    for index, value in enumerate(present, 1):
        node.set_output(index, value)


@HANDLERS.register("com.microsoft.Attention")
def _attention_of_onnxruntime(node: Node) -> None:
    """Queries, keys and values are one product of the input."""
    if node.has_input(6):
        raise UnsupportedNodeError("it has past_sequence_length")
    node.refuse_output(2, "the matrix of scores")
    product = node.make("MatMul", [node.input(0), node.input(1)])
    attend(node, product, Attended(2, 3, 4, 5))


@dataclass(frozen=True)
class Attended:
    """The places of inputs of attention; -1 for one that the operator does not have.

    Attributes:
        bias: of the product that has queries, keys and values.
        mask: of the words that are there.
        past: keys and values of the words before.
        added: to the scores.
    """

    bias: int
    mask: int
    past: int
    added: int = -1


def attend(node: Node, whole: Value, places: Attended) -> None:
    """Attention from the product that has queries, keys and values."""
    heads = node.integer("num_heads", 0)
    if node.flag("do_rotary", False):
        raise UnsupportedNodeError("do_rotary is 1")
    width = node.shape(whole)[-1]
    if not isinstance(width, int):
        raise UnsupportedNodeError(f"the width of {whole.name} is not known")
    sizes = node.integers("qkv_hidden_sizes", [width // 3] * 3)
    if node.has_input(places.bias):
        whole = node.eltwise("ADD", whole, node.input(places.bias))
    if len(sizes) != 3 or sum(sizes) != width:
        raise UnsupportedNodeError(f"qkv_hidden_sizes {sizes} of a width of {width}")
    parts = node.make_all("Split", [whole], {"axis": 2, "sizes": sizes}, 3)
    query, *present = (_split_heads(node, part, heads) for part in parts)
    if node.has_input(places.past):
        past = node.make_all("Split", [node.input(places.past)], {"axis": 0}, 2)
        old = [node.squeeze(part, [0]) for part in past]
        present = _joined(node, old, present)
    added = []
    if node.has_input(places.mask):
        added.append(_padding(node, node.input(places.mask), present[0]))
    if node.flag("unidirectional", False):
        added.append(_causal(node, query, present[0], -1))
    if places.added >= 0 and node.has_input(places.added):
        added.append(node.input(places.added))
    node.set_output(0, _Attention(node, query, present[0], present[1]).result(added))
    if node.is_used(1):
        node.set_output(1, node.make("Stack", present, {"axis": 0}))


@HANDLERS.register("com.microsoft.GroupQueryAttention")
def _group_query_attention(node: Node) -> None:
    """A decoder's step: new keys and values behind those of the past."""
    heads, groups = node.integer("num_heads", 0), node.integer("kv_num_heads", 0)
    for name, default in (("smooth_softmax", 0), ("k_quant_type", 0)):
        if node.has(name) and node.attribute_value(name) not in (default, "NONE"):
            raise UnsupportedNodeError(f"{name} is {node.attribute_value(name)!r}")
    for index, what in ((9, "position_ids"), (11, "head_sink"), (12, "k_scale")):
        if node.has_input(index):
            raise UnsupportedNodeError(f"it has {what}")
    node.refuse_output(3, "the scores")
    if heads < 1 or groups < 1 or heads % groups:
        raise UnsupportedNodeError(f"{heads} heads in {groups} groups")
    query, key, value = _grouped_operands(node, heads, groups)
    batch = node.shape(node.input(0))[0]
    if batch != 1:
        raise UnsupportedNodeError(
            f"a batch of {'?' if batch is None else batch}, whose sequences may differ "
            "in length",
            "give input_shapes with a batch of 1",
        )
    present = [key, value]
    lengths = NodeLengths(node)
    start: Length = 0
    if node.has_input(3) and node.has_input(4):
        past = (node.input(3), node.input(4))
        start = lengths.of_axis(past[0], 2)
        _require_grown(node, past[0], key)
    if node.flag("do_rotary", False):
        new = lengths.of_axis(key, 2)
        places = lengths.counted_up(start, lengths.compute("ADD", start, new))
        table = [node.make("Gather", [node.input(i), places]) for i in (7, 8)]
        interleaved = node.flag("rotary_interleaved", False)
        query = rotated(node, query, table, interleaved)
        present[0] = rotated(node, key, table, interleaved)
    if node.has_input(3) and node.has_input(4):
        present = _joined(node, past, present)
    added = [_causal(node, query, present[0], node.integer("local_window_size", -1))]
    if node.has_input(10):
        added.append(node.input(10))
    for index, tensor in enumerate(present, 1):
        node.set_output(index, tensor)
    wide = [_repeated(node, tensor, heads // groups) for tensor in present]
    found = _Attention(node, query, wide[0], wide[1])
    node.set_output(0, found.result(added, node.real("softcap", 0.0)))


def _grouped_operands(node: Node, heads: int, groups: int) -> list[Value]:
    counts = (heads, groups, groups)
    if node.has_input(1) != node.has_input(2):
        raise UnsupportedNodeError("it has one of key and value")
    if node.has_input(1):
        given = [node.input(i) for i in range(3)]
    else:
        width = node.shape(node.input(0))[-1]
        if not isinstance(width, int) or width % (heads + 2 * groups):
            raise UnsupportedNodeError(f"{node.input(0).name} is no packed query")
        depth = width // (heads + 2 * groups)
        cut = {"axis": 2, "sizes": [count * depth for count in counts]}
        given = node.make_all("Split", [node.input(0)], cut, 3)
    return [_split_heads(node, value, n) for value, n in zip(given, counts)]


def _require_grown(node: Node, past: Value, new: Value) -> None:
    """Refuses a past that is longer than what counts of it: a buffer for all words."""
    known = node.input(6).dims if not node.input(6).is_constant else None
    if node.input(6).is_constant:
        total: dims.Dim = int(node.constant(6, "total_sequence_length").reshape(-1)[0])
    else:
        total = None if known is None else known.reshape(-1)[0]
    both = dims.add(node.shape(past)[2], node.shape(new)[2])
    if total is None or not same_dim(both, total):
        raise UnsupportedNodeError(
            f"total_sequence_length ({node.input(6).name}) is not known to be the "
            f"length of {past.name} plus that of the new words",
            "export the model so that caches grow, with the lengths in its shapes",
        )


def _repeated(node: Node, tensor: Value, times: int) -> Value:
    """Each head of keys or values for several heads of queries."""
    groups = node.shape(tensor)[1]
    if times == 1 or not isinstance(groups, int):
        return tensor
    chosen = node.literal(np.repeat(np.arange(groups), times), DataType.INT32)
    return node.make("Gather", [tensor, chosen], {"axis": 1})


def _causal(node: Node, query: Value, key: Value, window: int) -> Value:
    """[tokens, keys]: nothing is added for keys up to the query's own word, which is
    that from the end.

    Args:
        window: how many keys before a query count, with its own; -1: all of them.
    """
    lengths = NodeLengths(node)
    rows, columns = (lengths.of_axis(value, 2) for value in (query, key))
    before = lengths.value(lengths.compute("SUB", columns, rows))
    places = node.eltwise("ADD", lengths.positions(rows), before)
    places = node.reshape(places, [-1, 1])
    counted = lengths.positions(columns)
    zero, out = node.literal(0.0), node.literal(-np.inf)
    later = node.eltwise("GREATER", counted, places)
    mask = node.make("Where", [later, out, zero])
    if window > 0:
        width = node.literal(window, DataType.INT32)
        first = node.eltwise("SUB", places, width)
        early = node.eltwise("LESS_EQUAL", counted, first)
        mask = node.make("Where", [early, out, mask])
    return mask


def _padding(node: Node, mask: Value, key: Value) -> Value:
    """What a mask of keys, or their number for each sequence, adds to the scores."""
    shape, batch = node.shape(mask), node.shape(key)[0]
    if len(shape) == 1:
        if not same_dim(shape[0], batch):
            raise UnsupportedNodeError(
                f"{mask.name} says more than one number for each sequence"
            )
        lengths = NodeLengths(node)
        counted = lengths.positions(lengths.of_axis(key, 2))
        ends = node.reshape(mask, [-1, 1])
        kept = node.eltwise("LESS", counted, ends)
    elif len(shape) in (2, 3):
        kept = node.eltwise("GREATER", mask, node.scalar(0, mask))
    else:
        raise UnsupportedNodeError(f"{mask.name} has {len(shape)} dimensions")
    zero, out = node.literal(0.0), node.literal(node.real("mask_filter_value", _MASKED))
    added = node.make("Where", [kept, zero, out])
    axes = [1] if len(shape) == 3 else [1, 2]
    return node.expand_dims(added, axes)


def _joined(node: Node, past: Sequence[Value], new: Sequence[Value]) -> list[Value]:
    return [
        node.make("Concat", [old, more], {"axis": 2}) for old, more in zip(past, new)
    ]


def _split_heads(node: Node, value: Value, heads: int) -> Value:
    """[batch, heads, tokens, depth] of [batch, tokens, heads * depth]."""
    shape = node.shape(value)
    width = shape[-1]
    if len(shape) != _RANK - 1 or not isinstance(width, int):
        raise UnsupportedNodeError(f"{value.name} is not [batch, tokens, heads]")
    if heads < 1 or width % heads:
        raise UnsupportedNodeError(f"{value.name} cannot be {heads} heads")
    parts = node.reshape(value, [0, 0, heads, width // heads])
    return node.make("Transpose", [parts], _SWAPPED)


def _biased(node: Node, values: list[Value], bias: Value) -> list[Value]:
    """The values plus their parts of the bias, one after the other."""
    begin, results = 0, []
    for value in values:
        width = node.shape(value)[-1]
        if not isinstance(width, int):
            raise UnsupportedNodeError(f"the width of {value.name} is not known")
        part = {"axes": [0], "begins": [begin], "ends": [begin + width], "strides": [1]}
        begin += width
        own = node.make("StridedSlice", [bias], part)
        results.append(node.eltwise("ADD", value, own))
    return results


@HANDLERS.register("com.microsoft.RotaryEmbedding")
def _rotary_embedding(node: Node) -> None:
    x, places = node.input(0), node.input(1)
    if node.flag("is_packed_batching", False):
        raise UnsupportedNodeError("is_packed_batching is 1")
    if node.real("scale", 1.0) != 1:
        raise UnsupportedNodeError(f"scale is {node.real('scale', 1.0)}")
    size, heads = node.integer("rotary_embedding_dim", 0), node.integer("num_heads", 0)
    rank = len(node.shape(x))
    half = node.shape(node.input(2))[-1]
    if rank == _RANK:
        turned = x
    else:
        width = node.shape(x)[-1]
        if size == 0 and isinstance(half, int) and isinstance(width, int):
            heads = width // (2 * half)
        turned = _split_heads(node, x, heads)
    if node.shape(places) == (1,):
        lengths = NodeLengths(node)
        counted = lengths.positions(lengths.of_axis(turned, 2))
        places = node.eltwise("ADD", counted, places)
    table = [node.make("Gather", [node.input(i), places]) for i in (2, 3)]
    if len(node.shape(table[0])) == 3:
        table = [node.expand_dims(part, [1]) for part in table]
    result = rotated(node, turned, table, node.flag("interleaved", False))
    if rank != _RANK:
        result = node.make("Transpose", [result], _SWAPPED)
        result = node.reshape(result, [0, 0, -1])
    node.set_output(0, result)


def rotated(node: Node, x: Value, table: Sequence[Value], interleaved: bool) -> Value:
    """Pairs of elements turned by angles.

    Args:
        node: whose handler asks.
        x: [batch, heads, tokens, depth].
        table: cosines and sines, which broadcast to x with half of the depth that is
            turned.
        interleaved: pairs are neighbours; otherwise their elements are half of that
            depth apart.
    """
    half, depth = node.shape(table[0])[-1], node.shape(x)[-1]
    if not isinstance(half, int) or not isinstance(depth, int) or 2 * half > depth:
        raise UnsupportedNodeError(f"angles for {half} pairs of {depth} elements")

    def part(begin: int, end: int, stride: int = 1) -> Value:
        return node.slice(x, 3, begin, end, stride)

    if interleaved:
        first, second = part(0, 2 * half, 2), part(1, 2 * half, 2)
    else:
        first, second = part(0, half), part(half, 2 * half)
    cosine, sine = table
    one = node.eltwise(
        "SUB",
        node.eltwise("MUL", first, cosine),
        node.eltwise("MUL", second, sine),
    )
    other = node.eltwise(
        "ADD",
        node.eltwise("MUL", first, sine),
        node.eltwise("MUL", second, cosine),
    )
    if interleaved:
        pairs = node.make("Stack", [one, other], {"axis": 4})
        whole = node.reshape(pairs, [0, 0, 0, 2 * half])
        parts = [whole]
    else:
        parts = [one, other]
    if 2 * half < depth:
        parts.append(part(2 * half, depth))
    return parts[0] if len(parts) == 1 else node.make("Concat", parts, {"axis": 3})
