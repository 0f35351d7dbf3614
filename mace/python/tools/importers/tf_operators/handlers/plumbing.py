# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes that contain tensors or pass them on."""

from __future__ import annotations

import numpy as np

from mace.python.tools.importers.frame.budget import check_made
from mace.python.tools.importers.frame.errors import UnsupportedNodeError
from mace.python.tools.importers.tf_operators.context import HANDLERS, Context
from mace.python.tools.ir.graph import Value


@HANDLERS.register("Const")
def const(context: Context) -> None:
    """A constant, as a view over the file's bytes."""
    value = context.builder.constant(context.output_name(), context.node.tensor())
    value.source = context.output_name()
    context.results[0] = value


@HANDLERS.register(
    "Identity",
    "Snapshot",
    "GuaranteeConst",
    "StopGradient",
    "PreventGradient",
    "CheckNumerics",
    "PlaceholderWithDefault",
    "EnsureShape",
)
def identity(context: Context) -> None:
    """Has no effect in inference."""
    _pass_on(context, 0)


@HANDLERS.register("IdentityN")
def identity_n(context: Context) -> None:
    """Several identities at once."""
    for index in range(len(context.items)):
        _pass_on(context, index)


def _pass_on(context: Context, index: int) -> None:
    item = context.items[index]
    if isinstance(item, Value):
        item = context.builder.alias(item, context.output_name(index))
    context.results[index] = item


@HANDLERS.register("NoOp")
def no_op(context: Context) -> None:
    """Only orders other nodes in training; it has no outputs."""


@HANDLERS.register("Fill")
def fill(context: Context) -> None:
    """A tensor of one value, whose shape must be known."""
    shape = context.ints(0, "dims")
    value = np.asarray(context.values(1, "value")).reshape(())
    check_made(*shape)
    context.results[0] = context.builder.constant(
        context.output_name(), np.full(shape, value)
    )


@HANDLERS.register("ZerosLike", "OnesLike")
def like(context: Context) -> None:
    """Zeros or ones in the shape of the input, which must be known."""
    shape = context.input(0).shape
    if shape is None or not all(isinstance(dim, int) for dim in shape):
        raise UnsupportedNodeError("shape of the input is not known")
    make = np.zeros if context.node.op == "ZerosLike" else np.ones
    dims = [dim for dim in shape if isinstance(dim, int)]
    check_made(*dims)
    context.results[0] = context.builder.constant(
        context.output_name(), make(dims, context.input(0).dtype.numpy)
    )


@HANDLERS.register("Range")
def arange(context: Context) -> None:
    """Evenly spaced numbers, which must be known."""
    start, limit, delta = (
        context.values(i, what).item()
        for i, what in enumerate(("start", "limit", "delta"))
    )
    if delta == 0:
        raise UnsupportedNodeError("delta is 0")
    check_made((limit - start) / delta)
    context.results[0] = context.builder.constant(
        context.output_name(),
        np.arange(start, limit, delta).astype(context.input(0).dtype.numpy),
    )
