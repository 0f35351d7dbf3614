# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The operators of random graphs: how each draws its operands and attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from test.conformance.random_graphs.graphs import Draw, Operator

_SMOOTH_UNARY = (
    *("Relu", "Neg", "Sigmoid", "Tanh", "Softplus", "Elu", "Selu", "LeakyRelu"),
    *("HardSigmoid", "HardSwish", "Erf", "Softsign", "Mish", "Gelu", "Identity"),
)
_OTHER_UNARY = (
    *("Abs", "Exp", "Log", "Sqrt", "Reciprocal", "Floor", "Ceil", "Round", "Sign"),
    *("Sin", "Cos", "Atan", "Asinh", "Sinh", "Cosh", "Celu", "IsNaN", "IsInf"),
)
_REDUCTIONS = (
    *("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2"),
    *("ReduceSumSquare", "ReduceLogSumExp", "ReduceProd"),
)


def _smooth_unary(d: Draw) -> None:
    d.add(d.choose(_SMOOTH_UNARY), [d.tensor(1, 2, 3, 4)])


def _other_unary(d: Draw) -> None:
    d.add(d.choose(_OTHER_UNARY), [d.tensor(0, 1, 2, 3, 4)])


def _sum(d: Draw) -> None:
    x = d.tensor(1, 2, 3, 4)
    d.add(d.choose(("Add", "Sub", "Mul")), [x, d.partner(x)])


def _binary(d: Draw) -> None:
    x = d.tensor(0, 1, 2, 3, 4)
    operands = [x, d.partner(x)]
    if d.chance(0.5):
        operands.reverse()
    d.add(d.choose(("Div", "Max", "Min", "PRelu", "Less", "GreaterOrEqual")), operands)


def _integers(d: Draw) -> None:
    x = d.tensor(1, 2, 3, dtype=np.int32)
    d.add(d.choose(("Add", "Mul", "Div", "Mod", "Max", "Equal")), [x, d.partner(x)])


def _where(d: Draw) -> None:
    x = d.tensor(1, 2, 3)
    mask = d.weight(d.rng.random(d.values[x].shape) < 0.5)
    d.add("Where", [mask, x, d.partner(x)])


def _clip(d: Draw) -> None:
    low = d.weight(np.float32(-d.rng.random()))
    high = d.weight(np.float32(d.rng.random()))
    kept = [low if d.chance(0.7) else "", high if d.chance(0.7) else ""]
    d.add("Clip", [d.tensor(1, 2, 3), *kept])


def _transpose(d: Draw) -> None:
    x = d.tensor(2, 3, 4)
    d.add("Transpose", [x], perm=d.rng.permutation(d.values[x].ndim).tolist())


def _reshape(d: Draw) -> None:
    x = d.tensor(1, 2, 3, 4)
    dims = list(d.values[x].shape)
    at = d.integer(0, len(dims) - 1)
    target = [*dims[:at], -1] if d.chance(0.5) else [*dims[:at], 1, *dims[at:]]
    d.add("Reshape", [x, d.weight(np.array(target, np.int64))])


def _squeeze(d: Draw) -> None:
    d.add("Squeeze", [d.tensor(2, 3, 4)])


def _unsqueeze(d: Draw) -> None:
    x = d.tensor(1, 2, 3)
    axis = d.integer(-d.values[x].ndim - 1, d.values[x].ndim)
    d.add("Unsqueeze", [x, d.weight(np.array([axis], np.int64))])


def _concat(d: Draw) -> None:
    x = d.tensor(1, 2, 3, 4)
    rank = d.values[x].ndim
    axis = d.integer(-rank, rank - 1)
    dims = list(d.values[x].shape)
    dims[axis] = d.length()
    d.add("Concat", [x, d.input(d.floats(*dims))], axis=axis)


def _split(d: Draw) -> None:
    x = d.tensor(1, 2, 3, 4)
    rank = d.values[x].ndim
    axis = d.integer(-rank, rank - 1)
    first = d.integer(0, d.values[x].shape[axis])
    sizes = np.array([first, d.values[x].shape[axis] - first], np.int64)
    d.add("Split", [x, d.weight(sizes)], 2, axis=axis)


