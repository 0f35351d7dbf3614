# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Exponentials and logarithms of any base, thresholds, and sums over axes."""

from __future__ import annotations

import math

from mace.python.tools.importers.caffe.handlers.arithmetic import scaled
from mace.python.tools.importers.caffe.layer import HANDLERS, Layer
from mace.python.tools.importers.frame.errors import UnsupportedNodeError

# Of Reduction.
_ABSOLUTE, _SQUARES, _MEAN = 2, 3, 4


@HANDLERS.register("Threshold")
def _threshold(layer: Layer) -> None:
    limit = layer.proto.threshold_param.threshold
    above = layer.eltwise("GREATER", layer.bottom(), limit)
    layer.emit("Cast", [above], to="FLOAT32")


def _log_base(base: float) -> float:
    """The natural logarithm of a base; Caffe writes e as -1."""
    if base == -1:
        return 1.0
    if base <= 0 or base == 1:
        raise UnsupportedNodeError(f"base is {base}; it must be positive, and not 1")
    return math.log(base)


@HANDLERS.register("Exp")
def _exp(layer: Layer) -> None:
    param = layer.proto.exp_param
    base = 0.0 if param.base == 1 else _log_base(param.base)
    steps = scaled(param.scale * base, param.shift * base)
    layer.emit_chain(layer.bottom(), [*steps, ("EXP",)])


@HANDLERS.register("Log")
def _log(layer: Layer) -> None:
    param = layer.proto.log_param
    after = scaled(1 / _log_base(param.base), 0)
    steps = [*scaled(param.scale, param.shift), ("LOG",), *after]
    layer.emit_chain(layer.bottom(), steps)


@HANDLERS.register("Reduction")
def _reduction(layer: Layer) -> None:
    x, param = layer.bottom(), layer.proto.reduction_param
    rank = len(layer.shape(x))
    axes = list(range(layer.axis(param.axis, rank), rank))
    mode = {_MEAN: "MEAN", _SQUARES: "SUM_SQUARE"}.get(param.operation, "SUM")
    if param.operation == _ABSOLUTE:
        x = layer.eltwise("ABS", x)
    attrs = {"mode": mode, "axes": axes, "keep_dims": False}
    if param.coeff == 1:
        layer.emit("Reduce", [x], **attrs)
    else:
        layer.emit_eltwise("MUL", layer.make("Reduce", [x], **attrs), param.coeff)
