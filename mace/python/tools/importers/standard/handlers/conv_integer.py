# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution of 8-bit integers, whose sums are int32: ConvInteger.

It is a product of matrices, of the elements under each window [N, Y, X, taps * C] and
the filter [taps * C, O], exact like the operator. Padding adds the zero point of the
input, which stands for 0. ONNX Runtime's dynamic quantization writes it, with a zero
point that each run computes.
"""

from __future__ import annotations

from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.standard.handlers.quantize import EIGHT_BITS
from mace.python.tools.importers.standard.handlers.taps import (
    by_matrices,
    check_channels,
)
from mace.python.tools.importers.standard.node import HANDLERS, STATIC_HINT, Node
from mace.python.tools.importers.standard.window import read_filter, read_window
from mace.python.tools.ir.graph import Value


@HANDLERS.register("ConvInteger")
def _conv_integer(node: Node) -> None:
    x, filters = node.input(0), read_filter(node)
    if x.dtype not in EIGHT_BITS or filters.dtype not in EIGHT_BITS:
        raise UnsupportedNodeError(
            f"multiplies {x.dtype.value} and {filters.dtype.value}"
        )
    window = read_window(node, len(filters.shape), filters.shape[2:])
    groups = node.integer("group", 1)
    out, depth = filters.shape[:2]
    check_channels(node, filters.shape, groups)
    taps = window.kernel[0] * window.kernel[1]
    part = out // groups
    shape = (depth * taps, out) if groups == 1 else (groups, 1, depth * taps, part)
    # Taps before channels, as the elements under a window are.
    matrix = filters.moved(
        lambda a: (
            a.reshape(groups, part, depth, taps).transpose(0, 3, 2, 1).reshape(shape)
        ),
        shape,
    )
    x_zero = node.input(2) if node.has_input(2) else None
    w_zero = _filter_zero(node, groups)
    weights = node.lazy(matrix, "matrices")
    result = by_matrices(
        node,
        window,
        groups,
        x_zero,
        lambda rows: node.make("MatMulInteger", [rows, weights, x_zero, w_zero]),
    )
    node.set_output(0, result)


def _filter_zero(node: Node, groups: int) -> Value | None:
    """The zero point of the filter: one number, or one for each output."""
    if not node.has_input(3):
        return None
    zero = node.input(3)
    if not zero.is_constant:
        raise UnsupportedNodeError(
            f"the zero point of the filter ({zero.name}) is computed at run time",
            STATIC_HINT,
        )
    numbers = zero.numpy().reshape(-1)
    if len(set(numbers.tolist())) == 1:
        return node.literal(numbers[0], zero.dtype)
    if groups > 1:
        raise UnsupportedNodeError(
            "several zero points of the filter, and groups", "use one zero point"
        )
    return zero