def _slice(d: Draw) -> None:
    x = d.tensor(1, 2, 3, 4)
    axis = d.integer(-d.values[x].ndim, d.values[x].ndim - 1)
    length = d.values[x].shape[axis]
    ends = [d.integer(-length - 1, length + 1) for _ in range(2)]
    parts = [*ends, axis, d.choose((1, 1, 2, 3, -1, -2))]
    d.add("Slice", [x, *(d.weight(np.array([part], np.int64)) for part in parts)])


def _gather(d: Draw) -> None:
    x = d.tensor(1, 2, 3, 4)
    axis = d.integer(-d.values[x].ndim, d.values[x].ndim - 1)
    length = d.values[x].shape[axis]
    places = d.rng.integers(-length, length, d.shape(d.integer(0, 2)))
    d.add("Gather", [x, d.weight(places)], axis=axis)


def _pad(d: Draw) -> None:
    x = d.tensor(1, 2, 3, 4)
    mode = d.choose(("constant", "constant", "reflect", "edge"))
    low = -1 if mode == "constant" else 0
    most = [min(2, dim - 1) if mode == "reflect" else 2 for dim in d.values[x].shape]
    pads = [d.integer(low, size) for size in 2 * most]
    d.add("Pad", [x, d.weight(np.array(pads, np.int64))], mode=mode)


def _tile(d: Draw) -> None:
    x = d.tensor(1, 2, 3)
    times = [d.integer(1, 3) for _ in d.values[x].shape]
    d.add("Tile", [x, d.weight(np.array(times, np.int64))])


def _reduce(d: Draw) -> None:
    x = d.tensor(1, 2, 3, 4)
    rank = d.values[x].ndim
    axes = d.rng.permutation(rank)[: d.integer(1, rank)] - (
        rank if d.chance(0.3) else 0
    )
    kept = d.integer(0, 1)
    operands = [x] if d.chance(0.1) else [x, d.weight(axes.astype(np.int64))]
    kinds = _REDUCTIONS[:2] if d.smooth else _REDUCTIONS
    d.add(d.choose(kinds), operands, keepdims=kept)


def _softmax(d: Draw) -> None:
    x = d.tensor(1, 2, 3, 4)
    axis = d.integer(-d.values[x].ndim, d.values[x].ndim - 1)
    d.add(
        "Softmax" if d.smooth else d.choose(("Softmax", "LogSoftmax")), [x], axis=axis
    )


def _matmul(d: Draw) -> None:
    x = d.tensor(1, 2, 3, 4)
    dims = d.values[x].shape
    width = d.integer(1, 33)
    w = d.floats(dims[-1], width) / np.float32(max(dims[-1], 1) ** 0.5)
    d.add("MatMul", [x, d.weight(w) if d.chance(0.7) else d.input(w)])


def _gemm(d: Draw) -> None:
    x, turned = d.tensor(2), d.integer(0, 1)
    depth, width = d.values[x].shape[1], d.integer(1, 33)
    w = d.floats(width, depth) if turned else d.floats(depth, width)
    operands = [x, d.weight(w / np.float32(max(depth, 1) ** 0.5))]
    bias = [d.weight(d.floats(width))] if d.chance(0.7) else []
    alpha = float(np.float32(d.choose((1.0, 0.5))))
    d.add("Gemm", [*operands, *bias], transB=turned, alpha=alpha)


def _conv(d: Draw) -> None:
    x = d.tensor(3, 4)
    channels, spatial = d.values[x].shape[1], d.values[x].ndim - 2
    groups = d.choose([g for g in (1, 1, 2, 3, channels) if g and channels % g == 0])
    made = groups * d.integer(1, 9)
    kernel = [d.integer(1, 4) for _ in range(spatial)]
    size = max(channels // groups * int(np.prod(kernel)), 1)
    w = d.floats(made, channels // groups, *kernel) / np.float32(size**0.5)
    bias = [d.weight(d.floats(made))] if d.chance(0.7) else []
    d.add(
        "Conv",
        [x, d.weight(w), *bias],
        group=groups,
        strides=[d.integer(1, 3) for _ in kernel],
        dilations=[d.integer(1, 2) for _ in kernel],
        pads=[d.integer(0, 2) for _ in range(2 * spatial)],
    )


def _pool(d: Draw) -> None:
    x = d.tensor(3, 4)
    kernel = [d.integer(1, 3) for _ in range(d.values[x].ndim - 2)]
    attrs: dict[str, Any] = {
        "kernel_shape": kernel,
        "strides": [d.integer(1, 3) for _ in kernel],
        "pads": [d.integer(0, (size - 1) // 2) for size in kernel] * 2,
    }
    if d.chance(0.5):
        d.add("MaxPool", [x], **attrs)
    else:
        d.add("AveragePool", [x], count_include_pad=d.integer(0, 1), **attrs)


def _layer_norm(d: Draw) -> None:
    x = d.tensor(2, 3, 4)
    width = d.values[x].shape[-1]
    scale, bias = d.weight(d.floats(width)), d.weight(d.floats(width))
    d.add("LayerNormalization", [x, scale, bias], axis=-1, epsilon=0.01)


def _batch_norm(d: Draw) -> None:
    x = d.tensor(2, 3, 4)
    channels = d.values[x].shape[1]
    numbers = [d.rng.standard_normal(channels).astype(np.float32) for _ in range(3)]
    variance = d.rng.uniform(0.5, 2, channels).astype(np.float32)
    weights = [d.weight(array) for array in (*numbers, variance)]
    d.add("BatchNormalization", [x, *weights])


def _recurrent(d: Draw) -> None:
    op_type, gates = d.choose((("LSTM", 4), ("GRU", 3), ("RNN", 1)))
    x = d.tensor(3)
    width, hidden = d.values[x].shape[2], d.integer(1, 33)
    shapes = ((1, gates * hidden, width), (1, gates * hidden, hidden))
    scale = np.float32((width + hidden) ** -0.5)
    w, r = (d.rng.standard_normal(s).astype(np.float32) * scale for s in shapes)
    b = d.rng.standard_normal((1, 2 * gates * hidden)).astype(np.float32)
    weights = [d.weight(array) for array in (w, r, b)]
    d.add(op_type, [x, *weights], 2, hidden_size=hidden)


def _top_k(d: Draw) -> None:
    x = d.input(d.special(d.floats(*d.shape(2))))
    count = d.integer(0, d.values[x].shape[1])
    k = d.weight(np.array([count], np.int64))
    d.add("TopK", [x, k], 2, largest=d.integer(0, 1))


def _arg(d: Draw) -> None:
    x = d.input(d.special(d.floats(*d.shape(d.integer(1, 3)))))
    axis = d.integer(-d.values[x].ndim, d.values[x].ndim - 1)
    op_type, kept = d.choose(("ArgMax", "ArgMin")), d.integer(0, 1)
    d.add(op_type, [x], axis=axis, keepdims=kept, select_last_index=d.integer(0, 1))


def _unique(d: Draw) -> None:
    x = d.input(d.rng.integers(0, 2, d.shape(d.integer(1, 3))).astype(np.float32))
    axis = d.integer(-d.values[x].ndim, d.values[x].ndim - 1)
    d.add("Unique", [x], 4, **({"axis": axis} if d.chance(0.7) else {}))


def _cum_sum(d: Draw) -> None:
    x = d.tensor(1, 2, 3)
    axis = d.weight(np.int64(d.integer(-d.values[x].ndim, d.values[x].ndim - 1)))
    reverse, exclusive = d.integer(0, 1), d.integer(0, 1)
    d.add("CumSum", [x, axis], reverse=reverse, exclusive=exclusive)


def _cast(d: Draw) -> None:
    d.add("Cast", [d.tensor(1, 2, 3, dtype=np.int32)], to=1)


# Those through which a small change of operands stays small.
SMOOTH: tuple[Operator, ...] = (
    *(_smooth_unary, _sum, _clip, _transpose, _reshape, _squeeze, _unsqueeze, _concat),
    *(_split, _slice, _gather, _pad, _tile, _reduce, _softmax, _matmul, _gemm, _conv),
    *(_pool, _layer_norm, _batch_norm, _recurrent),
)
ALL: tuple[Operator, ...] = (
    *SMOOTH,
    *(_other_unary, _binary, _integers, _where, _top_k, _arg, _unique, _cum_sum, _cast),
)
